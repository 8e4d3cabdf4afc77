//! The task table and the queue of ready tasks: which task runs next is drawn from the seed.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};

use super::node::NodeId;
use super::rng::Rng;

/// A task's future; its output goes to the [`super::Task`] handle.
pub(crate) type LocalFuture = Pin<Box<dyn Future<Output = ()>>>;

/// Names a task for ever: a slot of the table and how often that slot was used before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TaskId {
    slot: u32,
    generation: u32,
}

impl TaskId {
    /// One number for the trace.
    pub(crate) fn word(self) -> u64 {
        u64::from(self.slot) | u64::from(self.generation) << 32
    }
}

// A `Waker` must be Send and Sync by its type, also where one thread is all there is; the lock is never contended.
#[allow(clippy::disallowed_types, reason = "std::task::Wake demands Send + Sync")]
type Queue = std::sync::Mutex<Vec<TaskId>>;

/// Tasks that were woken and not polled since, each once.
#[derive(Debug, Default)]
pub(crate) struct ReadyQueue(Queue);

impl ReadyQueue {
    fn push(&self, id: TaskId) {
        self.0.lock().expect("no panic while the lock is held").push(id);
    }

    /// Takes one ready task, each with the same chance: no order of wake-ups may matter.
    pub(crate) fn pick(&self, rng: &Rng) -> Option<TaskId> {
        let mut queue = self.0.lock().expect("no panic while the lock is held");
        match queue.len() {
            0 => None,
            1 => queue.pop(),
            n => Some(queue.swap_remove(rng.index(n))),
        }
    }
}

/// What a task's wakers point to.
#[derive(Debug)]
struct TaskWaker {
    id: TaskId,
    queued: AtomicBool,
    ready: Arc<ReadyQueue>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::Relaxed) {
            self.ready.push(self.id);
        }
    }
}

/// One live task.
struct TaskCell {
    node: NodeId,
    incarnation: u32,
    shard: u16,
    // None while the task is being polled.
    future: Option<LocalFuture>,
    shared: Arc<TaskWaker>,
    waker: Waker,
    cancelled: bool,
}

/// A task taken out of the table to be polled, or dropped when it was cancelled.
pub(crate) struct Running {
    pub(crate) id: TaskId,
    pub(crate) node: NodeId,
    pub(crate) incarnation: u32,
    pub(crate) shard: u16,
    pub(crate) future: LocalFuture,
    pub(crate) waker: Waker,
    pub(crate) cancelled: bool,
}

#[derive(Default)]
struct TaskSlot {
    generation: u32,
    cell: Option<TaskCell>,
}

/// All live tasks of all nodes.
#[derive(Default)]
pub(crate) struct Exec {
    slots: Vec<TaskSlot>,
    free: Vec<u32>,
    pub(crate) ready: Arc<ReadyQueue>,
}

impl Exec {
    /// Adds a task, ready to run.
    pub(crate) fn insert(
        &mut self,
        node: NodeId,
        incarnation: u32,
        shard: u16,
        future: LocalFuture,
    ) -> TaskId {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(TaskSlot::default());
            (self.slots.len() - 1) as u32
        });
        let entry = &mut self.slots[slot as usize];
        let id = TaskId { slot, generation: entry.generation };
        let shared = Arc::new(TaskWaker { id, queued: AtomicBool::new(true), ready: self.ready.clone() });
        let waker = Waker::from(shared.clone());
        entry.cell = Some(TaskCell {
            node,
            incarnation,
            shard,
            future: Some(future),
            shared,
            waker,
            cancelled: false,
        });
        self.ready.push(id);
        id
    }

    fn cell(&mut self, id: TaskId) -> Option<&mut TaskCell> {
        let slot = self.slots.get_mut(id.slot as usize)?;
        if slot.generation != id.generation {
            return None;
        }
        slot.cell.as_mut()
    }

    /// Which node a task runs on; `None` when the task is gone.
    pub(crate) fn node_of(&mut self, id: TaskId) -> Option<NodeId> {
        self.cell(id).map(|cell| cell.node)
    }

    /// Takes a ready task's future out for a poll. A wake-up during the poll makes it ready again.
    pub(crate) fn begin(&mut self, id: TaskId) -> Option<Running> {
        let cell = self.cell(id)?;
        cell.shared.queued.store(false, Ordering::Relaxed);
        let future = cell.future.take()?;
        Some(Running {
            id,
            node: cell.node,
            incarnation: cell.incarnation,
            shard: cell.shard,
            future,
            waker: cell.waker.clone(),
            cancelled: cell.cancelled,
        })
    }

    /// Puts a pending task back. Gives the future back, to be dropped, when the task was removed during its own poll.
    pub(crate) fn put_back(&mut self, id: TaskId, future: LocalFuture) -> Option<LocalFuture> {
        match self.cell(id) {
            Some(cell) => {
                cell.future = Some(future);
                None
            }
            None => Some(future),
        }
    }

    /// Removes a task from the table. Its future, if it isn't being polled, is returned: the caller drops it with no
    /// borrow held, as its destructors may call back.
    pub(crate) fn remove(&mut self, id: TaskId) -> Option<LocalFuture> {
        self.cell(id)?;
        let slot = &mut self.slots[id.slot as usize];
        slot.generation = slot.generation.wrapping_add(1);
        let cell = slot.cell.take()?;
        self.free.push(id.slot);
        cell.future
    }

    /// Marks a task cancelled and makes it ready: the scheduler will drop its future when it picks it.
    pub(crate) fn cancel(&mut self, id: TaskId) {
        if let Some(cell) = self.cell(id) {
            cell.cancelled = true;
            cell.shared.wake_by_ref();
        }
    }

    /// The tasks of a node, in table order.
    pub(crate) fn tasks_of(&self, node: NodeId) -> Vec<(TaskId, u16)> {
        let live = |(slot, entry): (usize, &TaskSlot)| {
            let cell = entry.cell.as_ref().filter(|cell| cell.node == node)?;
            Some((TaskId { slot: slot as u32, generation: entry.generation }, cell.shard))
        };
        self.slots.iter().enumerate().filter_map(live).collect()
    }

    /// Makes a task ready again that was picked while its node was paused.
    pub(crate) fn requeue(&self, id: TaskId) {
        self.ready.push(id);
    }
}
