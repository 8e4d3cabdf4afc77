//! What a shard asks the coordinator on another, and what it gets: plain data that crosses shards.

use protocol::error::ErrorCode;
use protocol::messages::describe_groups_response::DescribedGroup;
use protocol::messages::list_groups_response::ListedGroup;
use protocol::messages::offset_fetch_request::OffsetFetchRequestGroup;
use protocol::messages::offset_fetch_response::OffsetFetchResponseGroup;
use protocol::messages::{
    HeartbeatRequest, HeartbeatResponse, JoinGroupRequest, JoinGroupResponse, LeaveGroupRequest,
    LeaveGroupResponse, OffsetCommitRequest, OffsetCommitResponse, SyncGroupRequest, SyncGroupResponse,
};
use protocol::types::{Str, Uuid};

use crate::group::api::fetch_refusal;
use crate::group::offsets::commit_refusal;

/// A request to the coordinator of one partition of `__consumer_offsets`.
#[derive(Debug)]
pub enum GroupRequest {
    /// JoinGroup; with 16 random bytes, of which a new member's id is made.
    Join(Box<JoinGroupRequest>, Uuid),
    /// SyncGroup.
    Sync(SyncGroupRequest),
    /// Heartbeat.
    Heartbeat(HeartbeatRequest),
    /// LeaveGroup.
    Leave(LeaveGroupRequest),
    /// OffsetCommit.
    Commit(OffsetCommitRequest),
    /// OffsetFetch of one group.
    Fetch(OffsetFetchRequestGroup),
    /// ListGroups of the partition: states and types to filter by, all if empty.
    List {
        /// States.
        states: Vec<String>,
        /// Types.
        types: Vec<String>,
    },
    /// DescribeGroups of one group.
    Describe(Str),
    /// DeleteGroups of one group.
    Delete(Str),
}

/// The answer to the request of the same name.
#[derive(Debug)]
pub enum GroupAnswer {
    /// To `Join`.
    Join(Box<JoinGroupResponse>),
    /// To `Sync`.
    Sync(SyncGroupResponse),
    /// To `Heartbeat`.
    Heartbeat(HeartbeatResponse),
    /// To `Leave`.
    Leave(LeaveGroupResponse),
    /// To `Commit`.
    Commit(OffsetCommitResponse),
    /// To `Fetch`.
    Fetch(OffsetFetchResponseGroup),
    /// To `List`.
    List(Result<Vec<ListedGroup>, ErrorCode>),
    /// To `Describe`.
    Describe(DescribedGroup),
    /// To `Delete`.
    Delete(ErrorCode),
}

impl GroupRequest {
    /// The answer that says nothing but `code`.
    pub fn refused(self, code: ErrorCode) -> GroupAnswer {
        let error_code = code.code();
        match self {
            Self::Join(request, _) => GroupAnswer::Join(Box::new(JoinGroupResponse {
                error_code,
                member_id: request.member_id,
                // Before version 7 "no protocol" is an empty name, which later ones take as well.
                protocol_name: Some(Str::default()),
                ..JoinGroupResponse::default()
            })),
            Self::Sync(_) => {
                GroupAnswer::Sync(SyncGroupResponse { error_code, ..SyncGroupResponse::default() })
            }
            Self::Heartbeat(_) => {
                GroupAnswer::Heartbeat(HeartbeatResponse { error_code, ..HeartbeatResponse::default() })
            }
            Self::Leave(_) => {
                GroupAnswer::Leave(LeaveGroupResponse { error_code, ..LeaveGroupResponse::default() })
            }
            Self::Commit(request) => GroupAnswer::Commit(commit_refusal(&request, code)),
            Self::Fetch(request) => GroupAnswer::Fetch(fetch_refusal(request.group_id, code)),
            Self::List { .. } => GroupAnswer::List(Err(code)),
            Self::Describe(group_id) => {
                GroupAnswer::Describe(DescribedGroup { group_id, error_code, ..DescribedGroup::default() })
            }
            Self::Delete(_) => GroupAnswer::Delete(code),
        }
    }
}
