//! The way between two nodes: how long it takes, and whether it is cut.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use crate::sim::node::NodeId;

/// One-way delay between nodes, in microseconds, if a test doesn't set another.
const DELAY_US: RangeInclusive<u64> = 50..=400;
/// One-way delay within a node, in microseconds.
const LOCAL_DELAY_US: RangeInclusive<u64> = 5..=40;

/// Delays and cuts, by direction.
#[derive(Debug, Default)]
pub(crate) struct Links {
    cut: BTreeSet<(NodeId, NodeId)>,
    delay_us: BTreeMap<(NodeId, NodeId), RangeInclusive<u64>>,
}

impl Links {
    pub(crate) fn cut(&mut self, from: NodeId, to: NodeId) {
        self.cut.insert((from, to));
    }

    pub(crate) fn heal(&mut self, from: NodeId, to: NodeId) {
        self.cut.remove(&(from, to));
    }

    pub(crate) fn heal_all(&mut self) {
        self.cut.clear();
    }

    pub(crate) fn is_cut(&self, from: NodeId, to: NodeId) -> bool {
        self.cut.contains(&(from, to))
    }

    pub(crate) fn set_delay(&mut self, from: NodeId, to: NodeId, us: RangeInclusive<u64>) {
        self.delay_us.insert((from, to), us);
    }

    /// One-way delay in microseconds, to draw from.
    pub(crate) fn delay(&self, from: NodeId, to: NodeId) -> RangeInclusive<u64> {
        let default = if from == to { LOCAL_DELAY_US } else { DELAY_US };
        self.delay_us.get(&(from, to)).cloned().unwrap_or(default)
    }
}
