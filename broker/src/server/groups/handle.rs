//! Group requests on the shard that owns the coordinator's partition.

use std::rc::Rc;

use futures_util::stream::{self, StreamExt};
use protocol::error::ErrorCode;

use super::topics::ImageTopics;
use crate::group::{GroupReply, GroupRequest};
use crate::server::ShardState;

/// Requests of one piece that are under way at a time: what they write is synced together.
const AT_A_TIME: usize = 64;

/// Answers requests to the coordinator of that partition of `__consumer_offsets`, in their order; without one here, it is NOT_COORDINATOR.
pub async fn handle(shard: Rc<ShardState>, partition: i32, requests: Vec<GroupRequest>) -> Vec<GroupReply> {
    let Some(coordinator) = shard.coordinators.get(partition) else {
        return requests.iter().map(|request| request.refused(ErrorCode::NOT_COORDINATOR)).collect();
    };
    let (coordinator, topics) = (&coordinator, &ImageTopics(shard));
    let answers = stream::iter(requests).map(|request| async move {
        let reply = coordinator.answer(request, topics).await;
        rt::yield_point().await;
        reply
    });
    answers.buffered(AT_A_TIME).collect().await
}
