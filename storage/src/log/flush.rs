//! Bringing the tail to the segment file. Called by the committer, and by what closes a segment; always with
//! the `writer` gate held.

use std::io;
use std::rc::Rc;

use rt::fs::{File, IoBuf};

use super::core::{Active, LogCore};
use super::inner::LogInner;
use crate::dir::stats::add;
use crate::limits::{BLOCK_BYTES, FLUSH_AFTER_MAX, WRITE_BYTES_MAX};
use crate::{FilePos, LeaderEpoch, Offset};

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

/// Batches of the active segment that are neither in its file nor in the journal.
#[derive(Debug)]
pub(crate) struct Run {
    pub segment: Offset,
    /// Where they start in the segment, and where they end.
    pub from: FilePos,
    pub end: FilePos,
    /// Of the first batch.
    pub base: Offset,
    pub leader_epoch: LeaderEpoch,
}

impl Run {
    /// Their size.
    pub(crate) fn bytes(&self) -> usize {
        (self.end.0 - self.from.0) as usize
    }
}

impl LogInner {
    /// The journal has these batches now.
    pub(crate) fn journaled(&self, run: &Run) {
        let mut core = self.core.borrow_mut();
        core.active.written = run.end;
        let written = core.tail.mark_written(run.segment, run.end);
        drop(core);
        self.count_pinned();
        self.advance_written(written);
    }

    /// Brings the whole blocks of what the journal has to the segment: the last one is written when it is full.
    pub(crate) async fn place_blocks(&self) -> io::Result<()> {
        let written = self.core.borrow().active.written.0;
        self.write_upto(Target::Active, written - written % BLOCK_BYTES as u64).await
    }

    /// Counts anew what the log has in the journal only.
    pub(crate) fn count_pinned(&self) {
        let now = self.core.borrow().tail.journaled_bytes();
        let before = self.pinned.replace(now);
        let pinned = &self.dir.journal.pinned;
        pinned.set(pinned.get() + now - before);
    }

    /// Writes what was appended to the segment until now. `written` follows piece by piece.
    ///
    /// A batch's bytes are copied once, into the device buffer. Every write is whole blocks: it starts with
    /// the bytes of the last block again, unchanged, so that a torn write can't touch what was acknowledged.
    pub(crate) async fn write_out(&self, target: Target) -> io::Result<()> {
        let upto = target.of(&mut self.core.borrow_mut()).map(|segment| segment.build.bytes);
        let Some(upto) = upto else { return Ok(()) };
        self.write_upto(target, upto).await
    }

    /// As [`Self::write_out`], up to a position of the segment.
    pub(crate) async fn write_upto(&self, target: Target, upto: u64) -> io::Result<()> {
        while let Some(piece) = self.next_piece(target, upto) {
            let Piece { file, base, start, end, buf } = piece;
            let (result, buf) = file.write_at(start.0, buf).await;
            result?;
            add(&self.dir.stats.device_bytes, buf.len() as u64);
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
        let mut buf = IoBuf::to_fill(data_bytes.next_multiple_of(BLOCK_BYTES));
        let copied = core.tail.copy_range(base, FilePos(start), &mut buf[..data_bytes]);
        assert_eq!(copied, data_bytes, "the tail holds all that isn't placed");
        #[cfg(feature = "mutants")]
        if self.dir.config.mutant == Some(crate::Mutant::AnotherPrefix) {
            buf[..(placed - start) as usize].fill(0);
        }
        buf[data_bytes..].fill(0);
        Some(Piece { file, base, start: FilePos(start), end: FilePos(end), buf })
    }

    fn placed(&self, target: Target, base: Offset, end: FilePos) {
        let mut core = self.core.borrow_mut();
        if let Some(segment) = target.of(&mut core) {
            segment.placed = end;
            if end > segment.written {
                segment.written = end;
                self.segment_unsynced.set(true);
            }
        }
        let written = core.tail.mark_placed(base, end);
        drop(core);
        self.count_pinned();
        self.advance_written(written);
    }

    fn advance_written(&self, written: Option<Offset>) {
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
        self.wants_sync_of(self.marks.written())
    }

    /// Whether what is appended must be synced as soon as it is written.
    pub(crate) fn wants_all_synced(&self) -> bool {
        self.wants_sync_of(self.marks.appended())
    }

    fn wants_sync_of(&self, upto: Offset) -> bool {
        let synced = self.marks.synced();
        let config = self.config();
        if upto <= synced {
            return false;
        }
        config.sync
            || self.flush_wanted.get() > synced
            || upto.since(synced) >= config.flush_messages
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

    /// The active segment was synced, with all that was written before `upto` in it or in a synced journal.
    pub(crate) fn segment_synced(&self, upto: Offset) {
        self.segment_unsynced.set(false);
        self.synced(upto);
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
