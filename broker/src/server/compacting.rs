//! Compaction on a shard: pass after pass while there is something to do, and then a pause (`log.cleaner.backoff.ms`).

use std::rc::Rc;
use std::time::Duration;

use shards::PartitionKey;
use storage::{CleanerConfig, Log, Offset};

use super::state::ShardState;
use crate::config::BrokerValues;
use crate::config::value;

/// Shortest pause, whatever is set: the logs needn't be looked at all the time.
const BACKOFF_MIN: Duration = Duration::from_millis(10);

/// Compacts for as long as the shard serves, unless `log.cleaner.enable` says no. Changed settings act on the next
/// pass, a changed rate on the one under way.
pub(super) async fn run(shard: Rc<ShardState>) {
    if value::boolean(shard.broker_values().text("log.cleaner.enable")) == Some(false) {
        tracing::warn!("logs aren't compacted: log.cleaner.enable is false");
        return;
    }
    loop {
        let cleaner = cleaner_config(&shard.broker_values(), shard.node.shards);
        let mut is_idle = true;
        for dir in shard.log_dirs.online() {
            let done = dir.compact_dirtiest(cleaner, |log| high_watermark(&shard, log)).await;
            is_idle &= done.is_none();
        }
        if is_idle {
            let backoff_ms = shard.broker_values().number("log.cleaner.backoff.ms");
            rt::sleep(Duration::from_millis(backoff_ms).max(BACKOFF_MIN)).await;
        }
        rt::yield_point().await;
    }
}

/// A changed rate acts on the pass that is under way.
pub(super) fn set_rate(shard: &ShardState) {
    let rate = cleaner_config(&shard.broker_values(), shard.node.shards).bytes_per_second;
    shard.log_dirs.online().for_each(|dir| dir.limit_compaction(rate));
}

/// This shard's part of what compaction may take of the node.
fn cleaner_config(values: &BrokerValues, shards: u16) -> CleanerConfig {
    let defaults = CleanerConfig::default();
    let double = |name, default| value::double(values.text(name)).unwrap_or(default);
    let map_bytes = usize::try_from(values.number("log.cleaner.dedupe.buffer.size")).unwrap_or(usize::MAX);
    CleanerConfig {
        map_bytes: map_bytes / usize::from(shards),
        map_load_factor: double("log.cleaner.io.buffer.load.factor", defaults.map_load_factor),
        bytes_per_second: double("log.cleaner.io.max.bytes.per.second", defaults.bytes_per_second)
            / f64::from(shards),
        ..defaults
    }
}

/// How far a log is replicated; `None` if this shard doesn't lead it.
fn high_watermark(shard: &ShardState, log: &Log) -> Option<Offset> {
    let key = PartitionKey { topic_id: log.topic_id(), partition: log.partition().partition };
    let partition = shard.partition(&key).filter(|partition| !partition.is_offline())?;
    Some(partition.high_watermark())
}

#[cfg(test)]
mod tests;
