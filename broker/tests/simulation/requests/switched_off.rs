//! Requests of features that a node doesn't have, and of replicas on other brokers.

use protocol::messages::alter_partition_reassignments_request::{ReassignablePartition, ReassignableTopic};
use protocol::messages::create_acls_request::AclCreation;
use protocol::messages::delete_acls_request::DeleteAclsFilter;
use protocol::messages::{
    AlterPartitionReassignmentsRequest, ConsumerGroupDescribeRequest, ConsumerGroupHeartbeatRequest,
    CreateAclsRequest, CreateDelegationTokenRequest, DeleteAclsRequest, DescribeAclsRequest,
    DescribeDelegationTokenRequest, ExpireDelegationTokenRequest, ListPartitionReassignmentsRequest,
    RenewDelegationTokenRequest, SaslAuthenticateRequest, SaslHandshakeRequest, ShareGroupDescribeRequest,
    ShareGroupHeartbeatRequest, StreamsGroupDescribeRequest, StreamsGroupHeartbeatRequest,
};

use super::Target;

pub(crate) fn sasl_handshake() -> Vec<SaslHandshakeRequest> {
    vec![SaslHandshakeRequest { mechanism: "PLAIN".into() }]
}

pub(crate) fn sasl_authenticate() -> Vec<SaslAuthenticateRequest> {
    vec![SaslAuthenticateRequest::default()]
}

pub(crate) fn describe_acls() -> Vec<DescribeAclsRequest> {
    vec![DescribeAclsRequest::default()]
}

pub(crate) fn create_acls() -> Vec<CreateAclsRequest> {
    vec![CreateAclsRequest { creations: vec![AclCreation::default(); 2], ..Default::default() }]
}

pub(crate) fn delete_acls() -> Vec<DeleteAclsRequest> {
    vec![DeleteAclsRequest { filters: vec![DeleteAclsFilter::default(); 2], ..Default::default() }]
}

pub(crate) fn create_delegation_token() -> Vec<CreateDelegationTokenRequest> {
    vec![CreateDelegationTokenRequest::default()]
}

pub(crate) fn renew_delegation_token() -> Vec<RenewDelegationTokenRequest> {
    vec![RenewDelegationTokenRequest::default()]
}

pub(crate) fn expire_delegation_token() -> Vec<ExpireDelegationTokenRequest> {
    vec![ExpireDelegationTokenRequest::default()]
}

pub(crate) fn describe_delegation_token() -> Vec<DescribeDelegationTokenRequest> {
    vec![DescribeDelegationTokenRequest::default()]
}

pub(crate) fn consumer_group_heartbeat() -> Vec<ConsumerGroupHeartbeatRequest> {
    vec![ConsumerGroupHeartbeatRequest { group_id: "newer".into(), ..Default::default() }]
}

pub(crate) fn share_group_heartbeat() -> Vec<ShareGroupHeartbeatRequest> {
    vec![ShareGroupHeartbeatRequest { group_id: "newer".into(), ..Default::default() }]
}

pub(crate) fn streams_group_heartbeat() -> Vec<StreamsGroupHeartbeatRequest> {
    vec![StreamsGroupHeartbeatRequest { group_id: "newer".into(), ..Default::default() }]
}

pub(crate) fn consumer_group_describe() -> Vec<ConsumerGroupDescribeRequest> {
    vec![ConsumerGroupDescribeRequest { group_ids: vec!["newer".into()], ..Default::default() }]
}

pub(crate) fn share_group_describe() -> Vec<ShareGroupDescribeRequest> {
    vec![ShareGroupDescribeRequest { group_ids: vec!["newer".into()], ..Default::default() }]
}

pub(crate) fn streams_group_describe() -> Vec<StreamsGroupDescribeRequest> {
    vec![StreamsGroupDescribeRequest { group_ids: vec!["newer".into()], ..Default::default() }]
}

pub(crate) fn alter_partition_reassignments(target: &Target) -> Vec<AlterPartitionReassignmentsRequest> {
    let partition = |replicas: Option<&[i32]>| ReassignablePartition {
        partition_index: 0,
        replicas: replicas.map(<[i32]>::to_vec),
        ..Default::default()
    };
    let partitions = vec![partition(Some(&[1])), partition(Some(&[9])), partition(None)];
    let topic = ReassignableTopic { name: target.name.clone(), partitions, ..Default::default() };
    vec![AlterPartitionReassignmentsRequest { topics: vec![topic], ..Default::default() }]
}

pub(crate) fn list_partition_reassignments() -> Vec<ListPartitionReassignmentsRequest> {
    vec![ListPartitionReassignmentsRequest::default()]
}
