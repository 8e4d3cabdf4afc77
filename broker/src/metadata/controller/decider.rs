//! [`Decider`]: a request and an image to records and a reply.

use protocol::internal::MetadataRecord;
use protocol::types::Uuid;

use super::request::{ControllerReply, ControllerRequest};
use crate::config::BrokerValues;
use crate::config::broker::TopicCreation;
use crate::metadata::image::Image;

/// What the controller goes by besides the image.
#[derive(Debug, Clone)]
pub struct Decider {
    /// Defaults and switches of topic creation.
    pub topics: TopicCreation,
    /// The broker's configs as it was started with, for what topics take from them.
    pub values: BrokerValues,
    /// The broker, for what was set on it while it ran.
    pub node_id: i32,
}

/// What a decision needs from outside: given in, so that it is the same each time.
pub struct Facts<'a> {
    /// Draws ids of topics.
    pub random_id: &'a mut dyn FnMut() -> Uuid,
    /// Draws where among the brokers a topic's first new partition goes: always the same would get the leaders of all small topics.
    pub start: &'a mut dyn FnMut() -> usize,
}

impl std::fmt::Debug for Facts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Facts").finish_non_exhaustive()
    }
}

/// What is to be done. The reply leaves once the records are committed; without records, once everything that the
/// image was made of is.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// To be committed, in order.
    pub records: Vec<MetadataRecord>,
    /// Whether all records must be committed together.
    pub atomic: bool,
    /// For whoever asked.
    pub reply: ControllerReply,
}

impl Decision {
    /// Records that belong together.
    pub(super) fn atomic(records: Vec<MetadataRecord>, reply: ControllerReply) -> Self {
        Self { records, atomic: true, reply }
    }

    /// Nothing to commit.
    pub(super) fn reply(reply: ControllerReply) -> Self {
        Self::atomic(Vec::new(), reply)
    }
}

impl Decider {
    /// The broker's configs, with what was set while it ran.
    pub(super) fn values_at(&self, image: &Image) -> BrokerValues {
        let mut values = self.values.clone();
        let (on_this, on_all) = image.dynamic_broker_configs(self.node_id);
        values.set_dynamic(on_this, on_all);
        values
    }

    /// Decides. Costs what the request's size asks for; registration looks at every partition.
    pub fn decide(&self, image: &Image, request: ControllerRequest, facts: &mut Facts<'_>) -> Decision {
        match request {
            ControllerRequest::CreateTopics(request) => self.create_topics(image, request, facts),
            ControllerRequest::DeleteTopics(request) => self.delete_topics(image, request),
            ControllerRequest::CreatePartitions(request) => self.create_partitions(image, request, facts),
            ControllerRequest::AlterConfigs(request) => self.alter_configs(image, request),
            ControllerRequest::IncrementalAlterConfigs(request) => {
                self.incremental_alter_configs(image, request)
            }
            ControllerRequest::ElectLeaders(request) => self.elect_leaders(image, request),
            ControllerRequest::AlterPartitionReassignments(request) => {
                self.alter_partition_reassignments(image, request)
            }
            ControllerRequest::UpdateFeatures(request) => self.update_features(image, request),
            ControllerRequest::AllocateProducerIds(request) => self.allocate_producer_ids(image, &request),
            ControllerRequest::RegisterBroker(request) => self.register_broker(image, &request),
            ControllerRequest::BrokerHeartbeat(request) => self.broker_heartbeat(image, &request),
            ControllerRequest::AssignReplicasToDirs(request) => self.assign_replicas_to_dirs(image, request),
        }
    }
}
