//! `ringlog log verify`: everything in a log directory against everything else in it.

mod dir;
mod findings;
mod index;
mod partition;
pub(super) mod report;
mod segment;
mod swap;
mod texts;

use std::path::PathBuf;

use clap::Args;
use storage::inspect::{DirKind, dir_kind};

pub(super) use self::dir::LogDirFacts;
pub(super) use self::findings::{Finding, Findings};
pub(super) use self::swap::end as swap_end;
use super::input::entry;
use super::lock;
use crate::cli::args::OutputFormat;
use crate::cli::error::CliError;

/// Options of `log verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// A log directory, or one partition's in it; ours or Kafka's
    dir: PathBuf,
    /// Read a directory that a running broker has locked
    #[arg(long)]
    force_read: bool,
}

/// What was looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) partitions: u64,
    pub(crate) segments: u64,
    pub(crate) batches: u64,
    pub(crate) records: u64,
    pub(crate) bytes: u64,
}

/// False if something is wrong.
pub(super) fn run(output: OutputFormat, args: &VerifyArgs) -> Result<bool, CliError> {
    if !args.force_read {
        lock::refuse_locked(&args.dir)?;
    }
    let entry = entry(&args.dir)?;
    if !entry.is_dir {
        return Err(CliError::Usage(format!(
            "{} is no directory: `ringlog log dump` reads single files",
            args.dir.display()
        )));
    }
    let mut findings = Findings::new(&entry.path);
    let counts = check(&entry.path, &entry.name, &mut findings)?;
    report::write(output, &args.dir, counts, &findings)?;
    Ok(findings.faults() == 0)
}

/// Checks a log directory, or a partition's by its own files and what its log directory says of it.
pub(super) fn check(path: &std::path::Path, name: &str, findings: &mut Findings) -> Result<Counts, CliError> {
    match dir_kind(name) {
        DirKind::Partition(of) => {
            let above =
                path.canonicalize().ok().and_then(|path| path.parent().map(std::path::Path::to_owned));
            // What is wrong beside the partition isn't asked for.
            let mut ignored = Findings::new(path);
            let facts = match above {
                Some(above) => LogDirFacts::read(&above, &mut ignored)?,
                None => LogDirFacts::default(),
            };
            let mut counts = Counts::default();
            partition::check(path, &of, &facts, findings, &mut counts)?;
            Ok(counts)
        }
        _ => dir::check(path, findings),
    }
}
