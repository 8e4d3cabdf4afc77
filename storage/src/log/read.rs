//! Reading records: the tail from memory, older ones from the segment files.

use bytes::Bytes;

use super::handle::Log;
use super::inner::{LogInner, ReadHint};
use super::locate::{FilePart, read_error};
use crate::limits::EMPTY_PARTS_MAX;
use crate::segment::names;
use crate::{Offset, ReadError};

/// Whole batches, in order, as they are in the file; the first may start before the offset asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogSlice {
    /// Their bytes. A batch may be spread over several.
    pub bufs: Vec<Bytes>,
    /// Total size, in bytes.
    pub bytes: usize,
    /// The offset after the last batch's last record; where it was asked from if there is none.
    pub next_offset: Offset,
}

impl LogSlice {
    /// Adds what follows.
    fn extend(&mut self, more: LogSlice) {
        self.bufs.extend(more.bufs);
        self.bytes += more.bytes;
        self.next_offset = more.next_offset;
    }
}

/// What to do for a read.
enum Plan {
    Done(LogSlice),
    File(FilePart),
}

/// What a segment's file gave.
struct FromFile {
    slice: LogSlice,
    has_records: bool,
}

impl Log {
    /// How many bytes a read from `from` would give below `upto`, up to about `max`, without any I/O: exact
    /// for the tail, estimated for what is in files only, at least 1 if there is anything. 0 also outside of
    /// the log.
    pub fn readable_bytes(&self, from: Offset, upto: Offset, max: usize) -> usize {
        let core = self.0.core.borrow();
        let upto = upto.min(core.end);
        if from >= upto || from < core.start {
            return 0;
        }
        if let Some(bytes) = core.tail.readable_bytes(from, upto, max) {
            return bytes;
        }
        let mut bytes = 0u64;
        let mut at = from;
        while at < upto && bytes < max as u64 {
            let part = core.part_of(at);
            let last = upto.min(part.end);
            // By share of offsets: batches of one segment are much alike.
            let share = last.since(at) as u128 * u128::from(part.limit)
                / u128::from(part.end.since(part.base).max(1));
            bytes += (share as u64).max(1);
            at = part.end;
        }
        usize::try_from(bytes).unwrap_or(usize::MAX).min(max.max(1))
    }

    /// Whole batches from the one that holds `from` on, those that start below `upto`, within `bytes_max`;
    /// with `min_one` at least one batch, however large. Nothing if there is nothing in between. May give
    /// less than there is: a read ends with its segment, but for segments of which compaction left batches without
    /// records only. (librdkafka takes answers without a record for a message that is too large, and gives up after ten.)
    ///
    /// # Errors
    /// `OffsetOutOfRange`, `Offline`, `Io` and `Corrupt` of this read only.
    pub async fn read(
        &self,
        from: Offset,
        upto: Offset,
        bytes_max: usize,
        min_one: bool,
    ) -> Result<LogSlice, ReadError> {
        let (mut at, mut empty, mut empty_parts) = (from, LogSlice::default(), 0);
        loop {
            let left = bytes_max.saturating_sub(empty.bytes);
            let min_one = min_one && empty.bytes == 0;
            let part = match self.0.plan_read(from, at, upto, left, min_one)? {
                Plan::Done(slice) => {
                    empty.extend(slice);
                    return Ok(empty);
                }
                // Its names lead to the old files or to the new ones.
                Plan::File(part) if self.0.replaced(part.base, part.end).await => continue,
                Plan::File(part) => part,
            };
            let result = self.0.read_part(&part, at, upto, left, min_one).await;
            if self.0.is_offline() {
                // Deleted meanwhile, and maybe made anew: the path may have led to another log's file.
                return Err(ReadError::Offline);
            }
            if self.0.core.borrow().version_of(part.base) != part.version {
                // Cut or compacted meanwhile: what was read may be gone. Once more, from what there is now.
                (at, empty, empty_parts) = (from, LogSlice::default(), 0);
                continue;
            }
            if result.is_err() && self.0.is_stale(&part) {
                // The segment went meanwhile: what there is now starts behind it.
                (at, empty, empty_parts) = (from, LogSlice::default(), 0);
                continue;
            }
            let FromFile { slice, has_records } = result?;
            let gets_on = slice.next_offset > at;
            at = slice.next_offset;
            empty_parts += usize::from(slice.bytes > 0);
            empty.extend(slice);
            if has_records || !gets_on || empty_parts == EMPTY_PARTS_MAX {
                return Ok(empty);
            }
        }
    }
}

impl LogInner {
    fn plan_read(
        &self,
        from: Offset,
        at: Offset,
        upto: Offset,
        bytes_max: usize,
        min_one: bool,
    ) -> Result<Plan, ReadError> {
        if self.is_offline() {
            return Err(ReadError::Offline);
        }
        let core = self.core.borrow();
        if from < core.start || from > core.end {
            drop(core);
            return Err(self.out_of_range(from));
        }
        let upto = upto.min(core.end);
        if at >= upto {
            return Ok(Plan::Done(LogSlice { next_offset: at, ..LogSlice::default() }));
        }
        let Some(slice) = core.tail.read(at, upto, bytes_max, min_one) else {
            return Ok(Plan::File(core.part_of(at)));
        };
        let mut next_offset = at;
        let mut left = slice.bytes;
        core.tail.visit(at, |batch| {
            if left == 0 {
                return false;
            }
            left -= batch.bytes();
            next_offset = batch.last.plus(1);
            true
        });
        Ok(Plan::Done(LogSlice { bufs: slice.bufs, bytes: slice.bytes, next_offset }))
    }

    /// Reads from a segment's file. An empty result with a later `next_offset` says where to go on: a gap, or
    /// the end of the part.
    async fn read_part(
        &self,
        part: &FilePart,
        from: Offset,
        upto: Offset,
        bytes_max: usize,
        min_one: bool,
    ) -> Result<FromFile, ReadError> {
        let path = self.file_path(part.base, names::LOG);
        let mut position = match self.hint_for(from, part.base, part.version) {
            Some(position) => position,
            None => self.floor(part, from).await?.0,
        };
        let mut reader = self.reader(part).await?;
        let io = |source| ReadError::Io { what: path.display().to_string(), source };
        reader.prefetch(position, position + bytes_max as u64).await.map_err(io)?;
        let (mut start, mut next_offset, mut bytes, mut has_records) = (None, from, 0usize, false);
        while let Some(header) =
            reader.header_at(position).await.map_err(|error| read_error(&path, position, error))?
        {
            let total = header.total_bytes();
            if Offset(header.last_offset()) >= from {
                let fits = bytes + total <= bytes_max || (min_one && bytes == 0);
                if Offset(header.base_offset) >= upto || !fits {
                    break;
                }
                start.get_or_insert(position);
                bytes += total;
                has_records |= header.records_count > 0;
                next_offset = Offset(header.next_offset());
            }
            position += total as u64;
        }
        let Some(start) = start else {
            let beyond = position >= reader.limit();
            let next_offset = if beyond { part.next.max(from.plus(1)) } else { from };
            return Ok(FromFile {
                slice: LogSlice { next_offset, ..LogSlice::default() },
                has_records: false,
            });
        };
        let bufs = reader.slices(start, position).await.map_err(io)?;
        self.remember(ReadHint { next: next_offset, segment: part.base, position, version: part.version });
        Ok(FromFile { slice: LogSlice { bufs, bytes, next_offset }, has_records })
    }
}
