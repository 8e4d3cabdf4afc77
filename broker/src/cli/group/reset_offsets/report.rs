//! What was done, or would be.

use std::io::Write;

use serde_json::{Value, json};

use super::ResetArgs;
use super::csv::Rows;
use super::plan::{Change, GroupPlan};
use crate::cli::args::OutputFormat;
use crate::cli::error::CliError;
use crate::cli::offsets::Place;
use crate::cli::output::{Table, or_dash};
use crate::cli::session::Session;

/// A group, and why it wasn't reset.
type Failure = (String, CliError);

pub(super) fn write(
    session: &Session,
    args: &ResetArgs,
    plans: &[GroupPlan],
    failures: &[Failure],
) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    if args.export {
        let with_group = args.groups.len() != 1;
        out.write_all(as_csv(plans, with_group).as_bytes())?;
    } else if session.output == OutputFormat::Json {
        writeln!(out, "{:#}", as_json(args, plans, failures))?;
    } else if !plans.is_empty() {
        table(plans).write(&mut out)?;
    }
    out.flush()?;
    // Programs find it in the JSON; a CSV file must not have it.
    if session.output == OutputFormat::Table || args.export {
        for (place, change) in plans.iter().flat_map(|plan| &plan.changes) {
            warn(place, change);
        }
        if !args.execute && !plans.is_empty() {
            eprintln!("ringlog: nothing was changed: add --execute to do it");
        }
    }
    Ok(())
}

fn warn((topic, partition): &Place, change: &Change) {
    if let Some(note) = change.note {
        eprintln!("ringlog: {topic}-{partition}: {note}, it is set to {}", change.next);
    }
}

/// Tells each failure but the last, which the command ends with.
pub(super) fn last_of(failures: Vec<Failure>) -> Result<(), CliError> {
    let mut failures = failures.into_iter().peekable();
    while let Some((_, failure)) = failures.next() {
        if failures.peek().is_none() {
            return Err(failure);
        }
        eprintln!("ringlog: {failure}");
    }
    Ok(())
}

fn as_csv(plans: &[GroupPlan], with_group: bool) -> String {
    let mut rows = Rows::default();
    for plan in plans {
        for (place, change) in &plan.changes {
            rows.insert(&plan.group, place.clone(), change.next);
        }
    }
    rows.to_text(with_group)
}

fn table(plans: &[GroupPlan]) -> Table {
    let mut headings = vec!["GROUP", "TOPIC", "PARTITION", "CURRENT", "NEW", "START", "END"];
    // Only then there is something to tell.
    let any_refused = plans.iter().any(|plan| !plan.refused.is_empty());
    if any_refused {
        headings.push("RESULT");
    }
    let mut table = Table::new(&headings);
    for plan in plans {
        for (place, change) in &plan.changes {
            let (topic, partition) = place;
            let mut cells = vec![
                plan.group.clone(),
                topic.clone(),
                partition.to_string(),
                or_dash(change.current),
                change.next.to_string(),
                change.range.start.to_string(),
                change.range.end.to_string(),
            ];
            if any_refused {
                let refused = plan.refused.get(place).map(|code| format!("refused: {}", code.name()));
                cells.push(refused.unwrap_or_else(|| "committed".to_owned()));
            }
            table.row(cells);
        }
    }
    table
}

fn as_json(args: &ResetArgs, plans: &[GroupPlan], failures: &[Failure]) -> Value {
    let offset = |plan: &GroupPlan, place: &Place, change: &Change| {
        let (topic, partition) = place;
        json!({
            "group": plan.group, "topic": topic, "partition": partition, "current": change.current, "new": change.next,
            "start_offset": change.range.start, "end_offset": change.range.end,
            "warning": change.note.map(|note| note.to_string()),
            "refused": plan.refused.get(place).map(|code| code.name()),
        })
    };
    let of_plan = |plan: &GroupPlan| -> Vec<Value> {
        plan.changes.iter().map(|(place, change)| offset(plan, place, change)).collect()
    };
    let offsets: Vec<Value> = plans.iter().flat_map(of_plan).collect();
    let failures: Vec<Value> = failures
        .iter()
        .map(|(group, failure)| json!({"group": group, "error": failure.to_string()}))
        .collect();
    json!({"executed": args.execute, "offsets": offsets, "failures": failures})
}
