//! BrokerRegistration: a broker starts, or starts again.

use protocol::error::ErrorCode;
use protocol::internal::register_broker_record::{BrokerEndpoint, BrokerFeature};
use protocol::internal::{MetadataRecord, PartitionChangeRecord, RegisterBrokerRecord};
use protocol::messages::{BrokerRegistrationRequest, BrokerRegistrationResponse};

use super::decider::{Decider, Decision};
use super::request::ControllerReply;
use crate::metadata::image::{Image, has_online_dir};

impl Decider {
    /// The broker's epoch is the offset of its registration. It starts unfenced: it is the node that decides this, so it
    /// has seen all metadata. Its partitions get a new leader epoch each, one a restart, however far an earlier start
    /// came: what was appended before the crash and not recovered must not be taken for what comes now.
    pub(super) fn register_broker(&self, image: &Image, request: &BrokerRegistrationRequest) -> Decision {
        let answer = |code: ErrorCode, broker_epoch: i64| {
            let reply =
                BrokerRegistrationResponse { error_code: code.code(), broker_epoch, ..Default::default() };
            ControllerReply::RegisterBroker(reply)
        };
        if request.cluster_id != image.cluster_id.as_str() {
            return Decision::reply(answer(ErrorCode::INCONSISTENT_CLUSTER_ID, -1));
        }
        let before = image.brokers.get(&request.broker_id);
        if let Some(same) = before.filter(|broker| broker.incarnation_id == request.incarnation_id) {
            return Decision::reply(answer(ErrorCode::NONE, same.epoch));
        }
        let epoch = image.offset + 1;
        let registration = std::iter::once(registration(request, epoch).into());
        let records = registration.chain(new_leader_epochs(image, request)).collect();
        let reply = answer(ErrorCode::NONE, epoch);
        // Cut anywhere, the rest is made up for by the next start.
        Decision { records, atomic: false, reply }
    }
}

fn registration(request: &BrokerRegistrationRequest, broker_epoch: i64) -> RegisterBrokerRecord {
    let end_points = request.listeners.iter().map(|listener| BrokerEndpoint {
        name: listener.name.clone(),
        host: listener.host.clone(),
        port: listener.port,
        security_protocol: listener.security_protocol,
        ..Default::default()
    });
    let features = request.features.iter().map(|feature| BrokerFeature {
        name: feature.name.clone(),
        min_supported_version: feature.min_supported_version,
        max_supported_version: feature.max_supported_version,
        ..Default::default()
    });
    RegisterBrokerRecord {
        broker_id: request.broker_id,
        incarnation_id: request.incarnation_id,
        broker_epoch,
        end_points: end_points.collect(),
        features: features.collect(),
        rack: request.rack.clone(),
        fenced: false,
        log_dirs: request.log_dirs.clone(),
        ..Default::default()
    }
}

/// Partitions that the broker leads, and leaderless ones that it alone is in sync with. Those in a log directory that isn't online have no leader.
fn new_leader_epochs<'a>(
    image: &'a Image,
    request: &'a BrokerRegistrationRequest,
) -> impl Iterator<Item = MetadataRecord> + 'a {
    let id = request.broker_id;
    image.topics().flat_map(move |topic| {
        let partitions = (0..).zip(&topic.partitions);
        partitions.filter_map(move |(partition_id, partition)| {
            let is_online = has_online_dir(&request.log_dirs, partition.directory_of(id));
            let leader = match partition.leader {
                led if led == id && !is_online => -1,
                led if led == id || led < 0 && partition.isr == [id] && is_online => id,
                _ => return None,
            };
            let topic_id = topic.id;
            Some(PartitionChangeRecord { partition_id, topic_id, leader, ..Default::default() }.into())
        })
    })
}
