//! One pass over one log.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use protocol::records::{DECOMPRESSED_BYTES_MAX, RecordBatch};

use super::group::{Limits, Sized, fitting, group, rewritten};
use super::key_map::KeyMap;
use super::plan::{Dirt, Segment};
use super::source::{Found, Source};
use super::throttle::Throttle;
use super::txns::{Met, Transactions};
use super::{noted, run::Compacted};
use crate::config::CompactionConfig;
use crate::dir::files;
use crate::dir::stats::add;
use crate::limits::RECORDS_PER_STEP;
use crate::log::inner::LogInner;
use crate::segment::names;
use crate::{CleanerConfig, CompactionError, LogConfig, Offset};

/// What a pass is to do, as a look at the log just before it tells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub dirt: Dirt,
    /// How far the log is replicated.
    pub high_watermark: Offset,
    /// When it was looked at, in ms since 1970.
    pub now_ms: i64,
    /// Cuts of the log then.
    pub cuts: u64,
}

/// A pass: what it goes by, and what it has done so far.
pub(crate) struct Pass {
    pub log: Rc<LogInner>,
    pub dirt: Dirt,
    pub high_watermark: Offset,
    pub now_ms: i64,
    pub cleaner: CleanerConfig,
    /// Cuts of the log when it was planned.
    cuts: u64,
    throttle: RefCell<Throttle>,
    /// The aborted transactions, once one was met.
    transactions: RefCell<Option<Transactions>>,
    pub met: RefCell<Met>,
    /// Markers in the group at hand of which nothing is left to mark.
    pub ended: RefCell<BTreeSet<Offset>>,
    pub removed_records: Cell<u64>,
    pub read_bytes: Cell<u64>,
    pub written_bytes: Cell<u64>,
}

impl Pass {
    pub(crate) fn new(log: Rc<LogInner>, plan: Plan, cleaner: CleanerConfig) -> Self {
        log.dir.compaction.begin(&cleaner);
        Self {
            log,
            dirt: plan.dirt,
            high_watermark: plan.high_watermark,
            now_ms: plan.now_ms,
            cleaner,
            cuts: plan.cuts,
            throttle: RefCell::new(Throttle::new(cleaner.bytes_per_second)),
            transactions: RefCell::default(),
            met: RefCell::default(),
            ended: RefCell::default(),
            removed_records: Cell::default(),
            read_bytes: Cell::default(),
            written_bytes: Cell::default(),
        }
    }

    /// Does the whole pass.
    ///
    /// # Errors
    /// See [`CompactionError`].
    pub(crate) async fn run(&self) -> Result<Compacted, CompactionError> {
        self.check()?;
        let segments = self.log.closed_segments(self.dirt.upto);
        if segments.last().is_none_or(|last| last.end <= self.dirt.first_dirty) {
            // Retention took what was dirty.
            return Err(CompactionError::CalledOff);
        }
        let config = self.log.config();
        let limits = Limits {
            segment_bytes: config.segment_bytes,
            index_bytes: u64::from(config.segment_index_bytes),
        };
        let sized = self.with_sizes(&segments).await?;
        // Before all the reading: what there is no room to rewrite needn't be mapped.
        let fitting = match self.room().await {
            Some(room) => fitting(&sized, limits, room),
            None => 0,
        };
        let segments = &segments[..fitting];
        if segments.last().is_none_or(|last| last.end <= self.dirt.first_dirty) {
            return Err(CompactionError::NoSpace);
        }
        let keys_wanted = self.dirt.upto.since(self.dirt.first_dirty);
        let CleanerConfig { map_bytes, map_load_factor, .. } = self.cleaner;
        let mut map = KeyMap::new(map_bytes, map_load_factor, keys_wanted, rt::random_bytes());
        let _memory = self.log.dir.compaction.charge(map.bytes());
        let mapped = self.map_keys(segments, &mut map).await?;
        if mapped <= self.dirt.first_dirty {
            return Err(self.has_no_end(mapped));
        }
        let segments = rewritten(segments, mapped);
        for range in group(&sized[..segments.len()], limits) {
            self.compact_group(&segments[range], &map, mapped).await?;
        }
        self.note(mapped).await?;
        Ok(Compacted {
            partition: self.log.partition.clone(),
            upto: mapped,
            is_partial: mapped < self.dirt.upto,
            keys: map.len() as u64,
            removed_records: self.removed_records.get(),
            read_bytes: self.read_bytes.get(),
            written_bytes: self.written_bytes.get(),
        })
    }

