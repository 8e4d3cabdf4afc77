//! What was found, what is done about it, and what is left.

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};

use super::super::verify::{Findings, report};
use super::plan::Plan;
use super::{Repair, cuts::Lost};
use crate::cli::args::OutputFormat;
use crate::cli::error::CliError;

/// `after` is what a check found when all was done; without it nothing was.
pub(super) fn write(
    output: OutputFormat,
    dir: &Path,
    repair: &Repair,
    after: Option<&Findings>,
) -> Result<(), CliError> {
    if output == OutputFormat::Json {
        let mut document = report::as_json(dir, repair.counts, &repair.findings);
        document["repairs"] = repair.plans.iter().map(as_json).collect();
        document["executed"] = after.is_some().into();
        document["wrong_after"] = after.map(Findings::faults).into();
        writeln!(io::stdout().lock(), "{document:#}")?;
        return Ok(());
    }
    report::write(output, dir, repair.counts, &repair.findings)?;
    let mut out = io::stdout().lock();
    for plan in &repair.plans {
        writeln!(out, "{}", plan.of)?;
        plan.steps.iter().try_for_each(|step| writeln!(out, "  {step}"))?;
        plan.lost.iter().try_for_each(|lost| writeln!(out, "  lost   {}", words(lost)))?;
        plan.left.iter().try_for_each(|what| writeln!(out, "  left   {what}"))?;
    }
    let steps = repair.plans.iter().any(|plan| !plan.steps.is_empty());
    match after {
        None if steps => writeln!(out, "nothing was changed: --execute does it")?,
        None => {}
        Some(after) if after.faults() == 0 => writeln!(out, "done: nothing is wrong any more")?,
        Some(after) => {
            writeln!(
                out,
                "done, but {} things are still wrong: `ringlog log verify` lists them",
                after.faults()
            )?;
        }
    }
    Ok(())
}

fn words(lost: &Lost) -> String {
    let Lost { from, upto, records, why } = lost;
    let sound = match records {
        0 => String::new(),
        records => format!(", {records} sound records among them"),
    };
    if upto > from {
        format!("offsets {from} to {}{sound}: {why}", upto.0 - 1)
    } else {
        format!("what stood at {from}: {why}")
    }
}

fn as_json(plan: &Plan) -> Value {
    let lost = |lost: &Lost| json!({"from": lost.from.0, "upto": lost.upto.0, "sound_records": lost.records, "why": lost.why});
    json!({
        "topic": plan.of.topic, "partition": plan.of.partition,
        "steps": plan.steps.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "lost": plan.lost.iter().map(lost).collect::<Vec<_>>(),
        "left": plan.left,
    })
}
