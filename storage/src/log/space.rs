//! Space in the active segment's file: made when the first record comes, grown before it runs out.

use std::io;
use std::rc::Rc;

use protocol::records::HeaderScan;
use rt::fs::File;

use super::inner::LogInner;
use super::tail::TailBatch;
use crate::dir::files;
use crate::error::is_full;
use crate::limits::{BLOCK_BYTES, PRESET_BYTES_MAX, PRESET_BYTES_MIN};
use crate::segment::names;
use crate::{FilePos, Offset, StorageError};

impl LogInner {
    /// Opens the active segment's file and lets it have space for what is reserved and `bytes` more; 0 means
    /// ahead of need.
    pub(crate) async fn prepare(self: &Rc<Self>, bytes: u64) -> Result<(), StorageError> {
        let _space = self.space.take(1).await;
        self.prepare_held(bytes).await
    }

    /// As [`Self::prepare`], with the `space` gate held by the caller.
    pub(crate) async fn prepare_held(self: &Rc<Self>, bytes: u64) -> Result<(), StorageError> {
        if self.is_offline() {
            return Err(StorageError::Offline);
        }
        let file = self.ensure_file().await?;
        self.grow(&file, bytes).await?;
        if self.core.borrow().tail.unplaced_bytes() > 0 {
            self.dir.mark_dirty(self);
        }
        Ok(())
    }

    async fn ensure_file(self: &Rc<Self>) -> Result<Rc<File>, StorageError> {
        let (base, exists, has_indexes, open) = {
            let core = self.core.borrow();
            let active = &core.active;
            (active.build.base, active.exists, active.has_indexes, active.file.clone())
        };
        if let Some(file) = open {
            return Ok(file);
        }
        let path = self.file_path(base, names::LOG);
        let opened = files::open_for_writing(&path, !exists, self.dir.config.direct_io).await;
        let file = Rc::new(opened.map_err(|error| self.fail_on_device("opening a segment of", error))?);
        if exists {
            // Indexes of a clean stop are of another end soon: a recovery must not take them for those of a
            // closed segment.
            if has_indexes {
                self.changed.set(true);
                self.remove_indexes(base).await.map_err(|error| self.fail("removing indexes in", error))?;
            }
            let pinned = match self.load_pinned(&file).await {
                Ok(pinned) => pinned,
                Err(error) => {
                    self.dir.retire(file);
                    return Err(StorageError::io(format!("reading the end of {}", path.display()), error));
                }
            };
            let held = self.core.borrow().tail.held_bytes();
            self.core.borrow_mut().tail.restore(pinned);
            let added = self.core.borrow().tail.held_bytes() - held;
            self.dir.retain(self, added);
        } else {
            files::sync_dir(&self.path).await.map_err(|error| self.fail("syncing", error))?;
        }
        let mut core = self.core.borrow_mut();
        core.active.exists = true;
        core.active.has_indexes = false;
        core.active.file = Some(file.clone());
        Ok(file)
    }

    async fn remove_indexes(&self, base: Offset) -> io::Result<()> {
        for suffix in [names::INDEX, names::TIME_INDEX] {
            files::remove(&self.file_path(base, suffix)).await?;
        }
        files::sync_dir(&self.path).await
    }

    /// Reads back the batches that end behind the last whole block: the next device write starts with them.
    async fn load_pinned(&self, file: &File) -> io::Result<Vec<TailBatch<rt::sync::Permit>>> {
        let (segment, placed, from) = {
            let core = self.core.borrow();
            let placed = core.active.placed.0;
            let block = placed - placed % BLOCK_BYTES as u64;
            // The last indexed batch at or before the block; a walk finds the batch that reaches into it.
            let entries = core.active.build.index.entries();
            let after = entries.partition_point(|entry| u64::from(entry.position) <= block);
            let from = after.checked_sub(1).map_or(0, |at| u64::from(entries[at].position));
            (core.active.build.base, placed, from)
        };
        let bytes = file.read_at(from, (placed - from) as usize).await?;
        let block = placed - placed % BLOCK_BYTES as u64;
        let mut pinned = Vec::new();
        let mut scan = HeaderScan::new(&bytes);
        for found in &mut scan {
            let (at, header) = found.map_err(io::Error::other)?;
            let position = from + at as u64;
            if position + header.total_bytes() as u64 <= block {
                continue;
            }
            pinned.push(TailBatch {
                base: Offset(header.base_offset),
                last: Offset(header.last_offset()),
                segment,
                position: FilePos(position),
                head: bytes::Bytes::new(),
                body: bytes::Bytes::copy_from_slice(&bytes[at..at + header.total_bytes()]),
                permit: None,
            });
        }
        if from + scan.position() as u64 != placed {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the segment's end isn't the end of a batch",
            ));
        }
        Ok(pinned)
    }

    async fn grow(&self, file: &File, bytes: u64) -> Result<(), StorageError> {
        let (need, preset) = {
            let core = self.core.borrow();
            (core.active.build.bytes + self.reserved.get() + bytes, core.active.preset_bytes)
        };
        if bytes > 0 && need <= preset {
            return Ok(());
        }
        let granted = self.allocate(file, need, preset, bytes > 0).await?;
        let mut core = self.core.borrow_mut();
        core.active.preset_bytes = core.active.preset_bytes.max(granted);
        Ok(())
    }

    /// Makes a file of `preset` allocated bytes larger, to `need` bytes at the least. Gives its new size. If it
    /// isn't `urgent`, a disk too full for a whole step is left alone.
    pub(crate) async fn allocate(
        &self,
        file: &File,
        need: u64,
        preset: u64,
        urgent: bool,
    ) -> Result<u64, StorageError> {
        let target = preset_target(need, preset, self.config().segment_bytes);
        let Err(error) = file.preset(target).await else { return Ok(target) };
        // A full disk: what is needed now may still fit.
        let least = need.next_multiple_of(BLOCK_BYTES as u64);
        if is_full(&error) && urgent && least < target {
            let again = file.preset(least).await;
            return again
                .map(|()| least)
                .map_err(|error| self.fail_unless_full("allocating space in", error));
        }
        Err(self.fail_unless_full("allocating space in", error))
    }
}

/// How large the file becomes: doubled within the limits, no larger than a segment, and large enough.
fn preset_target(need: u64, preset: u64, segment_bytes: u64) -> u64 {
    let block = BLOCK_BYTES as u64;
    let step = preset.clamp(PRESET_BYTES_MIN, PRESET_BYTES_MAX);
    let wanted = (preset + step).max(need).next_multiple_of(PRESET_BYTES_MIN);
    wanted.min(segment_bytes.next_multiple_of(block)).max(need.next_multiple_of(block))
}

#[cfg(test)]
mod tests;
