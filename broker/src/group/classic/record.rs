//! A group as its record says it.

use bytes::Bytes;
use protocol::internal::GroupMetadataValue;
use protocol::internal::group_metadata_value::MemberMetadata;
use protocol::types::Str;

use super::group::ClassicGroup;

/// The group with its members, each with the assignment `assignment` gives it.
pub(crate) fn group_value(group: &ClassicGroup, assignment: impl Fn(&Str) -> Bytes) -> GroupMetadataValue {
    let protocol = group.protocol_name.as_deref().unwrap_or_default();
    let members = group.members.iter().map(|(id, member)| MemberMetadata {
        member_id: id.clone(),
        group_instance_id: member.instance_id.clone(),
        client_id: member.client_id.clone(),
        client_host: member.client_host.clone(),
        rebalance_timeout: member.rebalance_timeout_ms,
        session_timeout: member.session_timeout_ms,
        subscription: member.metadata(protocol),
        assignment: assignment(id),
        ..MemberMetadata::default()
    });
    GroupMetadataValue {
        protocol_type: group.protocol_type.clone().unwrap_or_default(),
        generation: group.generation,
        protocol: group.protocol_name.clone(),
        leader: group.leader.clone(),
        current_state_timestamp: group.state_since_ms.unwrap_or(-1),
        members: members.collect(),
        ..GroupMetadataValue::default()
    }
}

/// The group in its next generation, without members.
pub(crate) fn empty_group_value(group: &ClassicGroup, now_unix_ms: i64) -> GroupMetadataValue {
    GroupMetadataValue {
        protocol_type: group.protocol_type.clone().unwrap_or_default(),
        generation: group.generation.wrapping_add(1).max(0),
        protocol: None,
        leader: None,
        current_state_timestamp: now_unix_ms,
        members: Vec::new(),
        ..GroupMetadataValue::default()
    }
}
