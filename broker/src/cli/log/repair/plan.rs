//! What is to be done about one partition.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use protocol::types::Uuid;
use storage::inspect::{
    self, Checkpoint, FileKind, damaged_file_name, damaged_part_name, file_kind, file_name,
};
use storage::{EpochCheckpoint, LeaderEpoch, Offset, TopicPartition};

use super::super::change;
use super::super::input::{Entry, list, text, whole};
use super::super::verify::{Finding, LogDirFacts, swap_end};
use super::cuts::{Cuts, Lost, Recovery, Way, decide};
use super::scan::{Following, Scanned, scan};
use super::step::Step;
use crate::cli::error::CliError;

/// What all partitions of a log directory have in common.
pub(super) struct Context<'a> {
    pub(super) root: &'a Path,
    pub(super) facts: &'a LogDirFacts,
    /// Partitions of which a journal holds records.
    pub(super) journaled: &'a BTreeSet<(Uuid, i32)>,
    pub(super) way: Way,
}

/// The repair of one partition.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) of: TopicPartition,
    root: PathBuf,
    dir: PathBuf,
    pub(super) steps: Vec<Step>,
    pub(super) lost: Vec<Lost>,
    /// What isn't mended, and what to do about it.
    pub(super) left: Vec<String>,
}

/// A partition's directory as it was found.
struct Found<'a> {
    entries: Vec<Entry>,
    faults: &'a [&'a Finding],
}

impl Found<'_> {
    fn of_kind(&self, wanted: impl Fn(FileKind) -> bool) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| !entry.is_dir && wanted(file_kind(&entry.name)))
    }

    /// Whether something is wrong with a file of that kind.
    fn is_wrong(&self, wanted: impl Fn(FileKind) -> bool) -> bool {
        self.faults.iter().any(|fault| wanted(kind_of(fault)))
    }

    fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| entry.name == name)
    }

    /// A name that nothing has yet, so that no repair writes over what an earlier one kept.
    fn free_name(&self, name: String) -> String {
        let numbered = (1..).map(|number| format!("{name}.{number}"));
        std::iter::once(name.clone()).chain(numbered).find(|name| !self.has(name)).unwrap_or(name)
    }
}

/// The kind of the file that a fault was found in.
fn kind_of(fault: &Finding) -> FileKind {
    let name = fault.path.file_name().unwrap_or_default().to_string_lossy();
    file_kind(&name)
}

fn is_log(kind: FileKind) -> bool {
    matches!(kind, FileKind::Log(_))
}

impl Plan {
    /// Plans the repair of the partition in `dir`, with which these things are wrong.
    pub(super) fn make(
        dir: &Path,
        of: &TopicPartition,
        faults: &[&Finding],
        context: &Context<'_>,
    ) -> Result<Self, CliError> {
        let (root, dir) = (context.root.to_owned(), dir.to_owned());
        let mut plan =
            Self { of: of.clone(), root, dir, steps: Vec::new(), lost: Vec::new(), left: Vec::new() };
        let found = Found { entries: list(&plan.dir)?, faults };
        if !plan.is_ours_to_mend(&found, context)? {
            return Ok(plan);
        }
        plan.put_small_files_aside(&found);
        let cuts = plan.scan(&found, context)?;
        plan.take(&found, cuts, context)?;
        plan.tell_what_is_left(&found);
        Ok(plan)
    }

    /// Does it.
    pub(super) fn carry_out(&self) -> Result<(), CliError> {
        self.steps.iter().try_for_each(|step| step.carry_out(&self.root, &self.dir, &self.of))
    }

    /// What a start does by itself comes first, and compacted segments that aren't whole.
    fn is_ours_to_mend(&mut self, found: &Found<'_>, context: &Context<'_>) -> Result<bool, CliError> {
        if self.of.topic == "__cluster_metadata" {
            self.left.push("a Kafka cluster's metadata: Kafka's own tools must mend it".to_owned());
            return Ok(false);
        }
        let topic_id = match found.of_kind(|kind| kind == FileKind::PartitionMetadata).next() {
            Some(entry) => text(&entry.path)?.and_then(|text| inspect::partition_metadata(&text)).ok(),
            None => None,
        };
        if topic_id.is_some_and(|id| context.journaled.contains(&(id, self.of.partition))) {
            self.left.push(
                "a journal holds records of it that its segments don't have yet: start the broker once, stop it, and repair then"
                    .to_owned(),
            );
            return Ok(false);
        }
        for entry in found.of_kind(|kind| matches!(kind, FileKind::Swap(_))) {
            let FileKind::Swap(base) = file_kind(&entry.name) else { continue };
            if swap_end(entry, base)?.is_ok() {
                self.left.push(
                    "a compaction isn't finished: start the broker once, stop it, and repair then".to_owned(),
                );
                return Ok(false);
            }
            let log = file_name(FileKind::Log(base)).unwrap_or_default();
            if found.has(&log) {
                let to = found.free_name(damaged_file_name(&entry.name));
                self.steps.push(Step::Rename { from: entry.name.clone(), to });
                continue;
            }
            // What it was made of is gone already, in part at least: it is all there is.
            self.steps.push(Step::Rename { from: entry.name.clone(), to: log.clone() });
            self.left
                .push(format!("{log} is a compacted segment that isn't whole: run this again to mend it"));
            return Ok(false);
        }
        Ok(true)
    }

