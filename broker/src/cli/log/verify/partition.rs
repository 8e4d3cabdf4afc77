//! One partition: its segments one after another, its small files against them.

use std::collections::BTreeSet;
use std::path::Path;

use storage::inspect::{self, FileKind, file_kind};
use storage::{LeaderEpoch, Offset, TopicPartition};

use super::super::input::{Entry, list};
use super::dir::LogDirFacts;
use super::segment::{self, Segment};
use super::{Counts, Findings, swap, texts};
use crate::cli::error::CliError;

/// What is known of a log while its segments are gone through.
#[derive(Debug)]
pub(super) struct LogSoFar {
    /// Offset after the last batch; none before the first one and behind a damaged place.
    pub(super) end: Option<Offset>,
    /// Epoch of the last batch.
    pub(super) epoch: LeaderEpoch,
    /// Each epoch that batches have, with the first batch's offset.
    pub(super) epochs: Vec<(LeaderEpoch, Offset)>,
    /// Whether some of it can't be read, so that nothing is known of its end.
    pub(super) broken: bool,
    /// Whether gaps are what compaction left.
    pub(super) may_have_gaps: bool,
    /// Behind this offset the next start looks for damage, and cuts it off; none if nothing is to be recovered.
    pub(super) recovered_from: Option<Offset>,
}

pub(super) fn check(
    dir: &Path,
    of: &TopicPartition,
    facts: &LogDirFacts,
    findings: &mut Findings,
    counts: &mut Counts,
) -> Result<(), CliError> {
    counts.partitions += 1;
    let entries = list(dir)?;
    let mut segments = segments(&entries, findings);
    let was_swapped = swap::take_in(&entries, &mut segments, findings)?;
    let checkpoint = texts::checkpoint(&entries, findings)?;
    let start =
        facts.starts.get(of).copied().max(checkpoint.map(|checkpoint| checkpoint.start)).unwrap_or_default();
    let own_point = checkpoint.map(|checkpoint| checkpoint.recovery_point);
    let point = facts.recovery_points.get(of).copied().max(own_point).unwrap_or_default();
    let has_gaps =
        |entry: &Entry| entry.name == COMPACTED_NOTE || file_kind(&entry.name) == FileKind::Damaged;
    let begin = || LogSoFar {
        end: None,
        epoch: LeaderEpoch::NONE,
        epochs: Vec::new(),
        broken: false,
        may_have_gaps: was_swapped
            || facts.compacted.contains_key(of)
            || COMPACTED_TOPICS.contains(&of.topic.as_str())
            || entries.iter().any(has_gaps),
        recovered_from: (!facts.was_clean).then_some(point),
    };
    let at = segments.partition_point(|segment| segment.base <= start).saturating_sub(1);
    let (below, segments) = segments.split_at(at);
    check_below(dir, below, &mut begin(), findings, counts)?;
    let mut log = begin();
    for (i, found) in segments.iter().enumerate() {
        segment::check(found, i + 1 == segments.len(), &mut log, findings, counts)?;
    }
    // A log that was never written has no segment; one that was emptied may have only such as lie before its start.
    let end = log.end.max(segments.last().map(|last| last.base)).unwrap_or(start).max(start);
    if !log.broken {
        ends(dir, of, facts, checkpoint, end, findings);
    }
    texts::check(&entries, &log, Span { start, end }, findings)
}

/// Segments that lie below the log's start: a removal that a crash cut short leaves any of their files, and no start looks at
/// them.
fn check_below(
    dir: &Path,
    segments: &[Segment<'_>],
    log: &mut LogSoFar,
    findings: &mut Findings,
    counts: &mut Counts,
) -> Result<(), CliError> {
    let mut passed_over = Findings::new(dir);
    for segment in segments {
        segment::check(segment, false, log, &mut passed_over, counts)?;
    }
    if let Some(first) = passed_over.all().iter().find(|finding| finding.is_fault) {
        let (path, what) = (dir.join(&first.path), &first.what);
        findings.note(
            &path,
            first.position,
            format!("{what}: but it lies below the log's start, and is removed after the next one"),
        );
    }
    Ok(())
}

/// Where the log's records begin and end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    /// Records before it aren't served; 0 if nothing tells.
    pub(super) start: Offset,
    pub(super) end: Offset,
}

/// Where a log of ours notes how far it was compacted; Kafka notes that for all logs in one file.
const COMPACTED_NOTE: &str = "ringlog-cleaned";

/// Topics that are compacted from the first day, whatever checkpoints say.
const COMPACTED_TOPICS: [&str; 3] = ["__consumer_offsets", "__transaction_state", "__share_group_state"];

/// The segments, in order; index files without a segment are told.
fn segments<'a>(entries: &'a [Entry], findings: &mut Findings) -> Vec<Segment<'a>> {
    let mut segments: Vec<Segment<'_>> = Vec::new();
    let bases: BTreeSet<Offset> = entries.iter().filter_map(log_base).collect();
    for entry in entries.iter().filter(|entry| !entry.is_dir) {
        match file_kind(&entry.name) {
            FileKind::Log(base) => {
                segments.push(Segment { base, log: entry, offsets: None, times: None, aborted: None })
            }
            FileKind::OffsetIndex(base) | FileKind::TimeIndex(base) | FileKind::TxnIndex(base)
                if !bases.contains(&base) =>
            {
                findings.note(&entry.path, None, "an index without its segment: the next start removes it");
            }
            FileKind::Damaged => {
                findings.note(&entry.path, None, "a repair moved it aside, for the operator")
            }
            FileKind::Leftover => findings.note(
                &entry.path,
                None,
                "left over from something cut short: the next start removes it",
            ),
            _ => {}
        }
    }
    for segment in &mut segments {
        let of_kind = |kind: FileKind| entries.iter().find(|entry| file_kind(&entry.name) == kind);
        segment.offsets = of_kind(FileKind::OffsetIndex(segment.base));
        segment.times = of_kind(FileKind::TimeIndex(segment.base));
        segment.aborted = of_kind(FileKind::TxnIndex(segment.base));
    }
    segments.sort_by_key(|segment| segment.base);
    segments
}

fn log_base(entry: &Entry) -> Option<Offset> {
    match file_kind(&entry.name) {
        FileKind::Log(base) if !entry.is_dir => Some(base),
        _ => None,
    }
}

/// What checkpoints say of the log's ends.
fn ends(
    dir: &Path,
    of: &TopicPartition,
    facts: &LogDirFacts,
    checkpoint: Option<inspect::Checkpoint>,
    end: Offset,
    findings: &mut Findings,
) {
    let own = [
        ("ringlog-checkpoint's start", checkpoint.map(|checkpoint| checkpoint.start)),
        ("ringlog-checkpoint's recovery point", checkpoint.map(|checkpoint| checkpoint.recovery_point)),
    ];
    for (what, offset) in own.into_iter().chain(facts.least_end(of)) {
        let Some(offset) = offset.filter(|offset| *offset > end) else { continue };
        let what = format!("{what} is {offset}, but the log ends at {end}");
        // The journal may have what is missing; a clean stop leaves nothing in it.
        if facts.was_clean { findings.fault(dir, None, what) } else { findings.note(dir, None, what) }
    }
}
