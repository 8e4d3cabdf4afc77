//! The group APIs of one partition of `__consumer_offsets`: requests in, response messages out.

use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::describe_groups_response::DescribedGroup;
use protocol::messages::leave_group_response::MemberResponse;
use protocol::messages::list_groups_response::ListedGroup;
use protocol::messages::offset_fetch_request::OffsetFetchRequestGroup;
use protocol::messages::offset_fetch_response::OffsetFetchResponseGroup;
use protocol::messages::{
    HeartbeatRequest, HeartbeatResponse, JoinGroupRequest, JoinGroupResponse, LeaveGroupRequest,
    LeaveGroupResponse, OffsetCommitRequest, OffsetCommitResponse, OffsetDeleteRequest, OffsetDeleteResponse,
    SyncGroupRequest, SyncGroupResponse,
};
use protocol::types::{Str, Uuid};

use super::api::{
    commit_topics, fetch_refusal, leave_members, offset_fetch_names, offset_fetch_out, prejoin, presync_check,
};
use super::config::GroupConfig;
use super::coordinator::{Clock, Coordinator, CoordinatorLog, LogError, Phase};
use super::decider::GroupDecider;
use super::offsets::commit_refusal;
use super::request::{GroupReply, GroupRequest, RequestContext};
use super::topics::TopicLookup;

/// The coordinator of the groups of one partition of `__consumer_offsets`, on the shard that owns it. Cloning shares it.
///
/// Each method decides at once, or as soon as the log has room for what it writes, and then awaits only the moment its answer may leave; dropping
/// the future only stops the waiting. Responses are ready to be encoded at the request's version; throttle times and authorised operations are the caller's.
#[derive(Debug)]
pub struct GroupCoordinator<L, C> {
    coordinator: Coordinator<GroupDecider, L, C>,
    config: Rc<GroupConfig>,
}

impl<L: CoordinatorLog, C: Clock> GroupCoordinator<L, C> {
    /// A coordinator over the partition's log; it serves once [`GroupCoordinator::run`] has loaded it.
    pub fn new(log: L, clock: C, config: Rc<GroupConfig>) -> Self {
        Self { coordinator: Coordinator::new(log, clock), config }
    }

    /// Loads and drives it until the leadership is lost; one task runs this. `turn` is dropped once it is loaded.
    ///
    /// # Errors
    /// The log can't be read.
    pub async fn run<T>(&self, turn: T) -> Result<(), LogError> {
        self.coordinator.run(GroupDecider::new(Rc::clone(&self.config)), turn).await
    }

    /// Ends it: the leadership is gone.
    pub fn resign(&self) {
        self.coordinator.resign();
    }

    /// Where it is in its life.
    pub fn phase(&self) -> Phase {
        self.coordinator.phase()
    }

    /// The state as of the last step, for metrics; none unless it serves.
    pub fn inspect<T>(&self, look: impl FnOnce(&GroupDecider) -> T) -> Option<T> {
        self.coordinator.inspect(look)
    }

    /// JoinGroup 0-9. `uuid` is 16 random bytes: they make a new member's id.
    pub async fn join(
        &self,
        context: RequestContext,
        mut request: JoinGroupRequest,
        uuid: Uuid,
    ) -> JoinGroupResponse {
        let (version, member_id) = (context.api_version, request.member_id.clone());
        let refuse = |code: ErrorCode| JoinGroupResponse {
            member_id: member_id.clone(),
            error_code: code.code(),
            ..JoinGroupResponse::default()
        };
        let mut response = match prejoin(&self.config, version, &mut request) {
            Err(code) => refuse(code),
            Ok(()) => {
                match self.ask_and_wait_long(GroupRequest::Join(Box::new(request), context, uuid)).await {
                    Ok(GroupReply::Join(response)) => response,
                    other => refuse(code_of(other)),
                }
            }
        };
        // Before version 7 "no protocol" is an empty name.
        if version < 7 && response.protocol_name.is_none() {
            response.protocol_name = Some(Str::default());
        }
        response
    }

    /// SyncGroup 0-5.
    pub async fn sync(&self, context: RequestContext, request: SyncGroupRequest) -> SyncGroupResponse {
        let refuse =
            |code: ErrorCode| SyncGroupResponse { error_code: code.code(), ..SyncGroupResponse::default() };
        if let Err(code) = presync_check(context.api_version, &request) {
            return refuse(code);
        }
        match self.ask_and_wait_long(GroupRequest::Sync(Box::new(request))).await {
            Ok(GroupReply::Sync(response)) => response,
            other => refuse(code_of(other)),
        }
    }

    /// Heartbeat 0-4. While the groups load it is answered blindly without error, so that members don't rejoin for nothing.
    pub async fn heartbeat(&self, request: HeartbeatRequest) -> HeartbeatResponse {
        let code = if request.group_id.is_empty() {
            ErrorCode::INVALID_GROUP_ID
        } else {
            match self.ask(&GroupRequest::Heartbeat(request)).await {
                Ok(GroupReply::Code(code)) => code,
                Err(ErrorCode::COORDINATOR_LOAD_IN_PROGRESS) => ErrorCode::NONE,
                other => code_of(other),
            }
        };
        HeartbeatResponse { error_code: code.code(), ..HeartbeatResponse::default() }
    }

