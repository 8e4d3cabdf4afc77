//! DescribeQuorum: the state of the metadata quorum (KIP-595, KIP-836, KIP-853).

use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::describe_quorum_request::TopicData as AskedTopic;
use protocol::messages::describe_quorum_response::{Listener, Node, PartitionData, ReplicaState, TopicData};
use protocol::messages::{DescribeQuorumRequest, DescribeQuorumResponse};
use protocol::types::{Str, Uuid};

use crate::server::{RequestContext, ShardState};

/// The name that Kafka gives the metadata log.
const METADATA_TOPIC: &str = "__cluster_metadata";

/// The first version that tells directory ids and addresses.
const NODES_VERSION: i16 = 2;

/// Answers DescribeQuorum 0-2. The Raft term stands for Kafka's leader epoch, what is committed for its high watermark; the lone voter has
/// all of it at any time.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: DescribeQuorumRequest,
) -> DescribeQuorumResponse {
    let is_metadata = |topic: &AskedTopic| {
        topic.topic_name == *METADATA_TOPIC
            && matches!(&topic.partitions[..], [one] if one.partition_index == 0)
    };
    if let [topic] = &request.topics[..]
        && is_metadata(topic)
    {
        let with_nodes = context.api_version >= NODES_VERSION;
        let partition = quorum(shard, with_nodes);
        let topic_name = topic.topic_name.clone();
        let topic = TopicData { topic_name, partitions: vec![partition], ..TopicData::default() };
        return DescribeQuorumResponse {
            error_message: Some(Str::default()),
            topics: vec![topic],
            nodes: if with_nodes { vec![node(shard)] } else { Vec::new() },
            ..DescribeQuorumResponse::default()
        };
    }
    let topics = request.topics.into_iter().map(|topic| {
        let partitions = topic.partitions.iter().map(|partition| unknown(partition.partition_index));
        TopicData { topic_name: topic.topic_name, partitions: partitions.collect(), ..TopicData::default() }
    });
    DescribeQuorumResponse {
        error_message: Some(Str::default()),
        topics: topics.collect(),
        ..DescribeQuorumResponse::default()
    }
}

fn quorum(shard: &Rc<ShardState>, with_directory: bool) -> PartitionData {
    let image = shard.image.borrow();
    let now_ms = rt::unix_ms();
    let end = image.offset + 1;
    let voter = ReplicaState {
        replica_id: shard.node.config.node_id,
        replica_directory_id: if with_directory { shard.log_dirs.metadata_dir_id() } else { Uuid::ZERO },
        log_end_offset: end,
        last_fetch_timestamp: now_ms,
        last_caught_up_timestamp: now_ms,
        ..ReplicaState::default()
    };
    PartitionData {
        error_message: Some(Str::default()),
        leader_id: shard.node.config.node_id,
        leader_epoch: image.epoch,
        high_watermark: end,
        current_voters: vec![voter],
        ..PartitionData::default()
    }
}

fn node(shard: &Rc<ShardState>) -> Node {
    let listeners = shard.node.config.advertised_listeners.iter().zip(&shard.node.advertised);
    let listeners = listeners.map(|(listener, (host, port))| Listener {
        name: Str::from(&listener.name),
        host: Str::from(host),
        port: *port,
        ..Listener::default()
    });
    Node { node_id: shard.node.config.node_id, listeners: listeners.collect(), ..Node::default() }
}

fn unknown(partition_index: i32) -> PartitionData {
    let code = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
    PartitionData {
        partition_index,
        error_code: code.code(),
        error_message: Some(Str::from_static(code.message())),
        ..PartitionData::default()
    }
}
