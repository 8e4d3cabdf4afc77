//! Offsets by timestamp, to the record (ListOffsets).

use bytes::{Bytes, BytesMut};
use protocol::records::{BatchHeader, HeaderScan, RecordBatch, TimestampType};

use super::handle::Log;
use super::inner::LogInner;
use super::locate::FilePart;
use crate::limits::{LOOKUP_BYTES_MAX, PIECE_BYTES};
use crate::segment::names;
use crate::{LeaderEpoch, Offset, ReadError};

/// A record found by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimestampOffset {
    /// Its timestamp, in ms since 1970.
    pub timestamp_ms: i64,
    /// Its offset.
    pub offset: Offset,
    /// The epoch it was appended in, -1 if unknown.
    pub leader_epoch: LeaderEpoch,
}

impl Log {
    /// The first record below `upto` whose timestamp is at least `timestamp_ms`. Timestamps needn't ascend.
    /// Costs a look at each segment's largest timestamp (remembered), and then about `index.interval.bytes`
    /// of reading.
    ///
    /// # Errors
    /// `Offline`, `Io`, `Corrupt`.
    pub async fn offset_for_timestamp(
        &self,
        timestamp_ms: i64,
        upto: Offset,
    ) -> Result<Option<TimestampOffset>, ReadError> {
        self.look_up(async || self.first_from(timestamp_ms, upto).await).await
    }