    /// LeaveGroup 0-5. Up to version 2 one member leaves, and its code is the response's.
    pub async fn leave(&self, context: RequestContext, mut request: LeaveGroupRequest) -> LeaveGroupResponse {
        leave_members(context.api_version, &mut request);
        let refuse =
            |code: ErrorCode| LeaveGroupResponse { error_code: code.code(), ..LeaveGroupResponse::default() };
        if request.group_id.is_empty() {
            return refuse(ErrorCode::INVALID_GROUP_ID);
        }
        let mut response = match self.ask(&GroupRequest::Leave(request)).await {
            Ok(GroupReply::Leave(response)) => response,
            other => refuse(code_of(other)),
        };
        if context.api_version < 3 {
            let code = response.members.first().map(|member: &MemberResponse| member.error_code);
            response.error_code = code.unwrap_or(response.error_code);
            response.members = Vec::new();
        }
        response
    }

    /// OffsetCommit 2-10; up to version 9 by name, from 10 on by id.
    pub async fn offset_commit(
        &self,
        context: RequestContext,
        mut request: OffsetCommitRequest,
        topics: &impl TopicLookup,
    ) -> OffsetCommitResponse {
        let codes = commit_topics(context.api_version, &mut request, topics);
        let request = GroupRequest::Commit(Box::new(request), codes, context.api_version);
        match (self.ask(&request).await, &request) {
            (Ok(GroupReply::Commit(response)), _) => response,
            (other, GroupRequest::Commit(request, ..)) => commit_refusal(request, code_of(other)),
            (_, _) => unreachable!("it was made a commit above"),
        }
    }

    /// OffsetFetch 1-10 of one group, in the form of version 8 and later; see [`super::api::single_fetch`] for the older one. There are no pending
    /// offsets without transactions, so `require_stable` makes no difference; member epochs mean nothing to classic groups.
    pub async fn offset_fetch(
        &self,
        context: RequestContext,
        mut request: OffsetFetchRequestGroup,
        topics: &impl TopicLookup,
    ) -> OffsetFetchResponseGroup {
        let version = context.api_version;
        let unknown = offset_fetch_names(version, &mut request, topics);
        let group_id = request.group_id.clone();
        match self.ask(&GroupRequest::Fetch(request)).await {
            Ok(GroupReply::Fetch(response)) => offset_fetch_out(version, response, &unknown, topics),
            other => fetch_refusal(group_id, code_of(other)),
        }
    }

    /// ListGroups of this partition. `types` and `states` as in the request: any case, empty for all.
    ///
    /// # Errors
    /// COORDINATOR_LOAD_IN_PROGRESS, NOT_COORDINATOR.
    pub async fn list(&self, states: Vec<String>, types: Vec<String>) -> Result<Vec<ListedGroup>, ErrorCode> {
        match self.ask(&GroupRequest::List { states, types }).await {
            Ok(GroupReply::List(groups)) => Ok(groups),
            other => Err(code_of(other)),
        }
    }

    /// DescribeGroups 0-6 of one group.
    pub async fn describe(&self, context: RequestContext, group_id: Str) -> DescribedGroup {
        let request = GroupRequest::Describe(group_id.clone(), context.api_version);
        match self.ask(&request).await {
            Ok(GroupReply::Describe(group)) => group,
            other => {
                DescribedGroup { group_id, error_code: code_of(other).code(), ..DescribedGroup::default() }
            }
        }
    }

    /// DeleteGroups of one group: NONE, GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP. The group without a name, of old offsets, can be deleted as well.
    pub async fn delete(&self, group_id: Str) -> ErrorCode {
        match self.ask(&GroupRequest::Delete(group_id)).await {
            Ok(GroupReply::Code(code)) => code,
            other => code_of(other),
        }
    }

    /// OffsetDelete 0.
    pub async fn offset_delete(&self, request: OffsetDeleteRequest) -> OffsetDeleteResponse {
        let refuse = |code: ErrorCode| OffsetDeleteResponse {
            error_code: code.code(),
            ..OffsetDeleteResponse::default()
        };
        if request.group_id.is_empty() {
            return refuse(ErrorCode::INVALID_GROUP_ID);
        }
        match self.ask(&GroupRequest::OffsetDelete(request)).await {
            Ok(GroupReply::OffsetDelete(response)) => response,
            other => refuse(code_of(other)),
        }
    }

    /// Topics are gone: their offsets go too, in the background, as soon as it is loaded and its log takes the records.
    pub fn topics_deleted(&self, topics: Vec<(Str, Uuid)>) {
        self.coordinator.tell(GroupRequest::TopicsDeleted(topics));
    }

    async fn ask(&self, request: &GroupRequest) -> Result<GroupReply, ErrorCode> {
        self.coordinator.ask(request).await.await
    }

    /// As [`Self::ask`], where the answer may take minutes: the request doesn't stay that long.
    async fn ask_and_wait_long(&self, request: GroupRequest) -> Result<GroupReply, ErrorCode> {
        let reply = self.coordinator.ask(&request).await;
        drop(request);
        reply.await
    }
}

impl<L, C> Clone for GroupCoordinator<L, C> {
    fn clone(&self) -> Self {
        Self { coordinator: self.coordinator.clone(), config: Rc::clone(&self.config) }
    }
}

/// The code of a failed request. A reply of another kind would be our own mistake.
fn code_of(answer: Result<GroupReply, ErrorCode>) -> ErrorCode {
    answer.err().unwrap_or(ErrorCode::UNKNOWN_SERVER_ERROR)
}
