//! Groups as ListGroups, DescribeGroups and DeleteGroups see them.

use protocol::error::ErrorCode;
use protocol::messages::describe_groups_response::{DescribedGroup, DescribedGroupMember};
use protocol::messages::list_groups_response::ListedGroup;
use protocol::types::Str;

use super::group::{ClassicGroup, GroupState};
use super::member::Member;

/// The type of all these groups in ListGroups.
const GROUP_TYPE: &str = "Classic";
/// From this version on an unknown group is an error; before, it is a dead group.
const NOT_FOUND_VERSION: i16 = 6;

/// The group in a list, if the filters let it through. They are lower case, an empty one lets all through.
pub(crate) fn list(group: &ClassicGroup, states: &[String], types: &[String]) -> Option<ListedGroup> {
    let lets_through = |filter: &[String], name: &str| {
        filter.is_empty() || filter.iter().any(|wanted| wanted.eq_ignore_ascii_case(name))
    };
    (lets_through(states, group.state.name()) && lets_through(types, GROUP_TYPE)).then(|| ListedGroup {
        group_id: group.id.clone(),
        protocol_type: group.protocol_type.clone().unwrap_or_default(),
        group_state: Str::from_static(group.state.name()),
        group_type: Str::from_static(GROUP_TYPE),
        ..ListedGroup::default()
    })
}

/// The group in full. What members subscribe to is told of a stable group only, for it is read under the chosen protocol.
pub(crate) fn describe(group: Option<&ClassicGroup>, id: &Str, api_version: i16) -> DescribedGroup {
    let Some(group) = group else { return absent(id, api_version) };
    let is_stable = group.state == GroupState::Stable;
    let protocol = group.protocol_name.clone().filter(|_| is_stable);
    let members = group.members.iter().map(|(id, member)| described_member(id, member, protocol.as_deref()));
    DescribedGroup {
        group_id: id.clone(),
        group_state: Str::from_static(group.state.name()),
        protocol_type: group.protocol_type.clone().unwrap_or_default(),
        members: members.collect(),
        protocol_data: protocol.clone().unwrap_or_default(),
        ..DescribedGroup::default()
    }
}

fn described_member(id: &Str, member: &Member, protocol: Option<&str>) -> DescribedGroupMember {
    DescribedGroupMember {
        member_id: id.clone(),
        group_instance_id: member.instance_id.clone(),
        client_id: member.client_id.clone(),
        client_host: member.client_host.clone(),
        member_metadata: protocol.map(|protocol| member.metadata(protocol)).unwrap_or_default(),
        member_assignment: member.assignment.clone(),
        ..DescribedGroupMember::default()
    }
}

fn absent(id: &Str, api_version: i16) -> DescribedGroup {
    let mut described = DescribedGroup {
        group_id: id.clone(),
        group_state: Str::from_static("Dead"),
        ..DescribedGroup::default()
    };
    if api_version >= NOT_FOUND_VERSION {
        described.error_code = ErrorCode::GROUP_ID_NOT_FOUND.code();
        described.error_message = Some(Str::from(format!("Group {} not found.", id.as_str())));
    }
    described
}
