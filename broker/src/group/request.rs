//! What the group machine is asked, and what it answers.

use protocol::error::ErrorCode;
use protocol::messages::describe_groups_response::DescribedGroup;
use protocol::messages::list_groups_response::ListedGroup;
use protocol::messages::offset_fetch_request::OffsetFetchRequestGroup;
use protocol::messages::offset_fetch_response::OffsetFetchResponseGroup;
use protocol::messages::{
    HeartbeatRequest, JoinGroupRequest, JoinGroupResponse, LeaveGroupRequest, LeaveGroupResponse,
    OffsetCommitRequest, OffsetCommitResponse, OffsetDeleteRequest, OffsetDeleteResponse, SyncGroupRequest,
    SyncGroupResponse,
};
use protocol::types::{Str, Uuid};

/// Who asks, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestContext {
    /// Client id of the request header; empty if it has none.
    pub client_id: Str,
    /// The peer's address as Java prints it: `/127.0.0.1`.
    pub client_host: Str,
    /// Version of the API, where answers depend on it.
    pub api_version: i16,
}

/// A request to the machine. Times and randomness come with it, so that the same requests always give the same state.
#[derive(Debug, Clone, PartialEq)]
pub enum GroupRequest {
    /// JoinGroup, checked and bounded; with the id that a new member gets behind its client or instance id.
    Join(Box<JoinGroupRequest>, RequestContext, Uuid),
    /// SyncGroup.
    Sync(Box<SyncGroupRequest>),
    /// Heartbeat.
    Heartbeat(HeartbeatRequest),
    /// LeaveGroup, in the form of version 3 and later.
    Leave(LeaveGroupRequest),
    /// OffsetCommit; topics have name and id, as far as known, and the code of those that can't be committed.
    Commit(Box<OffsetCommitRequest>, Vec<ErrorCode>, i16),
    /// OffsetFetch of one group; topics have names and, from version 10, ids.
    Fetch(OffsetFetchRequestGroup),
    /// ListGroups; lower-case filters, all if empty.
    List {
        /// States.
        states: Vec<String>,
        /// Types.
        types: Vec<String>,
    },
    /// DescribeGroups of one group, with the version.
    Describe(Str, i16),
    /// DeleteGroups of one group.
    Delete(Str),
    /// OffsetDelete.
    OffsetDelete(OffsetDeleteRequest),
    /// Topics are gone: their offsets go too.
    TopicsDeleted(Vec<(Str, Uuid)>),
}

/// The answer to the request of the same name.
#[derive(Debug, Clone, PartialEq)]
pub enum GroupReply {
    /// To a join.
    Join(JoinGroupResponse),
    /// To a sync.
    Sync(SyncGroupResponse),
    /// To a heartbeat or a deletion.
    Code(ErrorCode),
    /// To a leave.
    Leave(LeaveGroupResponse),
    /// To a commit.
    Commit(OffsetCommitResponse),
    /// To an offset fetch.
    Fetch(OffsetFetchResponseGroup),
    /// To a list.
    List(Vec<ListedGroup>),
    /// To a description.
    Describe(DescribedGroup),
    /// To an offset deletion.
    OffsetDelete(OffsetDeleteResponse),
}
