//! What the shards are to do.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::Layout;
use crate::scenario::{ChurnSpec, ConsumeSpec, ProduceSpec};
use crate::verify::Rules;

/// One phase of a line: fixed before the shards start, read by all of them.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// Tells this run's records from those of others.
    pub(crate) run: u32,
    pub(crate) layout: Arc<Layout>,
    pub(crate) bootstrap: Vec<String>,
    pub(crate) nodes: BTreeMap<i32, String>,
    pub(crate) leaders: Vec<i32>,
    pub(crate) produce: Option<ProduceSpec>,
    pub(crate) reading: Option<Reading>,
    /// Where consumers begin, by slot.
    pub(crate) starts: Vec<i64>,
    /// Where consumers end, by slot, if they do.
    pub(crate) ends: Option<Vec<i64>>,
    pub(crate) churn: Option<ChurnSpec>,
    /// First part of the names of consumer groups.
    pub(crate) group: String,
    /// Time between two ticks.
    pub(crate) tick: Duration,
    /// Producers remember what was acknowledged.
    pub(crate) verifies: bool,
    pub(crate) shards: u16,
}

/// Who reads, and what for.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    pub(crate) spec: ConsumeSpec,
    /// Looks at each record.
    pub(crate) each_record: bool,
    /// Bytes of each value, where they are alike.
    pub(crate) value_bytes: Option<usize>,
    /// Proves what it reads instead of counting it.
    pub(crate) rules: Option<Rules>,
}

impl Plan {
    /// Which of `count` things are this shard's: every `shards`-th.
    pub(crate) fn share(&self, shard: u16, count: u32) -> impl Iterator<Item = u32> + use<> {
        (u32::from(shard)..count).step_by(usize::from(self.shards))
    }

    /// Records of producer `index`, if all of them send `records` (0: no end).
    pub(crate) fn records_of(index: u32, producers: u32, records: u64) -> u64 {
        if records == 0 {
            return u64::MAX;
        }
        let (index, producers) = (u64::from(index), u64::from(producers));
        records / producers + u64::from(index < records % producers)
    }

    /// Slots of consumer `index` of `consumers` without a group.
    pub(crate) fn slots_of(&self, index: u32, consumers: u32) -> impl Iterator<Item = u32> + use<> {
        (index..self.layout.slots()).step_by(consumers as usize)
    }
}
