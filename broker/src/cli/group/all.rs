//! All groups of a cluster.

use client::ClientError;
use client::blocking::Target;
use protocol::messages::ListGroupsRequest;
use protocol::messages::list_groups_response::ListedGroup;

use crate::cli::session::Session;

const LIST_GROUPS_MAX: i16 = 5;

/// Groups of all kinds, by id.
pub(super) fn all_groups(session: &mut Session) -> Result<Vec<ListedGroup>, ClientError> {
    session.client.refresh(Some(&[]), false)?;
    let nodes: Vec<i32> = session.client.cluster().nodes().map(|node| node.id).collect();
    let mut groups: Vec<ListedGroup> = Vec::new();
    // Each broker knows the groups it coordinates.
    for node in nodes {
        let target = Target::Node(node);
        let (_, answer) = session.client.call(target, LIST_GROUPS_MAX, |_| ListGroupsRequest::default())?;
        ClientError::check(answer.error_code, None, || format!("groups of broker {node}"))?;
        groups.extend(answer.groups);
    }
    groups.sort_by(|a, b| a.group_id.cmp(&b.group_id));
    Ok(groups)
}

/// Whether it is a group of consumers, classic or of KIP-848: those whose offsets are committed. A group that only
/// commits, which nobody ever joined, has no protocol.
pub(super) fn has_offsets(group: &ListedGroup) -> bool {
    let kind = group.group_type.to_ascii_lowercase();
    ["", "classic", "consumer"].contains(&kind.as_str())
        && ["", "consumer"].contains(&group.protocol_type.as_str())
}
