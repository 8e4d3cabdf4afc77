//! Bringing one partition's entries to its last segment, at a start.
//!
//! Only where they continue what is there: each byte of the segment is the entry's own or was never written, and there is no
//! hole before it. Another broker that had the directory after a crash of this one cuts the segment where the batches in
//! it end and goes on there, or in a further segment. Its records stay, whatever the journal says.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use rt::fs::{File, IoBuf};

use super::chain::FoundEntry;
use super::read::OpenJournal;
use crate::Offset;
use crate::dir::files;
use crate::limits::{BLOCK_BYTES, WRITE_BYTES_MAX};
use crate::segment::names;

/// What became of a partition's entries.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Applied {
    /// So many were brought to the segment.
    Continued(usize),
    /// Nothing was: somebody else's records stand there. Words for where.
    Foreign(String),
}

/// What failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// Something of the partition can't be read or opened.
    Partition(io::Error),
    /// The journal can't be read, or a write failed.
    Dir(io::Error),
}

/// Brings a partition's entries, in the order of their frames, to the last segment in its directory.
///
/// A segment that was closed was synced whole before the next was made, behind a floor frame: no entry is of one. A segment
/// that isn't there was truncated away, and the crash came before the floor frame.
pub(super) async fn apply(
    journal: &OpenJournal,
    dir: &Path,
    entries: &[FoundEntry],
) -> Result<Applied, Failure> {
    let segments = segments(dir).await.map_err(Failure::Partition)?;
    let Some(last) = segments.last().copied() else { return Ok(Applied::Continued(0)) };
    let is_closed =
        |found: &&FoundEntry| found.entry.segment != last && segments.contains(&found.entry.segment);
    if let Some(found) = entries.iter().find(is_closed) {
        let segment = names::file_name(found.entry.segment, names::LOG);
        return Ok(Applied::Foreign(format!("{segment} isn't the last segment any more")));
    }
    let entries: Vec<FoundEntry> =
        entries.iter().filter(|found| found.entry.segment == last).copied().collect();
    let path = dir.join(names::file_name(last, names::LOG));
    let file = files::open_for_writing(&path, false, false).await.map_err(Failure::Partition)?;
    let applied = Segment { journal, file: &file, path: &path }.apply(&entries).await;
    file.close().await.map_err(Failure::Dir)?;
    applied
}

async fn segments(dir: &Path) -> io::Result<BTreeSet<Offset>> {
    let entries = files::list(dir).await?;
    let parsed = entries.iter().filter_map(|entry| names::parse_file_name(&entry.name));
    Ok(parsed.filter(|(_, suffix)| *suffix == names::LOG).map(|(base, _)| base).collect())
}

struct Segment<'a> {
    journal: &'a OpenJournal,
    file: &'a File,
    path: &'a Path,
}

/// Entries that follow one another in the segment, within the blocks they lie in.
struct Run {
    /// Where the blocks start.
    start: u64,
    buf: IoBuf,
    /// Where something else stands than the entries say.
    clash: Option<u64>,
}

impl Segment<'_> {
    async fn apply(&self, entries: &[FoundEntry]) -> Result<Applied, Failure> {
        let length = self.file.len().await.map_err(Failure::Partition)?;
        let (entries, end) = up_to_hole(entries, length);
        // All of them before the first write.
        for run in runs(entries) {
            if let Some(at) = self.load(run).await?.clash {
                return Ok(Applied::Foreign(format!("{} holds other records at {at}", self.path.display())));
            }
        }
        for run in runs(entries) {
            let Run { start, buf, .. } = self.load(run).await?;
            // Also what reads the same already: it may be in the page cache of a sync that failed, and nowhere else.
            self.file.write_at(start, buf).await.0.map_err(Failure::Dir)?;
            rt::yield_point().await;
        }
        // Whole blocks were written; one that had its exact length already, amid a roll, gets it back.
        if self.file.len().await.map_err(Failure::Partition)? != end {
            self.file.set_len(end).await.map_err(Failure::Dir)?;
        }
        Ok(Applied::Continued(entries.len()))
    }

    async fn load(&self, run: &[FoundEntry]) -> Result<Run, Failure> {
        let block = BLOCK_BYTES as u64;
        let start = run[0].entry.position.0 / block * block;
        let end = run[run.len() - 1].entry.end().next_multiple_of(block);
        let there = self.file.read_at(start, (end - start) as usize).await.map_err(Failure::Partition)?;
        let mut buf = IoBuf::zeroed((end - start) as usize);
        buf[..there.len()].copy_from_slice(&there);
        let mut clash = None;
        for found in run {
            let payload = self.journal.payload(found).await.map_err(Failure::Dir)?;
            let at = (found.entry.position.0 - start) as usize;
            let target = &mut buf[at..at + payload.len()];
            // What was never written reads as zeros.
            let differs = target.iter().zip(&payload).position(|(there, ours)| *there != 0 && there != ours);
            clash = clash.or(differs.map(|byte| found.entry.position.0 + byte as u64));
            target.copy_from_slice(&payload);
        }
        Ok(Run { start, buf, clash })
    }
}

/// The entries before the first that lies behind a hole, and how long the segment is with them. Only what no sync covered
/// leaves one: records that went past the journal, were lost, and never counted as synced.
fn up_to_hole(entries: &[FoundEntry], length: u64) -> (&[FoundEntry], u64) {
    let mut end = length;
    for (at, found) in entries.iter().enumerate() {
        if found.entry.position.0 > end {
            return (&entries[..at], end);
        }
        end = end.max(found.entry.end());
    }
    (entries, end)
}

/// Entries split where they don't follow one another, or one write would be too large.
fn runs(entries: &[FoundEntry]) -> impl Iterator<Item = &[FoundEntry]> {
    let mut rest = entries;
    std::iter::from_fn(move || {
        let start = rest.first()?.entry.position.0;
        let pairs = rest.windows(2).take_while(|pair| {
            pair[1].entry.position.0 == pair[0].entry.end()
                && pair[1].entry.end() - start <= WRITE_BYTES_MAX as u64
        });
        let (run, others) = rest.split_at(1 + pairs.count());
        rest = others;
        Some(run)
    })
}
