//! Compacted segments that were to take others' place when a crash came: the next start sees to that, so the log is checked
//! as if it were done.

use storage::Offset;
use storage::inspect::{FileKind, file_kind};

use super::super::batches::{Batches, Found};
use super::super::input::Entry;
use super::Findings;
use super::segment::Segment;
use crate::cli::error::CliError;

/// Puts such segments in their place. True if there are any, whole or not: then the log may have gaps.
pub(super) fn take_in<'a>(
    entries: &'a [Entry],
    segments: &mut Vec<Segment<'a>>,
    findings: &mut Findings,
) -> Result<bool, CliError> {
    let mut any = false;
    for entry in entries.iter().filter(|entry| !entry.is_dir) {
        let FileKind::Swap(base) = file_kind(&entry.name) else { continue };
        any = true;
        match end(entry, base)? {
            Ok(next) => {
                let before = segments.len();
                segments.retain(|old| old.base != base && !(base..next).contains(&old.base));
                let replaced = before - segments.len();
                segments.push(Segment { base, log: entry, offsets: None, times: None, aborted: None });
                let what = format!("a compacted segment: the next start puts it in the place of {replaced}");
                findings.note(&entry.path, None, what);
            }
            Err((position, why)) => {
                let what =
                    format!("{why}: the log can't be opened with a compacted segment that isn't whole");
                findings.fault(&entry.path, Some(position), what);
            }
        }
    }
    segments.sort_by_key(|segment| segment.base);
    Ok(any)
}

/// The offset after its last record; or where it isn't whole, and why.
pub(in super::super) fn end(entry: &Entry, base: Offset) -> Result<Result<Offset, (u64, String)>, CliError> {
    let mut next = base;
    for (position, found) in Batches::open(&entry.path)? {
        let why = match found {
            Found::Batch(batch) if batch.header().base_offset >= next.0 => {
                next = Offset(batch.header().next_offset());
                continue;
            }
            Found::Batch(batch) => {
                format!("offset {} comes after {next} was reached", batch.header().base_offset)
            }
            Found::Damaged(why) => why.to_string(),
            Found::Garbage(why) => format!("no batch: {why}"),
            Found::Torn { need, have } => format!("a batch of {need} bytes ends after {have}"),
            Found::Zeros(bytes) => format!("{bytes} bytes of zeros"),
        };
        return Ok(Err((position, why)));
    }
    Ok(Ok(next))
}
