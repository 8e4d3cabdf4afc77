//! Leading a partition on the shard that owns it: its log is opened or made, now or once that works.

use std::rc::Rc;
use std::time::Duration;

use protocol::types::Uuid;
use shards::{Partition, PartitionKey, Traffic};
use storage::{CompactionConfig, LeaderEpoch, Log, LogConfig, StorageError, TimestampSource, TopicPartition};

use super::groups;
use super::state::ShardState;
use crate::config::TopicConfig;
use crate::metadata::image::{OFFSETS_TOPIC, Topic};

/// After what time a log that couldn't be opened or made is tried again: at first, and at most.
const RETRY_PAUSE_MIN: Duration = Duration::from_secs(1);
const RETRY_PAUSE_MAX: Duration = Duration::from_secs(60);

/// A partition that the shard is to lead.
pub(super) struct Wanted {
    pub key: PartitionKey,
    pub topic: String,
    /// Id of its log directory, by the metadata.
    pub directory: Uuid,
    pub epoch: LeaderEpoch,
    pub config: Rc<TopicConfig>,
    pub traffic: Rc<Traffic>,
}

impl Wanted {
    /// What the metadata say of a partition; `None` if there is no such one.
    pub(super) fn of(
        shard: &ShardState,
        topic: &Topic,
        number: i32,
        config: Rc<TopicConfig>,
    ) -> Option<Wanted> {
        let partition = topic.partition(number)?;
        Some(Wanted {
            key: PartitionKey { topic_id: topic.id, partition: number },
            topic: topic.name.to_string(),
            directory: partition.directory_of(shard.node.config.node_id),
            epoch: LeaderEpoch(partition.leader_epoch),
            config,
            traffic: shard.metrics.topics.of(topic.id, &topic.name),
        })
    }

    fn name(&self) -> TopicPartition {
        TopicPartition::new(self.topic.clone(), self.key.partition)
    }
}

/// Leads the partition; with `coordinate` also the groups in it, if it holds any. While its log can't be opened or made, its clients get
/// KAFKA_STORAGE_ERROR, at which they come again.
pub(super) async fn lead(shard: &Rc<ShardState>, wanted: Wanted, coordinate: bool) {
    match log_of(shard, &wanted).await {
        Ok(log) => lead_log(shard, &wanted, log, coordinate),
        // Until a restart.
        Err(Unled::DirOffline(reason)) => {
            tell_offline(shard, &wanted, &reason);
            lead_without(shard, &wanted, reason);
        }
        Err(error @ Unled::Log(_)) => {
            tracing::error!(partition = %wanted.name(), %error, "the partition can't be served yet");
            if let Some(stand_in) = lead_without(shard, &wanted, error.to_string()) {
                shard.tasks.spawn(try_again(Rc::clone(shard), wanted, stand_in, coordinate));
            }
        }
    }
}

