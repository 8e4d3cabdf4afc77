//! What the controller is asked, and what it answers: plain data that crosses shards.

use protocol::error::ErrorCode;
use protocol::messages::{
    AllocateProducerIdsRequest, AllocateProducerIdsResponse, AlterConfigsRequest, AlterConfigsResponse,
    AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse, AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse, BrokerHeartbeatRequest, BrokerHeartbeatResponse, BrokerRegistrationRequest,
    BrokerRegistrationResponse, CreatePartitionsRequest, CreatePartitionsResponse, CreateTopicsRequest,
    CreateTopicsResponse, DeleteTopicsRequest, DeleteTopicsResponse, ElectLeadersRequest,
    ElectLeadersResponse, IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse,
    UpdateFeaturesRequest, UpdateFeaturesResponse,
};

/// A request to the controller, in the form of its newest version; who asks has been authorised.
#[derive(Debug, Clone, PartialEq)]
pub enum ControllerRequest {
    /// CreateTopics; also for topics that create themselves.
    CreateTopics(CreateTopicsRequest),
    /// DeleteTopics, by name (`topics` or, up to version 5, `topic_names`) or id.
    DeleteTopics(DeleteTopicsRequest),
    /// CreatePartitions.
    CreatePartitions(CreatePartitionsRequest),
    /// AlterConfigs: what isn't named is unset.
    AlterConfigs(AlterConfigsRequest),
    /// IncrementalAlterConfigs.
    IncrementalAlterConfigs(IncrementalAlterConfigsRequest),
    /// ElectLeaders.
    ElectLeaders(ElectLeadersRequest),
    /// AlterPartitionReassignments.
    AlterPartitionReassignments(AlterPartitionReassignmentsRequest),
    /// UpdateFeatures.
    UpdateFeatures(UpdateFeaturesRequest),
    /// AllocateProducerIds: a block that nobody else ever gets.
    AllocateProducerIds(AllocateProducerIdsRequest),
    /// BrokerRegistration. A new incarnation also raises the leader epoch of all partitions that the broker leads.
    RegisterBroker(BrokerRegistrationRequest),
    /// BrokerHeartbeat, for the log directories that it says are offline: a broker of this node's needn't say that it lives.
    BrokerHeartbeat(BrokerHeartbeatRequest),
    /// AssignReplicasToDirs: where the broker's replicas are.
    AssignReplicasToDirs(AssignReplicasToDirsRequest),
}

/// The answer to the request of the same name.
#[derive(Debug, Clone, PartialEq)]
pub enum ControllerReply {
    /// To CreateTopics.
    CreateTopics(CreateTopicsResponse),
    /// To DeleteTopics.
    DeleteTopics(DeleteTopicsResponse),
    /// To CreatePartitions.
    CreatePartitions(CreatePartitionsResponse),
    /// To AlterConfigs.
    AlterConfigs(AlterConfigsResponse),
    /// To IncrementalAlterConfigs.
    IncrementalAlterConfigs(IncrementalAlterConfigsResponse),
    /// To ElectLeaders.
    ElectLeaders(ElectLeadersResponse),
    /// To AlterPartitionReassignments.
    AlterPartitionReassignments(AlterPartitionReassignmentsResponse),
    /// To UpdateFeatures.
    UpdateFeatures(UpdateFeaturesResponse),
    /// To AllocateProducerIds.
    AllocateProducerIds(AllocateProducerIdsResponse),
    /// To RegisterBroker.
    RegisterBroker(BrokerRegistrationResponse),
    /// To BrokerHeartbeat.
    BrokerHeartbeat(BrokerHeartbeatResponse),
    /// To AssignReplicasToDirs.
    AssignReplicasToDirs(AssignReplicasToDirsResponse),
    /// To any of them: the quorum couldn't take the records, and it is unknown whether they took effect.
    Failed(ErrorCode),
}

impl ControllerReply {
    /// The code of a request that got this instead of the answer of its own kind.
    pub fn failure(&self) -> ErrorCode {
        match self {
            Self::Failed(code) => *code,
            _ => ErrorCode::UNKNOWN_SERVER_ERROR,
        }
    }
}
