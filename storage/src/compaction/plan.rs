//! What of a log is to compact, and which log first. Pure.
//!
//! ```text
//!   start     first dirty                 upto         stable
//!     │            │                        │             │
//!     ▼            ▼                        ▼             ▼
//!   ┌───────┬──────┴┬──────────┬────────────┬─────────┬───┴──────┐
//!   │ clean │ clean │  dirty   │   dirty    │ closed  │  active  │
//!   └───────┴───────┴──────────┴────────────┴─────────┴──────────┘
//!    \_____ may be rewritten in a pass ____/ \ too young, or beyond the last stable offset
//! ```
//! Of clean records each key has one; the dirty ones go into the map of keys, and what they supersede goes from both.

use crate::Offset;
use crate::config::CompactionConfig;

/// One closed segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Its first offset, which names its file.
    pub base: Offset,
    /// Where the next one starts.
    pub end: Offset,
    /// Size of its records, in bytes.
    pub bytes: u64,
}

/// What a pass over a log would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dirt {
    /// From here on nothing was compacted yet.
    pub first_dirty: Offset,
    /// Where the last segment ends that may be compacted now; `first_dirty` if none may.
    pub upto: Offset,
    /// Size of the segments before, in bytes.
    pub clean_bytes: u64,
    /// Size of the segments in between, in bytes. One that is clean in part counts here.
    pub dirty_bytes: u64,
    /// How long the oldest dirty record has been overdue by `max.compaction.lag.ms`, in ms; 0 if it isn't.
    pub overdue_ms: u64,
}

impl Dirt {
    /// Looks at a log's `segments`, oldest first. `stable` is the last stable offset, not above the high watermark;
    /// from `young_from` on records are younger than `min.compaction.lag.ms`.
    pub(crate) fn of(
        segments: &[Segment],
        first_dirty: Offset,
        stable: Offset,
        young_from: Option<Offset>,
    ) -> Self {
        let bound = young_from.map_or(stable, |young| young.min(stable));
        let within = segments.iter().take_while(|segment| segment.end <= bound);
        let upto = within.map(|segment| segment.end).last().map_or(first_dirty, |end| end.max(first_dirty));
        let sum = |dirty: bool| {
            let within = segments.iter().take_while(|segment| segment.end <= upto);
            within.filter(|segment| (segment.end > first_dirty) == dirty).map(|segment| segment.bytes).sum()
        };
        Self { first_dirty, upto, clean_bytes: sum(false), dirty_bytes: sum(true), overdue_ms: 0 }
    }

    /// Tells since when the oldest dirty record has been there: the largest timestamp of the first batch of a dirty
    /// segment, the least of them, in ms since 1970.
    pub(crate) fn since(self, oldest_ms: Option<i64>, now_ms: i64, max_lag_ms: u64) -> Self {
        let limit_ms = i64::try_from(max_lag_ms).map_or(i64::MIN, |lag_ms| now_ms.saturating_sub(lag_ms));
        let overdue_ms = oldest_ms
            .filter(|oldest| *oldest > 0)
            .map_or(0, |oldest_ms| u64::try_from(limit_ms.saturating_sub(oldest_ms)).unwrap_or(0));
        Self { overdue_ms, ..self }
    }

    /// Which part of what may be rewritten is dirty, 0 to 1.
    pub(crate) fn ratio(&self) -> f64 {
        match self.clean_bytes + self.dirty_bytes {
            0 => 0.0,
            all => self.dirty_bytes as f64 / all as f64,
        }
    }

    /// Whether a pass is due: enough is dirty, or something is overdue.
    pub(crate) fn is_due(&self, config: &CompactionConfig) -> bool {
        self.dirty_bytes > 0 && (self.overdue_ms > 0 || self.ratio() > config.min_cleanable_ratio)
    }
}

/// Where the dirty part of a log starts. What was noted is void if the log starts behind it or ends before it:
/// deleting records moved the start, or the log was cut.
pub(crate) fn first_dirty(noted: Option<Offset>, start: Offset, end: Offset) -> Offset {
    noted.filter(|noted| (start..=end).contains(noted)).unwrap_or(start)
}

#[cfg(test)]
mod tests;
