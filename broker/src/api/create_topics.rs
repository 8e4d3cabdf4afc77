//! CreateTopics.

use std::rc::Rc;

use protocol::messages::create_topics_response::CreatableTopicResult;
use protocol::messages::{CreateTopicsRequest, CreateTopicsResponse};
use protocol::types::Str;

use super::controller;
use crate::server::{RequestContext, ShardState};

/// Answers CreateTopics 2-7. Topics that were created serve when the answer leaves.
pub async fn handle(
    shard: &Rc<ShardState>,
    _context: &RequestContext,
    request: CreateTopicsRequest,
) -> CreateTopicsResponse {
    let names: Vec<Str> = request.topics.iter().map(|topic| topic.name.clone()).collect();
    controller::create_topics(shard, request).await.unwrap_or_else(|code| {
        let failed = names.into_iter().map(|name| CreatableTopicResult {
            name,
            error_code: code.code(),
            error_message: Some(Str::from_static(code.message())),
            configs: None,
            ..CreatableTopicResult::default()
        });
        CreateTopicsResponse { topics: failed.collect(), ..CreateTopicsResponse::default() }
    })
}
