//! `ringlog group list`.

use client::ClientError;
use client::blocking::Target;
use protocol::messages::ListGroupsRequest;
use protocol::messages::list_groups_response::ListedGroup;
use serde_json::{Value, json};

use crate::cli::error::CliError;
use crate::cli::output::{Table, print};
use crate::cli::session::Session;

const LIST_GROUPS_MAX: i16 = 5;

pub(crate) fn run(mut session: Session) -> Result<(), CliError> {
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
    let table = || {
        let mut table = Table::new(&["GROUP", "TYPE", "STATE", "PROTOCOL"]);
        for group in &groups {
            let cells = [&group.group_id, &group.group_type, &group.group_state, &group.protocol_type];
            table.row(
                cells.map(|cell| if cell.is_empty() { "-".to_owned() } else { cell.to_string() }).to_vec(),
            );
        }
        table
    };
    print(session.output, table, || groups.iter().map(as_json).collect())?;
    Ok(())
}

fn as_json(group: &ListedGroup) -> Value {
    json!({
        "group": group.group_id.as_str(), "type": group.group_type.as_str(), "state": group.group_state.as_str(),
        "protocol_type": group.protocol_type.as_str(),
    })
}
