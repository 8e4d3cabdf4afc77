//! `ringlog group list`.

use protocol::messages::list_groups_response::ListedGroup;
use serde_json::{Value, json};

use super::all::all_groups;
use crate::cli::error::CliError;
use crate::cli::output::{Table, print};
use crate::cli::session::Session;

pub(crate) fn run(mut session: Session) -> Result<(), CliError> {
    let groups = all_groups(&mut session)?;
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
