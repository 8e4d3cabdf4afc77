//! What a shard does with its logs now and then: old segments are closed and removed (`log.retention.check.interval.ms`).
//!
//! One log after another, one segment at a time, with a look at the shard's other work in between.

use std::rc::Rc;

use shards::{Partition, PartitionKey};
use storage::StorageError;

use super::state::ShardState;

/// Looks at the shard's logs for as long as it serves.
pub(super) async fn keep(shard: Rc<ShardState>) {
    let interval = shard.node.config.retention_check_interval;
    rt::sleep(shard.node.config.initial_task_delay.min(interval)).await;
    loop {
        each_partition(&shard, retain).await;
        rt::sleep(interval).await;
    }
}

/// Shows `visit` the partitions that the shard leads, one after another; those that come meanwhile may be left out.
pub(super) async fn each_partition(shard: &ShardState, visit: impl AsyncFn(&Partition)) {
    let keys: Vec<PartitionKey> = shard.partitions.borrow().keys().copied().collect();
    for key in keys {
        if let Some(partition) = shard.partition(&key).filter(|partition| !partition.is_offline()) {
            visit(&partition).await;
        }
        rt::yield_point().await;
    }
}

/// Closes the partition's active segment if it is old, and removes what needn't be kept.
async fn retain(partition: &Partition) {
    let log = partition.log();
    let now_ms = rt::unix_ms();
    let retained = match log.roll_if_old(now_ms).await {
        // The oldest segments go all the same: that makes space.
        Ok(()) | Err(StorageError::NoSpace) => log.retain(partition.high_watermark(), now_ms).await,
        Err(error) => Err(error),
    };
    match retained {
        Ok(()) => {}
        // It was closed or deleted meanwhile, or its directory failed, which is told there.
        Err(StorageError::Offline) => {}
        Err(error) => {
            tracing::warn!(partition = %log.partition(), %error, "old segments couldn't be closed or removed");
        }
    }
}
