//! `ringlog group describe`: a classic or a KIP-848 group's members, and how far behind it is.

pub(super) mod members;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use clap::Args;
use serde_json::{Value, json};

use self::members::{Member, State};
use crate::cli::args::OutputFormat;
use crate::cli::error::CliError;
use crate::cli::offsets::{LATEST, Place, at_timestamp, committed};
use crate::cli::output::{Table, or_dash};
use crate::cli::session::{Session, at_coordinator};

/// Options of `group describe`.
#[derive(Debug, Args)]
pub(crate) struct DescribeArgs {
    /// The group's id
    group: String,
}

/// A partition that the group has committed for or is assigned.
struct Line {
    place: Place,
    committed: Option<i64>,
    end: Option<i64>,
    member: Option<usize>,
}

impl Line {
    fn lag(&self) -> Option<i64> {
        Some((self.end? - self.committed?).max(0))
    }
}

pub(crate) fn run(mut session: Session, args: &DescribeArgs) -> Result<(), CliError> {
    let state = at_coordinator(&mut session, &args.group, |session| members::describe(session, &args.group))?;
    let lines = lines(&mut session, &args.group, &state.members)?;
    let mut out = std::io::stdout().lock();
    match session.output {
        OutputFormat::Table => write_tables(&args.group, &state, &lines, &mut out)?,
        OutputFormat::Json => writeln!(out, "{:#}", as_json(&args.group, &state, &lines))?,
    }
    Ok(())
}

fn lines(session: &mut Session, group: &str, members: &[Member]) -> Result<Vec<Line>, CliError> {
    let offsets = at_coordinator(session, group, |session| committed(session, group))?;
    let mut owners: BTreeMap<&Place, usize> = BTreeMap::new();
    for (i, member) in members.iter().enumerate() {
        owners.extend(member.assigned.iter().map(|place| (place, i)));
    }
    let places: BTreeSet<&Place> = offsets.keys().chain(owners.keys().copied()).collect();
    let topics: BTreeSet<&str> = places.iter().map(|(topic, _)| topic.as_str()).collect();
    let topics: Vec<&str> = topics.into_iter().collect();
    session.client.refresh(Some(&topics), false)?;
    let mut lines = Vec::new();
    for place in places {
        // A topic may be gone while its offsets are kept.
        let end = at_timestamp(session, &place.0, place.1, LATEST).ok();
        let (committed, member) = (offsets.get(place).copied(), owners.get(place).copied());
        lines.push(Line { place: place.clone(), committed, end, member });
    }
    Ok(lines)
}

fn write_tables(group: &str, state: &State, lines: &[Line], out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "{group}  {} group, {}, {} members", state.kind, state.state, state.members.len())?;
    let mut table =
        Table::new(&["TOPIC", "PARTITION", "COMMITTED", "END", "LAG", "MEMBER", "CLIENT", "HOST"]);
    for line in lines {
        let member = line.member.and_then(|member| state.members.get(member));
        let of = |field: fn(&Member) -> &str| member.map_or("-", field).to_owned();
        table.row(vec![
            line.place.0.clone(),
            line.place.1.to_string(),
            or_dash(line.committed),
            or_dash(line.end),
            or_dash(line.lag()),
            of(|member| &member.id),
            of(|member| &member.client),
            of(|member| &member.host),
        ]);
    }
    table.write(out)?;
    for idle in state.members.iter().filter(|member| member.assigned.is_empty()) {
        writeln!(out, "without partitions: {} ({} {})", idle.id, idle.client, idle.host)?;
    }
    Ok(())
}

fn as_json(group: &str, state: &State, lines: &[Line]) -> Value {
    let line = |line: &Line| {
        json!({
            "topic": line.place.0, "partition": line.place.1, "committed": line.committed, "end_offset": line.end,
            "lag": line.lag(), "member": line.member.and_then(|member| state.members.get(member)).map(|member| &member.id),
        })
    };
    let member = |member: &Member| json!({"member": member.id, "client": member.client, "host": member.host});
    json!({
        "group": group, "type": state.kind, "state": state.state,
        "members": state.members.iter().map(member).collect::<Vec<_>>(),
        "partitions": lines.iter().map(line).collect::<Vec<_>>(),
    })
}
