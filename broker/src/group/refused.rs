//! The answers that say nothing but a code, for every request in one place.

use protocol::error::ErrorCode;
use protocol::messages::describe_groups_response::DescribedGroup;
use protocol::messages::offset_fetch_response::OffsetFetchResponseGroup;
use protocol::messages::{JoinGroupRequest, LeaveGroupResponse, OffsetDeleteResponse, SyncGroupRequest};

use super::classic::{join_refusal, sync_refusal};
use super::offsets::commit_refusal;
use super::request::{GroupReply, GroupRequest};

impl GroupRequest {
    /// The answer that refuses it.
    pub fn refused(&self, code: ErrorCode) -> GroupReply {
        let error_code = code.code();
        match self {
            Self::Join(request, ..) => join_refusal(request.member_id.clone(), code),
            Self::Sync(..) => sync_refusal(code),
            Self::Leave(..) => {
                GroupReply::Leave(LeaveGroupResponse { error_code, ..LeaveGroupResponse::default() })
            }
            Self::Commit(request, topics, _) => GroupReply::Commit(commit_refusal(request, topics, code)),
            Self::Fetch(request, _) => GroupReply::Fetch(OffsetFetchResponseGroup {
                group_id: request.group_id.clone(),
                error_code,
                ..OffsetFetchResponseGroup::default()
            }),
            Self::Describe(group_id, _) => GroupReply::Describe(DescribedGroup {
                group_id: group_id.clone(),
                error_code,
                ..DescribedGroup::default()
            }),
            Self::OffsetDelete(_) => GroupReply::OffsetDelete(OffsetDeleteResponse {
                error_code,
                ..OffsetDeleteResponse::default()
            }),
            Self::Heartbeat(_) | Self::List { .. } | Self::Delete(_) | Self::TopicsDeleted(_) => {
                GroupReply::Code(code)
            }
        }
    }

    /// Drops what only the decision needed, of what may wait for minutes after it.
    pub(crate) fn lighten(&mut self) {
        match self {
            Self::Join(request, ..) => {
                let member_id = request.member_id.detached();
                **request = JoinGroupRequest { member_id, ..JoinGroupRequest::default() };
            }
            Self::Sync(request, _) => **request = SyncGroupRequest::default(),
            _ => {}
        }
    }

    /// Whether its answer may wait for what other members do. Decided once is decided, also if nobody waits for the answer any more.
    pub fn waits_for_members(&self) -> bool {
        matches!(self, Self::Join(..) | Self::Sync(..))
    }
}
