//! A node in which everything has happened.

use std::time::Duration;

use protocol::api::ApiKey;
use protocol::error::ErrorCode;
use protocol::types::Str;
use rt::{ProcessUsage, TimeCounts, TimeHistogram};
use storage::{MemoryUse, Room};

use crate::metrics::{
    ApiCounters, ApiIndex, CommittedNumbers, ConnectionNumbers, DirNumbers, LogNumbers, MetadataNumbers,
    NodeFacts, PartitionNumbers, ShardSnapshot, Stage, TopicNumbers, render,
};
use crate::server::groups::GroupNumbers;

/// The text of a node with these shards.
pub(super) fn text_of(shards: &[Option<Box<ShardSnapshot>>]) -> String {
    let usage = ProcessUsage {
        cpu: Duration::from_millis(1_250),
        resident_bytes: 4096,
        open_files: 5,
        open_files_max: Some(1024),
        threads: 3,
    };
    let node = NodeFacts { node_id: 1, log_dirs: vec!["/data".into(), "/more".into()], start_ms: 2_000 };
    render(&node, shards, Some(&usage))
}

/// The text of two shards alike.
pub(super) fn sample() -> String {
    text_of(&[Some(Box::new(shard())), Some(Box::new(shard()))])
}

/// A shard whose every number is another one.
pub(super) fn shard() -> ShardSnapshot {
    ShardSnapshot {
        pieces_local: 101,
        pieces_remote: 102,
        connections: ConnectionNumbers { open: 103, adopted: 104, violations: 105, idle: 106 },
        apis: apis().numbers(),
        append: times(3),
        durable: times(4),
        topics: vec![topic("orders", 200), topic("_other", 210)],
        log: LogNumbers {
            appended_batches: 301,
            appended_records: 302,
            appended_bytes: 303,
            written_records: 304,
            synced_records: 305,
            device_bytes: 306,
            journal_bytes: 307,
            journal_refused_logs: 308,
            journal_checkpoints: 309,
            deleted_segments: 310,
            deleted_bytes: 311,
            compaction_passes: 320,
            compaction_failed_passes: 321,
            compaction_read_bytes: 322,
            compaction_written_bytes: 323,
            compaction_removed_records: 324,
            compaction_replaced_segments: 325,
            compaction_dirtiest_permille: 326,
            compaction_looked_ms_ago: Some(327),
            flush: times(5),
            sync: times(6),
        },
        dirs: vec![
            DirNumbers {
                partitions: 401,
                offline_partitions: 402,
                segments: 403,
                uncleanable_partitions: 406,
                bytes: 404,
                producers: 405,
                is_offline: true,
                room: Room { total_bytes: 406, free_bytes: 407, refuses_writes: true },
            },
            DirNumbers { partitions: 408, ..DirNumbers::default() },
        ],
        partitions: vec![partition("orders", 0, 1000, 1010)],
        memory: vec![("tail", MemoryUse { used_bytes: 501, capacity_bytes: 502 })],
        metadata: MetadataNumbers { offset: 601, topics: 602, partitions: 603 },
        fetch_sessions: 701,
        groups: GroupNumbers {
            states: [801, 802, 803, 804],
            loading: 805,
            active: 806,
            lost: 807,
            committed: vec![committed("billing", "orders", 0, 1001)],
        },
    }
}

/// A partition from `start_offset` to `high_watermark`.
pub(super) fn partition(
    topic: &str,
    partition: i32,
    start_offset: i64,
    high_watermark: i64,
) -> PartitionNumbers {
    PartitionNumbers { topic: topic.into(), partition, start_offset, high_watermark }
}

/// What a group has committed.
pub(super) fn committed(group: &str, topic: &str, partition: i32, offset: i64) -> CommittedNumbers {
    CommittedNumbers { group: Str::from(group), topic: Str::from(topic), partition, offset }
}

fn apis() -> ApiCounters {
    let apis = ApiCounters::default();
    let produce = apis.of(ApiIndex::of(ApiKey::Produce).unwrap());
    produce.requests.set(901);
    produce.request_bytes.set(902);
    produce.response_bytes.set(903);
    produce.total.record(Duration::from_millis(2));
    produce.stage(Stage::Route).record(Duration::from_millis(1));
    produce.count_error(ErrorCode::MESSAGE_TOO_LARGE);
    produce.count_error(ErrorCode::NONE);
    apis
}

fn times(events: u64) -> TimeCounts {
    let times = TimeHistogram::default();
    (0..events).for_each(|_| times.record(Duration::from_millis(3)));
    times.counts()
}

fn topic(name: &'static str, first: u64) -> TopicNumbers {
    TopicNumbers {
        name: Str::from_static(name),
        records_in: first,
        bytes_in: first + 1,
        records_out: first + 2,
        bytes_out: first + 3,
    }
}
