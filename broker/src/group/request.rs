//! What the coordinator of a group is asked, and what it answers: plain data, which crosses shards as it is.

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

/// Who joins, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joiner {
    /// Client id of the request header; empty if it has none.
    pub client_id: Str,
    /// The peer's address as Java prints it: `/127.0.0.1`.
    pub client_host: Str,
    /// Version of the request.
    pub api_version: i16,
}

/// What is known of a topic in a commit, where its coordinator is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitTopic {
    /// NONE, or why nothing of it can be committed.
    pub code: ErrorCode,
    /// How many partitions it has.
    pub partitions: i32,
}

/// A request to the coordinator of a group. The number is the version of the API where answers depend on it. Randomness comes with it, so that
/// the same requests always give the same state.
#[derive(Debug, Clone, PartialEq)]
pub enum GroupRequest {
    /// JoinGroup; with the id that a new member gets behind its client or instance id.
    Join(Box<JoinGroupRequest>, Joiner, Uuid),
    /// SyncGroup.
    Sync(Box<SyncGroupRequest>, i16),
    /// Heartbeat.
    Heartbeat(HeartbeatRequest),
    /// LeaveGroup.
    Leave(LeaveGroupRequest, i16),
    /// OffsetCommit; what is known of its topics is filled in where the coordinator is.
    Commit(Box<OffsetCommitRequest>, Vec<CommitTopic>, i16),
    /// OffsetFetch of one group, in the form of version 8 and later.
    Fetch(OffsetFetchRequestGroup, i16),
    /// ListGroups of one partition; filters in any case, all if empty.
    List {
        /// States.
        states: Vec<String>,
        /// Types.
        types: Vec<String>,
    },
    /// DescribeGroups of one group.
    Describe(Str, i16),
    /// DeleteGroups of one group.
    Delete(Str),
    /// OffsetDelete.
    OffsetDelete(OffsetDeleteRequest),
    /// Topics are gone: their offsets go too.
    TopicsDeleted(Vec<(Str, Uuid)>),
}

/// The answer to the request of the same name, in the form of its version; throttle times and authorised operations are the API's.
#[derive(Debug, Clone, PartialEq)]
pub enum GroupReply {
    /// To a join.
    Join(JoinGroupResponse),
    /// To a sync.
    Sync(SyncGroupResponse),
    /// To a heartbeat or a deletion, and to a list that failed.
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