    async fn first_from(
        &self,
        timestamp_ms: i64,
        upto: Offset,
    ) -> Result<Option<TimestampOffset>, ReadError> {
        let parts = self.0.core.borrow().parts();
        for part in parts {
            let Some((max_ms, _)) = self.0.max_timestamp_of(&part).await? else { continue };
            if max_ms < timestamp_ms {
                continue;
            }
            let from = self.0.time_floor(&part, timestamp_ms).await?.max(self.start_offset());
            let wanted = |header: &BatchHeader| header.max_timestamp >= timestamp_ms;
            if let Some(found) = self.first_record(from, part.end.min(upto), timestamp_ms, wanted).await? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The first record below `upto` that has the largest timestamp of all; `None` if there is no record with
    /// a timestamp. (KIP-734)
    ///
    /// # Errors
    /// `Offline`, `Io`, `Corrupt`.
    pub async fn max_timestamp_offset(&self, upto: Offset) -> Result<Option<TimestampOffset>, ReadError> {
        self.look_up(async || self.largest(upto).await).await
    }

    /// Looks up again for as long as the log is cut, or old segments go, meanwhile: what was found, or wasn't, may be gone.
    async fn look_up(
        &self,
        find: impl AsyncFn() -> Result<Option<TimestampOffset>, ReadError>,
    ) -> Result<Option<TimestampOffset>, ReadError> {
        let seen = || {
            let core = self.0.core.borrow();
            (core.generation, core.removals)
        };
        loop {
            while self.0.replaced(Offset(0), Offset(i64::MAX)).await {}
            let before = seen();
            let found = find().await;
            if self.0.is_offline() {
                return Err(ReadError::Offline);
            }
            if seen() == before {
                return found;
            }
        }
    }

    async fn largest(&self, upto: Offset) -> Result<Option<TimestampOffset>, ReadError> {
        let parts = self.0.core.borrow().parts();
        let mut known: Vec<(i64, FilePart)> = Vec::new();
        for part in parts.into_iter().filter(|part| part.base < upto) {
            if let Some((max_ms, _)) = self.0.max_timestamp_of(&part).await? {
                known.push((max_ms, part));
            }
        }
        // The largest first, the oldest of equals.
        known.sort_by_key(|(max_ms, part)| (std::cmp::Reverse(*max_ms), part.base));
        let mut best: Option<TimestampOffset> = None;
        for (max_ms, part) in known {
            if best.is_some_and(|best| (best.timestamp_ms, part.base) >= (max_ms, best.offset)) {
                break;
            }
            let found = self.largest_of(&part, max_ms, part.end.min(upto)).await?;
            if let Some(found) = found
                && best
                    .is_none_or(|best| (found.timestamp_ms, best.offset) > (best.timestamp_ms, found.offset))
            {
                best = Some(found);
            }
        }
        Ok(best)
    }

    /// The first record of a segment below `upto` that is served and has the largest timestamp there. `max_ms`
    /// is that of all its batches, which may be a marker's, lie before the start, or behind `upto`.
    ///
    /// Reads no part of the segment twice, and commonly little more than the batch: first from where the time
    /// index says that `max_ms` is, then from where it knows the largest below `upto`, at last the rest.
    async fn largest_of(
        &self,
        part: &FilePart,
        max_ms: i64,
        upto: Offset,
    ) -> Result<Option<TimestampOffset>, ReadError> {
        let start = part.base.max(self.start_offset());
        let mut from = self.0.time_floor(part, max_ms).await?.max(start);
        let mut best = self.largest_between(from, upto, upto, max_ms).await?;
        let mut wanted_ms = max_ms;
        while from > start && best.is_none_or(|best| best.timestamp_ms < wanted_ms) {
            let behind = from.min(upto);
            let known = if wanted_ms == max_ms { self.0.time_before(part, behind).await? } else { None };
            wanted_ms = known.map_or(i64::MAX, |(known_ms, _)| known_ms);
            from = match known {
                Some((known_ms, _)) => self.0.time_floor(part, known_ms).await?.max(start).min(behind),
                None => start,
            };
            // To the end of it: of a batch that goes beyond `upto` the index says nothing.
            let earlier = self.largest_between(from, behind, upto, i64::MAX).await?;
            // The first of equals.
            best = match (earlier, best) {
                (Some(earlier), Some(later)) if earlier.timestamp_ms < later.timestamp_ms => Some(later),
                (earlier, later) => earlier.or(later),
            };
        }
        Ok(best)
    }

    /// The first record with the largest timestamp below `upto`, of the batches that start in `from..behind`; ends
    /// at one that has `enough_ms`.
    async fn largest_between(
        &self,
        from: Offset,
        behind: Offset,
        upto: Offset,
        enough_ms: i64,
    ) -> Result<Option<TimestampOffset>, ReadError> {
        let start = self.start_offset();
        let mut found = Largest::default();
        self.visit(from, behind, async |header, batch| {
            if header.max_timestamp <= found.timestamp_ms() {
                return Ok(None);
            }
            let whole = Offset(header.base_offset) >= start && Offset(header.last_offset()) < upto;
            // Its header tells: it needn't be read to find that it is surpassed.
            let largest = if whole {
                Largest::Batch(header.max_timestamp, batch)
            } else {
                Largest::of(self.0.largest_in(batch, start, upto).await?)
            };
            if largest.timestamp_ms() > found.timestamp_ms() {
                found = largest;
            }
            Ok((found.timestamp_ms() >= enough_ms).then_some(()))
        })
        .await?;
        match found {
            Largest::None => Ok(None),
            Largest::Record(record) => Ok(Some(record)),
            Largest::Batch(_, batch) => self.0.largest_in(batch, start, upto).await,
        }
    }

    /// The first record in `from..upto` of at least that timestamp, in a batch that is `wanted`.
    async fn first_record(
        &self,
        from: Offset,
        upto: Offset,
        timestamp_ms: i64,
        wanted: impl Fn(&BatchHeader) -> bool,
    ) -> Result<Option<TimestampOffset>, ReadError> {
        let start = self.start_offset();
        self.visit(from, upto, async |header, batch| {
            if !wanted(&header) {
                return Ok(None);
            }
            let record = self.0.record_in(batch, timestamp_ms, start).await?;
            Ok(record.filter(|found| found.offset < upto))
        })
        .await
    }

    /// Shows `look` the batches with records that start in `from..upto`, in their order, until it gives something.
    /// Reads [`PIECE_BYTES`] at a time.
    async fn visit<T>(
        &self,
        from: Offset,
        upto: Offset,
        mut look: impl AsyncFnMut(BatchHeader, Bytes) -> Result<Option<T>, ReadError>,
    ) -> Result<Option<T>, ReadError> {
        let mut at = from;
        while at < upto {
            let slice = match self.read(at, upto, PIECE_BYTES, true).await {
                // The start was advanced (DeleteRecords) since.
                Err(ReadError::OffsetOutOfRange { start, .. }) if start > at => {
                    at = start;
                    continue;
                }
                read => read?,
            };
            if slice.bytes == 0 {
                return Ok(None);
            }
            let bytes = join(slice.bufs);
            for found in HeaderScan::new(&bytes) {
                let (position, header) = found.map_err(|error| self.0.corrupt(at, error.to_string()))?;
                // What compaction emptied has the timestamp of records that are gone.
                if header.attributes.is_control() || header.records_count == 0 {
                    continue;
                }
                let batch = bytes.slice(position..position + header.total_bytes());
                if let Some(result) = look(header, batch).await? {
                    return Ok(Some(result));
                }
            }
            at = slice.next_offset;
            rt::yield_point().await;
        }
        Ok(None)
    }
}

/// The largest timestamp found so far.
#[derive(Debug, Default)]
enum Largest {
    #[default]
    None,
    Record(TimestampOffset),
    /// A whole batch that has it, by its header.
    Batch(i64, Bytes),
}

impl Largest {
    fn of(record: Option<TimestampOffset>) -> Largest {
        record.map_or(Largest::None, Largest::Record)
    }

    /// -1 without any: as of a record without a timestamp.
    fn timestamp_ms(&self) -> i64 {
        match self {
            Largest::None => -1,
            Largest::Record(record) => record.timestamp_ms,
            Largest::Batch(timestamp_ms, _) => *timestamp_ms,
        }
    }
}

impl LogInner {
    pub(crate) async fn max_timestamp_of(&self, part: &FilePart) -> Result<Option<(i64, Offset)>, ReadError> {
        if !part.closed {
            let core = self.core.borrow();
            let builds = [Some(&core.active), core.closing.as_ref()];
            let build = builds.into_iter().flatten().find(|active| active.build.base == part.base);
            let Some(active) = build else {
                // A roll has closed it since the parts were listed.
                return Ok(core.closed.get(&part.base).and_then(|segment| segment.max_timestamp).flatten());
            };
            return Ok(active.build.max_timestamp.filter(|(max_ms, _)| *max_ms >= 0));
        }
        if let Some(known) =
            self.core.borrow().closed.get(&part.base).and_then(|segment| segment.max_timestamp)
        {
            return Ok(known);
        }
        let max = self.indexes(part).await?.times.last();
        if !self.is_stale(part)
            && let Some(segment) = self.core.borrow_mut().closed.get_mut(&part.base)
        {
            segment.max_timestamp = Some(max);
        }
        Ok(max)
    }

    /// The last thing a segment's time index says of offsets below `end`.
    async fn time_before(&self, part: &FilePart, end: Offset) -> Result<Option<(i64, Offset)>, ReadError> {
        if part.closed {
            return Ok(self.indexes(part).await?.times.last_before(end));
        }
        let core = self.core.borrow();
        let builds = [Some(&core.active), core.closing.as_ref()];
        let build = builds.into_iter().flatten().find(|active| active.build.base == part.base);
        Ok(build.and_then(|active| active.build.times.last_before(end)))
    }

    /// From where in a segment to look for a timestamp.
    async fn time_floor(&self, part: &FilePart, timestamp_ms: i64) -> Result<Offset, ReadError> {
        if part.closed {
            return Ok(self.indexes(part).await?.times.floor(timestamp_ms));
        }
        let core = self.core.borrow();
        let builds = [Some(&core.active), core.closing.as_ref()];
        let build = builds.into_iter().flatten().find(|active| active.build.base == part.base);
        Ok(build.map_or(part.base, |active| active.build.times.floor(timestamp_ms)))
    }

    /// The first record of a batch at or behind `start` with at least that timestamp.
    async fn record_in(
        &self,
        batch: Bytes,
        timestamp_ms: i64,
        start: Offset,
    ) -> Result<Option<TimestampOffset>, ReadError> {
        let corrupt = |error: protocol::records::RecordsError| self.corrupt(start, error.to_string());
        let batch = RecordBatch::parse(batch).map_err(corrupt)?;
        let header = *batch.header();
        let leader_epoch = LeaderEpoch(header.partition_leader_epoch);
        if header.attributes.timestamp_type() == TimestampType::LogAppendTime {
            let offset = Offset(header.base_offset).max(start);
            return Ok(Some(TimestampOffset { timestamp_ms: header.max_timestamp, offset, leader_epoch }));
        }
        for record in batch.records_within(LOOKUP_BYTES_MAX) {
            let record = record.map_err(corrupt)?;
            rt::yield_point().await;
            if record.timestamp >= timestamp_ms && Offset(record.offset) >= start {
                let offset = Offset(record.offset);
                return Ok(Some(TimestampOffset { timestamp_ms: record.timestamp, offset, leader_epoch }));
            }
        }
        Ok(None)
    }

    /// The first record with the largest timestamp, of those of a batch that stand in `start..upto`.
    async fn largest_in(
        &self,
        batch: Bytes,
        start: Offset,
        upto: Offset,
    ) -> Result<Option<TimestampOffset>, ReadError> {
        let corrupt = |error: protocol::records::RecordsError| self.corrupt(start, error.to_string());
        let batch = RecordBatch::parse(batch).map_err(corrupt)?;
        let leader_epoch = LeaderEpoch(batch.header().partition_leader_epoch);
        let mut best: Option<TimestampOffset> = None;
        for record in batch.records_within(LOOKUP_BYTES_MAX) {
            let record = record.map_err(corrupt)?;
            rt::yield_point().await;
            let offset = Offset(record.offset);
            let is_larger = record.timestamp > best.map_or(-1, |best| best.timestamp_ms);
            if is_larger && (start..upto).contains(&offset) {
                best = Some(TimestampOffset { timestamp_ms: record.timestamp, offset, leader_epoch });
            }
        }
        Ok(best)
    }

    fn corrupt(&self, near: Offset, reason: String) -> ReadError {
        let base = self.core.borrow().part_of(near).base;
        let path = self.file_path(base, names::LOG).display().to_string();
        ReadError::Corrupt { path, position: 0, reason: format!("near offset {near}: {reason}") }
    }
}

fn join(mut bufs: Vec<Bytes>) -> Bytes {
    if bufs.len() == 1 {
        return bufs.remove(0);
    }
    let mut whole = BytesMut::with_capacity(bufs.iter().map(Bytes::len).sum());
    bufs.iter().for_each(|buf| whole.extend_from_slice(buf));
    whole.freeze()
}
