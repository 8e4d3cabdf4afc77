//! What was found, printed.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::findings::Finding;
use super::{Counts, Findings};
use crate::cli::args::OutputFormat;
use crate::cli::error::CliError;

pub(in super::super) fn write(
    output: OutputFormat,
    dir: &Path,
    counts: Counts,
    findings: &Findings,
) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    if output == OutputFormat::Json {
        writeln!(out, "{:#}", as_json(dir, counts, findings))?;
        return Ok(());
    }
    for finding in findings.all() {
        let Finding { path, position, is_fault, what } = finding;
        let kind = if *is_fault { "WRONG" } else { "note " };
        let path = if path.as_os_str().is_empty() { dir } else { path.as_path() };
        let position = position.map(|position| format!(" at {position}")).unwrap_or_default();
        writeln!(out, "{kind}  {}{position}: {what}", path.display())?;
    }
    if findings.left_out() > 0 {
        writeln!(out, "and {} more", findings.left_out())?;
    }
    let Counts { partitions, segments, batches, records, bytes } = counts;
    let faults = findings.faults();
    writeln!(
        out,
        "{partitions} partitions, {segments} segments, {batches} batches, {records} records, {bytes} bytes: {}",
        if faults == 0 { "nothing is wrong".to_owned() } else { format!("{faults} things are wrong") }
    )?;
    Ok(())
}

pub(in super::super) fn as_json(dir: &Path, counts: Counts, findings: &Findings) -> Value {
    let one = |finding: &Finding| {
        json!({
            "path": finding.path.display().to_string(), "position": finding.position, "wrong": finding.is_fault,
            "what": finding.what,
        })
    };
    let Counts { partitions, segments, batches, records, bytes } = counts;
    json!({
        "dir": dir.display().to_string(), "partitions": partitions, "segments": segments, "batches": batches,
        "records": records, "bytes": bytes, "wrong": findings.faults(), "left_out": findings.left_out(),
        "findings": findings.all().iter().map(one).collect::<Vec<_>>(),
    })
}