    fn put_small_files_aside(&mut self, found: &Found<'_>) {
        for entry in found.of_kind(|kind| kind == FileKind::Checkpoint) {
            if found.is_wrong(|kind| kind == FileKind::Checkpoint) {
                let to = found.free_name(damaged_file_name(&entry.name));
                self.steps.push(Step::Rename { from: entry.name.clone(), to });
            }
        }
        for fault in found.faults {
            if let FileKind::Snapshot(_) = kind_of(fault)
                && let Some(name) = fault.path.file_name()
            {
                self.remove(name.to_string_lossy().into_owned());
            }
        }
    }

    fn remove(&mut self, name: String) {
        let step = Step::Remove { name };
        if !self.steps.contains(&step) {
            self.steps.push(step);
        }
    }

    /// Looks at the segments from the log's start on, if anything of them may be wrong.
    fn scan(&self, found: &Found<'_>, context: &Context<'_>) -> Result<Option<Cuts>, CliError> {
        // A fault of the directory as a whole is one of where the log ends.
        let is_wrong = found
            .is_wrong(|kind| is_log(kind) || kind == FileKind::Epochs || kind == FileKind::Checkpoint)
            || found
                .faults
                .iter()
                .any(|fault| found.entries.iter().all(|entry| !fault.path.ends_with(&entry.name)));
        if !is_wrong {
            return Ok(None);
        }
        let own = own_checkpoint(found)?;
        let start = own.map(|own| own.start).max(context.facts.starts.get(&self.of).copied());
        let mut segments: Vec<(Offset, &Entry)> = found
            .of_kind(is_log)
            .filter_map(|entry| match file_kind(&entry.name) {
                FileKind::Log(base) => Some((base, entry)),
                _ => None,
            })
            .collect();
        segments.sort_by_key(|(base, _)| *base);
        let at = segments.partition_point(|(base, _)| *base <= start.unwrap_or_default()).saturating_sub(1);
        let mut following = Following { next: Offset::ZERO, epoch: LeaderEpoch::NONE };
        let scanned: Result<Vec<Scanned>, CliError> =
            segments[at..].iter().map(|(base, entry)| scan(*base, &entry.path, &mut following)).collect();
        let last = segments.last().map_or(Offset::ZERO, |(base, _)| *base);
        let known = context.facts.recovery_points.get(&self.of).copied();
        let point = known.max(own.map(|own| own.recovery_point));
        // All that is left to tell of a log without segments whose own file is damaged.
        let start = start.or(point.filter(|_| segments.is_empty())).unwrap_or_default();
        let point = point.unwrap_or_default();
        let end = point.max(context.facts.high_watermarks.get(&self.of).copied().unwrap_or_default());
        let point = point.max(last);
        let recovery = Recovery { start, comes: !context.facts.was_clean, point, end };
        Ok(Some(decide(&scanned?, context.way, recovery)))
    }

    /// Steps in an order in which a start between any two of them finds a log that it can mend, or that is still damaged.
    fn take(&mut self, found: &Found<'_>, cuts: Option<Cuts>, context: &Context<'_>) -> Result<(), CliError> {
        let cuts = cuts.unwrap_or_default();
        for step in cuts.keep {
            let Step::Keep { segment, position, bytes, name } = step else { continue };
            let name = found.free_name(name);
            self.steps.push(Step::Keep { segment, position, bytes, name });
        }
        if let Some(end) = cuts.end {
            self.move_ends(found, end, context)?;
        }
        for base in &cuts.whole {
            let from = file_name(FileKind::Log(*base)).unwrap_or_default();
            self.steps.push(Step::Rename { from, to: found.free_name(damaged_part_name(*base, 0)) });
            for kind in [FileKind::OffsetIndex(*base), FileKind::TimeIndex(*base), FileKind::TxnIndex(*base)]
            {
                let name = file_name(kind).unwrap_or_default();
                if found.has(&name) {
                    self.remove(name);
                }
            }
        }
        self.steps.extend(cuts.cut);
        if let Some(end) = cuts.end {
            if cuts.goes_on {
                let name = file_name(FileKind::Log(end)).unwrap_or_default();
                self.steps.push(Step::Write { name, content: Bytes::new() });
                // A start takes one without indexes for a log's first, which no producer has written to.
                self.steps.push(Step::Index { segment: end });
            }
            self.mend_epochs(found, end, &cuts.epochs)?;
            for entry in found.of_kind(|kind| matches!(kind, FileKind::Snapshot(at) if at > end)) {
                self.remove(entry.name.clone());
            }
        }
        let mut index: BTreeSet<Offset> = cuts.index.into_iter().collect();
        for fault in found.faults {
            if let FileKind::OffsetIndex(base) | FileKind::TimeIndex(base) = kind_of(fault) {
                index.insert(base);
            }
        }
        let stays = |base: &Offset| {
            !cuts.whole.contains(base) && found.has(&file_name(FileKind::Log(*base)).unwrap_or_default())
        };
        self.steps.extend(index.into_iter().filter(stays).map(|segment| Step::Index { segment }));
        self.lost.extend(cuts.lost);
        Ok(())
    }

