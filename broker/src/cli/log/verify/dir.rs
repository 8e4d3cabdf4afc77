//! A log directory: its own files, and all partitions against them.

use std::path::Path;

use storage::inspect::{self, DirKind, FileKind, dir_kind, file_kind};
use storage::{MetaProperties, Offset, Offsets, TopicPartition};

use super::super::input::{Entry, list, text, whole};
use super::{Counts, Findings, partition};
use crate::cli::error::CliError;

/// What a log directory says of its partitions.
#[derive(Debug, Default)]
pub(crate) struct LogDirFacts {
    /// Whether its broker was stopped cleanly: nothing is left to recover.
    pub(crate) was_clean: bool,
    pub(crate) recovery_points: Offsets,
    pub(crate) starts: Offsets,
    pub(crate) high_watermarks: Offsets,
    /// Partitions that were ever compacted.
    pub(crate) compacted: Offsets,
}

impl LogDirFacts {
    /// Reads a directory's own files.
    pub(crate) fn read(dir: &Path, findings: &mut Findings) -> Result<Self, CliError> {
        let mut facts = Self::default();
        let entries = list(dir)?;
        facts.was_clean = entries.iter().any(|entry| file_kind(&entry.name) == FileKind::CleanMarker);
        for entry in entries.iter().filter(|entry| !entry.is_dir) {
            facts.read_file(entry, findings)?;
        }
        if !facts.was_clean {
            findings.note(
                dir,
                None,
                "its broker wasn't stopped cleanly: the next start recovers the ends of the logs",
            );
        }
        Ok(facts)
    }

    fn read_file(&mut self, entry: &Entry, findings: &mut Findings) -> Result<(), CliError> {
        let path = &entry.path;
        match file_kind(&entry.name) {
            FileKind::Offsets => {
                let parsed = text(path)?.and_then(|text| inspect::offsets(&text));
                let offsets = parsed.map_err(|why| findings.fault(path, None, why)).unwrap_or_default();
                match entry.name.as_str() {
                    "recovery-point-offset-checkpoint" => self.recovery_points = offsets,
                    // The second is ours, of logs that weren't opened since the first one went.
                    "log-start-offset-checkpoint" | "ringlog-log-starts" => self.starts.extend(offsets),
                    "replication-offset-checkpoint" => self.high_watermarks = offsets,
                    _ => self.compacted = offsets,
                }
            }
            FileKind::MetaProperties => {
                if let Err(why) = text(path)?.and_then(|text| MetaProperties::parse(&text)) {
                    findings.fault(path, None, why);
                }
            }
            FileKind::Unrecovered => {
                if let Err(why) = text(path)?.and_then(|text| inspect::unrecovered(&text)) {
                    findings.fault(path, None, why);
                }
            }
            FileKind::Start => {
                if let Err(why) = inspect::start(&whole(path)?) {
                    findings.fault(path, None, why);
                }
            }
            FileKind::Adopting => findings.fault(
                path,
                None,
                "an adoption into this directory isn't finished: run the same `ringlog log adopt` again",
            ),
            FileKind::Kept => findings.note(
                path,
                None,
                "records that found no place at a start: one that knows their topic takes them in",
            ),
            FileKind::Foreign => findings.note(
                path,
                None,
                "records in whose place another broker's stand: kept for the operator",
            ),
            FileKind::Journal { .. } => {
                match inspect::journal(&whole(path)?) {
                    Ok(Some(found)) if !found.frames.is_empty() => {
                        let frames = found.frames.len();
                        findings.note(path, None, format!("{frames} frames: the next start brings what is needed of them to the segments"));
                    }
                    Ok(_) => {}
                    Err(why) => findings.fault(path, None, why),
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The lowest offset that the partition's end must not be below, with the file that says so.
    pub(super) fn least_end(&self, of: &TopicPartition) -> [(&'static str, Option<Offset>); 3] {
        [
            ("recovery-point-offset-checkpoint", self.recovery_points.get(of).copied()),
            ("log-start-offset-checkpoint", self.starts.get(of).copied()),
            ("replication-offset-checkpoint", self.high_watermarks.get(of).copied()),
        ]
    }
}

pub(super) fn check(dir: &Path, findings: &mut Findings) -> Result<Counts, CliError> {
    let facts = LogDirFacts::read(dir, findings)?;
    let mut counts = Counts::default();
    let entries = list(dir)?;
    for entry in entries.iter().filter(|entry| entry.is_dir) {
        match dir_kind(&entry.name) {
            DirKind::Partition(of) => partition::check(&entry.path, &of, &facts, findings, &mut counts)?,
            DirKind::Deleted => {
                findings.note(&entry.path, None, "a deleted partition: the next start removes it")
            }
            DirKind::Stray => {
                findings.note(&entry.path, None, "a partition of a topic that is gone, kept for the operator")
            }
            DirKind::Other => {}
        }
    }
    let known =
        entries.iter().any(|entry| !entry.is_dir && file_kind(&entry.name) == FileKind::MetaProperties);
    if counts.partitions == 0 && !known {
        return Err(CliError::Usage(format!(
            "{} is no log directory: it has no meta.properties and no partition",
            dir.display()
        )));
    }
    Ok(counts)
}
