//! AlterReplicaLogDirs: partitions go to other log directories of this broker (KIP-113).

use std::collections::BTreeMap;
use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::alter_replica_log_dirs_response::{
    AlterReplicaLogDirPartitionResult, AlterReplicaLogDirTopicResult,
};
use protocol::messages::{AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse};
use protocol::types::Str;

use super::partitions;
use crate::server::admin::{AdminAnswer, AdminPiece};
use crate::server::{RequestContext, ShardState};

/// Length of a directory's name, at most, in bytes.
const DIR_NAME_BYTES_MAX: usize = 255;
/// What a directory's name has beside topic and number while it is being filled, in bytes: `-`, `.`, 32 digits, `-future`.
const FUTURE_NAME_BYTES: usize = 1 + 1 + 32 + 7;

/// Answers AlterReplicaLogDirs 1-2. What was asked for is begun when the answer leaves; DescribeLogDirs tells how far it is.
pub async fn handle(
    shard: &Rc<ShardState>,
    _context: &RequestContext,
    request: AlterReplicaLogDirsRequest,
) -> AlterReplicaLogDirsResponse {
    // Of a partition that is named twice the last place counts, as in Kafka.
    let mut wanted: BTreeMap<(Str, i32), Str> = BTreeMap::new();
    for dir in request.dirs {
        for topic in dir.topics {
            for partition in topic.partitions {
                wanted.insert((topic.name.clone(), partition), dir.path.clone());
                rt::yield_point().await;
            }
        }
    }
    let each = |((topic, partition), path): ((Str, i32), Str)| async move {
        let code = alter(shard, &topic, partition, &path).await;
        (
            topic,
            AlterReplicaLogDirPartitionResult {
                partition_index: partition,
                error_code: code.err().unwrap_or(ErrorCode::NONE).code(),
                ..Default::default()
            },
        )
    };
    let mut results: Vec<AlterReplicaLogDirTopicResult> = Vec::new();
    for (topic_name, result) in partitions::for_each(wanted, each).await {
        match results.last_mut().filter(|last| last.topic_name == topic_name) {
            Some(last) => last.partitions.push(result),
            None => {
                let partitions = vec![result];
                results.push(AlterReplicaLogDirTopicResult { topic_name, partitions, ..Default::default() });
            }
        }
    }
    AlterReplicaLogDirsResponse { results, ..Default::default() }
}

async fn alter(shard: &Rc<ShardState>, topic: &str, partition: i32, path: &str) -> Result<(), ErrorCode> {
    if topic.len() + partition.to_string().len() + FUTURE_NAME_BYTES > DIR_NAME_BYTES_MAX {
        return Err(ErrorCode::INVALID_TOPIC_EXCEPTION);
    }
    let (to, is_online) = {
        let dir = shard.log_dirs.at_path(path).ok_or(ErrorCode::LOG_DIR_NOT_FOUND)?;
        (dir.0, dir.1.online().is_some())
    };
    if !is_online {
        return Err(ErrorCode::KAFKA_STORAGE_ERROR);
    }
    let unavailable = |_| ErrorCode::REPLICA_NOT_AVAILABLE;
    let key = partitions::find(shard, topic, partition).map_err(unavailable)?;
    match partitions::ask(shard, &key, AdminPiece::MoveLog { key, to }).await.map_err(unavailable)? {
        AdminAnswer::MoveLog(ErrorCode::NONE) => Ok(()),
        AdminAnswer::MoveLog(code) => Err(code),
        _ => Err(ErrorCode::UNKNOWN_SERVER_ERROR),
    }
}
