//! Bounds of what is told.

/// Topics with series of their own, the first ones of the node's life; the others are summed under [`OTHER_TOPICS`].
pub const TOPICS_MAX: usize = 1000;

/// Value of `topic` for all beyond [`TOPICS_MAX`].
pub const OTHER_TOPICS: &str = "_other";

/// Partitions with series of their own, the first ones in the order of names.
pub const PARTITIONS_MAX: usize = 2000;

/// Partitions of a shard whose positions are looked at.
pub const PARTITIONS_LOOKED_AT_MAX: usize = 20_000;

/// Pairs of group and topic with a lag of their own, the first ones in the order of names; the others are summed as [`OTHER_GROUPS`].
pub const GROUP_TOPICS_MAX: usize = 1000;

/// Value of `group` and of `topic` for all beyond [`GROUP_TOPICS_MAX`].
pub const OTHER_GROUPS: &str = "_other";

/// Committed offsets of a shard that are looked at.
pub const COMMITTED_LOOKED_AT_MAX: usize = 20_000;

/// Longest group id that becomes a label, in bytes.
pub const LABEL_BYTES_MAX: usize = 255;

/// Logs looked at before the shard's other work gets its turn.
pub const LOGS_PER_STEP: usize = 256;

/// Groups looked at before the shard's other work gets its turn, or those of one coordinator if they are more.
pub const GROUPS_PER_STEP: usize = 256;
