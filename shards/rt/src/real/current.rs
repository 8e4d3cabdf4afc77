//! The running shard of this thread.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::helpers::Helpers;
use super::ring::Reactor;
use super::timers::Timers;
use super::turn::Turns;
use crate::ids::ShardId;

/// What belongs to one shard. It lives as long as its executor runs.
pub(crate) struct Shard {
    pub(crate) id: ShardId,
    pub(crate) timers: Timers,
    pub(crate) turns: Turns,
    pub(crate) helpers: Arc<Helpers>,
    /// The ring of the ring engine; `None`: the shard runs on glommio.
    pub(crate) ring: Option<Rc<Reactor>>,
    /// Devices on which glommio's IOPOLL question has been settled, see [`super::fs::probe`].
    pub(crate) probed_devices: RefCell<Vec<u64>>,
}

impl Shard {
    /// See [`crate::yield_point`].
    pub(crate) async fn pass(&self) {
        self.turns.pass(self.ring.is_some()).await;
    }
}

thread_local! {
    static CURRENT: RefCell<Option<Rc<Shard>>> = const { RefCell::new(None) };
}

/// Makes `shard` this thread's; `None` when it ends.
pub(crate) fn set(shard: Option<Rc<Shard>>) {
    let previous = CURRENT.with(|current| std::mem::replace(&mut *current.borrow_mut(), shard));
    drop(previous);
}

/// This thread's shard.
pub(crate) fn get() -> Option<Rc<Shard>> {
    CURRENT.with(|current| current.borrow().clone())
}

/// As [`get`], for calls that only make sense inside.
pub(crate) fn expect(call: &str) -> Rc<Shard> {
    get().unwrap_or_else(|| panic!("{call} was called outside of a shard"))
}

/// The ring of this thread's shard, if that runs on the ring engine.
pub(crate) fn ring(call: &str) -> Option<Rc<Reactor>> {
    expect(call).ring.clone()
}

/// True on a shard that runs on glommio.
pub(crate) fn is_glommio() -> bool {
    CURRENT.with(|current| current.borrow().as_ref().is_some_and(|shard| shard.ring.is_none()))
}

/// True on a shard that runs on the ring engine.
pub(crate) fn is_ring() -> bool {
    let is_ring =
        CURRENT.try_with(|current| current.borrow().as_ref().is_some_and(|shard| shard.ring.is_some()));
    // While the thread's locals are being destroyed there is no shard any more.
    is_ring.unwrap_or(false)
}
