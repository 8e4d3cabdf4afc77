//! [`Connections`]: the connections of a shard, and what they share.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use rt::sync::{Budget, Notify};
use rt::{Instant, TaskSet};

use super::memory::{MemoryPlan, SMALL_REQUEST_BYTES_MAX};
use super::state::ShardState;

/// How long what is about to happen by itself when the shard begins to drain may still take: a request being received, a group about to form.
const GRACE: Duration = Duration::from_millis(500);

/// The connections of a shard, and what they share.
#[derive(Debug)]
pub struct Connections {
    /// See [`MemoryPlan::small_request_bytes`].
    pub small_request_memory: Budget,
    /// See [`MemoryPlan::large_request_bytes`].
    pub large_request_memory: Budget,
    /// See [`MemoryPlan::response_bytes`].
    pub response_memory: Budget,
    /// See [`MemoryPlan::answer_bytes_max`].
    pub answer_bytes_max: usize,
    /// Counts since the start.
    pub counts: ConnectionCounts,
    tasks: TaskSet,
    open: Cell<usize>,
    /// Connections that ended and weren't told to shard 0 yet.
    untold: Cell<u32>,
    ended: Notify,
    draining_since: Cell<Option<Instant>>,
    draining: Notify,
}

/// Counts of a shard's connections since the start.
#[derive(Debug, Default)]
pub struct ConnectionCounts {
    /// Connections adopted.
    pub adopted: Cell<u64>,
    /// Connections closed because their peer broke the protocol.
    pub violations: Cell<u64>,
    /// Connections closed because they were idle.
    pub idle: Cell<u64>,
}

impl Connections {
    /// None yet.
    pub fn new(memory: &MemoryPlan) -> Connections {
        Connections {
            small_request_memory: Budget::new(memory.small_request_bytes),
            large_request_memory: Budget::new(memory.large_request_bytes),
            response_memory: Budget::new(memory.response_bytes),
            answer_bytes_max: memory.answer_bytes_max,
            counts: ConnectionCounts::default(),
            tasks: TaskSet::new(),
            open: Cell::new(0),
            untold: Cell::new(0),
            ended: Notify::new(),
            draining_since: Cell::new(None),
            draining: Notify::new(),
        }
    }

    /// The memory that a request of `len` bytes is counted in.
    pub fn request_memory(&self, len: usize) -> &Budget {
        if len <= SMALL_REQUEST_BYTES_MAX { &self.small_request_memory } else { &self.large_request_memory }
    }

    /// How many are open.
    pub fn open_count(&self) -> usize {
        self.open.get()
    }

    /// Counts a connection that was handed to `shard` until what is given back is dropped, also by a cancelled task.
    pub(super) fn open(&self, shard: &Rc<ShardState>) -> Open {
        count(&self.counts.adopted);
        self.open.set(self.open.get() + 1);
        Open(Rc::clone(shard))
    }

    /// Runs a connection.
    pub(super) fn spawn(&self, connection: impl Future<Output = ()> + 'static) {
        self.tasks.spawn(connection);
    }

    /// Waits until connections have ended since the last call; how many.
    pub(super) async fn ended(&self) -> u32 {
        loop {
            let ended = self.ended.notified();
            match self.untold.take() {
                0 => ended.await,
                untold => return untold,
            }
        }
    }

    /// Whether no more requests are taken.
    pub fn is_draining(&self) -> bool {
        self.draining_since.get().is_some()
    }

    /// Waits until no more requests are taken: what only waits then ends with what it has.
    pub async fn draining(&self) {
        loop {
            let draining = self.draining.notified();
            if self.is_draining() {
                return;
            }
            draining.await;
        }
    }

    /// Waits until the shard drains, and what was about to happen by itself then has had its time.
    pub async fn grace_over(&self) {
        self.draining().await;
        if let Some(since) = self.draining_since.get() {
            rt::sleep_until(since + GRACE).await;
        }
    }

    /// Takes no more requests, and waits until every connection has ended, each once what it had begun is answered.
    pub async fn drain(&self) {
        self.draining_since.set(self.draining_since.get().or(Some(rt::now())));
        self.draining.notify_waiters();
        loop {
            let ended = self.ended.notified();
            if self.open.get() == 0 {
                return;
            }
            ended.await;
        }
    }

    /// Closes all of them; requests that aren't answered yet get none.
    pub async fn close(&self) {
        self.tasks.cancel_all().await;
    }
}

/// Counts one up.
pub(super) fn count(cell: &Cell<u64>) {
    cell.set(cell.get() + 1);
}

/// A connection that is open.
pub(super) struct Open(Rc<ShardState>);

impl Drop for Open {
    fn drop(&mut self) {
        let network = &self.0.network;
        network.open.set(network.open.get() - 1);
        network.untold.set(network.untold.get() + 1);
        network.ended.notify_waiters();
    }
}
