//! What a topic's configuration says about one log.

use std::time::Duration;

use crate::journal::JournalConfig;

/// Whose clock stamps records (`message.timestamp.type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimestampSource {
    /// The producer's.
    #[default]
    CreateTime,
    /// The broker's, at append.
    LogAppendTime,
}

/// Effective settings of one log; the defaults are Kafka's topic defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct LogConfig {
    /// `segment.bytes`: a segment is closed before it would grow beyond this, in bytes.
    pub segment_bytes: u64,
    /// `segment.ms`: a segment is closed when this old, in ms, counted from its first record's timestamp.
    pub segment_ms: u64,
    /// Subtracted from `segment_ms`, so that partitions made together don't roll together: drawn by the
    /// caller within `segment.jitter.ms`, in ms.
    pub segment_jitter_ms: u64,
    /// `segment.index.bytes`: a segment is closed when its offset or time index would grow beyond this, in
    /// bytes.
    pub segment_index_bytes: u32,
    /// `index.interval.bytes`: log bytes between two index entries.
    pub index_interval_bytes: u32,
    /// `ringlog.acks.all.sync`: data counts as durable when synced (true) or when written, as Kafka does
    /// (false). A log in sync mode syncs whenever anything is unsynced.
    pub sync: bool,
    /// `flush.messages`: sync when this many records are unsynced.
    pub flush_messages: u64,
    /// `flush.ms`: sync when a record has been unsynced this long; `None`, and more than a century: never by
    /// time.
    pub flush_after: Option<Duration>,
    /// `message.timestamp.type`.
    pub timestamps: TimestampSource,
    /// `cleanup.policy` has `delete`: old segments go by time and size.
    pub delete: bool,
    /// `retention.ms`: a segment goes when its newest record is older; `None` for never.
    pub retention_ms: Option<u64>,
    /// `retention.bytes`: the oldest segments go as long as those behind are so large together; `None` for no limit.
    pub retention_bytes: Option<u64>,
    /// `message.timestamp.after.max.ms`: how far timestamps may lie ahead of the clock. A segment whose newest timestamp
    /// lies ahead ages from its last write and so much more at the most.
    pub timestamp_after_max_ms: u64,
    /// `file.delete.delay.ms`: how long the files of a segment that went stay, renamed `.deleted`, in ms.
    pub file_delete_delay_ms: u64,
    /// `producer.id.expiration.ms`: producers idle for longer are forgotten by `Log::expire_producers`, in
    /// ms.
    pub producer_id_expiration_ms: u64,
    /// How the log is compacted; `None` if `cleanup.policy` doesn't have `compact`.
    pub compaction: Option<CompactionConfig>,
    /// Batches kept in memory for tail reads of this log after they are in the file, in bytes, within what
    /// [`LogDirConfig::tail_bytes_max`] leaves it.
    pub tail_bytes_max: usize,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self {
            segment_bytes: 1 << 30,
            segment_ms: 604_800_000,
            segment_jitter_ms: 0,
            segment_index_bytes: 10 << 20,
            index_interval_bytes: 4096,
            sync: true,
            flush_messages: u64::MAX,
            flush_after: None,
            timestamps: TimestampSource::CreateTime,
            delete: true,
            retention_ms: Some(604_800_000),
            retention_bytes: None,
            timestamp_after_max_ms: 3_600_000,
            file_delete_delay_ms: 60_000,
            producer_id_expiration_ms: 86_400_000,
            compaction: None,
            tail_bytes_max: usize::MAX,
        }
    }
}

impl LogConfig {
    /// At what age a segment is closed, in ms.
    pub(crate) fn segment_age_max_ms(&self) -> u64 {
        self.segment_ms.saturating_sub(self.segment_jitter_ms)
    }
}