    /// Maps the last offsets of the keys of the dirty part. Gives where what the map tells of ends: before a record that no
    /// longer fits, or a transaction whose outcome isn't known.
    async fn map_keys(&self, segments: &[Segment], map: &mut KeyMap) -> Result<Offset, CompactionError> {
        let first = self.dirt.first_dirty;
        let mut mapped = first;
        for segment in segments.iter().filter(|segment| segment.end > first) {
            if segment.bytes > 0 {
                let position = self.position_of(segment, first).await?;
                let mut source = self.open(segment, position).await?;
                let result = self.map_segment(&mut source, map, mapped).await;
                source.close().await;
                let (upto, is_full) = self.unless_called_off(result)?;
                mapped = upto;
                if is_full {
                    return Ok(mapped);
                }
            }
            mapped = mapped.max(segment.end);
        }
        Ok(mapped)
    }

    /// Maps a segment's keys. Gives where it ended, and whether nothing more may be mapped.
    async fn map_segment(
        &self,
        source: &mut Source,
        map: &mut KeyMap,
        mut mapped: Offset,
    ) -> Result<(Offset, bool), CompactionError> {
        let first = self.dirt.first_dirty;
        while let Some(found) = source.next().await? {
            let header = found.header;
            self.pace(header.total_bytes()).await?;
            if Offset(header.last_offset()) < first {
                continue;
            }
            let data = !header.attributes.is_control() && header.records_count > 0;
            let is_aborted = if data { self.is_aborted(&found).await? } else { Some(false) };
            let Some(is_aborted) = is_aborted else {
                return Ok((mapped.max(Offset(header.base_offset)), true));
            };
            if data && !is_aborted {
                let batch = source.batch(&found).await?;
                if let Some(full_at) = self.map_batch(source, &found, &batch, map).await? {
                    // Whole batches, so that one time holds for all tombstones of a batch; but at least one record.
                    return Ok((if mapped > first { mapped } else { full_at }, true));
                }
            }
            mapped = mapped.max(Offset(header.next_offset()));
        }
        Ok((mapped, false))
    }

    /// Maps a batch's keys. Gives the record for which there is no room.
    async fn map_batch(
        &self,
        source: &Source,
        found: &Found,
        batch: &RecordBatch,
        map: &mut KeyMap,
    ) -> Result<Option<Offset>, CompactionError> {
        for (at, record) in batch.records_within(DECOMPRESSED_BYTES_MAX).enumerate() {
            let record = record.map_err(|error| source.damaged(found, &error))?;
            let offset = Offset(record.offset);
            if offset >= self.dirt.first_dirty
                && let Some(key) = &record.key
                && map.put(key, offset).is_err()
            {
                return Ok(Some(offset));
            }
            if at % RECORDS_PER_STEP == RECORDS_PER_STEP - 1 {
                rt::yield_point().await;
            }
        }
        Ok(None)
    }

    /// Whether a batch of data is of an aborted transaction; `None` if that can't be known.
    pub(crate) async fn is_aborted(&self, found: &Found) -> Result<Option<bool>, CompactionError> {
        let header = &found.header;
        // What lies before the log's start is read by nobody, and can't be surveyed.
        let is_served = Offset(header.base_offset) >= self.log.core.borrow().start;
        if !header.attributes.is_transactional() || !is_served {
            return Ok(Some(false));
        }
        let told =
            |transactions: &Transactions| transactions.knows(header).then(|| transactions.is_aborted(header));
        let known = self.transactions.borrow().as_ref().and_then(told);
        if known.is_some() {
            return Ok(known);
        }
        let transactions = self.survey(Offset(header.base_offset), self.dirt.upto).await?;
        let known = told(&transactions);
        // One that knows nothing of this batch may know less of the others.
        if known.is_some() {
            *self.transactions.borrow_mut() = Some(transactions);
        }
        Ok(known)
    }

    /// No end is known of the transaction at `offset`: it may not be replicated yet, and should be there otherwise.
    fn has_no_end(&self, offset: Offset) -> CompactionError {
        if self.high_watermark < self.log.marks.appended() {
            return CompactionError::CalledOff;
        }
        let path = self.log.path.display();
        CompactionError::Uncleanable(format!("{path}: the transaction at offset {offset} has no end"))
    }

    /// Where in a segment to begin to read for `offset`.
    async fn position_of(&self, segment: &Segment, offset: Offset) -> Result<u64, CompactionError> {
        if offset <= segment.base {
            return Ok(0);
        }
        let part = self.log.core.borrow().part_of(segment.base);
        let floor = self.log.floor(&part, offset).await;
        let floor = floor.map_err(CompactionError::from);
        self.unless_gone(segment, floor).map(|position| position.0)
    }

    pub(crate) async fn open(&self, segment: &Segment, position: u64) -> Result<Source, CompactionError> {
        self.unless_gone(segment, Source::open(&self.log, segment, position).await)
    }

