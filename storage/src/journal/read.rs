//! Reading a journal's files at a start.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use bytes::Bytes;
use rt::fs::File;

use super::chain::{FileChain, FoundEntry, needed};
use super::frame::FrameHeader;
use super::header::FileHeader;
use crate::StorageError;
use crate::dir::files;
use crate::limits::BLOCK_BYTES;

/// The files of one shard's journal, or one file that was kept aside.
pub(super) struct OpenJournal {
    files: BTreeMap<u32, File>,
    /// Journal id of each file whose frames count.
    ids: BTreeMap<u32, u64>,
}

/// What is in it.
#[derive(Default)]
pub(super) struct Found {
    /// By journal id, what must be in the segments.
    pub needed: BTreeMap<u64, Vec<FoundEntry>>,
    /// The file written last, of each journal id.
    pub newest: Vec<u32>,
}

impl OpenJournal {
    /// Opens the files `found`, by number. Those of another start than `start` say nothing.
    ///
    /// # Errors
    /// `Corrupt` for one of a later release; `Io`.
    pub(super) async fn open(found: Vec<(u32, PathBuf)>, start: Option<u64>) -> Result<Self, StorageError> {
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
            match header {
                Some(header) if is_of(header.start, start) => drop(open.ids.insert(number, header.journal)),
                Some(_) => {
                    tracing::warn!(file = %path.display(), "a journal of an earlier start is ignored: what it holds is history")
                }
                None => {}
            }
        }
        Ok(open)
    }

    pub(super) async fn close(self) -> io::Result<()> {
        for file in self.files.into_values() {
            file.close().await?;
        }
        Ok(())
    }

    /// Looks at all frames.
    pub(super) async fn find(&self) -> io::Result<Found> {
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
        Ok(Found {
            needed: chains.into_iter().map(|(id, chains)| (id, needed(chains))).collect(),
            newest: newest.into_values().map(|(_, number)| number).collect(),
        })
    }

    /// An entry's bytes.
    pub(super) async fn payload(&self, found: &FoundEntry) -> io::Result<Bytes> {
        let file = self.files.get(&found.file).ok_or(io::ErrorKind::NotFound)?;
        let payload = file.read_at(found.at, found.entry.bytes as usize).await?;
        match payload.len() == found.entry.bytes as usize {
            true => Ok(payload),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

/// Whether a journal is of the directory's last start, as far as both tell.
fn is_of(journal: u64, last: Option<u64>) -> bool {
    journal == 0 || last.is_none_or(|last| last == journal)
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