/// How a log is compacted; the defaults are Kafka's topic defaults.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompactionConfig {
    /// `min.cleanable.dirty.ratio`: a log is compacted when more than this part of it is dirty, 0 to 1.
    pub min_cleanable_ratio: f64,
    /// `min.compaction.lag.ms`: records younger than this aren't compacted, in ms.
    pub min_lag_ms: u64,
    /// `max.compaction.lag.ms`: a log with a dirty record older than this is compacted however little of it is
    /// dirty, in ms.
    pub max_lag_ms: u64,
    /// `delete.retention.ms`: how long a tombstone stays once it was compacted, in ms.
    pub delete_retention_ms: u64,
}

impl Default for CompactionConfig {
    fn default() -> Self {
        Self {
            min_cleanable_ratio: 0.5,
            min_lag_ms: 0,
            max_lag_ms: i64::MAX as u64,
            delete_retention_ms: 86_400_000,
        }
    }
}

/// What compaction may take of one shard; the defaults are Kafka's, of all of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CleanerConfig {
    /// `log.cleaner.dedupe.buffer.size`, this shard's part: memory of the map of keys while a pass runs, in bytes.
    pub map_bytes: usize,
    /// `log.cleaner.io.buffer.load.factor`: how full the map may get, 0 to 1.
    pub map_load_factor: f64,
    /// `log.cleaner.io.max.bytes.per.second`, this shard's part: read and written.
    pub bytes_per_second: f64,
    /// Largest segment that several are made into, in bytes, what is compressed anew included. Positions have 31 bits.
    pub segment_bytes_max: u64,
}

impl Default for CleanerConfig {
    fn default() -> Self {
        Self {
            map_bytes: 128 << 20,
            map_load_factor: 0.9,
            bytes_per_second: f64::MAX,
            segment_bytes_max: i32::MAX as u64,
        }
    }
}

/// Settings of a log directory on one shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogDirConfig {
    /// Direct I/O on segments; without it the page cache stands between (`ringlog.direct.io`).
    pub direct_io: bool,
    /// Whether the directory was stopped cleanly, as [`crate::DirHome`] found it: then files are trusted,
    /// else scanned.
    pub clean: bool,
    /// Bytes of batches that may wait to be written, all logs together; beyond it reservations wait.
    pub unplaced_bytes_max: usize,
    /// Bytes of batches kept for tail readers, all logs together.
    pub tail_bytes_max: usize,
    /// Bytes of segments kept for catch-up readers, all logs together.
    pub cache_bytes_max: usize,
    /// The journal between the committer and the segments.
    pub journal: JournalConfig,
    /// `ringlog.disk.full.percent`: producers' batches are refused when so much of the disk is used.
    pub full_percent: u64,
    /// `ringlog.disk.enough.bytes`: they aren't while so many bytes are free.
    pub free_bytes_enough: u64,
    /// `ringlog.disk.ballast.bytes`: space that is given up when nothing is free; 0 for none.
    pub ballast_bytes: u64,
    /// Whether this shard makes the ballast and gives it up: one of a directory.
    pub keeps_ballast: bool,
    /// A rule to break, for the tests that show that it is needed.
    #[cfg(feature = "mutants")]
    pub mutant: Option<Mutant>,
}

/// A rule of the journal or of the segments that is broken on purpose (feature `mutants`).
#[cfg(feature = "mutants")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutant {
    /// The journal's space is freed when its bytes are in the segments, not when these are synced.
    FreeEarly,
    /// The logs are opened before the journals are replayed.
    ReplayAfterScan,
    /// Truncations, deletions and rolls leave no floor frame.
    NoFloorFrame,
    /// The journal's sync isn't waited for.
    AckBeforeFlush,
    /// A segment's last block is written again with something else before the new bytes.
    AnotherPrefix,
    /// A frame counts once it has arrived, whether those before it have or not.
    FramesOutOfOrder,
}

impl Default for LogDirConfig {
    fn default() -> Self {
        Self {
            direct_io: true,
            clean: false,
            unplaced_bytes_max: 32 << 20,
            tail_bytes_max: 64 << 20,
            cache_bytes_max: 32 << 20,
            journal: JournalConfig::default(),
            full_percent: 100,
            free_bytes_enough: u64::MAX,
            ballast_bytes: 0,
            keeps_ballast: false,
            #[cfg(feature = "mutants")]
            mutant: None,
        }
    }
}
