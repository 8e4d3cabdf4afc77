//! Topics that the broker makes for itself.

use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::CreateTopicsRequest;
use protocol::messages::create_topics_request::{CreatableTopic, CreatableTopicConfig};
use protocol::types::Str;

use super::controller;
use crate::metadata::image::OFFSETS_TOPIC;
use crate::server::ShardState;

/// Copies of it, if nothing is set and there are brokers enough.
const REPLICAS_WANTED: usize = 3;

/// How `__consumer_offsets` is to be.
pub(super) fn offsets_topic(shard: &Rc<ShardState>) -> CreatableTopic {
    let settings = &shard.node.config.offsets_topic;
    let brokers = shard.image.borrow().brokers.values().filter(|broker| broker.is_active()).count();
    let replicas = brokers.clamp(1, REPLICAS_WANTED) as i16;
    let config = |name: &'static str, value: String| CreatableTopicConfig {
        name: Str::from_static(name),
        value: Some(Str::from(value)),
        ..CreatableTopicConfig::default()
    };
    CreatableTopic {
        name: Str::from_static(OFFSETS_TOPIC),
        num_partitions: settings.num_partitions,
        replication_factor: settings.replication_factor.unwrap_or(replicas),
        configs: vec![
            config("cleanup.policy", "compact".to_string()),
            config("compression.type", "producer".to_string()),
            config("segment.bytes", settings.segment_bytes.to_string()),
        ],
        ..CreatableTopic::default()
    }
}

/// Makes `__consumer_offsets` unless it is there.
///
/// # Errors
/// It couldn't be made.
pub(super) async fn ensure_offsets_topic(shard: &Rc<ShardState>) -> Result<(), ErrorCode> {
    if shard.image.borrow().topic(OFFSETS_TOPIC).is_some() {
        return Ok(());
    }
    let request =
        CreateTopicsRequest { topics: vec![offsets_topic(shard)], ..CreateTopicsRequest::default() };
    let response = controller::create_topics(shard, request).await?;
    let result = response.topics.into_iter().next();
    let result = result.map(|topic| (ErrorCode::from_code(topic.error_code), topic.error_message));
    match result {
        Some((ErrorCode::NONE | ErrorCode::TOPIC_ALREADY_EXISTS, _)) => Ok(()),
        Some((code, message)) => {
            tracing::warn!(%code, ?message, "{OFFSETS_TOPIC} couldn't be created");
            Err(code)
        }
        None => Err(ErrorCode::UNKNOWN_SERVER_ERROR),
    }
}
