//! A producer's side of one partition.

use std::collections::VecDeque;

use super::maker::{Batch, Open};
use crate::verify::Ranges;

/// Batches on their way to one partition, in the order they are to arrive.
///
/// ```text
///  again ── came back and are sent again, oldest first
///  full ─── wait to be sent
///  open ─── is being filled
///  flying   are sent, their answers not there yet
///  failed   came back; once nothing flies any more they go to the front of `again`, so that the partition gets
///           them in their order
/// ```
#[derive(Debug, Default)]
pub(super) struct Slot {
    /// Of the next record.
    pub(super) sequence: u64,
    pub(super) open: Option<Open>,
    pub(super) full: VecDeque<Open>,
    pub(super) again: VecDeque<Batch>,
    pub(super) flying: u32,
    /// The broker they fly to.
    pub(super) flies_to: i32,
    pub(super) failed: Vec<Batch>,
    /// It stands in a queue of those that are ready.
    pub(super) is_queued: bool,
    /// It rests until then, after a failure.
    pub(super) rests_until_ns: u64,
    pub(super) acked: Ranges,
}

impl Slot {
    /// Whether nothing keeps it from sending now.
    pub(super) fn is_free(&self, now_ns: u64) -> bool {
        self.failed.is_empty() && self.rests_until_ns <= now_ns
    }

    /// Whether something is still under way to another broker than `node`: the leader has moved, and what flies to the
    /// old one comes back first, or order would be lost.
    pub(super) fn flies_elsewhere(&self, node: i32) -> bool {
        self.flying > 0 && self.flies_to != node
    }

    /// Whether anything but the open batch waits.
    pub(super) fn has_whole(&self) -> bool {
        !self.again.is_empty() || !self.full.is_empty()
    }

    /// A batch came back. Once nothing flies any more, all that came back are ready to be sent again, in order.
    pub(super) fn returned(&mut self, batch: Batch, rests_until_ns: u64) {
        self.failed.push(batch);
        self.rests_until_ns = self.rests_until_ns.max(rests_until_ns);
    }

    /// Settles what came back; true if there is something to send again.
    pub(super) fn settle(&mut self) -> bool {
        if self.flying > 0 || self.failed.is_empty() {
            return false;
        }
        self.failed.sort_by_key(|batch| batch.first_sequence);
        for batch in self.failed.drain(..).rev() {
            self.again.push_front(batch);
        }
        true
    }
}
