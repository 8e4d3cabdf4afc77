//! BrokerHeartbeat and AssignReplicasToDirs, as far as they tell of log directories (KIP-858).

use protocol::error::ErrorCode;
use protocol::internal::{BrokerRegistrationChangeRecord, MetadataRecord, PartitionChangeRecord};
use protocol::messages::assign_replicas_to_dirs_request::DirectoryData as AssignedDirectory;
use protocol::messages::assign_replicas_to_dirs_response::{DirectoryData, PartitionData, TopicData};
use protocol::messages::{
    AssignReplicasToDirsRequest, AssignReplicasToDirsResponse, BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
};
use protocol::types::Uuid;

use super::decider::{Decider, Decision};
use super::request::ControllerReply;
use crate::metadata::image::Image;

/// `leader` of a partition that nobody leads.
const NO_LEADER: i32 = -1;

impl Decider {
    /// Directories went offline: they are the broker's no more, until it registers again, and what it led in them has no leader until then.
    pub(super) fn broker_heartbeat(&self, image: &Image, request: &BrokerHeartbeatRequest) -> Decision {
        let answer = |code: ErrorCode, is_fenced: bool| {
            let error_code = code.code();
            let reply =
                BrokerHeartbeatResponse { error_code, is_fenced, is_caught_up: true, ..Default::default() };
            ControllerReply::BrokerHeartbeat(reply)
        };
        let id = request.broker_id;
        let Some(broker) = image.brokers.get(&id) else {
            return Decision::reply(answer(ErrorCode::BROKER_ID_NOT_REGISTERED, true));
        };
        if broker.epoch != request.broker_epoch {
            return Decision::reply(answer(ErrorCode::STALE_BROKER_EPOCH, true));
        }
        let (lost, left): (Vec<Uuid>, Vec<Uuid>) =
            broker.log_dirs.iter().copied().partition(|dir| request.offline_log_dirs.contains(dir));
        // Kafka's record can't say that none is left: a broker without any ends.
        if lost.is_empty() || left.is_empty() {
            return Decision::reply(answer(ErrorCode::NONE, broker.fenced));
        }
        let change = BrokerRegistrationChangeRecord {
            broker_id: id,
            broker_epoch: broker.epoch,
            log_dirs: left,
            ..Default::default()
        };
        let records = std::iter::once(change.into()).chain(without_leader(image, id, &lost)).collect();
        // Cut anywhere, the broker's next registration makes up for the rest.
        Decision { records, atomic: false, reply: answer(ErrorCode::NONE, broker.fenced) }
    }

    /// The broker tells where its replicas are. It knows, so nothing of it is refused but what isn't there.
    pub(super) fn assign_replicas_to_dirs(
        &self,
        image: &Image,
        request: AssignReplicasToDirsRequest,
    ) -> Decision {
        let mut records = Vec::new();
        let broker = (request.broker_id, request.broker_epoch);
        let directories = request.directories.into_iter().map(|directory| {
            let AssignedDirectory { id, topics, .. } = directory;
            let topics = topics.into_iter().map(|topic| {
                let partitions = topic.partitions.iter().map(|partition| {
                    let index = partition.partition_index;
                    let assigned = assign(image, broker, topic.topic_id, index, id);
                    let error_code = assigned.as_ref().map_or_else(|code| *code, |_| ErrorCode::NONE).code();
                    records.extend(assigned.into_iter().flatten());
                    PartitionData { partition_index: index, error_code, ..Default::default() }
                });
                TopicData { topic_id: topic.topic_id, partitions: partitions.collect(), ..Default::default() }
            });
            DirectoryData { id, topics: topics.collect(), ..Default::default() }
        });
        let reply = AssignReplicasToDirsResponse { directories: directories.collect(), ..Default::default() };
        Decision { records, atomic: false, reply: ControllerReply::AssignReplicasToDirs(reply) }
    }
}

/// Partitions that the broker leads in one of these directories, which are offline: nobody leads them any more.
fn without_leader(image: &Image, broker: i32, lost: &[Uuid]) -> impl Iterator<Item = MetadataRecord> {
    image.topics().flat_map(move |topic| {
        let partitions = (0..).zip(&topic.partitions);
        let lost = partitions.filter(move |(_, partition)| {
            partition.leader == broker && lost.contains(&partition.directory_of(broker))
        });
        lost.map(move |(partition_id, _)| {
            let (topic_id, leader) = (topic.id, NO_LEADER);
            PartitionChangeRecord { partition_id, topic_id, leader, ..Default::default() }.into()
        })
    })
}

/// The record of it; none if it is known. A partition that lost its leader with a directory gets it back, if the broker, which is told with its epoch, runs
/// and has that one online: it would have none until the next registration, which sees to that otherwise.
fn assign(
    image: &Image,
    (broker, broker_epoch): (i32, i64),
    topic_id: Uuid,
    partition_id: i32,
    directory: Uuid,
) -> Result<Option<MetadataRecord>, ErrorCode> {
    let topic = image.topic_by_id(topic_id).ok_or(ErrorCode::UNKNOWN_TOPIC_ID)?;
    let partition = topic.partition(partition_id).ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?;
    let place = partition.replicas.iter().position(|replica| *replica == broker);
    let place = place.ok_or(ErrorCode::NOT_LEADER_OR_FOLLOWER)?;
    if partition.directory_of(broker) == directory {
        return Ok(None);
    }
    let mut directories = partition.directories.clone();
    // One for each replica, also where a record said none.
    directories.resize(partition.replicas.len(), Uuid::ZERO);
    directories[place] = directory;
    let mut change = PartitionChangeRecord {
        partition_id,
        topic_id,
        directories: Some(directories),
        ..Default::default()
    };
    let running =
        image.brokers.get(&broker).filter(|running| running.epoch == broker_epoch && !running.fenced);
    let is_alone = partition.leader == NO_LEADER && partition.isr == [broker];
    if is_alone && running.is_some_and(|running| running.has_online_dir(directory)) {
        change.leader = broker;
    }
    Ok(Some(change.into()))
}
