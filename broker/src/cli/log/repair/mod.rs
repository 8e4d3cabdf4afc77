//! `ringlog log repair`: what `log verify` finds in a stopped broker's directory, mended.
//!
//! A log that is damaged below what was synced stays offline, and the broker serves the others. What becomes of it is the
//! operator's to say: the log is cut before the first damaged batch, as a torn end is, or (`--skip-damaged`) only the damaged
//! batches go and their offsets stay empty, as behind a compaction. What goes is kept beside, under a name that says so.

mod cuts;
mod plan;
mod report;
mod scan;
mod step;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use protocol::types::Uuid;
use storage::TopicPartition;
use storage::inspect::{self, DirKind, FileKind, dir_kind, file_kind};

use self::cuts::Way;
use self::plan::{Context, Plan};
use super::input::{Entry, entry, list, whole};
use super::lock;
use super::verify::{Counts, Finding, Findings, LogDirFacts, check};
use crate::cli::args::OutputFormat;
use crate::cli::error::CliError;

/// Options of `log repair`.
#[derive(Debug, Args)]
pub(crate) struct RepairArgs {
    /// A stopped broker's log directory, or one partition's in it
    dir: PathBuf,
    /// Do it; without it what would be done is printed
    #[arg(long)]
    execute: bool,
    /// Take out damaged batches only, leaving their offsets empty, instead of cutting the log off before the first one
    #[arg(long)]
    skip_damaged: bool,
}

/// What was found and what is to be done about it.
struct Repair {
    counts: Counts,
    findings: Findings,
    plans: Vec<Plan>,
}

/// False if something is wrong, or still is.
pub(super) fn run(output: OutputFormat, args: &RepairArgs) -> Result<bool, CliError> {
    let target = directory(&args.dir)?;
    let root = root_of(&target)?;
    // Held until all is done, so that no broker starts meanwhile.
    let _held = if args.execute {
        Some(lock::take(&root)?)
    } else {
        lock::refuse_running(&root)?;
        None
    };
    let way = if args.skip_damaged { Way::Skip } else { Way::Cut };
    let repair = Repair::plan(&target, &root, way)?;
    if !args.execute {
        report::write(output, &target.path, &repair, None)?;
        return Ok(repair.findings.faults() == 0);
    }
    repair.plans.iter().try_for_each(Plan::carry_out)?;
    let mut after = Findings::new(&target.path);
    check(&target.path, &target.name, &mut after)?;
    report::write(output, &target.path, &repair, Some(&after))?;
    Ok(after.faults() == 0)
}

fn directory(dir: &Path) -> Result<Entry, CliError> {
    let path = dir.canonicalize().map_err(|error| super::input::fault(dir, &error))?;
    let target = entry(&path)?;
    match target.is_dir {
        true => Ok(target),
        false => Err(CliError::Usage(format!("{} is no directory", dir.display()))),
    }
}

/// The log directory that `target` is or lies in.
fn root_of(target: &Entry) -> Result<PathBuf, CliError> {
    match (dir_kind(&target.name), target.path.parent()) {
        (DirKind::Partition(_), Some(above)) => Ok(above.to_owned()),
        _ => Ok(target.path.clone()),
    }
}

impl Repair {
    /// Checks the directory `target`, of the log directory `root`, and plans what mends it.
    fn plan(target: &Entry, root: &Path, way: Way) -> Result<Self, CliError> {
        let mut findings = Findings::new(&target.path);
        let counts = check(&target.path, &target.name, &mut findings)?;
        let facts = LogDirFacts::read(root, &mut Findings::new(root))?;
        // A clean stop leaves no journal.
        let journaled = if facts.was_clean { BTreeSet::new() } else { journaled(root)? };
        let context = Context { root, facts: &facts, journaled: &journaled, way };
        let mut plans = Vec::new();
        for (dir, of) in partitions(target)? {
            let is_of =
                |finding: &&Finding| finding.is_fault && target.path.join(&finding.path).starts_with(&dir);
            let faults: Vec<&Finding> = findings.all().iter().filter(is_of).collect();
            if !faults.is_empty() {
                plans.push(Plan::make(&dir, &of, &faults, &context)?);
            }
        }
        Ok(Self { counts, findings, plans })
    }
}

fn partitions(target: &Entry) -> Result<Vec<(PathBuf, TopicPartition)>, CliError> {
    let partition = |name: &str, path: &Path| match dir_kind(name) {
        DirKind::Partition(of) => Some((path.to_owned(), of)),
        _ => None,
    };
    if let Some(one) = partition(&target.name, &target.path) {
        return Ok(vec![one]);
    }
    let entries = list(&target.path)?;
    let dirs = entries.iter().filter(|entry| entry.is_dir);
    Ok(dirs.filter_map(|entry| partition(&entry.name, &entry.path)).collect())
}

/// Partitions of which the journals hold records that the next start brings to their segments.
fn journaled(root: &Path) -> Result<BTreeSet<(Uuid, i32)>, CliError> {
    let mut found = BTreeSet::new();
    for entry in list(root)?.iter().filter(|entry| matches!(file_kind(&entry.name), FileKind::Journal { .. }))
    {
        let Ok(Some(journal)) = inspect::journal(&whole(&entry.path)?) else { continue };
        for entry in journal.frames.iter().flat_map(|frame| &frame.entries) {
            let of = (entry.topic_id, entry.partition);
            if entry.is_floor {
                found.remove(&of)
            } else {
                found.insert(of)
            };
        }
    }
    Ok(found)
}
