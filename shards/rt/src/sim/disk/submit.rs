//! Putting an operation in flight: it takes effect some virtual time later, whether or not its future still lives.

use std::io;
use std::ops::RangeInclusive;

use super::fault::Latency;
use super::state::{Disk, Fate, OpId};
use crate::sim::current::Current;
use crate::sim::event::Event;
use crate::sim::node::NodeId;
use crate::sim::rng::Rng;
use crate::sim::slot::{Filled, slot};
use crate::sim::trace::Mark;
use crate::sim::world::World;

/// Which of a disk's latencies an operation has.
pub(crate) type Takes = fn(&Latency) -> &RangeInclusive<u64>;

/// Starts an operation of the running task's node. `effect` sees the disk at its end and returns the result, or `None`
/// when a crash ended it without one. On a node that has crashed nothing starts, and the future is never ready.
pub(crate) fn submit<T: 'static>(
    place: &Current,
    takes: Takes,
    effect: impl FnOnce(&mut Disk, Fate, &Rng) -> Option<io::Result<T>> + 'static,
) -> Filled<io::Result<T>> {
    let (fill, filled) = slot();
    if !place.is_alive() {
        return filled;
    }
    let world = &place.world;
    let disk = world.disk(place.node);
    let mut disk = disk.borrow_mut();
    let rng = &world.rng.disk;
    let mut delay_us = rng.within(takes(&disk.latency));
    if rng.percent(disk.latency.slow_percent) {
        delay_us += rng.within(&disk.latency.slow_us);
    }
    let op = disk.start(Box::new(move |disk, fate, rng| {
        if let Some(result) = effect(disk, fate, rng) {
            // Nobody may be waiting any more; the effect stands all the same.
            let _ = fill.fill(result);
        }
    }));
    // Below a microsecond by draw: operations started together may end in any order.
    let delay_ns = delay_us * 1_000 + rng.below(1_000);
    world.push_event_in(delay_ns, Event::Disk(place.node, op));
    filled
}

/// As [`submit`], for what a kill leaves either done or not done.
pub(crate) fn submit_atomic<T: 'static>(
    place: &Current,
    takes: Takes,
    effect: impl FnOnce(&mut Disk) -> io::Result<T> + 'static,
) -> Filled<io::Result<T>> {
    submit(place, takes, move |disk, fate, rng| {
        (fate != Fate::Killed || rng.percent(50)).then(|| effect(disk))
    })
}

impl World {
    /// An operation's time has come.
    pub(crate) fn complete_disk_op(&self, node: NodeId, op: OpId) {
        let disk = self.disk(node);
        disk.borrow_mut().now_ms = self.unix_ms(node);
        if disk.borrow_mut().complete(op, &self.rng.disk) {
            self.trace.note(Mark::Disk, u64::from(node.0) << 40 ^ op.0, self.now_ns());
        }
    }
}
