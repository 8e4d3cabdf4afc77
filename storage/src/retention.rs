//! Which old segments go. Pure: what holds of segments and settings goes in, a reason or none comes out.
//!
//! As in Kafka, segments go whole, the oldest first, up to the first one that stays:
//!
//! ```text
//!        start                                          high watermark
//!          │                                                  │
//!   ┌──────┼───┬──────────┬──────────┬──────────┬─────────────┼──┐
//!   │ below    │ too much │ too old  │ stays    │ active      │  │
//!   └──────────┴──────────┴──────────┴──────────┴────────────────┘
//! ```
//!
//! - Below the start (DeleteRecords, KIP-107): under every `cleanup.policy`, never the active one.
//! - Too much (`retention.bytes`): what stays is never less than that.
//! - Too old (`retention.ms`): its newest record is. The active one goes too, if that is so: it is closed first.
//! - Nothing at or behind the high watermark.
//!
//! A timestamp that lies ahead of the clock would keep its segment for as long as it lies ahead. Producers may be so far ahead as
//! `message.timestamp.after.max.ms` says when they send, and so no record is newer than its segment's last write and
//! that; older data, and topics that allow any time, are held to it too.

use crate::limits::TIMESTAMP_AHEAD_MAX_MS;
use crate::{LogConfig, Offset};

/// Why a segment goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The log starts behind it.
    Start,
    /// There is enough behind it.
    Size,
    /// All in it is old.
    Time,
}

/// A segment to be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// Where it starts.
    pub base: Offset,
    /// Where the next one starts, or the log ends.
    pub end: Offset,
    /// Its size, in bytes.
    pub bytes: u64,
    /// When it was last written to, in ms since 1970; 0 if unknown.
    pub modified_ms: i64,
    /// Whether it takes appends.
    pub is_active: bool,
}

/// One look at a log, from its oldest segment on.
#[derive(Debug)]
pub(crate) struct Sweep<'a> {
    config: &'a LogConfig,
    start: Offset,
    high_watermark: Offset,
    now_ms: i64,
    left_bytes: u64,
}

impl<'a> Sweep<'a> {
    /// A log of `bytes` that starts at `start`, seen at `now_ms`.
    pub(crate) fn new(
        config: &'a LogConfig,
        start: Offset,
        high_watermark: Offset,
        bytes: u64,
        now_ms: i64,
    ) -> Self {
        Self { config, start, high_watermark, now_ms, left_bytes: bytes }
    }

    /// Whether the next segment goes, whatever the time.
    pub(crate) fn by_place(&self, candidate: &Candidate) -> Option<Reason> {
        if !self.may_go(candidate) {
            return None;
        }
        if !candidate.is_active && candidate.end <= self.start {
            return Some(Reason::Start);
        }
        let bytes_max = self.config.retention_bytes.filter(|_| self.config.delete)?;
        let behind = self.left_bytes.saturating_sub(candidate.bytes);
        (behind >= bytes_max).then_some(Reason::Size)
    }

    /// Whether only the time of its newest record can tell whether the segment goes.
    pub(crate) fn goes_by_time(&self, candidate: &Candidate) -> bool {
        self.may_go(candidate) && self.config.delete && self.config.retention_ms.is_some()
    }

    /// Whether the next segment goes for its age; `newest_ms` is the largest timestamp in it, if there is any.
    pub(crate) fn by_time(&self, candidate: &Candidate, newest_ms: Option<i64>) -> Option<Reason> {
        let age_max_ms = self.config.retention_ms.filter(|_| self.goes_by_time(candidate))?;
        let age_ms = self.now_ms.saturating_sub(self.newest_ms(candidate, newest_ms)?);
        u64::try_from(age_ms).is_ok_and(|age_ms| age_ms > age_max_ms).then_some(Reason::Time)
    }

    /// The segment goes: those behind it are judged without it.
    pub(crate) fn take(&mut self, candidate: &Candidate) {
        self.left_bytes = self.left_bytes.saturating_sub(candidate.bytes);
    }

    fn may_go(&self, candidate: &Candidate) -> bool {
        let is_empty = candidate.is_active && candidate.bytes == 0;
        candidate.end <= self.high_watermark && !is_empty
    }

    /// When the newest record of a segment is from; `None` if nothing tells.
    fn newest_ms(&self, candidate: &Candidate, newest_ms: Option<i64>) -> Option<i64> {
        // A clock that was set back may have left files of later times.
        let written_ms = Some(candidate.modified_ms.min(self.now_ms)).filter(|written_ms| *written_ms > 0);
        let Some(newest_ms) = newest_ms.filter(|newest_ms| *newest_ms >= 0) else { return written_ms };
        if newest_ms <= self.now_ms {
            return Some(newest_ms);
        }
        let ahead_ms = match self.config.timestamp_after_max_ms {
            any if any > TIMESTAMP_AHEAD_MAX_MS => 0,
            bound => bound as i64,
        };
        Some(written_ms.map_or(newest_ms, |written_ms| newest_ms.min(written_ms.saturating_add(ahead_ms))))
    }
}

#[cfg(test)]
mod tests;
