//! From a frame to the handler of its API, and from its response to bytes.

use std::rc::Rc;

use bytes::Bytes;
use protocol::api::ApiKey;
use protocol::header::{RequestHeader, response_frame};
use protocol::limits::FRAME_PREFIX_BYTES;
use protocol::messages::{
    AlterConfigsRequest, AlterPartitionReassignmentsRequest, AlterReplicaLogDirsRequest, ApiVersionsRequest,
    ConsumerGroupDescribeRequest, ConsumerGroupHeartbeatRequest, CreateAclsRequest,
    CreateDelegationTokenRequest, CreatePartitionsRequest, CreateTopicsRequest, DeleteAclsRequest,
    DeleteGroupsRequest, DeleteRecordsRequest, DeleteTopicsRequest, DescribeAclsRequest,
    DescribeClusterRequest, DescribeConfigsRequest, DescribeDelegationTokenRequest, DescribeGroupsRequest,
    DescribeLogDirsRequest, DescribeProducersRequest, DescribeQuorumRequest, DescribeTopicPartitionsRequest,
    ElectLeadersRequest, ExpireDelegationTokenRequest, FetchRequest, FindCoordinatorRequest,
    HeartbeatRequest, IncrementalAlterConfigsRequest, InitProducerIdRequest, JoinGroupRequest,
    LeaveGroupRequest, ListConfigResourcesRequest, ListGroupsRequest, ListOffsetsRequest,
    ListPartitionReassignmentsRequest, Message, MetadataRequest, OffsetCommitRequest, OffsetDeleteRequest,
    OffsetFetchRequest, OffsetForLeaderEpochRequest, ProduceRequest, RenewDelegationTokenRequest, Response,
    SaslAuthenticateRequest, SaslHandshakeRequest, ShareGroupDescribeRequest, ShareGroupHeartbeatRequest,
    StreamsGroupDescribeRequest, StreamsGroupHeartbeatRequest, SyncGroupRequest, UpdateFeaturesRequest,
};
use protocol::types::Str;
use protocol::wire::{DecodeError, Reader};
use rt::Instant;

use super::frame::FrameMemory;
use super::replies::{Reply, ReplyFuture};
use super::state::{RequestContext, ShardState};
use crate::api;
use crate::metrics::{ApiIndex, RequestClock};

/// APIs with a handler; ApiVersions tells these.
pub const SERVED: [ApiKey; 51] = [
    ApiKey::Produce,
    ApiKey::Fetch,
    ApiKey::ListOffsets,
    ApiKey::Metadata,
    ApiKey::OffsetCommit,
    ApiKey::OffsetFetch,
    ApiKey::FindCoordinator,
    ApiKey::JoinGroup,
    ApiKey::Heartbeat,
    ApiKey::LeaveGroup,
    ApiKey::SyncGroup,
    ApiKey::DescribeGroups,
    ApiKey::ListGroups,
    ApiKey::ApiVersions,
    ApiKey::CreateTopics,
    ApiKey::DeleteTopics,
    ApiKey::InitProducerId,
    ApiKey::OffsetDelete,
    ApiKey::DescribeTopicPartitions,
    ApiKey::DescribeCluster,
    ApiKey::OffsetForLeaderEpoch,
    ApiKey::DeleteRecords,
    ApiKey::DescribeProducers,
    ApiKey::AlterReplicaLogDirs,
    ApiKey::DescribeLogDirs,
    ApiKey::DescribeQuorum,
    ApiKey::ListConfigResources,
    ApiKey::ElectLeaders,
    ApiKey::UpdateFeatures,
    ApiKey::DescribeConfigs,
    ApiKey::AlterConfigs,
    ApiKey::CreatePartitions,
    ApiKey::IncrementalAlterConfigs,
    ApiKey::DeleteGroups,
    ApiKey::DescribeAcls,
    ApiKey::CreateAcls,
    ApiKey::DeleteAcls,
    ApiKey::CreateDelegationToken,
    ApiKey::RenewDelegationToken,
    ApiKey::ExpireDelegationToken,
    ApiKey::DescribeDelegationToken,
    ApiKey::AlterPartitionReassignments,
    ApiKey::ListPartitionReassignments,
    ApiKey::ConsumerGroupHeartbeat,
    ApiKey::ConsumerGroupDescribe,
    ApiKey::ShareGroupHeartbeat,
    ApiKey::ShareGroupDescribe,
    ApiKey::StreamsGroupHeartbeat,
    ApiKey::StreamsGroupDescribe,
    ApiKey::SaslHandshake,
    ApiKey::SaslAuthenticate,
];

