//! FindCoordinator.

use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::find_coordinator_response::Coordinator;
use protocol::messages::{FindCoordinatorRequest, FindCoordinatorResponse};
use protocol::types::Str;

use super::brokers::{self, Address};
use super::internal_topics::ensure_offsets_topic;
use super::{Close, coordinator};
use crate::group::partition_for_group;
use crate::metadata::image::OFFSETS_TOPIC;
use crate::server::{RequestContext, ShardState};

/// The first version that asks for several keys.
const BATCH_VERSION: i16 = 4;
/// Kafka's number of the key type GROUP.
const GROUP: i8 = 0;

/// Answers FindCoordinator 0-6. Makes `__consumer_offsets` if it is missing.
///
/// # Errors
/// It asks for more keys than a request may.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: FindCoordinatorRequest,
) -> Result<FindCoordinatorResponse, Close> {
    let is_batch = context.api_version >= BATCH_VERSION;
    let keys = if is_batch { request.coordinator_keys } else { vec![request.key] };
    coordinator::check_count(keys.len())?;
    let found = ready(shard, request.key_type, !keys.is_empty()).await;
    let brokers = brokers::all(shard, context);
    let mut coordinators = keys.into_iter().map(|key| match &found {
        Ok(()) => told(shard, &brokers, key),
        Err((code, message)) => refused(key, *code, message.clone()),
    });
    if is_batch {
        let coordinators = coordinators.collect();
        return Ok(FindCoordinatorResponse { coordinators, ..FindCoordinatorResponse::default() });
    }
    let one = coordinators.next().unwrap_or_default();
    Ok(FindCoordinatorResponse {
        error_code: one.error_code,
        error_message: one.error_message,
        node_id: one.node_id,
        host: one.host,
        port: one.port,
        ..FindCoordinatorResponse::default()
    })
}

/// Whether there are coordinators of that type, with `__consumer_offsets` there if they are `wanted`.
async fn ready(shard: &Rc<ShardState>, key_type: i8, wanted: bool) -> Result<(), (ErrorCode, Str)> {
    if key_type != GROUP {
        let what = match key_type {
            1 => "Transactions aren't served by this broker yet.",
            2 => "Share groups aren't served by this broker yet.",
            _ => "Unknown coordinator type.",
        };
        return Err((ErrorCode::INVALID_REQUEST, Str::from_static(what)));
    }
    if !wanted {
        return Ok(());
    }
    // Clients ask again on COORDINATOR_NOT_AVAILABLE; what is wrong is in the log.
    let unavailable = |_| {
        let code = ErrorCode::COORDINATOR_NOT_AVAILABLE;
        (code, Str::from_static(code.message()))
    };
    ensure_offsets_topic(shard).await.map_err(unavailable)
}

fn told(shard: &Rc<ShardState>, brokers: &[Address], key: Str) -> Coordinator {
    let leader = {
        let image = shard.image.borrow();
        image.topic(OFFSETS_TOPIC).and_then(|topic| {
            let count = i32::try_from(topic.partitions.len()).unwrap_or(i32::MAX);
            topic.partition(partition_for_group(&key, count)).map(|partition| partition.leader)
        })
    };
    let found = brokers.iter().find(|broker| Some(broker.id) == leader);
    match found {
        Some(broker) => Coordinator {
            key,
            node_id: broker.id,
            host: broker.host.clone(),
            port: broker.port,
            ..Coordinator::default()
        },
        None => {
            let code = ErrorCode::COORDINATOR_NOT_AVAILABLE;
            refused(key, code, Str::from_static(code.message()))
        }
    }
}

fn refused(key: Str, code: ErrorCode, message: Str) -> Coordinator {
    Coordinator {
        key,
        node_id: -1,
        port: -1,
        error_code: code.code(),
        error_message: Some(message),
        ..Coordinator::default()
    }
}
