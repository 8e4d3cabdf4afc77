//! DescribeLogDirs: what lies in the log directories, and how much room is left (KIP-113, KIP-827).

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use futures_util::future::join_all;
use protocol::error::ErrorCode;
use protocol::messages::describe_log_dirs_request::DescribableLogDirTopic;
use protocol::messages::describe_log_dirs_response::{
    DescribeLogDirsPartition, DescribeLogDirsResult, DescribeLogDirsTopic,
};
use protocol::messages::{DescribeLogDirsRequest, DescribeLogDirsResponse};
use protocol::types::Str;
use rt::ShardId;

use crate::metadata::limits::TOPIC_NAME_LEN_MAX;
use crate::server::admin::{AdminAnswer, AdminPiece, LogSize};
use crate::server::log_dirs::ShardDir;
use crate::server::{Answer, Piece, RequestContext, ShardState};

/// Answers DescribeLogDirs 1-5.
pub async fn handle(
    shard: &Rc<ShardState>,
    _context: &RequestContext,
    request: DescribeLogDirsRequest,
) -> DescribeLogDirsResponse {
    let wanted = match request.topics {
        Some(topics) => Some(wanted(topics).await),
        None => None,
    };
    let mut dirs: BTreeMap<usize, BTreeMap<Str, Vec<DescribeLogDirsPartition>>> = BTreeMap::new();
    for log in sizes(shard).await {
        if wanted.as_ref().is_none_or(|wanted| wanted.contains(&(log.topic.clone(), log.partition))) {
            let topics = dirs.entry(log.dir).or_default();
            topics.entry(log.topic.clone()).or_default().push(told(&log));
        }
    }
    let mut results = Vec::new();
    for (index, dir) in shard.log_dirs.all() {
        results.push(result(dir, dirs.remove(&index).unwrap_or_default()).await);
    }
    DescribeLogDirsResponse { results, ..DescribeLogDirsResponse::default() }
}

/// A directory; of one that is offline no more than that, as Kafka tells it.
async fn result(
    dir: &ShardDir,
    topics: BTreeMap<Str, Vec<DescribeLogDirsPartition>>,
) -> DescribeLogDirsResult {
    let log_dir = Str::from(dir.told_path());
    let result = DescribeLogDirsResult { log_dir, ..DescribeLogDirsResult::default() };
    if dir.failure().is_some() {
        let error_code = ErrorCode::KAFKA_STORAGE_ERROR.code();
        return DescribeLogDirsResult { error_code, ..result };
    }
    let topics = topics.into_iter().map(|(name, mut partitions)| {
        partitions.sort_by_key(|partition| (partition.partition_index, partition.is_future_key));
        DescribeLogDirsTopic { name, partitions, ..DescribeLogDirsTopic::default() }
    });
    let topics = topics.collect();
    let space = rt::fs::space(dir.path()).await;
    let bytes = |of: fn(&rt::fs::Space) -> u64| {
        space.as_ref().map_or(-1, |space| i64::try_from(of(space)).unwrap_or(i64::MAX))
    };
    let (total_bytes, usable_bytes) = (bytes(|space| space.total_bytes), bytes(|space| space.free_bytes));
    DescribeLogDirsResult { topics, total_bytes, usable_bytes, ..result }
}

async fn wanted(topics: Vec<DescribableLogDirTopic>) -> BTreeSet<(Str, i32)> {
    let mut wanted = BTreeSet::new();
    // A longer name is no topic's, and would be compared for each partition.
    let possible = topics.into_iter().filter(|topic| topic.topic.len() <= TOPIC_NAME_LEN_MAX);
    for DescribableLogDirTopic { topic, partitions, .. } in possible {
        for partition in partitions {
            wanted.insert((topic.clone(), partition));
            rt::yield_point().await;
        }
    }
    wanted
}

async fn sizes(shard: &Rc<ShardState>) -> Vec<LogSize> {
    let shards = (0..shard.node.shards).map(ShardId);
    let asked = shards.map(|peer| shard.call(peer, Piece::Admin(AdminPiece::LogSizes)));
    let answers = join_all(asked.collect::<Vec<_>>()).await;
    let sizes = answers.into_iter().filter_map(|answer| match answer {
        Answer::Admin(AdminAnswer::LogSizes(sizes)) => Some(sizes),
        _ => None,
    });
    sizes.flatten().collect()
}

fn told(log: &LogSize) -> DescribeLogDirsPartition {
    DescribeLogDirsPartition {
        partition_index: log.partition,
        partition_size: i64::try_from(log.bytes).unwrap_or(i64::MAX),
        // This node leads what it has: only what is on its way to another directory lags.
        offset_lag: i64::try_from(log.future_lag.unwrap_or_default()).unwrap_or(i64::MAX),
        is_future_key: log.future_lag.is_some(),
        ..DescribeLogDirsPartition::default()
    }
}
