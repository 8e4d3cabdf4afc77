//! Requests, and what they answer.

use broker::config::BrokerConfig;
use broker::metadata::{
    Controller, ControllerConfig, ControllerReply, ControllerRequest, MetadataUpdate, QuorumConfig,
};
use protocol::messages::create_topics_request::CreatableTopic;
use protocol::messages::delete_topics_request::DeleteTopicState;
use protocol::messages::{
    AllocateProducerIdsRequest, BrokerRegistrationRequest, CreateTopicsRequest, DeleteTopicsRequest,
};
use protocol::types::{Str, Uuid};

pub(crate) const CLUSTER: &str = "cluster";

pub(crate) fn config(dir: &std::path::Path, snapshot_bytes: u64, direct_io: bool) -> ControllerConfig {
    let broker = BrokerConfig::default();
    let quorum = QuorumConfig {
        dir: dir.into(),
        node_id: 1,
        cluster_id: Str::from(CLUSTER),
        direct_io,
        snapshot_bytes,
    };
    ControllerConfig { quorum, topics: broker.topics, values: broker.values }
}

pub(crate) async fn start(
    config: ControllerConfig,
) -> Result<(Controller, rt::lane::Receiver<MetadataUpdate>), broker::metadata::QuorumError> {
    let (sender, receiver) = rt::lane::channel(4096);
    Ok((Controller::start(config, vec![sender]).await?, receiver))
}

/// Registers broker 1 as a new run; gives its epoch.
pub(crate) async fn register(controller: &Controller) -> Result<i64, i16> {
    let request = BrokerRegistrationRequest {
        broker_id: 1,
        cluster_id: Str::from(CLUSTER),
        incarnation_id: Uuid::from_random(rt::random_bytes()),
        ..Default::default()
    };
    match controller.handle(ControllerRequest::RegisterBroker(request)).await.reply {
        ControllerReply::RegisterBroker(reply) if reply.error_code == 0 => Ok(reply.broker_epoch),
        ControllerReply::RegisterBroker(reply) => Err(reply.error_code),
        other => Err(failure(&other)),
    }
}

pub(crate) async fn create(controller: &Controller, name: &str, partitions: i32) -> Result<Uuid, i16> {
    let topic = CreatableTopic {
        name: Str::from(name),
        num_partitions: partitions,
        replication_factor: 1,
        ..Default::default()
    };
    let request = CreateTopicsRequest { topics: vec![topic], ..Default::default() };
    match controller.handle(ControllerRequest::CreateTopics(request)).await.reply {
        ControllerReply::CreateTopics(reply) if reply.topics[0].error_code == 0 => {
            Ok(reply.topics[0].topic_id)
        }
        ControllerReply::CreateTopics(reply) => Err(reply.topics[0].error_code),
        other => Err(failure(&other)),
    }
}

pub(crate) async fn delete(controller: &Controller, id: Uuid) -> Result<(), i16> {
    let topic = DeleteTopicState { topic_id: id, ..Default::default() };
    let request = DeleteTopicsRequest { topics: vec![topic], ..Default::default() };
    match controller.handle(ControllerRequest::DeleteTopics(request)).await.reply {
        ControllerReply::DeleteTopics(reply) if reply.responses[0].error_code == 0 => Ok(()),
        ControllerReply::DeleteTopics(reply) => Err(reply.responses[0].error_code),
        other => Err(failure(&other)),
    }
}

/// First id of a new block.
pub(crate) async fn block(controller: &Controller, broker_epoch: i64) -> Result<i64, i16> {
    let request = AllocateProducerIdsRequest { broker_id: 1, broker_epoch, ..Default::default() };
    match controller.handle(ControllerRequest::AllocateProducerIds(request)).await.reply {
        ControllerReply::AllocateProducerIds(reply) if reply.error_code == 0 => Ok(reply.producer_id_start),
        ControllerReply::AllocateProducerIds(reply) => Err(reply.error_code),
        other => Err(failure(&other)),
    }
}

fn failure(reply: &ControllerReply) -> i16 {
    match reply {
        ControllerReply::Failed(code) => code.code(),
        other => panic!("{other:?} answers something else"),
    }
}
