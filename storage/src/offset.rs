//! Integers that must not be swapped for one another.

use std::fmt;

/// A record's offset within its partition; also "the offset after the last one" for ends. Kafka's, never
/// negative in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Offset(pub i64);

impl Offset {
    /// The first offset a fresh partition gives.
    pub const ZERO: Self = Self(0);

    /// This offset moved by `delta`, clamped at the largest one.
    #[must_use]
    pub const fn plus(self, delta: i64) -> Self {
        Self(self.0.saturating_add(delta))
    }

    /// How many offsets lie from `earlier` up to this one; 0 if it isn't earlier.
    #[must_use]
    pub const fn since(self, earlier: Self) -> u64 {
        let delta = self.0.saturating_sub(earlier.0);
        if delta < 0 { 0 } else { delta as u64 }
    }
}

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<i64> for Offset {
    fn from(offset: i64) -> Self {
        Self(offset)
    }
}

/// The number of a partition leader's term (KIP-101). Never falls along a log; -1 when unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaderEpoch(pub i32);

impl LeaderEpoch {
    /// No epoch known.
    pub const NONE: Self = Self(-1);
}

impl fmt::Display for LeaderEpoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A byte position in a segment file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FilePos(pub u64);

impl fmt::Display for FilePos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A partition by name; names its directory `<topic>-<partition>`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicPartition {
    /// Topic name as Kafka allows it: 1..=249 of `[a-zA-Z0-9._-]`, not `.` or `..`.
    pub topic: String,
    /// Partition number, from 0.
    pub partition: i32,
}

impl TopicPartition {
    /// Partition `partition` of `topic`.
    pub fn new(topic: impl Into<String>, partition: i32) -> Self {
        Self { topic: topic.into(), partition }
    }
}

impl fmt::Display for TopicPartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.topic, self.partition)
    }
}
