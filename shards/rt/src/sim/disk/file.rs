//! An open file on a simulated disk.

use std::io;
use std::path::Path;
use std::rc::Rc;

use bytes::{Bytes, BytesMut};

use super::fault::FaultOp;
use super::lottery::Lottery;
use super::state::Fate;
use super::submit::{Takes, submit, submit_atomic};
use super::tree::Ino;
use crate::fs::Durable;
use crate::sim::current::{Current, expect_current};
use crate::sim::trace::{Mark, hash_bytes};

/// The largest piece of one read or write, in bytes; longer ones take several operations, one after another.
const PIECE_BYTES: usize = 1 << 20;

/// An open file. It belongs to the process that opened it: after a crash of its node every operation waits for ever.
pub(crate) struct File {
    place: Current,
    ino: Ino,
    // As opened; faults are found by it.
    path: Rc<str>,
}

impl File {
    /// Opens, and with `create` makes, the file at `path`.
    pub(crate) async fn open(path: &Path, create: bool) -> io::Result<File> {
        let place = expect_current();
        let owned = path.to_path_buf();
        let ino = submit_atomic(&place, |l| &l.name_us, move |disk| disk.open_file(&owned, create)).await?;
        place.world.disk(place.node).borrow_mut().opened(ino);
        Ok(File { place, ino, path: path.to_string_lossy().into() })
    }

    /// Up to `len` bytes at `pos`; short only at the end of the file.
    pub(crate) async fn read_at(&self, pos: u64, len: usize) -> io::Result<Bytes> {
        if len <= PIECE_BYTES {
            return self.read_piece(pos, len).await;
        }
        let mut whole = BytesMut::new();
        while whole.len() < len {
            let at = whole.len();
            let piece = self.read_piece(pos + at as u64, PIECE_BYTES.min(len - at)).await?;
            if piece.is_empty() {
                break;
            }
            whole.extend_from_slice(&piece);
        }
        Ok(whole.freeze())
    }

    async fn read_piece(&self, pos: u64, len: usize) -> io::Result<Bytes> {
        let (ino, path) = (self.ino, self.path.clone());
        submit(
            &self.place,
            |l| &l.read_us,
            move |disk, _, _| {
                Some(
                    disk.faults
                        .strike(FaultOp::Read, &path)
                        .and_then(|()| Ok(disk.file(ino)?.read(pos, len as u64))),
                )
            },
        )
        .await
    }

    /// Writes all of `data` at `pos`.
    pub(crate) async fn write_at(&self, pos: u64, data: Bytes) -> io::Result<()> {
        self.write(pos, data, Durable::No).await
    }

    /// Writes all of `data` at `pos`, and makes it durable.
    pub(crate) async fn write_durable_at(&self, pos: u64, data: Bytes) -> io::Result<()> {
        self.write(pos, data, Durable::Yes).await
    }

    async fn write(&self, pos: u64, data: Bytes, durable: Durable) -> io::Result<()> {
        let mut at = 0;
        while at < data.len() {
            let piece = data.slice(at..data.len().min(at + PIECE_BYTES));
            let len = piece.len();
            self.write_piece(pos + at as u64, piece, durable).await?;
            at += len;
        }
        Ok(())
    }

    async fn write_piece(&self, pos: u64, data: Bytes, durable: Durable) -> io::Result<()> {
        self.place.world.trace.note(Mark::Disk, pos, hash_bytes(&data));
        let (ino, path) = (self.ino, self.path.clone());
        let takes: Takes = match durable {
            Durable::No => |l| &l.write_us,
            Durable::Yes => |l| &l.sync_us,
        };
        submit(&self.place, takes, move |disk, fate, rng| {
            if fate == Fate::Killed {
                // Without space for it nothing of it is there, which is one of the allowed ends.
                let _ = disk.write_torn(ino, pos, &data, rng);
                return None;
            }
            if let Err(error) = disk.faults.strike(FaultOp::Write, &path) {
                let _ = disk.write_torn(ino, pos, &data, rng);
                return Some(Err(error));
            }
            Some(match durable {
                Durable::Yes if fate == Fate::Done => disk.write_durable(ino, pos, data, &path, rng),
                // One that a power cut meets is like any write.
                Durable::Yes | Durable::No => disk.write(ino, pos, data),
            })
        })
        .await
    }

    /// Makes durable what was written and set before the call: contents and size. Changes that complete while the sync
    /// runs are not covered.
    pub(crate) async fn sync_data(&self) -> io::Result<()> {
        let upto = self.place.world.disk(self.place.node).borrow().last_seq();
        let (ino, path) = (self.ino, self.path.clone());
        submit(
            &self.place,
            |l| &l.sync_us,
            move |disk, fate, rng| {
                // By power loss the lottery decides; a killed process's sync goes on in the kernel, or never began.
                if fate == Fate::PowerCut || (fate == Fate::Killed && rng.percent(50)) {
                    return None;
                }
                if let Err(error) = disk.faults.strike(FaultOp::Sync, &path) {
                    disk.sync_failed();
                    if let Ok(file) = disk.file_mut(ino) {
                        file.promote_some(upto, &Lottery::new(rng));
                    }
                    return Some(Err(error));
                }
                Some(disk.file_mut(ino).map(|file| file.promote(upto)))
            },
        )
        .await
    }

    /// Cuts or extends the file; an extension is a hole without allocated space.
    pub(crate) async fn set_len(&self, len: u64) -> io::Result<()> {
        let ino = self.ino;
        submit_atomic(
            &self.place,
            |l| &l.name_us,
            move |disk| disk.change_file(ino, 0, |file, seq| file.set_len(seq, len)),
        )
        .await
    }

    /// Dates the file. A crash leaves the date: it tells nothing that must survive or must not.
    pub(crate) async fn set_modified_ms(&self, modified_ms: i64) -> io::Result<()> {
        let ino = self.ino;
        submit_atomic(
            &self.place,
            |l| &l.name_us,
            move |disk| disk.file_mut(ino).map(|file| file.modified_ms = modified_ms),
        )
        .await
    }

    /// Allocates space up to `len`, as zeros, and extends the file to it.
    ///
    /// # Errors
    /// ENOSPC when the disk's capacity doesn't hold it.
    pub(crate) async fn preset(&self, len: u64) -> io::Result<()> {
        let ino = self.ino;
        submit_atomic(
            &self.place,
            |l| &l.name_us,
            move |disk| disk.change_file(ino, len, |file, seq| file.preset(seq, len)),
        )
        .await
    }

    /// The size now, in bytes.
    pub(crate) fn len(&self) -> io::Result<u64> {
        let disk = self.place.world.disk(self.place.node);
        let len = disk.borrow().file(self.ino)?.len();
        Ok(len)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        if self.place.is_alive() {
            self.place.world.disk(self.place.node).borrow_mut().closed(self.ino);
        }
    }
}
