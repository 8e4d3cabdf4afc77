//! Who reads, and how.

use serde::{Deserialize, Serialize};

/// Consumers. Each has its own connections and lives on one core.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConsumeSpec {
    /// How many, each group; without groups they share the partitions out among themselves.
    pub consumers: u32,
    /// Consumer groups (the classic protocol), each of which reads everything. 0: plain partitions.
    pub groups: u32,
    /// How often everything is read without groups: fan-out.
    pub copies: u32,
    /// Where to begin.
    pub from: From,
    /// Bytes of an answer, at the most.
    pub fetch_bytes: u32,
    /// Bytes of a partition in an answer, at the most.
    pub partition_fetch_bytes: u32,
    /// Bytes for which the broker waits.
    pub fetch_min_bytes: u32,
    /// How long it waits for them, in ms.
    pub fetch_wait_ms: u32,
    /// Reads only what is committed (`isolation.level=read_committed`).
    pub read_committed: bool,
    /// Looks at every record, not only at batches: dearer; what an open loop does in any case.
    pub each_record: bool,
    /// How often members of a group commit, in ms.
    pub commit_ms: u32,
    /// Without sign of life for this long a member is out of its group, in ms.
    pub session_timeout_ms: u32,
}

impl Default for ConsumeSpec {
    fn default() -> Self {
        Self {
            consumers: 1,
            groups: 0,
            copies: 1,
            from: From::default(),
            fetch_bytes: 50 << 20,
            partition_fetch_bytes: 1 << 20,
            fetch_min_bytes: 1,
            fetch_wait_ms: 500,
            read_committed: false,
            each_record: false,
            commit_ms: 5000,
            session_timeout_ms: 45_000,
        }
    }
}

/// Where consumers begin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum From {
    /// The first record that is there.
    #[default]
    Start,
    /// What comes after the line has begun.
    End,
}

/// Most consumers of a line.
const CONSUMERS_MAX: u64 = 100_000;

impl ConsumeSpec {
    /// All consumers of all groups or copies.
    pub fn total(&self) -> u64 {
        u64::from(self.consumers) * u64::from(self.groups.max(self.copies).max(1))
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if self.consumers == 0 || self.copies == 0 || self.total() > CONSUMERS_MAX {
            return Err(format!("consumers and copies: at least 1, {CONSUMERS_MAX} all together"));
        }
        if self.groups > 0 && self.copies > 1 {
            return Err("copies are for plain partitions: every group reads everything anyway".into());
        }
        let bytes = [self.fetch_bytes, self.partition_fetch_bytes, self.fetch_min_bytes];
        if bytes.iter().any(|bytes| *bytes > 1 << 30) || self.fetch_wait_ms > 60_000 {
            return Err("fetch sizes are at most 1 GiB, fetch_wait_ms at most 60000".into());
        }
        if self.commit_ms == 0 || !(1000..=1_800_000).contains(&self.session_timeout_ms) {
            return Err("commit_ms is above 0, session_timeout_ms 1000 to 1800000".into());
        }
        Ok(())
    }
}
