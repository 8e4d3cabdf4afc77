//! A partition's small files against its batches.

use bytes::Bytes;
use storage::inspect::{self, FileKind, file_kind};
use storage::producer::snapshot;
use storage::{LeaderEpoch, Offset};

use super::super::batches::{Batches, Found};
use super::super::input::{Entry, text, whole};
use super::Findings;
use super::partition::{LogSoFar, Span};
use crate::cli::error::CliError;

/// What `ringlog-checkpoint` says, if it is there and whole.
pub(super) fn checkpoint(
    entries: &[Entry],
    findings: &mut Findings,
) -> Result<Option<inspect::Checkpoint>, CliError> {
    let Some(entry) = entries.iter().find(|entry| file_kind(&entry.name) == FileKind::Checkpoint) else {
        return Ok(None);
    };
    let parsed = inspect::checkpoint(&whole(&entry.path)?);
    Ok(parsed.map_err(|why| findings.fault(&entry.path, None, why)).ok())
}

pub(super) fn check(
    entries: &[Entry],
    log: &LogSoFar,
    span: Span,
    findings: &mut Findings,
) -> Result<(), CliError> {
    for entry in entries.iter().filter(|entry| !entry.is_dir) {
        match file_kind(&entry.name) {
            FileKind::PartitionMetadata => {
                if let Err(why) = text(&entry.path)?.and_then(|text| inspect::partition_metadata(&text)) {
                    findings.fault(&entry.path, None, why);
                }
            }
            FileKind::Epochs => match text(&entry.path)?.and_then(|text| inspect::epochs(&text)) {
                Ok(epochs) => check_epochs(entry, &epochs, log, span, findings),
                Err(why) => findings.fault(&entry.path, None, why),
            },
            FileKind::MetadataSnapshot => check_batches(entry, findings)?,
            FileKind::Snapshot(at) => check_snapshot(entry, at, log, span, findings)?,
            _ => {}
        }
    }
    Ok(())
}

/// Epochs ascend, and each batch lies in its own.
fn check_epochs(
    entry: &Entry,
    epochs: &[(LeaderEpoch, Offset)],
    log: &LogSoFar,
    span: Span,
    findings: &mut Findings,
) {
    let path = &entry.path;
    if let Some(pair) = epochs.windows(2).find(|pair| pair[0].0 >= pair[1].0 || pair[0].1 > pair[1].1) {
        let ((before, from), (after, to)) = (pair[0], pair[1]);
        findings.fault(path, None, format!("epoch {after} from {to} comes after epoch {before} from {from}"));
        return;
    }
    if log.broken {
        return;
    }
    let end = span.end;
    if let Some((epoch, start)) = epochs.iter().find(|(_, start)| *start > end) {
        findings.fault(path, None, format!("epoch {epoch} starts at {start}, but the log ends at {end}"));
    }
    // What lies before the log's start is forgotten here, though its segment may still be there.
    for (epoch, first) in log.epochs.iter().filter(|(_, first)| *first >= span.start) {
        // The last entry that starts at or before the epoch's first batch says which epoch that one is of.
        let said = epochs.iter().rev().find(|(_, start)| start <= first).map(|(said, _)| *said);
        match said {
            Some(said) if said == *epoch => {}
            // The file follows when segments are closed; a recovery adds what it lacks.
            Some(said) if said < *epoch && log.recovered_from.is_some() => {}
            Some(said) => findings.fault(
                path,
                None,
                format!("offset {first} is said to be of epoch {said}, its batch is of {epoch}"),
            ),
            None if log.recovered_from.is_some() => {}
            None => findings.fault(
                path,
                None,
                format!("the epoch of offset {first} isn't there, its batch is of {epoch}"),
            ),
        }
    }
}

/// A snapshot of Kafka's metadata: whole batches and nothing else.
fn check_batches(entry: &Entry, findings: &mut Findings) -> Result<(), CliError> {
    for (position, found) in Batches::open(&entry.path)? {
        let why = match found {
            Found::Batch(batch) => batch.walk(u64::MAX, |_| ()).err().map(|why| why.to_string()),
            Found::Damaged(why) => Some(why.to_string()),
            Found::Garbage(why) => Some(why),
            Found::Torn { .. } | Found::Zeros(_) => Some("it ends within a batch".to_owned()),
        };
        if let Some(why) = why {
            findings.fault(&entry.path, Some(position), why);
        }
    }
    Ok(())
}

/// A snapshot speaks of what lies before its offset.
fn check_snapshot(
    entry: &Entry,
    at: Offset,
    log: &LogSoFar,
    span: Span,
    findings: &mut Findings,
) -> Result<(), CliError> {
    let file = whole(&entry.path)?;
    if file.is_empty() {
        // Kafka leaves one while it writes; it is made again.
        findings.note(&entry.path, None, "it is empty: the next start makes it again");
        return Ok(());
    }
    let state = match snapshot::decode(Bytes::from(file)) {
        Ok(state) => state,
        Err(why) => {
            findings.fault(&entry.path, None, why);
            return Ok(());
        }
    };
    if at > span.end && !log.broken {
        findings.fault(&entry.path, None, format!("it is of offset {at}, but the log ends at {}", span.end));
    }
    for (id, producer) in state.entries() {
        if let Some(last) = producer.batches.back().filter(|last| last.last_offset >= at) {
            findings.fault(
                &entry.path,
                None,
                format!("producer {id} is said to have written {} already", last.last_offset),
            );
        }
    }
    Ok(())
}