    /// As [`Self::unless_called_off`]; retention may have taken the segment as well.
    fn unless_gone<T>(
        &self,
        segment: &Segment,
        result: Result<T, CompactionError>,
    ) -> Result<T, CompactionError> {
        match result {
            Err(_) if !self.log.is_closed(segment) => Err(CompactionError::CalledOff),
            result => self.unless_called_off(result),
        }
    }

    /// Counts bytes that were read or written, lets others run, and keeps to the rate.
    ///
    /// # Errors
    /// `CalledOff`.
    pub(crate) async fn pace(&self, bytes: usize) -> Result<(), CompactionError> {
        self.read_bytes.set(self.read_bytes.get() + bytes as u64);
        add(&self.log.dir.stats.compaction_read_bytes, bytes as u64);
        self.slow_down(bytes).await
    }

    /// As [`Self::pace`], for bytes written.
    ///
    /// # Errors
    /// `CalledOff`.
    pub(crate) async fn pace_writing(&self, bytes: usize) -> Result<(), CompactionError> {
        self.written_bytes.set(self.written_bytes.get() + bytes as u64);
        add(&self.log.dir.stats.compaction_written_bytes, bytes as u64);
        self.slow_down(bytes).await
    }

    async fn slow_down(&self, bytes: usize) -> Result<(), CompactionError> {
        rt::consume_budget(bytes);
        rt::yield_point().await;
        self.throttle.borrow_mut().count(bytes, rt::now());
        loop {
            self.check()?;
            let (now, rate) = (rt::now(), self.log.dir.compaction.bytes_per_second.get());
            self.throttle.borrow_mut().set_rate(rate, now);
            let wait = self.throttle.borrow().wait(now);
            let Some(wait) = wait else { return Ok(()) };
            rt::sleep(wait).await;
        }
    }

    /// Whether the pass may go on.
    ///
    /// # Errors
    /// `CalledOff`.
    pub(crate) fn check(&self) -> Result<(), CompactionError> {
        let log = &self.log;
        let ends = log.is_offline()
            || log.refuses_appends.get()
            || log.dir.compaction.stopping.get()
            || log.core.borrow().cuts != self.cuts
            || log.config().compaction.is_none();
        if ends { Err(CompactionError::CalledOff) } else { Ok(()) }
    }

    /// What fails because the log was cut or ended meanwhile isn't the log's fault.
    pub(crate) fn unless_called_off<T>(
        &self,
        result: Result<T, CompactionError>,
    ) -> Result<T, CompactionError> {
        if result.is_err() {
            self.check()?;
        }
        result
    }

    pub(crate) fn config(&self) -> Result<(Rc<LogConfig>, CompactionConfig), CompactionError> {
        let config = self.log.config();
        let compaction = config.compaction.ok_or(CompactionError::CalledOff)?;
        Ok((config, compaction))
    }

    async fn with_sizes(&self, segments: &[Segment]) -> Result<Vec<Sized>, CompactionError> {
        let listed = files::list(&self.log.path).await;
        let listed =
            listed.map_err(|error| CompactionError::reading(self.log.path.display().to_string(), error));
        let listed = self.unless_called_off(listed)?;
        let size_of = |base: Offset, suffix: &str| {
            let name = names::file_name(base, suffix);
            listed.binary_search_by(|entry| entry.name.cmp(&name)).map_or(0, |at| listed[at].len)
        };
        let sized = |segment: &Segment| Sized {
            segment: *segment,
            index_bytes: size_of(segment.base, names::INDEX),
            time_index_bytes: size_of(segment.base, names::TIME_INDEX),
        };
        Ok(segments.iter().map(sized).collect())
    }

    /// Writes down how far the log is compacted. A cache: if it can't be written it is only remembered, unless the device
    /// failed.
    async fn note(&self, mapped: Offset) -> Result<(), CompactionError> {
        let log = &self.log;
        let _files = log.files.take(1).await;
        self.check()?;
        log.compaction.cleaned.set(Some(mapped));
        log.changed.set(true);
        let written = files::replace(&log.path.join(names::CLEANED_UPTO), noted::encode(mapped)).await;
        let Err(error) = written else { return Ok(()) };
        let error = log.fail_on_device("noting how far it is compacted in", error);
        if log.is_offline() {
            return Err(error.into());
        }
        tracing::warn!(log = %log.partition, %error, "how far a log is compacted isn't noted");
        Ok(())
    }
}

impl std::fmt::Debug for Pass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pass")
            .field("log", &self.log.partition)
            .field("dirt", &self.dirt)
            .finish_non_exhaustive()
    }
}
