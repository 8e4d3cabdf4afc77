//! The broker's registration with the controller.

use std::collections::BTreeMap;
use std::rc::Rc;

use protocol::messages::assign_replicas_to_dirs_request::{DirectoryData, PartitionData, TopicData};
use protocol::messages::broker_registration_request::{Feature, Listener as RegisteredListener};
use protocol::messages::{AssignReplicasToDirsRequest, BrokerRegistrationRequest};
use protocol::types::{Str, Uuid};
use shards::PartitionKey;

use super::failure::Failure;
use super::first;
use super::state::ShardState;
use crate::metadata::limits::METADATA_VERSION;
use crate::metadata::{ControllerReply, ControllerRequest};

/// Registers as a new run of this broker: what it leads gets new leader epochs.
///
/// # Errors
/// The controller refused.
pub(super) async fn register(shard: &Rc<ShardState>) -> Result<(), Failure> {
    tell_places(shard).await?;
    match first::control(shard, ControllerRequest::RegisterBroker(request(shard))).await {
        ControllerReply::RegisterBroker(reply) if reply.error_code == 0 => {
            if let Some(first) = &shard.first {
                first.broker_epoch.set(reply.broker_epoch);
            }
            Ok(())
        }
        reply => Err(Failure::fatal(format!("the broker can't register: {reply:?}"))),
    }
}

/// Tells in which directories the replicas are that aren't where the metadata say: before the registration, which takes the leader from those whose
/// directory isn't online.
async fn tell_places(shard: &Rc<ShardState>) -> Result<(), Failure> {
    let misplaced = shard.log_dirs.misplaced();
    if misplaced.is_empty() {
        return Ok(());
    }
    let partitions = misplaced.len();
    tracing::info!(partitions, "the metadata are told in which log directories partitions are");
    let request = assignment(shard.node.config.node_id, -1, &misplaced);
    match first::control(shard, ControllerRequest::AssignReplicasToDirs(request)).await {
        ControllerReply::AssignReplicasToDirs(reply) if reply.error_code == 0 => Ok(()),
        reply => Err(Failure::fatal(format!("the places of partitions can't be told: {reply:?}"))),
    }
}

/// Tells the controller that these partitions are in these directories.
pub(super) fn assignment(
    broker_id: i32,
    broker_epoch: i64,
    places: &[(PartitionKey, Uuid)],
) -> AssignReplicasToDirsRequest {
    let mut by_dir: BTreeMap<Uuid, BTreeMap<Uuid, Vec<PartitionData>>> = BTreeMap::new();
    for (key, dir) in places {
        let partition = PartitionData { partition_index: key.partition, ..Default::default() };
        by_dir.entry(*dir).or_default().entry(key.topic_id).or_default().push(partition);
    }
    let directories = by_dir.into_iter().map(|(id, topics)| {
        let topics = topics.into_iter().map(|(topic_id, partitions)| TopicData {
            topic_id,
            partitions,
            ..Default::default()
        });
        DirectoryData { id, topics: topics.collect(), ..Default::default() }
    });
    AssignReplicasToDirsRequest {
        broker_id,
        broker_epoch,
        directories: directories.collect(),
        ..Default::default()
    }
}

fn request(shard: &Rc<ShardState>) -> BrokerRegistrationRequest {
    let node = &shard.node;
    let online = shard.log_dirs.all().filter(|(_, dir)| dir.online().is_some());
    let listeners = node.config.advertised_listeners.iter().zip(&node.advertised);
    let listeners = listeners.map(|(listener, (host, port))| RegisteredListener {
        name: Str::from(listener.name.clone()),
        host: Str::from(host.clone()),
        port: *port,
        security_protocol: 0,
        ..Default::default()
    });
    let feature = Feature {
        name: Str::from_static("metadata.version"),
        min_supported_version: METADATA_VERSION,
        max_supported_version: METADATA_VERSION,
        ..Default::default()
    };
    BrokerRegistrationRequest {
        broker_id: node.config.node_id,
        cluster_id: Str::from(node.cluster_id.clone()),
        incarnation_id: Uuid::from_random(rt::random_bytes()),
        listeners: listeners.collect(),
        features: vec![feature],
        rack: node.config.rack.clone().map(Str::from),
        log_dirs: online.map(|(_, dir)| dir.id()).collect(),
        ..Default::default()
    }
}
