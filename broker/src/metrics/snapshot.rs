//! [`ShardSnapshot`]: what one shard counted, as plain data that can leave it.

use std::rc::Rc;

use rt::TimeCounts;
use storage::{DirMemory, Log, LogDir, MemoryUse, Room};

use super::apis::ApiNumbers;
use super::limits::{LOGS_PER_STEP, PARTITIONS_LOOKED_AT_MAX};
use super::positions::PartitionNumbers;
use super::topics::TopicNumbers;
use crate::server::ShardState;
use crate::server::groups::GroupNumbers;

/// One shard's numbers at one moment, or at a few close to each other: reading them lets the shard's work go on in between.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShardSnapshot {
    /// Pieces handled on the shard they came from.
    pub pieces_local: u64,
    /// Pieces sent to another shard.
    pub pieces_remote: u64,
    /// Connections, now and since the start.
    pub connections: ConnectionNumbers,
    /// Requests of its connections.
    pub apis: Vec<ApiNumbers>,
    /// See [`super::ShardMetrics::append`].
    pub append: TimeCounts,
    /// See [`super::ShardMetrics::flush`].
    pub durable: TimeCounts,
    /// Traffic of its partitions.
    pub topics: Vec<TopicNumbers>,
    /// What its logs did.
    pub log: LogNumbers,
    /// Its parts of the log directories, in the order of `log.dirs`.
    pub dirs: Vec<DirNumbers>,
    /// Partitions it leads, at most [`PARTITIONS_LOOKED_AT_MAX`].
    pub partitions: Vec<PartitionNumbers>,
    /// Memory budgets by name.
    pub memory: Vec<(&'static str, MemoryUse)>,
    /// The metadata it serves.
    pub metadata: MetadataNumbers,
    /// Incremental fetch sessions.
    pub fetch_sessions: u64,
    /// Groups of its coordinators.
    pub groups: GroupNumbers,
}

/// Of the shard's connections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ConnectionNumbers {
    /// Open now.
    pub open: u64,
    /// Given to the shard.
    pub adopted: u64,
    /// Closed because the peer broke the protocol.
    pub violations: u64,
    /// Closed because they were idle.
    pub idle: u64,
}

/// See [`storage::DirStats`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogNumbers {
    /// Batches appended.
    pub appended_batches: u64,
    /// Records appended.
    pub appended_records: u64,
    /// Bytes appended.
    pub appended_bytes: u64,
    /// Records written.
    pub written_records: u64,
    /// Records synced.
    pub synced_records: u64,
    /// Bytes written to the device.
    pub device_bytes: u64,
    /// Bytes written to the journal.
    pub journal_bytes: u64,
    /// Logs that the journal had no room for, each time.
    pub journal_refused_logs: u64,
    /// Times that the journal was freed.
    pub journal_checkpoints: u64,
    /// Segments that retention removed.
    pub deleted_segments: u64,
    /// Their size, in bytes.
    pub deleted_bytes: u64,
    /// Compaction passes.
    pub compaction_passes: u64,
    /// Those that ended early.
    pub compaction_failed_passes: u64,
    /// Bytes read by compaction.
    pub compaction_read_bytes: u64,
    /// Bytes written by compaction.
    pub compaction_written_bytes: u64,
    /// Records that compaction took out.
    pub compaction_removed_records: u64,
    /// Segments that compaction replaced.
    pub compaction_replaced_segments: u64,
    /// The dirty part of the dirtiest log, in thousandths.
    pub compaction_dirtiest_permille: u64,
    /// Since compaction last looked at the logs, in ms; `None` before it has.
    pub compaction_looked_ms_ago: Option<u64>,
    /// Group flushes.
    pub flush: TimeCounts,
    /// Their syncs.
    pub sync: TimeCounts,
}

/// Of the shard's logs in one directory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DirNumbers {
    /// Logs.
    pub partitions: u64,
    /// Those that are offline.
    pub offline_partitions: u64,
    /// Their segments.
    pub segments: u64,
    /// Size of these, in bytes.
    pub bytes: u64,
    /// Those that can't be compacted.
    pub uncleanable_partitions: u64,
    /// Producers remembered.
    pub producers: u64,
    /// Whether the directory failed.
    pub is_offline: bool,
    /// Its disk.
    pub room: Room,
}

/// Of the shard's image.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MetadataNumbers {
    /// Served up to this offset of the metadata log.
    pub offset: i64,
    /// Topics.
    pub topics: u64,
    /// Partitions.
    pub partitions: u64,
}

/// Reads the shard's cells.
pub async fn snapshot(shard: &Rc<ShardState>) -> ShardSnapshot {
    let (dirs, groups) = (dirs(shard).await, shard.coordinators.numbers().await);
    // After the groups: what was committed since then is below these.
    let partitions = partitions(shard).await;
    let pieces = shard.mesh.stats();
    ShardSnapshot {
        pieces_local: pieces.local.get(),
        pieces_remote: pieces.remote.get(),
        connections: connections(shard),
        apis: shard.metrics.apis.numbers(),
        append: shard.metrics.append.counts(),
        durable: shard.metrics.flush.counts(),
        topics: shard.metrics.topics.numbers(),
        log: log(shard),
        dirs,
        partitions,
        memory: memory(shard),
        metadata: metadata(shard),
        fetch_sessions: shard.fetch_sessions.len() as u64,
        groups,
    }
}

fn connections(shard: &ShardState) -> ConnectionNumbers {
    let counts = &shard.network.counts;
    ConnectionNumbers {
        open: shard.network.open_count() as u64,
        adopted: counts.adopted.get(),
        violations: counts.violations.get(),
        idle: counts.idle.get(),
    }
}

