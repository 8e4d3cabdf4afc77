//! From the shards' ticks to those of the whole.

use std::collections::BTreeMap;

use crate::engine::Stats;

/// Puts the ticks of all shards together: one is whole when every shard has told its own.
#[derive(Debug)]
pub(super) struct Ticks {
    shards: usize,
    waiting: BTreeMap<u64, (usize, Stats)>,
}

impl Ticks {
    pub(super) fn new(shards: u16) -> Self {
        Self { shards: usize::from(shards), waiting: BTreeMap::new() }
    }

    /// A shard's tick. Gives a tick that is whole now.
    pub(super) fn take(&mut self, index: u64, stats: &Stats) -> Option<(u64, Stats)> {
        let (told, sum) = self.waiting.entry(index).or_default();
        sum.add(stats);
        *told += 1;
        if *told < self.shards {
            return None;
        }
        let (_, sum) = self.waiting.remove(&index)?;
        Some((index, sum))
    }

    /// Ticks that never became whole, since a shard had ended before.
    pub(super) fn rest(self) -> impl Iterator<Item = (u64, Stats)> {
        self.waiting.into_iter().map(|(index, (_, stats))| (index, stats))
    }
}
