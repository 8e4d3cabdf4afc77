//! Bringing what the journals of a directory hold to the segments, at a start after a crash: before anything else
//! looks at them.
//!
//! Of whatever shards the journals are: a start with another number of shards finds them all. Done again from the
//! start if a crash cuts it short, with the same outcome.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use rt::fs::{File, IoBuf};

use super::chain::{FileChain, FoundEntry, PartitionKey, needed};
use super::files::remove_some;
use super::frame::FrameHeader;
use super::header::FileHeader;
use super::names;
use crate::dir::files;
use crate::dir::meta::{self, TopicOf};
use crate::limits::{BLOCK_BYTES, WRITE_BYTES_MAX};
use crate::segment::names as segment_names;
use crate::{Offset, StorageError};

/// Settles the journals that the last process left: replays them after a crash, and removes them. After a clean stop
/// there are none, or they are of a time before another broker had the directory; nothing in them counts.
///
/// # Errors
/// `Corrupt` for a journal of a later release; `NoSpace`, `Io`.
pub(crate) async fn settle(dir: &Path, clean: bool) -> Result<(), StorageError> {
    let failed = |error| StorageError::io(format!("replaying the journal in {}", dir.display()), error);
    // After a clean stop its mark is there until they are gone.
    let last = if clean { BTreeSet::new() } else { replay(dir).await? };
    remove_some(dir, None, &last).await.map_err(failed)
}

/// Brings all that the journals hold to the segments, durably. Gives the files that were written last.
async fn replay(dir: &Path) -> Result<BTreeSet<String>, StorageError> {
    let failed = |error| StorageError::io(format!("replaying the journal in {}", dir.display()), error);
    let mut shards: BTreeMap<u16, Vec<(u32, PathBuf)>> = BTreeMap::new();
    for entry in files::list(dir).await.map_err(failed)?.into_iter().filter(|entry| !entry.is_dir) {
        if let Some((shard, number)) = names::parse_file_name(&entry.name) {
            shards.entry(shard).or_default().push((number, dir.join(&entry.name)));
        }
    }
    let (mut any, mut last) = (false, BTreeSet::new());
    for (shard, found) in shards {
        let journal = OpenJournal::open(found).await?;
        let result = journal.apply(dir).await;
        journal.close().await.map_err(failed)?;
        let applied = result.map_err(failed)?;
        tracing::info!(dir = %dir.display(), shard, entries = applied.entries, "replayed a journal");
        any |= applied.entries > 0;
        last.extend(applied.newest.iter().map(|number| names::file_name(shard, *number)));
    }
    if any {
        rt::fs::sync_fs(dir).await.map_err(failed)?;
    }
    Ok(last)
}

/// What was brought to the segments from one shard's journal.
#[derive(Default)]
struct Applied {
    entries: usize,
    /// The file written last, of each journal id.
    newest: Vec<u32>,
}

/// The files of one shard's journal.
struct OpenJournal {
    files: BTreeMap<u32, File>,
    /// Journal id of each file.
    ids: BTreeMap<u32, u64>,
}

impl OpenJournal {
    async fn open(found: Vec<(u32, PathBuf)>) -> Result<Self, StorageError> {
        let mut open = Self { files: BTreeMap::new(), ids: BTreeMap::new() };
        for (number, path) in found {
            let io = |error| StorageError::io(format!("reading {}", path.display()), error);
            let file = files::open_for_reading(&path, false).await.map_err(io)?;
            let header = match file.read_at(0, BLOCK_BYTES).await.map(|block| FileHeader::decode(&block)) {
                Ok(Ok(header)) => header,
                Ok(Err(reason)) => return Err(StorageError::corrupt(path.display().to_string(), reason)),
                Err(error) => return Err(io(error)),
            };
            open.files.insert(number, file);
            if let Some(header) = header {
                open.ids.insert(number, header.journal);
            }
        }
        Ok(open)
    }

    async fn close(self) -> io::Result<()> {
        for file in self.files.into_values() {
            file.close().await?;
        }
        Ok(())
    }

    /// Writes what is needed to the segments.
    async fn apply(&self, dir: &Path) -> io::Result<Applied> {
        let mut chains: BTreeMap<u64, Vec<FileChain>> = BTreeMap::new();
        let mut newest: BTreeMap<u64, (u32, u32)> = BTreeMap::new();
        for (number, id) in &self.ids {
            let chain = read_chain(&self.files[number], *number, *id).await?;
            if let Some(lap) = chain.lap() {
                let newest = newest.entry(*id).or_default();
                *newest = (*newest).max((lap, *number));
            }
            chains.entry(*id).or_default().push(chain);
        }
        let newest = newest.into_values().map(|(_, number)| number).collect();
        let entries = self.apply_chains(dir, chains).await?;
        Ok(Applied { entries, newest })
    }