    /// What tells where the log ends must not tell of what goes.
    fn move_ends(&mut self, found: &Found<'_>, end: Offset, context: &Context<'_>) -> Result<(), CliError> {
        let wrong = found.is_wrong(|kind| kind == FileKind::Checkpoint);
        let oldest = found.of_kind(is_log).filter_map(|entry| match file_kind(&entry.name) {
            FileKind::Log(base) => Some(base),
            _ => None,
        });
        let oldest = oldest.min();
        let written = match own_checkpoint(found)? {
            Some(Checkpoint { start, recovery_point }) if start > end || recovery_point > end => {
                Some(Checkpoint { start: start.min(end), recovery_point: recovery_point.min(end) })
            }
            // Where the log starts isn't known any more: at its oldest segment, unless the directory tells. One without segments is empty,
            // which only this file tells a start.
            None if wrong || (oldest.is_none() && end > Offset::ZERO) => {
                let start = context.facts.starts.get(&self.of).copied().or(oldest).unwrap_or(end);
                Some(Checkpoint { start: start.min(end), recovery_point: end })
            }
            _ => None,
        };
        if let Some(checkpoint) = written {
            let content = inspect::checkpoint_file(checkpoint);
            self.steps.push(Step::Write { name: "ringlog-checkpoint".to_owned(), content });
        }
        if let Some(entry) = found.entries.iter().find(|entry| entry.name == "ringlog-cleaned")
            && inspect::cleaned(&whole(&entry.path)?).is_some_and(|upto| upto > end)
        {
            let content = inspect::cleaned_file(end);
            self.steps.push(Step::Write { name: entry.name.clone(), content });
        }
        let LogDirFacts { recovery_points, starts, high_watermarks, compacted, .. } = context.facts;
        let told = [recovery_points, starts, high_watermarks, compacted];
        if told.iter().any(|offsets| offsets.get(&self.of).is_some_and(|offset| *offset > end)) {
            self.steps.push(Step::Clip { end });
        }
        Ok(())
    }

    fn mend_epochs(
        &mut self,
        found: &Found<'_>,
        end: Offset,
        of_batches: &[(LeaderEpoch, Offset)],
    ) -> Result<(), CliError> {
        let Some(entry) = found.of_kind(|kind| kind == FileKind::Epochs).next() else { return Ok(()) };
        let read = text(&entry.path)?.and_then(|text| EpochCheckpoint::parse(&text));
        let mut epochs = match read {
            Ok(read) if !found.is_wrong(|kind| kind == FileKind::Epochs) => read,
            _ => {
                let mut epochs = EpochCheckpoint::default();
                for (epoch, first) in of_batches {
                    epochs.assign(*epoch, *first);
                }
                epochs
            }
        };
        epochs.truncate_end(end);
        let content = epochs.to_text();
        if change::exists(&entry.path) && whole(&entry.path)? != content.as_bytes() {
            self.steps.push(Step::Write { name: entry.name.clone(), content: content.into() });
        }
        Ok(())
    }

    fn tell_what_is_left(&mut self, found: &Found<'_>) {
        if found.is_wrong(|kind| kind == FileKind::PartitionMetadata) {
            self.left.push(
                "partition.metadata can't be made up: that of another partition of the topic says the same, copy it here"
                    .to_owned(),
            );
        }
        if found.is_wrong(|kind| matches!(kind, FileKind::TxnIndex(_))) {
            self.left.push("an index of aborted transactions can't be made anew".to_owned());
        }
        if self.steps.is_empty() && found.is_wrong(is_log) {
            self.left.push(
                "what is missing isn't here, and no batch is damaged: readers go on behind it".to_owned(),
            );
        }
    }
}

fn own_checkpoint(found: &Found<'_>) -> Result<Option<Checkpoint>, CliError> {
    match found.of_kind(|kind| kind == FileKind::Checkpoint).next() {
        Some(entry) => Ok(inspect::checkpoint(&whole(&entry.path)?).ok()),
        None => Ok(None),
    }
}
