//! `ringlog log dump`: what files hold, a line each.

mod file;
mod indexes;
mod journal;
mod records;
mod sink;
mod texts;

use std::path::{Path, PathBuf};

use clap::Args;
use storage::inspect::{DirKind, FileKind, dir_kind, file_kind};

use self::sink::Sink;
use super::input::{Entry, entry, list};
use super::lock;
use crate::cli::args::OutputFormat;
use crate::cli::error::CliError;

/// Options of `log dump`.
#[derive(Debug, Args)]
pub(crate) struct DumpArgs {
    /// Files, directories of partitions or whole log directories, ours or Kafka's
    #[arg(required = true, value_name = "DIR|FILE")]
    paths: Vec<PathBuf>,
    /// Print the records of each batch too
    #[arg(long)]
    records: bool,
    /// Read a directory that a running broker has locked
    #[arg(long)]
    force_read: bool,
}

/// False if something can't be what its name says.
pub(super) fn run(output: OutputFormat, args: &DumpArgs) -> Result<bool, CliError> {
    if !args.force_read {
        args.paths.iter().try_for_each(|path| lock::refuse_locked(path))?;
    }
    let mut sink = Sink::new(output, args.records);
    for path in &args.paths {
        let entry = entry(path)?;
        if entry.is_dir { dir(&entry.path, &mut sink)? } else { file::dump(&entry, &mut sink)? }
    }
    sink.end()
}

/// A partition's directory, or one of partitions: its own files first.
fn dir(path: &Path, sink: &mut Sink) -> Result<(), CliError> {
    let entries = list(path)?;
    for entry in in_order(&entries) {
        file::dump(entry, sink)?;
    }
    for entry in entries.iter().filter(|entry| entry.is_dir && dir_kind(&entry.name) != DirKind::Other) {
        for file in in_order(&list(&entry.path)?) {
            file::dump(file, sink)?;
        }
    }
    Ok(())
}

/// The files that are known, each segment's together.
fn in_order(entries: &[Entry]) -> Vec<&Entry> {
    let known = |entry: &&Entry| !entry.is_dir && file_kind(&entry.name) != FileKind::Other;
    entries.iter().filter(known).collect()
}