/// All directories together.
fn log(shard: &ShardState) -> LogNumbers {
    let mut all = LogNumbers::default();
    shard.log_dirs.opened().for_each(|dir| all.add(dir));
    all
}

impl LogNumbers {
    fn add(&mut self, dir: &LogDir) {
        let stats = dir.stats();
        let counts = [
            (&mut self.appended_batches, &stats.appended_batches),
            (&mut self.appended_records, &stats.appended_records),
            (&mut self.appended_bytes, &stats.appended_bytes),
            (&mut self.written_records, &stats.written_records),
            (&mut self.synced_records, &stats.synced_records),
            (&mut self.device_bytes, &stats.device_bytes),
            (&mut self.journal_bytes, &stats.journal_bytes),
            (&mut self.journal_refused_logs, &stats.journal_refused_logs),
            (&mut self.journal_checkpoints, &stats.journal_checkpoints),
            (&mut self.deleted_segments, &stats.deleted_segments),
            (&mut self.deleted_bytes, &stats.deleted_bytes),
            (&mut self.compaction_passes, &stats.compaction_passes),
            (&mut self.compaction_failed_passes, &stats.compaction_failed_passes),
            (&mut self.compaction_read_bytes, &stats.compaction_read_bytes),
            (&mut self.compaction_written_bytes, &stats.compaction_written_bytes),
            (&mut self.compaction_removed_records, &stats.compaction_removed_records),
            (&mut self.compaction_replaced_segments, &stats.compaction_replaced_segments),
        ];
        for (sum, count) in counts {
            *sum += count.get();
        }
        let dirtiest_permille = (dir.compaction_dirtiest() * 1_000.0) as u64;
        self.compaction_dirtiest_permille = self.compaction_dirtiest_permille.max(dirtiest_permille);
        let looked_ms_ago = dir.compaction_looked_at().map(|at| (rt::now() - at).as_millis());
        let looked_ms_ago = looked_ms_ago.map(|ms| u64::try_from(ms).unwrap_or(u64::MAX));
        // The longest ago counts.
        self.compaction_looked_ms_ago = self.compaction_looked_ms_ago.max(looked_ms_ago);
        self.flush.add(&stats.flush_time.counts());
        self.sync.add(&stats.sync_time.counts());
    }
}

async fn dirs(shard: &ShardState) -> Vec<DirNumbers> {
    let mut all = Vec::new();
    for (_, dir) in shard.log_dirs.all() {
        let room = dir.opened().map_or_else(Room::default, LogDir::room);
        let is_offline = dir.failure().is_some();
        let logs = dir.opened().map(LogDir::logs).unwrap_or_default();
        all.push(DirNumbers { is_offline, room, ..of_logs(&logs).await });
    }
    all
}

/// Some logs at a time: ten thousand of them at once would hold up the shard for a millisecond.
async fn of_logs(logs: &[Log]) -> DirNumbers {
    let mut dir = DirNumbers::default();
    for logs in logs.chunks(LOGS_PER_STEP) {
        for log in logs {
            dir.partitions += 1;
            dir.offline_partitions += u64::from(log.is_offline());
            dir.uncleanable_partitions += u64::from(log.is_uncleanable());
            dir.segments += log.segment_count() as u64;
            dir.bytes += log.size_bytes();
            dir.producers += log.producer_count() as u64;
        }
        rt::yield_point().await;
    }
    dir
}

async fn partitions(shard: &ShardState) -> Vec<PartitionNumbers> {
    let led: Vec<_> = shard.partitions.borrow().values().take(PARTITIONS_LOOKED_AT_MAX).cloned().collect();
    let mut numbers = Vec::with_capacity(led.len());
    for partitions in led.chunks(LOGS_PER_STEP) {
        numbers.extend(partitions.iter().map(|partition| {
            let log = partition.log();
            let name = log.partition();
            PartitionNumbers {
                topic: name.topic.clone(),
                partition: name.partition,
                start_offset: log.start_offset().0,
                high_watermark: partition.high_watermark().0,
            }
        }));
        rt::yield_point().await;
    }
    numbers
}

fn memory(shard: &ShardState) -> Vec<(&'static str, MemoryUse)> {
    let (network, dir) = (&shard.network, dir_memory(shard));
    let fill = |budget: &rt::sync::Budget| MemoryUse {
        used_bytes: budget.used(),
        capacity_bytes: budget.capacity(),
    };
    vec![
        ("requests_small", fill(&network.small_request_memory)),
        ("requests_large", fill(&network.large_request_memory)),
        ("responses", fill(&network.response_memory)),
        ("unplaced", dir.unplaced),
        ("tail", dir.tail),
        ("cache", dir.cache),
        ("indexes", dir.indexes),
        ("compaction", dir.compaction),
    ]
}

/// All directories together.
fn dir_memory(shard: &ShardState) -> DirMemory {
    let mut all = DirMemory::default();
    let add = |sum: &mut MemoryUse, one: MemoryUse| {
        sum.used_bytes += one.used_bytes;
        sum.capacity_bytes += one.capacity_bytes;
    };
    for dir in shard.log_dirs.opened().map(LogDir::memory) {
        add(&mut all.unplaced, dir.unplaced);
        add(&mut all.tail, dir.tail);
        add(&mut all.cache, dir.cache);
        add(&mut all.indexes, dir.indexes);
        // One pass at a time, whatever the directory.
        let capacity_bytes = all.compaction.capacity_bytes.max(dir.compaction.capacity_bytes);
        add(&mut all.compaction, dir.compaction);
        all.compaction.capacity_bytes = capacity_bytes;
    }
    all
}

fn metadata(shard: &ShardState) -> MetadataNumbers {
    let image = shard.image.borrow();
    MetadataNumbers {
        offset: shard.served_offset.get(),
        topics: image.topic_count() as u64,
        partitions: image.partition_count() as u64,
    }
}