/// Why a partition can't be served.
#[derive(Debug, thiserror::Error)]
enum Unled {
    /// It may be in a log directory that is offline.
    #[error("{0}")]
    DirOffline(String),
    /// Its log can't be opened or made.
    #[error(transparent)]
    Log(#[from] StorageError),
}

fn lead_log(shard: &Rc<ShardState>, wanted: &Wanted, log: Log, coordinate: bool) {
    let partition = serve(shard, wanted, log);
    if coordinate && wanted.topic == OFFSETS_TOPIC {
        shard.coordinators.ensure(wanted.key.partition, partition);
        shard.tasks.spawn(groups::forget_deleted_topics(Rc::clone(shard), wanted.key.partition));
    }
}

/// An error a directory, not one a partition: there may be thousands in it.
fn tell_offline(shard: &ShardState, wanted: &Wanted, reason: &str) {
    let partition = wanted.name();
    if shard.log_dirs.is_news(reason) {
        tracing::error!(%partition, reason, "a partition can't be served, nor others for the same reason: these are told at level debug");
    } else {
        tracing::debug!(%partition, reason, "the partition can't be served");
    }
}

/// `None` if the shard has no directory at all, and so is about to end.
fn lead_without(shard: &Rc<ShardState>, wanted: &Wanted, reason: String) -> Option<Rc<Partition>> {
    let config = log_config(shard, &wanted.config);
    let dir = shard.log_dirs.of_stand_ins()?;
    let log = dir.unavailable_log(wanted.name(), wanted.key.topic_id, config, reason);
    Some(serve(shard, wanted, log))
}

fn serve(shard: &Rc<ShardState>, wanted: &Wanted, log: Log) -> Rc<Partition> {
    let partition = Rc::new(Partition::lead(wanted.key, log, wanted.epoch, Rc::clone(&wanted.traffic)));
    shard.partitions.borrow_mut().insert(wanted.key, Rc::clone(&partition));
    // Who waits for this one needn't wait for the others of the change.
    shard.served_moved.notify_waiters();
    partition
}

/// Tries to open or make the log, seldomer and seldomer, for as long as `stand_in` is what the shard serves.
async fn try_again(shard: Rc<ShardState>, mut wanted: Wanted, stand_in: Rc<Partition>, coordinate: bool) {
    let mut pause = RETRY_PAUSE_MIN;
    loop {
        rt::sleep(pause).await;
        pause = (pause * 2).min(RETRY_PAUSE_MAX);
        if !shard.serves(&stand_in) {
            return;
        }
        if let Some(config) = shard.topic_config(wanted.key.topic_id) {
            wanted.config = config;
        }
        match log_of(&shard, &wanted).await {
            // The topic may have been deleted, or be led in a later epoch, since it was asked for.
            Ok(log) if shard.serves(&stand_in) => return lead_log(&shard, &wanted, log, coordinate),
            // Whoever deleted the topic met a log that was being opened, and comes again.
            Ok(_) => return,
            Err(error) => {
                tracing::debug!(partition = %wanted.name(), %error, "the partition still can't be served");
            }
        }
    }
}

async fn log_of(shard: &Rc<ShardState>, wanted: &Wanted) -> Result<Log, Unled> {
    // A move may have its copy in place already: what is served counts until it is done.
    if let Some(served) = shard.partition(&wanted.key).filter(|served| !served.is_offline()) {
        return Ok(served.log());
    }
    let name = wanted.name();
    match shard.log_dirs.log(&name) {
        Some((_, log)) if log.topic_id() == wanted.key.topic_id => return Ok(log),
        // A damaged one that doesn't tell its topic is kept open, offline.
        Some((_, log)) if log.topic_id() == Uuid::ZERO => return Ok(log),
        // Of a topic that was deleted: the full disk kept its files, say. Names are unique, so nobody else wants it.
        Some((dir, _)) if dir.failure().is_none() => dir.delete_log(&name).await?,
        // In a directory that failed it is out of everybody's way.
        Some(_) | None => {}
    }
    let dir = shard.log_dirs.place_of(&wanted.key, wanted.directory).map_err(Unled::DirOffline)?;
    let config = log_config(shard, &wanted.config);
    Ok(dir.ensure_log(name, wanted.key.topic_id, config).await?)
}

/// A topic's config as its logs take it.
pub(super) fn log_config(shard: &Rc<ShardState>, config: &TopicConfig) -> LogConfig {
    LogConfig {
        segment_bytes: config.segment_bytes,
        // As in Kafka: what isn't in a closed segment isn't compacted.
        segment_ms: match config.compact {
            true => config.segment_ms.min(config.max_compaction_lag_ms),
            false => config.segment_ms,
        },
        segment_jitter_ms: match config.segment_jitter_ms {
            0 => 0,
            jitter_ms => rt::random_u64() % jitter_ms,
        },
        segment_index_bytes: config.segment_index_bytes,
        index_interval_bytes: config.index_interval_bytes,
        sync: config.acks_all_sync,
        flush_messages: config.flush_messages,
        // Kafka's default is the largest number, and means never.
        flush_after: Some(config.flush_ms).filter(|ms| *ms < i64::MAX as u64).map(Duration::from_millis),
        timestamps: if config.log_append_time {
            TimestampSource::LogAppendTime
        } else {
            TimestampSource::CreateTime
        },
        delete: config.delete,
        retention_ms: config.retention_ms,
        retention_bytes: config.retention_bytes,
        timestamp_after_max_ms: u64::try_from(config.timestamp_after_max_ms).unwrap_or_default(),
        compaction: config.compact.then_some(CompactionConfig {
            min_cleanable_ratio: config.min_cleanable_dirty_ratio,
            min_lag_ms: config.min_compaction_lag_ms,
            max_lag_ms: config.max_compaction_lag_ms,
            delete_retention_ms: config.delete_retention_ms,
        }),
        file_delete_delay_ms: config.file_delete_delay_ms,
        producer_id_expiration_ms: shard.broker_values().number("producer.id.expiration.ms"),
        ..LogConfig::default()
    }
}
