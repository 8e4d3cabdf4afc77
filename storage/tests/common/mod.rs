//! What the storage tests share: batches, and a log directory in a few calls.
#![allow(dead_code, reason = "each test uses its part")]

use std::time::Duration;

use protocol::records::{BatchBuilder, Compression, RecordBatch};
use protocol::types::Uuid;
use storage::{
    DirHome, HomeConfig, JournalConfig, LeaderEpoch, Log, LogConfig, LogDir, LogDirConfig, LogSlice, Offset,
    Offsets, TopicPartition,
};

/// A batch of `count` records whose values start with `tag`; about `bytes` long.
pub(crate) fn batch(tag: u64, count: u32, bytes: usize, timestamp_ms: i64) -> RecordBatch {
    finish(fill(BatchBuilder::new(), tag, count, bytes, timestamp_ms))
}

/// A batch of an idempotent producer.
pub(crate) fn idempotent(
    tag: u64,
    count: u32,
    bytes: usize,
    timestamp_ms: i64,
    producer: (i64, i16, i32),
) -> RecordBatch {
    let builder = BatchBuilder::new().producer(producer.0, producer.1, producer.2);
    finish(fill(builder, tag, count, bytes, timestamp_ms))
}

/// A compressed batch with one timestamp per record.
pub(crate) fn stamped(timestamps_ms: &[i64]) -> RecordBatch {
    let mut builder = BatchBuilder::new().compression(Compression::Lz4);
    for timestamp_ms in timestamps_ms {
        builder.push(*timestamp_ms, None, Some(b"value of a record"), &[]);
    }
    finish(builder)
}

fn fill(mut builder: BatchBuilder, tag: u64, count: u32, bytes: usize, timestamp_ms: i64) -> BatchBuilder {
    let value_bytes = bytes / count as usize;
    for at in 0..count {
        let mut value = vec![at as u8; value_bytes.max(16)];
        value[..8].copy_from_slice(&tag.to_be_bytes());
        builder.push(timestamp_ms, None, Some(&value), &[]);
    }
    builder
}

fn finish(builder: BatchBuilder) -> RecordBatch {
    RecordBatch::parse(builder.build().unwrap()).unwrap()
}

/// The tag of a batch made by [`batch`].
pub(crate) fn tag_of(batch: &RecordBatch) -> u64 {
    let record = batch.records().next().unwrap().unwrap();
    u64::from_be_bytes(record.value.unwrap()[..8].try_into().unwrap())
}

/// Batches of a slice.
pub(crate) fn batches(slice: LogSlice) -> Vec<RecordBatch> {
    let mut whole = Vec::new();
    slice.bufs.iter().for_each(|buf| whole.extend_from_slice(buf));
    assert_eq!(whole.len(), slice.bytes);
    let mut rest = bytes::Bytes::from(whole);
    let mut batches = Vec::new();
    while !rest.is_empty() {
        batches.push(RecordBatch::split_from(&mut rest).unwrap());
    }
    batches
}

/// Everything from `from` to the end.
pub(crate) async fn read_all(log: &Log, from: Offset, bytes_max: usize) -> Vec<RecordBatch> {
    let (mut at, end, mut all) = (from, log.end_offset(), Vec::new());
    while at < end {
        let slice = log.read(at, end, bytes_max, true).await.unwrap();
        assert!(slice.next_offset > at || slice.bytes > 0, "no progress at {at} of {end}");
        at = slice.next_offset;
        all.extend(batches(slice));
    }
    all
}

pub(crate) fn partition() -> TopicPartition {
    TopicPartition::new("orders", 0)
}

/// A directory in use.
pub(crate) struct Open {
    pub(crate) home: DirHome,
    pub(crate) dir: LogDir,
    pub(crate) log: Log,
    pub(crate) clean: bool,
}

/// Opens the directory and its one log, which is made if need be.
pub(crate) async fn open(path: &str, config: LogConfig, dir_config: LogDirConfig) -> Open {
    let (home, facts) = DirHome::open(path, HomeConfig { node_id: 1, cluster_id: None }).await.unwrap();
    let clean = facts.clean;
    let exists = facts.partitions.contains(&partition());
    let dir = LogDir::open(path, facts, dir_config).await.unwrap();
    let log = match exists {
        true => dir.open_logs(vec![(partition(), config)]).await.unwrap().remove(0),
        false => dir.create_log(partition(), protocol::types::Uuid([3; 16]), config).await.unwrap(),
    };
    home.begin_use().await.unwrap();
    Open { home, dir, log, clean }
}

impl Open {
    pub(crate) async fn close(self) {
        let closed = self.dir.close().await;
        self.home.close(&[closed], &Offsets::new(), 7).await.unwrap();
    }
}

/// Appends without waiting for anything but space.
pub(crate) async fn append(log: &Log, batch: RecordBatch, epoch: i32) -> Offset {
    let reservation = log.reserve_batch(&batch).await.unwrap();
    log.append(reservation, batch, LeaderEpoch(epoch), rt::unix_ms()).unwrap().base_offset
}

/// A directory with a journal of so many bytes.
pub(crate) fn journal(bytes: u64, direct_bytes: usize, age_max: Duration) -> LogDirConfig {
    let journal = JournalConfig { shard: 1, bytes, direct_bytes, age_max };
    LogDirConfig { journal, ..LogDirConfig::default() }
}

/// A journal from which nothing goes to the segments by itself.
pub(crate) fn calm() -> LogDirConfig {
    journal(1 << 20, 64 << 10, Duration::from_secs(3_600))
}

/// So many logs, each of a topic of its own.
pub(crate) async fn many(dir: &LogDir, count: u8) -> Vec<Log> {
    let mut logs = Vec::new();
    for at in 0..count {
        let of = TopicPartition::new(format!("topic{at}"), 0);
        logs.push(dir.ensure_log(of, Uuid([at + 10; 16]), LogConfig::default()).await.unwrap());
    }
    logs
}

/// The tags of all batches in a log.
pub(crate) async fn tags(log: &Log) -> Vec<u64> {
    read_all(log, Offset(0), 1 << 20).await.iter().map(tag_of).collect()
}
