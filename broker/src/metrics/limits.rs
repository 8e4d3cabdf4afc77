//! Bounds of what is told.

/// Topics with series of their own, the first ones of the node's life; the others are summed under [`OTHER_TOPICS`].
pub const TOPICS_MAX: usize = 1000;

/// Value of `topic` for all beyond [`TOPICS_MAX`].
pub const OTHER_TOPICS: &str = "_other";

/// Logs looked at before the shard's other work gets its turn.
pub const LOGS_PER_STEP: usize = 256;

/// Groups looked at before the shard's other work gets its turn, or those of one coordinator if they are more.
pub const GROUPS_PER_STEP: usize = 256;
