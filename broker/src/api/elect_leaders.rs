//! ElectLeaders (KIP-183, KIP-460).

use std::rc::Rc;

use protocol::messages::elect_leaders_request::TopicPartitions;
use protocol::messages::elect_leaders_response::{PartitionResult, ReplicaElectionResult};
use protocol::messages::{ElectLeadersRequest, ElectLeadersResponse};

use super::controller;
use crate::metadata::{ControllerReply, ControllerRequest};
use crate::server::{RequestContext, ShardState};

/// The first version whose answer has an error of its own.
const ERROR_VERSION: i16 = 1;

/// Answers ElectLeaders 0-2; version 0 knows only the election of preferred leaders, and tells of an error partition by partition.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: ElectLeadersRequest,
) -> ElectLeadersResponse {
    let asked = match context.api_version {
        ERROR_VERSION.. => None,
        _ => request.topic_partitions.clone(),
    };
    let response = match controller::ask(shard, ControllerRequest::ElectLeaders(request)).await {
        ControllerReply::ElectLeaders(response) => response,
        reply => {
            ElectLeadersResponse { error_code: reply.failure().code(), ..ElectLeadersResponse::default() }
        }
    };
    match response.error_code {
        code if code != 0 && context.api_version < ERROR_VERSION => for_each(asked.unwrap_or_default(), code),
        _ => response,
    }
}

/// The error as the outcome of all that was asked for.
fn for_each(asked: Vec<TopicPartitions>, error_code: i16) -> ElectLeadersResponse {
    let results = asked.into_iter().map(|TopicPartitions { topic, partitions, .. }| {
        let result =
            |partition_id| PartitionResult { partition_id, error_code, ..PartitionResult::default() };
        let partition_result = partitions.into_iter().map(result).collect();
        ReplicaElectionResult { topic, partition_result, ..ReplicaElectionResult::default() }
    });
    ElectLeadersResponse { replica_election_results: results.collect(), ..ElectLeadersResponse::default() }
}
