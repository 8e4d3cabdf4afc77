//! DescribeCluster: the brokers and the controller (KIP-700, KIP-919, KIP-1073).

use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::describe_cluster_response::DescribeClusterBroker;
use protocol::messages::{DescribeClusterRequest, DescribeClusterResponse};
use protocol::types::Str;

use super::{authorized, brokers};
use crate::server::{RequestContext, ShardState};

/// Kafka's number of the endpoint type BROKER.
const BROKERS: i8 = 1;
/// Kafka's number of the endpoint type CONTROLLER.
const CONTROLLERS: i8 = 2;

/// Answers DescribeCluster 0-2.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: DescribeClusterRequest,
) -> DescribeClusterResponse {
    match request.endpoint_type {
        BROKERS => {}
        CONTROLLERS => {
            let text = "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER";
            return refused(ErrorCode::MISMATCHED_ENDPOINT_TYPE, text.into());
        }
        other => {
            let text = format!("Unsupported endpoint type {other}");
            return refused(ErrorCode::UNSUPPORTED_ENDPOINT_TYPE, text);
        }
    }
    let fenced = if request.include_fenced_brokers { brokers::fenced(shard, context) } else { Vec::new() };
    let told = |address: brokers::Address, is_fenced: bool| DescribeClusterBroker {
        broker_id: address.id,
        host: address.host,
        port: address.port,
        rack: address.rack,
        is_fenced,
        ..DescribeClusterBroker::default()
    };
    let active = brokers::all(shard, context).into_iter().map(|address| told(address, false));
    let mut all: Vec<_> = active.chain(fenced.into_iter().map(|address| told(address, true))).collect();
    all.sort_by_key(|broker| broker.broker_id);
    let operations = request.include_cluster_authorized_operations;
    DescribeClusterResponse {
        cluster_id: Str::from(&shard.node.cluster_id),
        controller_id: shard.node.config.node_id,
        brokers: all,
        cluster_authorized_operations: if operations {
            authorized::ON_CLUSTER
        } else {
            authorized::NOT_ASKED
        },
        ..DescribeClusterResponse::default()
    }
}

fn refused(code: ErrorCode, text: String) -> DescribeClusterResponse {
    DescribeClusterResponse {
        error_code: code.code(),
        error_message: Some(Str::from(text)),
        ..DescribeClusterResponse::default()
    }
}
