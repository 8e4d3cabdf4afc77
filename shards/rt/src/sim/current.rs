//! Which simulated task is running on this thread: how the facade's free functions find their runtime.

#![allow(clippy::disallowed_macros, reason = "rt is where the running runtime is known")]

use std::cell::RefCell;
use std::rc::Rc;

use super::node::NodeId;
use super::world::World;

/// The running task's place: its world, its node with the incarnation the task belongs to, and its shard.
#[derive(Clone)]
pub(crate) struct Current {
    pub(crate) world: Rc<World>,
    pub(crate) node: NodeId,
    pub(crate) incarnation: u32,
    pub(crate) shard: u16,
}

// The only mutable static of the simulator. It is set around each poll and each drop of a task's future, and holds
// nothing between them, so simulated nodes that share the thread never see each other through it.
thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// Restores the previous place when dropped, also by a panic.
pub(crate) struct Entered(Option<Current>);

/// Makes `current` the running task's place until the guard is dropped.
pub(crate) fn enter(current: Current) -> Entered {
    Entered(CURRENT.with(|place| place.borrow_mut().replace(current)))
}

impl Drop for Entered {
    fn drop(&mut self) {
        let previous = self.0.take();
        let left = CURRENT.with(|place| std::mem::replace(&mut *place.borrow_mut(), previous));
        drop(left);
    }
}

/// The running simulated task's place; `None` on a thread that isn't inside a simulated task.
pub(crate) fn current() -> Option<Current> {
    CURRENT.with(|place| place.borrow().clone())
}

/// As [`current`], for calls that only make sense inside a task.
pub(crate) fn expect_current() -> Current {
    current().expect("called outside of a simulated task")
}

impl Current {
    /// False once the task's node has crashed: its futures are then only being dropped and may start nothing new.
    pub(crate) fn is_alive(&self) -> bool {
        self.world.is_alive(self.node, self.incarnation)
    }
}
