//! `ringlog log adopt`: a stopped Apache Kafka's log directories become a data directory of ours.
//!
//! ```text
//!   source: Kafka's directories ── its metadata log ── what must be there, and is ── Adoption
//!   target: mark ── identity ── partitions, each under another name first ── files of offsets ── metadata ── no mark
//! ```
//!
//! Kafka's files are left as they are, unless they are moved. While the mark is there a broker refuses the directory, and the
//! same command goes on where it was cut short.

mod found;
mod metadata_log;
mod partition;
mod report;
mod source;
mod target;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use clap::Args;

use self::found::Adoption;
use self::source::Source;
use self::target::Target;
use crate::cli::args::OutputFormat;
use crate::cli::error::CliError;

/// Options of `log adopt`.
#[derive(Debug, Clone, Args)]
pub(crate) struct AdoptArgs {
    /// Log directories of a stopped Kafka node (log.dirs): all it has
    #[arg(required = true, value_name = "KAFKA_DIR")]
    pub(super) dirs: Vec<PathBuf>,
    /// Where the broker's data will lie (log.dirs): a new directory
    #[arg(long, value_name = "DIR")]
    pub(super) data_dir: PathBuf,
    /// Kafka's metadata.log.dir, if it isn't one of its log directories
    #[arg(long, value_name = "DIR")]
    pub(super) metadata_dir: Option<PathBuf>,
    /// Move the partitions instead of copying them: quick, and Kafka can't go back to them
    #[arg(long = "move", conflicts_with = "link")]
    pub(super) moves: bool,
    /// Give closed segments a second name instead of copying them, where the file system can do that: quick, and Kafka can go
    /// back to them as long as none of these logs is cut or repaired
    #[arg(long)]
    pub(super) link: bool,
    /// Take over a cluster with access control lists, which this release doesn't have: anybody may do anything then
    #[arg(long)]
    pub(super) without_acls: bool,
    /// Check everything and say what would be taken over
    #[arg(long)]
    pub(super) dry_run: bool,
}

pub(super) fn run(output: OutputFormat, args: &AdoptArgs) -> Result<(), CliError> {
    let adoption = adopt(args)?;
    report::write(output, args, &adoption)
}

/// Does it, and gives what was taken over.
pub(super) fn adopt(args: &AdoptArgs) -> Result<Adoption, CliError> {
    let source = Source::open(args)?;
    let mut target = Target::look(args, &source)?;
    let adoption = Adoption::find(args, &source, &target)?;
    if args.dry_run {
        return Ok(adoption);
    }
    target.begin(&source)?;
    for partition in &adoption.partitions {
        target.take(partition)?;
    }
    if !source.is_still_stopped()? {
        return Err(target.outdated());
    }
    target.finish(&source, &adoption)?;
    Ok(adoption)
}
