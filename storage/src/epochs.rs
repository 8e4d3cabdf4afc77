//! Where each leader epoch of a log starts (KIP-101).

use std::fmt::Write;

use crate::limits::EPOCHS_MAX;
use crate::{LeaderEpoch, Offset};

/// The leader epochs of a log and their start offsets; both strictly ascend but for epochs that got no
/// record, which share the offset of their successor until it starts.
///
/// In memory always current; the file `leader-epoch-checkpoint` follows at rolls, truncations and a clean
/// close, and what it misses after a crash is in the batches of the scanned segment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EpochCheckpoint {
    entries: Vec<(LeaderEpoch, Offset)>,
}

impl EpochCheckpoint {
    /// Reads Kafka's file: the lines `0`, the number of entries, then `epoch offset` each.
    ///
    /// # Errors
    /// Words for what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        if lines.next() != Some("0") {
            return Err("the version isn't 0".into());
        }
        let count: usize =
            lines.next().and_then(|line| line.trim().parse().ok()).ok_or("no count of entries")?;
        if count > EPOCHS_MAX {
            return Err(format!("{count} entries are more than {EPOCHS_MAX}"));
        }
        let mut epochs = Self::default();
        for line in lines.filter(|line| !line.trim().is_empty()) {
            let entry = line.split_once(' ').and_then(|(epoch, offset)| {
                Some((LeaderEpoch(epoch.parse().ok()?), Offset(offset.trim().parse().ok()?)))
            });
            let (epoch, offset) =
                entry.ok_or_else(|| format!("{line:?} isn't an epoch and its start offset"))?;
            epochs.assign(epoch, offset);
        }
        if epochs.entries.len() > count {
            return Err(format!("more entries than the {count} announced"));
        }
        Ok(epochs)
    }

    /// Kafka's file.
    pub fn to_text(&self) -> String {
        let mut text = format!("0\n{}\n", self.entries.len());
        for (epoch, offset) in &self.entries {
            // Writing into a String can't fail.
            let _ = writeln!(text, "{epoch} {offset}");
        }
        text
    }

    /// Says that `epoch` starts at `start`. Entries that this contradicts (epochs not older, or starting at
    /// or behind `start`) go, as in Kafka. True if anything changed.
    pub fn assign(&mut self, epoch: LeaderEpoch, start: Offset) -> bool {
        if epoch < LeaderEpoch(0)
            || self.entries.last().is_some_and(|(last, from)| *last == epoch && *from <= start)
        {
            return false;
        }
        self.entries.retain(|(known, from)| *known < epoch && *from < start);
        if self.entries.len() == EPOCHS_MAX {
            self.entries.remove(0);
        }
        self.entries.push((epoch, start));
        true
    }

    /// The newest epoch.
    pub fn latest(&self) -> Option<LeaderEpoch> {
        self.entries.last().map(|(epoch, _)| *epoch)
    }

    /// The epoch in which the record at `offset` was appended.
    pub fn epoch_at(&self, offset: Offset) -> Option<LeaderEpoch> {
        let after = self.entries.partition_point(|(_, start)| *start <= offset);
        after.checked_sub(1).map(|at| self.entries[at].0)
    }

    /// For OffsetForLeaderEpoch and divergence: the newest known epoch not above `epoch`, and where it ended;
    /// `log_end` is where the newest ends. `None` if `epoch` is newer than all, or older than all of a log
    /// whose first epochs are gone.
    pub fn end_offset_for(&self, epoch: LeaderEpoch, log_end: Offset) -> Option<(LeaderEpoch, Offset)> {
        let (latest, _) = self.entries.last()?;
        if epoch == *latest {
            return Some((epoch, log_end));
        }
        if epoch > *latest || epoch < LeaderEpoch(0) {
            return None;
        }
        let after = self.entries.partition_point(|(known, _)| *known <= epoch);
        match after.checked_sub(1) {
            Some(at) => Some((self.entries[at].0, self.entries[after].1)),
            // Kafka answers the asked epoch with the first known one's start.
            None => Some((epoch, self.entries[0].1)),
        }
    }

    /// Drops the epochs that start at or behind `end`: the log was cut there. True if anything changed.
    pub fn truncate_end(&mut self, end: Offset) -> bool {
        let before = self.entries.len();
        self.entries.retain(|(_, start)| *start < end);
        self.entries.len() != before
    }

    /// Drops the epochs that ended before `start`, and lets the one that holds it begin there. True if
    /// anything changed.
    pub fn truncate_start(&mut self, start: Offset) -> bool {
        let after = self.entries.partition_point(|(_, from)| *from <= start);
        let Some(holding) = after.checked_sub(1) else { return false };
        if self.entries[holding].1 == start && holding == 0 {
            return false;
        }
        self.entries.drain(..holding);
        self.entries[0].1 = start;
        true
    }

    /// All entries, oldest first.
    pub fn entries(&self) -> &[(LeaderEpoch, Offset)] {
        &self.entries
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.clear();
    }
}

#[cfg(test)]
mod tests;