    async fn apply_chains(&self, dir: &Path, chains: BTreeMap<u64, Vec<FileChain>>) -> io::Result<usize> {
        let mut segments: BTreeMap<(PartitionKey, Offset), Vec<FoundEntry>> = BTreeMap::new();
        for found in chains.into_values().flat_map(needed) {
            let key = (found.entry.topic_id, found.entry.partition);
            segments.entry((key, found.entry.segment)).or_default().push(found);
        }
        if segments.is_empty() {
            return Ok(0);
        }
        let dirs = partition_dirs(dir).await?;
        let mut count = 0;
        for ((partition, segment), entries) in segments {
            // Deleted since, or of a log whose directory doesn't tell its topic: that one is kept for repair.
            let Some(path) = dirs.get(&partition) else { continue };
            // A closed one was synced whole before the next was made, and keeps its exact length at every moment. One
            // that isn't there was truncated away, and the crash came before the floor frame.
            if last_segment(path).await? == Some(segment) {
                let path = path.join(segment_names::file_name(segment, segment_names::LOG));
                count += self.apply_to_segment(&path, &entries).await?;
            }
        }
        Ok(count)
    }

    async fn apply_to_segment(&self, path: &Path, entries: &[FoundEntry]) -> io::Result<usize> {
        let file = files::open_for_writing(path, false, false).await?;
        let written = self.write_entries(&file, entries).await;
        file.close().await?;
        written.map(|()| entries.len())
    }

    async fn write_entries(&self, file: &File, entries: &[FoundEntry]) -> io::Result<()> {
        let mut end = file.len().await?;
        let mut rest = entries;
        while !rest.is_empty() {
            let count = contiguous(rest);
            let (run, others) = rest.split_at(count);
            self.write_run(file, run).await?;
            end = end.max(run[count - 1].entry.end());
            rest = others;
            rt::yield_point().await;
        }
        // Whole blocks were written; one that had its exact length already, amid a roll, gets it back.
        if file.len().await? != end { file.set_len(end).await } else { Ok(()) }
    }

    /// Writes entries that follow one another in the segment, within the blocks they lie in.
    async fn write_run(&self, file: &File, run: &[FoundEntry]) -> io::Result<()> {
        let block = BLOCK_BYTES as u64;
        let start = run[0].entry.position.0 / block * block;
        let end = run[run.len() - 1].entry.end().next_multiple_of(block);
        let before = file.read_at(start, (end - start) as usize).await?;
        let mut buf = IoBuf::zeroed((end - start) as usize);
        buf[..before.len()].copy_from_slice(&before);
        for found in run {
            let Some(journal) = self.files.get(&found.file) else { continue };
            let payload = journal.read_at(found.at, found.entry.bytes as usize).await?;
            if payload.len() < found.entry.bytes as usize {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let at = (found.entry.position.0 - start) as usize;
            buf[at..at + payload.len()].copy_from_slice(&payload);
        }
        // Also what reads the same already: it may be in the page cache of a sync that failed, and nowhere else.
        file.write_at(start, buf).await.0
    }
}

/// How many of the first entries follow one another in the segment, within one write.
fn contiguous(entries: &[FoundEntry]) -> usize {
    let start = entries[0].entry.position.0;
    let pairs = entries.windows(2).take_while(|pair| {
        pair[1].entry.position.0 == pair[0].entry.end()
            && pair[1].entry.end() - start <= WRITE_BYTES_MAX as u64
    });
    1 + pairs.count()
}

/// Reads a file from its first frame on, up to what isn't the next frame.
async fn read_chain(file: &File, number: u32, id: u64) -> io::Result<FileChain> {
    let mut chain = FileChain::new(id);
    let mut at = BLOCK_BYTES as u64;
    loop {
        let first = file.read_at(at, BLOCK_BYTES).await?;
        let Some(header) = FrameHeader::peek(&first).filter(|header| chain.expects(header)) else { break };
        if u64::from(header.bytes) > file.len().await?.saturating_sub(at) {
            break;
        }
        let frame = match header.bytes as usize <= first.len() {
            true => first,
            false => file.read_at(at, header.bytes as usize).await?,
        };
        let Some(entries) = header.open(&frame) else { break };
        let found = entries.into_iter().map(|(entry, from)| FoundEntry {
            entry,
            sequence: header.sequence,
            file: number,
            at: at + from as u64,
        });
        chain.push(&header, found);
        at += header.padded_bytes();
        rt::yield_point().await;
    }
    Ok(chain)
}

/// The base offset of a partition's last segment.
async fn last_segment(dir: &Path) -> io::Result<Option<Offset>> {
    let entries = files::list(dir).await?;
    let bases = entries.iter().filter_map(|entry| segment_names::parse_file_name(&entry.name));
    Ok(bases.filter(|(_, suffix)| *suffix == segment_names::LOG).map(|(base, _)| base).max())
}

/// The directories of partitions, by topic id and number.
async fn partition_dirs(dir: &Path) -> io::Result<BTreeMap<PartitionKey, PathBuf>> {
    let mut dirs = BTreeMap::new();
    for entry in files::list(dir).await?.into_iter().filter(|entry| entry.is_dir) {
        let Some(partition) = segment_names::parse_dir_name(&entry.name) else { continue };
        let path = dir.join(&entry.name);
        match meta::topic_of(&path).await? {
            TopicOf::Known(topic_id) if !topic_id.is_zero() => {
                dirs.insert((topic_id, partition.partition), path);
            }
            TopicOf::Known(_) | TopicOf::Missing | TopicOf::Damaged(_) => {}
        }
    }
    Ok(dirs)
}
