//! What happens later: timers, completions of disk operations, arrivals from the network, by virtual time.

use std::collections::BTreeMap;
use std::task::Waker;

use super::disk::OpId;
use super::net::NetEvent;
use super::node::NodeId;

/// Something that comes due at a virtual time.
pub(crate) enum Event {
    /// A sleeping task's timer.
    Wake(Waker),
    /// A disk operation of a node is over.
    Disk(NodeId, OpId),
    /// Something arrives by the network.
    Net(NetEvent),
}

/// Names a queued event, for taking it back: due time in nanoseconds, then the order of queueing.
pub(crate) type EventKey = (u64, u64);

/// Events ordered by time; those of one instant in the order they were queued. That order is no promise to the code
/// under test: each only makes tasks ready, and which of those runs first is the scheduler's seeded choice.
#[derive(Default)]
pub(crate) struct EventQueue {
    queue: BTreeMap<EventKey, Event>,
    next: u64,
}

impl EventQueue {
    /// Queues `event` for `at_ns`.
    pub(crate) fn push(&mut self, at_ns: u64, event: Event) -> EventKey {
        let key = (at_ns, self.next);
        self.next += 1;
        self.queue.insert(key, event);
        key
    }

    /// Takes an event back; nothing happens if it already came due.
    pub(crate) fn remove(&mut self, key: EventKey) {
        self.queue.remove(&key);
    }

    /// When the next event comes due.
    pub(crate) fn next_at(&self) -> Option<u64> {
        self.queue.first_key_value().map(|(key, _)| key.0)
    }

    /// The next event, if it is due at `now_ns`.
    pub(crate) fn pop_due(&mut self, now_ns: u64) -> Option<(EventKey, Event)> {
        let first = self.queue.first_entry()?;
        (first.key().0 <= now_ns).then(|| first.remove_entry())
    }
}
