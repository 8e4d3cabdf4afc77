//! Bringing the tail to the segment file. Called by the committer, and by what closes a segment; always with
//! the `writer` gate held.

use std::io;
use std::rc::Rc;

use rt::fs::{File, IoBuf};

use super::core::{Active, LogCore};
use super::inner::LogInner;
use crate::dir::stats::add;
use crate::limits::{BLOCK_BYTES, FLUSH_AFTER_MAX, WRITE_BYTES_MAX};
use crate::{FilePos, Offset};

/// Which segment to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Active,
    Closing,
}

impl Target {
    fn of(self, core: &mut LogCore) -> Option<&mut Active> {
        match self {
            Self::Active => Some(&mut core.active),
            Self::Closing => core.closing.as_mut(),
        }
    }
}

/// One device write.
struct Piece {
    file: Rc<File>,
    base: Offset,
    start: FilePos,
    /// Where its data ends; the rest of its last block is zeros.
    end: FilePos,
    buf: IoBuf,
}

impl LogInner {
    /// Writes what was appended to the segment until now. `written` follows piece by piece.
    ///
    /// A batch's bytes are copied once, into the device buffer. Every write is whole blocks: it starts with
    /// the bytes of the last block again, unchanged, so that a torn write can't touch what was acknowledged.
    pub(crate) async fn write_out(&self, target: Target) -> io::Result<()> {
        let upto = target.of(&mut self.core.borrow_mut()).map(|segment| segment.build.bytes);
        let Some(upto) = upto else { return Ok(()) };
        while let Some(piece) = self.next_piece(target, upto) {
            let Piece { file, base, start, end, buf } = piece;
            let (result, buf) = file.write_at(start.0, buf).await;
            let bytes = buf.len() as u64;
            self.dir.give_back(buf);
            result?;
            add(&self.dir.stats.device_bytes, bytes);
            self.placed(target, base, end);
        }
        Ok(())
    }

    fn next_piece(&self, target: Target, upto: u64) -> Option<Piece> {
        let mut core = self.core.borrow_mut();
        let segment = target.of(&mut core)?;
        let placed = segment.placed.0;
        if placed >= upto {
            return None;
        }
        let (file, base) = (segment.file.clone()?, segment.build.base);
        let start = placed - placed % BLOCK_BYTES as u64;
        let end = upto.min(start + WRITE_BYTES_MAX as u64);
        let data_bytes = (end - start) as usize;
        let mut buf = self.dir.take_buf(data_bytes.next_multiple_of(BLOCK_BYTES));
        let copied = core.tail.copy_range(base, FilePos(start), &mut buf[..data_bytes]);
        assert_eq!(copied, data_bytes, "the tail holds all that isn't placed");
        buf[data_bytes..].fill(0);
        Some(Piece { file, base, start: FilePos(start), end: FilePos(end), buf })
    }

    fn placed(&self, target: Target, base: Offset, end: FilePos) {
        let mut core = self.core.borrow_mut();
        if let Some(segment) = target.of(&mut core) {
            segment.placed = end;
        }
        let written = core.tail.mark_placed(base, end);
        drop(core);
        if let Some(written) = written {
            if self.unsynced_since.get().is_none() {
                self.unsynced_since.set(Some(rt::now()));
            }
            add(&self.dir.stats.written_records, written.since(self.marks.written()));
            self.marks.advance_written(written);
        }
    }

    /// Whether what is written must be synced now.
    pub(crate) fn wants_sync(&self) -> bool {
        let (written, synced) = (self.marks.written(), self.marks.synced());
        let config = self.config();
        if written <= synced {
            return false;
        }
        config.sync
            || self.flush_wanted.get() > synced
            || written.since(synced) >= config.flush_messages
            || self.sync_deadline().is_some_and(|deadline| deadline <= rt::now())
    }

    /// When `flush.ms` wants what is written to be synced.
    pub(crate) fn sync_deadline(&self) -> Option<rt::Instant> {
        let after = self.config().flush_after.filter(|after| *after < FLUSH_AFTER_MAX)?;
        if self.marks.written() <= self.marks.synced() || self.is_offline() {
            return None;
        }
        self.unsynced_since.get().map(|since| since + after)
    }

    /// Everything written before `upto` is on the medium.
    pub(crate) fn synced(&self, upto: Offset) {
        add(&self.dir.stats.synced_records, upto.since(self.marks.synced()));
        self.marks.advance_synced(upto);
        if self.marks.synced() >= self.marks.written() {
            self.unsynced_since.set(None);
        }
    }
}
