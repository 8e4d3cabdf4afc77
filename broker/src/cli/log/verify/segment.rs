//! One segment: its batches in order, and its indexes against them.

use protocol::records::{BatchHeader, RecordBatch};
use storage::{LeaderEpoch, Offset};

use super::super::batches::{Batches, Found};
use super::super::input::{Entry, whole};
use super::index::{OffsetCursor, TimeCursor};
use super::partition::LogSoFar;
use super::{Counts, Findings};
use crate::cli::error::CliError;

/// A segment's files.
#[derive(Debug)]
pub(super) struct Segment<'a> {
    pub(super) base: Offset,
    pub(super) log: &'a Entry,
    pub(super) offsets: Option<&'a Entry>,
    pub(super) times: Option<&'a Entry>,
    pub(super) aborted: Option<&'a Entry>,
}

pub(super) fn check(
    segment: &Segment<'_>,
    is_last: bool,
    log: &mut LogSoFar,
    findings: &mut Findings,
    counts: &mut Counts,
) -> Result<(), CliError> {
    counts.segments += 1;
    counts.bytes += segment.log.bytes;
    let path = &segment.log.path;
    if let Some(end) = log.end.filter(|end| segment.base < *end) {
        findings.fault(
            path,
            None,
            format!("it begins at {}, but the segment before it ends at {end}", segment.base),
        );
    }
    let mut offsets = OffsetCursor::open(segment.base, segment.offsets, segment.log.bytes, findings)?;
    let mut times = TimeCursor::open(segment.base, segment.times, findings)?;
    for (position, found) in Batches::open(path)? {
        match found {
            Found::Batch(batch) => {
                counts.batches += 1;
                let header = *batch.header();
                in_order(segment, position, &header, log, findings);
                counts.records += walk(&batch).unwrap_or_else(|why| {
                    findings.fault(path, Some(position), why);
                    0
                });
                offsets.pass(position, &header, findings);
                times.pass(&header, findings);
            }
            Found::Zeros(bytes) if is_last => {
                findings.note(path, Some(position), format!("{bytes} bytes of space taken ahead"));
            }
            Found::Zeros(bytes) => findings.fault(
                path,
                Some(position),
                format!("{bytes} bytes of zeros, and it isn't the last segment"),
            ),
            Found::Damaged(why) => broken(segment, position, is_last, &why.to_string(), log, findings),
            Found::Garbage(why) => {
                broken(segment, position, is_last, &format!("no batch: {why}"), log, findings)
            }
            Found::Torn { need, have } => {
                broken(
                    segment,
                    position,
                    is_last,
                    &format!("a batch of {need} bytes ends after {have}"),
                    log,
                    findings,
                );
            }
        }
    }
    // Of batches that couldn't be read the indexes may know more.
    if !log.broken {
        offsets.end(findings);
        times.end(log.end.unwrap_or(segment.base), findings);
    }
    aborted(segment, findings)
}

/// A damaged place. Behind the recovery point of a directory that wasn't stopped cleanly the next start expects some.
fn broken(
    segment: &Segment<'_>,
    position: u64,
    is_last: bool,
    why: &str,
    log: &mut LogSoFar,
    findings: &mut Findings,
) {
    log.broken = true;
    let path = &segment.log.path;
    let from = log.end.take().unwrap_or(segment.base);
    match log.recovered_from.filter(|point| is_last && from >= *point) {
        Some(_) => findings.note(
            path,
            Some(position),
            format!("{why}: the next start cuts the log off here, at {from}"),
        ),
        None => findings.fault(path, Some(position), why),
    }
}

/// Offsets, epochs and lengths against what came before.
fn in_order(
    segment: &Segment<'_>,
    position: u64,
    header: &BatchHeader,
    log: &mut LogSoFar,
    findings: &mut Findings,
) {
    let mut fault = |what: String| findings.fault(&segment.log.path, Some(position), what);
    let (base, epoch) = (Offset(header.base_offset), LeaderEpoch(header.partition_leader_epoch));
    if header.last_offset_delta < 0 || header.records_count < 0 {
        fault(format!(
            "its last offset delta is {}, its number of records {}",
            header.last_offset_delta, header.records_count
        ));
    }
    if base < segment.base {
        fault(format!("offset {base} is before the segment's first, {}", segment.base));
    }
    match log.end {
        Some(end) if base < end => fault(format!("offset {base} comes after {end} was reached")),
        Some(end) if base > end && !log.may_have_gaps => {
            fault(format!("offsets {end} to {} are missing, and it was never compacted", base.0 - 1));
        }
        _ => {}
    }
    if epoch < log.epoch && epoch != LeaderEpoch::NONE {
        fault(format!("leader epoch {epoch} comes after {}", log.epoch));
    }
    if epoch > log.epoch {
        log.epochs.push((epoch, base));
        log.epoch = epoch;
    }
    log.end = Some(log.end.unwrap_or(base).max(Offset(header.next_offset())));
}

/// The number of records, all of them well-formed.
fn walk(batch: &RecordBatch) -> Result<u64, String> {
    let walked = batch.walk(u64::MAX, |_| ()).map_err(|why| why.to_string())?;
    Ok(u64::from(walked.records))
}

fn aborted(segment: &Segment<'_>, findings: &mut Findings) -> Result<(), CliError> {
    let Some(entry) = segment.aborted else { return Ok(()) };
    match storage::inspect::txn_index(&whole(&entry.path)?) {
        Ok(entries) => {
            let disordered = entries.windows(2).any(|pair| pair[0].last_offset >= pair[1].last_offset);
            let backwards = entries.iter().any(|entry| entry.first_offset > entry.last_offset);
            if disordered || backwards {
                findings.fault(&entry.path, None, "its transactions aren't in the order of their ends");
            }
        }
        Err(why) => findings.fault(&entry.path, None, why),
    }
    Ok(())
}
