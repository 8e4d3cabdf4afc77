//! DeleteRecords: what comes before an offset isn't served any more (KIP-107).

use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::delete_records_request::DeleteRecordsPartition;
use protocol::messages::delete_records_response::{DeleteRecordsPartitionResult, DeleteRecordsTopicResult};
use protocol::messages::{DeleteRecordsRequest, DeleteRecordsResponse};

use super::partitions;
use crate::server::admin::{AdminAnswer, AdminPiece};
use crate::server::{RequestContext, ShardState};

/// Answers DeleteRecords 0-2. The new start of a log is durable when the answer leaves; there are no other replicas to wait for yet.
pub async fn handle(
    shard: &Rc<ShardState>,
    _context: &RequestContext,
    request: DeleteRecordsRequest,
) -> DeleteRecordsResponse {
    let mut topics = Vec::with_capacity(request.topics.len());
    for topic in request.topics {
        let name = topic.name.as_str();
        let delete = |partition: DeleteRecordsPartition| async move {
            let index = partition.partition_index;
            let deleted = delete(shard, name, index, partition.offset).await;
            DeleteRecordsPartitionResult {
                partition_index: index,
                low_watermark: deleted.unwrap_or(-1),
                error_code: deleted.err().unwrap_or(ErrorCode::NONE).code(),
                ..DeleteRecordsPartitionResult::default()
            }
        };
        let partitions = partitions::for_each(topic.partitions, delete).await;
        topics.push(DeleteRecordsTopicResult { name: topic.name, partitions, ..Default::default() });
    }
    DeleteRecordsResponse { topics, ..DeleteRecordsResponse::default() }
}

async fn delete(shard: &Rc<ShardState>, topic: &str, index: i32, offset: i64) -> Result<i64, ErrorCode> {
    let key = partitions::find(shard, topic, index)?;
    if shard.image.borrow().topic(topic).is_some_and(|topic| topic.is_internal()) {
        return Err(ErrorCode::INVALID_TOPIC_EXCEPTION);
    }
    // A log that is only compacted keeps the last record of each key for ever.
    if shard.topic_config(key.topic_id).is_some_and(|config| config.compact && !config.delete) {
        return Err(ErrorCode::POLICY_VIOLATION);
    }
    match partitions::ask(shard, &key, AdminPiece::DeleteRecords { key, offset }).await? {
        AdminAnswer::DeleteRecords(deleted) => deleted,
        _ => Err(ErrorCode::UNKNOWN_SERVER_ERROR),
    }
}