/// The other end of a connection.
#[derive(Debug, Clone)]
pub struct Peer {
    /// Its address, as Kafka writes it: `/127.0.0.1`.
    pub host: Str,
    /// Number of the listener it came by.
    pub listener: usize,
}

/// A request that was understood.
pub enum Request {
    /// Begun in order, before it is queued.
    Produce(Produce),
    /// Begun when it is polled.
    Other(ReplyFuture),
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Produce(produce) => produce.fmt(f),
            Self::Other(_) => f.write_str("Other"),
        }
    }
}

/// A request that can't be answered: its connection is to be closed.
#[derive(Debug, thiserror::Error)]
pub enum Violation {
    /// No header, or no such request.
    #[error(transparent)]
    Undecodable(#[from] DecodeError),
    /// An API that isn't served here.
    #[error("{0} isn't served")]
    NotServed(ApiKey),
    /// Its arrays don't fit in the memory that is free. Others may give some back.
    #[error("no memory for the arrays of a request")]
    Memory,
    /// A version that doesn't exist.
    #[error("{0} version {1} isn't supported")]
    Version(ApiKey, i16),
}

/// A Produce that was decoded.
#[derive(Debug)]
pub struct Produce {
    context: RequestContext,
    correlation_id: i32,
    request: ProduceRequest,
}

impl Produce {
    /// Stage one: every batch has its place in its partition's order when this returns. The future is stage two.
    pub async fn start(self, shard: &Rc<ShardState>) -> ReplyFuture {
        let (version, correlation_id) = (self.context.api_version, self.correlation_id);
        let stage_two = api::produce::start(Rc::clone(shard), self.context, self.request).await;
        let shard = Rc::clone(shard);
        Box::pin(async move {
            match stage_two.await {
                Ok(Some(response)) => reply(&shard, correlation_id, &response, version),
                Ok(None) => Reply::Nothing,
                Err(api::Close) => Reply::Close,
            }
        })
    }
}

/// A frame that arrived.
#[derive(Debug, Clone)]
pub struct Received {
    /// The request.
    pub bytes: Bytes,
    /// Size of the allocation that they keep, in bytes.
    pub allocation_bytes: usize,
    /// When its last byte came.
    pub arrived: Instant,
    /// What it is counted in.
    pub memory: FrameMemory,
}

/// What the arrays of a request may take however little memory is free, in bytes: a client's daily requests have a few.
const ARRAYS_BYTES_MIN: usize = 16 << 10;

/// A request with what is known of it before it begins.
#[derive(Debug)]
pub struct Understood {
    /// What is asked.
    pub request: Request,
    /// Its times.
    pub clock: RequestClock,
}

/// Whether a request of these bytes may wait for other members of a group: JoinGroup and SyncGroup do.
pub fn waits_for_members(frame: &[u8]) -> bool {
    let Some(code) = frame.first_chunk().map(|code| i16::from_be_bytes(*code)) else { return false };
    matches!(ApiKey::from_code(code), Some(ApiKey::JoinGroup | ApiKey::SyncGroup))
}

/// Decodes a frame, counts the arrays in it, and finds its handler.
///
/// # Errors
/// Whatever can't be answered: Kafka closes the connection too, since it can't know what the peer would understand. Also what would take
/// more than half of the memory for requests of its size once it is decoded: arrays of small elements take many times what they do on the wire.
/// [`Violation::Memory`] if so much isn't free.
pub fn decode(shard: &Rc<ShardState>, peer: &Peer, frame: Received) -> Result<Understood, Violation> {
    let budget = shard.network.request_memory(frame.bytes.len());
    let others_bytes = budget.used().saturating_sub(frame.memory.amount());
    let free_bytes = budget.capacity().saturating_sub(others_bytes).max(ARRAYS_BYTES_MIN);
    let share_bytes = budget.capacity() / 2;
    match decode_within(shard, peer, frame, share_bytes.min(free_bytes)) {
        Err(Violation::Undecodable(DecodeError::ArraysTooLarge { .. })) if free_bytes < share_bytes => {
            Err(Violation::Memory)
        }
        decoded => decoded,
    }
}

fn decode_within(
    shard: &Rc<ShardState>,
    peer: &Peer,
    frame: Received,
    array_bytes_max: usize,
) -> Result<Understood, Violation> {
    let Received { bytes, allocation_bytes, arrived, memory } = frame;
    let frame_bytes = bytes.len();
    let mut reader = Reader::new(bytes).with_array_bytes_max(array_bytes_max);
    let header = RequestHeader::decode(&mut reader)?;
    let (key, index) = ApiKey::from_code(header.api_key)
        .and_then(|key| Some((key, ApiIndex::of(key)?)))
        .ok_or_else(|| refused(header.api_key))?;
    let clock = || RequestClock::start(&shard.metrics, index, FRAME_PREFIX_BYTES + frame_bytes, arrived);
    let version = header.api_version;
    if !key.valid_versions().is_some_and(|valid| valid.contains(version)) {
        if key == ApiKey::ApiVersions {
            let (response, shard) = (api::api_versions::unsupported(), Rc::clone(shard));
            let refusal = Box::pin(async move {
                // KIP-511: version 0 is what every client can read.
                reply(&shard, header.correlation_id, &response, 0)
            });
            return Ok(Understood { request: Request::Other(refusal), clock: clock() });
        }
        return Err(Violation::Version(key, version));
    }
    let context = RequestContext {
        api_version: version,
        client_id: header.client_id.unwrap_or_default(),
        client_host: peer.host.clone(),
        listener: peer.listener,
        allocation_bytes,
        memory: memory.clone(),
    };
    let call = Call { shard: Rc::clone(shard), context, correlation_id: header.correlation_id };
    let request = handle(key, call, &mut reader)?;
    // Counted once it is understood.
    memory.add(reader.array_bytes());
    Ok(Understood { request, clock: clock() })
}

fn refused(api_key: i16) -> Violation {
    match ApiKey::from_code(api_key) {
        Some(key) => Violation::NotServed(key),
        None => DecodeError::Unknown { what: "API key", value: u32::from(api_key as u16) }.into(),
    }
}

/// A request on its way to its handler.
struct Call {
    shard: Rc<ShardState>,
    context: RequestContext,
    correlation_id: i32,
}

/// `other!(call, reader, module, Request)`: decodes, and makes the future that handles and encodes.
macro_rules! other {
    ($call:ident, $reader:ident, $api:ident, $request:ty) => {{
        let request = <$request>::decode($reader, $call.context.api_version)?;
        Ok(Request::Other(Box::pin(async move {
            let response = api::$api::handle(&$call.shard, &$call.context, request).await;
            reply(&$call.shard, $call.correlation_id, &response, $call.context.api_version)
        })))
    }};
}

/// As `other!`, for handlers that may have to close the connection instead.
macro_rules! other_or_close {
    ($call:ident, $reader:ident, $api:ident, $request:ty) => {{
        let request = <$request>::decode($reader, $call.context.api_version)?;
        Ok(Request::Other(Box::pin(async move {
            match api::$api::handle(&$call.shard, &$call.context, request).await {
                Ok(response) => {
                    reply(&$call.shard, $call.correlation_id, &response, $call.context.api_version)
                }
                Err(api::Close) => Reply::Close,
            }
        })))
    }};
}

/// `off!(call, reader, module::function, Request)`: as `other!`, for what only says that a feature is off.
macro_rules! off {
    ($call:ident, $reader:ident, $module:ident :: $answer:ident, $request:ty) => {{
        let version = $call.context.api_version;
        let request = <$request>::decode($reader, version)?;
        Ok(Request::Other(Box::pin(async move {
            let response = api::switched_off::$module::$answer(version, request);
            reply(&$call.shard, $call.correlation_id, &response, version)
        })))
    }};
}

fn handle(key: ApiKey, call: Call, r: &mut Reader) -> Result<Request, Violation> {
    match key {
        ApiKey::Produce => {
            let request = ProduceRequest::decode(r, call.context.api_version)?;
            let Call { context, correlation_id, .. } = call;
            Ok(Request::Produce(Produce { context, correlation_id, request }))
        }
        ApiKey::Fetch => {
            // Boxed: it passes through several futures, and thousands of them wait.
            let request = Box::new(FetchRequest::decode(r, call.context.api_version)?);
            let mut call = call;
            // It may wait, without the frame.
            call.context.client_id = call.context.client_id.detached();
            Ok(Request::Other(Box::pin(async move {
                let (response, memory) = api::fetch::handle(&call.shard, &call.context, request).await;
                reply(&call.shard, call.correlation_id, &response, call.context.api_version)
                    .counted_in(memory)
            })))
        }
        ApiKey::ListOffsets => other!(call, r, list_offsets, ListOffsetsRequest),
        ApiKey::Metadata => other!(call, r, metadata, MetadataRequest),
        ApiKey::OffsetCommit => other_or_close!(call, r, offset_commit, OffsetCommitRequest),
        ApiKey::OffsetFetch => other_or_close!(call, r, offset_fetch, OffsetFetchRequest),
        ApiKey::FindCoordinator => other_or_close!(call, r, find_coordinator, FindCoordinatorRequest),
        ApiKey::JoinGroup => other_or_close!(call, r, join_group, JoinGroupRequest),
        ApiKey::Heartbeat => other_or_close!(call, r, heartbeat, HeartbeatRequest),
        ApiKey::LeaveGroup => other_or_close!(call, r, leave_group, LeaveGroupRequest),
        ApiKey::SyncGroup => other_or_close!(call, r, sync_group, SyncGroupRequest),
        ApiKey::DescribeGroups => other_or_close!(call, r, describe_groups, DescribeGroupsRequest),
        ApiKey::ListGroups => other_or_close!(call, r, list_groups, ListGroupsRequest),
        ApiKey::ApiVersions => other!(call, r, api_versions, ApiVersionsRequest),
        ApiKey::CreateTopics => other!(call, r, create_topics, CreateTopicsRequest),
        ApiKey::DeleteTopics => other!(call, r, delete_topics, DeleteTopicsRequest),
        ApiKey::InitProducerId => other!(call, r, init_producer_id, InitProducerIdRequest),
        ApiKey::DescribeConfigs => other!(call, r, describe_configs, DescribeConfigsRequest),
        ApiKey::AlterConfigs => other!(call, r, alter_configs, AlterConfigsRequest),
        ApiKey::CreatePartitions => other!(call, r, create_partitions, CreatePartitionsRequest),
        ApiKey::IncrementalAlterConfigs => {
            other!(call, r, incremental_alter_configs, IncrementalAlterConfigsRequest)
        }
        ApiKey::DeleteGroups => other_or_close!(call, r, delete_groups, DeleteGroupsRequest),
        ApiKey::OffsetDelete => other_or_close!(call, r, offset_delete, OffsetDeleteRequest),
        ApiKey::DescribeTopicPartitions => {
            other!(call, r, describe_topic_partitions, DescribeTopicPartitionsRequest)
        }
        ApiKey::DescribeCluster => other!(call, r, describe_cluster, DescribeClusterRequest),
        ApiKey::OffsetForLeaderEpoch => other!(call, r, offset_for_leader_epoch, OffsetForLeaderEpochRequest),
        ApiKey::DeleteRecords => other!(call, r, delete_records, DeleteRecordsRequest),
        ApiKey::DescribeProducers => other!(call, r, describe_producers, DescribeProducersRequest),
        ApiKey::AlterReplicaLogDirs => other!(call, r, alter_replica_log_dirs, AlterReplicaLogDirsRequest),
        ApiKey::DescribeLogDirs => other!(call, r, describe_log_dirs, DescribeLogDirsRequest),
        ApiKey::DescribeQuorum => other!(call, r, describe_quorum, DescribeQuorumRequest),
        ApiKey::ListConfigResources => other!(call, r, list_config_resources, ListConfigResourcesRequest),
        ApiKey::ElectLeaders => other!(call, r, elect_leaders, ElectLeadersRequest),
        ApiKey::UpdateFeatures => other!(call, r, update_features, UpdateFeaturesRequest),
        ApiKey::AlterPartitionReassignments => {
            other!(call, r, alter_partition_reassignments, AlterPartitionReassignmentsRequest)
        }
        ApiKey::ListPartitionReassignments => {
            other!(call, r, list_partition_reassignments, ListPartitionReassignmentsRequest)
        }
        other => switched_off(other, call, r),
    }
}

/// APIs of features that there aren't.
fn switched_off(key: ApiKey, call: Call, r: &mut Reader) -> Result<Request, Violation> {
    match key {
        ApiKey::SaslHandshake => off!(call, r, sasl::handshake, SaslHandshakeRequest),
        ApiKey::SaslAuthenticate => off!(call, r, sasl::authenticate, SaslAuthenticateRequest),
        ApiKey::DescribeAcls => off!(call, r, acls::describe, DescribeAclsRequest),
        ApiKey::CreateAcls => off!(call, r, acls::create, CreateAclsRequest),
        ApiKey::DeleteAcls => off!(call, r, acls::delete, DeleteAclsRequest),
        ApiKey::CreateDelegationToken => {
            off!(call, r, delegation_tokens::create, CreateDelegationTokenRequest)
        }
        ApiKey::RenewDelegationToken => off!(call, r, delegation_tokens::renew, RenewDelegationTokenRequest),
        ApiKey::ExpireDelegationToken => {
            off!(call, r, delegation_tokens::expire, ExpireDelegationTokenRequest)
        }
        ApiKey::DescribeDelegationToken => {
            off!(call, r, delegation_tokens::describe, DescribeDelegationTokenRequest)
        }
        ApiKey::ConsumerGroupHeartbeat => {
            off!(call, r, newer_groups::consumer_heartbeat, ConsumerGroupHeartbeatRequest)
        }
        ApiKey::ConsumerGroupDescribe => {
            off!(call, r, newer_groups::consumer_describe, ConsumerGroupDescribeRequest)
        }
        ApiKey::ShareGroupHeartbeat => {
            off!(call, r, newer_groups::share_heartbeat, ShareGroupHeartbeatRequest)
        }
        ApiKey::ShareGroupDescribe => off!(call, r, newer_groups::share_describe, ShareGroupDescribeRequest),
        ApiKey::StreamsGroupHeartbeat => {
            off!(call, r, newer_groups::streams_heartbeat, StreamsGroupHeartbeatRequest)
        }
        ApiKey::StreamsGroupDescribe => {
            off!(call, r, newer_groups::streams_describe, StreamsGroupDescribeRequest)
        }
        other => Err(Violation::NotServed(other)),
    }
}

/// A response as bytes. One that can't be written is our own mistake, and costs the connection alone.
fn reply<M: Response>(shard: &ShardState, correlation_id: i32, response: &M, version: i16) -> Reply {
    if let Some(api) = ApiIndex::of(M::API) {
        response.visit_error_codes(&mut |code| shard.metrics.apis.of(api).count_error(code));
    }
    match response_frame(correlation_id, response, version) {
        Ok(frame) => Reply::Send(frame.into_bufs(), None),
        Err(error) => {
            tracing::error!(api = %M::API, version, %error, "a response can't be written");
            Reply::Close
        }
    }
}
