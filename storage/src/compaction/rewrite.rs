//! Compacting a group of segments into one.

use bytes::Bytes;
use protocol::records::{BatchBuilder, BatchHeader, DECOMPRESSED_BYTES_MAX, RecordBatch, RecordsError};

use super::cleaned::CleanedSegment;
use super::filter::{Filter, Outcome, Rules};
use super::key_map::KeyMap;
use super::pass::Pass;
use super::plan::Segment;
use super::source::{Found, Source, control_kind};
use crate::dir::files;
use crate::error::is_full;
use crate::limits::{
    COMPACTION_SPARE_BYTES_MAX, COMPACTION_SPARE_SHARE, COMPRESS_INLINE_BYTES_MAX, RECORDS_PER_STEP,
    TXN_INDEX_BYTES_MAX,
};
use crate::segment::names;
use crate::segment::txn_index::{self, AbortedTxn};
use crate::{CompactionError, Offset};

/// What is being done when a compacted segment's file can't be written.
const WRITING: &str = "writing a compacted segment of";

/// What was written of a group.
enum Filled {
    /// All of it, as it is.
    Same,
    /// What stays of it.
    Changed,
    /// Only so many of its segments fit one.
    TooLarge(usize),
}

impl Pass {
    /// Compacts a group into one segment, or, if compressed anew it is too large for that, into several that each take the
    /// place of whole ones.
    pub(crate) async fn compact_group(
        &self,
        group: &[Segment],
        map: &KeyMap,
        mapped: Offset,
    ) -> Result<(), CompactionError> {
        // Retention may have taken the oldest since the pass began, or be about to.
        let gone = group.iter().take_while(|segment| !self.log.serves(segment)).count();
        let mut rest = &group[gone..];
        let mut count = rest.len();
        while !rest.is_empty() {
            let before = (self.met.borrow().clone(), self.removed_records.get());
            match self.compact_into_one(&rest[..count], map, mapped).await? {
                Filled::TooLarge(fitting) => {
                    count = fitting;
                    self.met.replace(before.0);
                    self.removed_records.set(before.1);
                }
                Filled::Same | Filled::Changed => {
                    rest = &rest[count..];
                    count = rest.len();
                }
            }
        }
        Ok(())
    }

    /// Nothing, if there is nothing in it, or nothing to take out of its only segment.
    async fn compact_into_one(
        &self,
        group: &[Segment],
        map: &KeyMap,
        mapped: Offset,
    ) -> Result<Filled, CompactionError> {
        let bytes: u64 = group.iter().map(|segment| segment.bytes).sum();
        if bytes == 0 {
            return Ok(Filled::Same);
        }
        if self.room().await.is_none_or(|room| room < bytes) {
            return Err(CompactionError::NoSpace);
        }
        self.ended.borrow_mut().clear();
        let mut cleaned = self.create(group[0].base).await?;
        let filled = self.fill(group, map, mapped, &mut cleaned).await;
        let filled = match self.unless_called_off(filled) {
            Ok(Filled::Same) if group.len() > 1 => Ok(Filled::Changed),
            filled => filled,
        };
        let aborted = match &filled {
            Ok(Filled::Changed) => self.aborted_in(group).await,
            _ => Ok(Vec::new()),
        };
        let finished = match &filled {
            Ok(Filled::Changed) => {
                let finished = cleaned.finish(self.log.modified_ms(group)).await;
                finished.map_err(|error| self.failed_writing(WRITING, error))
            }
            _ => Ok(()),
        };
        let path = cleaned.path.clone();
        let build = cleaned.close().await;
        match finished.and(aborted) {
            Ok(aborted) if matches!(filled, Ok(Filled::Changed)) => {
                self.replace(group, build, &aborted).await?;
                filled
            }
            done => {
                self.discard(&path).await;
                done.and(filled)
            }
        }
    }

    /// The aborted transactions that a group's indexes tell of, but for those of which it turned out that nothing is left.
    async fn aborted_in(&self, group: &[Segment]) -> Result<Vec<AbortedTxn>, CompactionError> {
        let mut aborted = Vec::new();
        for segment in group {
            let path = self.log.file_path(segment.base, names::TXN_INDEX);
            let unreadable = |error| CompactionError::reading(path.display().to_string(), error);
            let read = files::content(files::read_small(&path, TXN_INDEX_BYTES_MAX).await);
            let decoded = match self.unless_called_off(read.map_err(unreadable))? {
                Ok(file) => txn_index::decode(file.as_deref().unwrap_or_default()),
                Err(reason) => Err(reason),
            };
            let damaged = |reason| CompactionError::Uncleanable(format!("{}: {reason}", path.display()));
            aborted.extend(decoded.map_err(damaged)?);
        }
        aborted.retain(|txn| !self.ended.borrow().contains(&txn.last_offset));
        Ok(aborted)
    }

    /// How large a group may be that is compacted now, in bytes: a pass leaves room for what is appended meanwhile. `None`
    /// without room for any.
    pub(crate) async fn room(&self) -> Option<u64> {
        // What doesn't tell its size is tried.
        let Ok(space) = rt::fs::space(&self.log.path).await else { return Some(u64::MAX) };
        let spare = (space.total_bytes / COMPACTION_SPARE_SHARE).min(COMPACTION_SPARE_BYTES_MAX);
        space.free_bytes.checked_sub(spare)
    }

    async fn create(&self, base: Offset) -> Result<CleanedSegment, CompactionError> {
        // With the gate the path is this log's: a log that is deleted gives it to another of its name.
        let _files = self.log.files.take(1).await;
        self.check()?;
        let path = self.log.path.join(names::passing_name(base, names::LOG, names::CLEANED));
        let interval = self.log.config().index_interval_bytes;
        let made = CleanedSegment::create(&self.log.dir, path, base, interval).await;
        made.map_err(|error| self.failed_writing("making a compacted segment of", error))
    }

    /// Removes what the pass leaves. What can't be removed the next pass overwrites, or the next start removes.
    async fn discard(&self, path: &std::path::Path) {
        let _files = self.log.files.take(1).await;
        if !self.log.is_offline()
            && let Err(error) = files::remove(path).await
        {
            tracing::debug!(%error, file = %path.display(), "removing an unfinished compacted segment");
        }
    }

    /// For what may still be called off: nothing that was promised is in doubt, unless the device failed.
    pub(crate) fn failed_writing(&self, what: &str, error: std::io::Error) -> CompactionError {
        if is_full(&error) {
            return CompactionError::NoSpace;
        }
        self.log.fail_on_device(what, error).into()
    }

    /// Writes what stays of the group.
    async fn fill(
        &self,
        group: &[Segment],
        map: &KeyMap,
        mapped: Offset,
        cleaned: &mut CleanedSegment,
    ) -> Result<Filled, CompactionError> {
        let (_, config) = self.config()?;
        let rules =
            Rules { map, mapped, now_ms: self.now_ms, delete_retention_ms: config.delete_retention_ms };
        let last = group.iter().rposition(|segment| segment.bytes > 0);
        let mut filled = Filled::Same;
        for (at, segment) in group.iter().enumerate().filter(|(_, segment)| segment.bytes > 0) {
            let mut source = self.open(segment, 0).await?;
            let is_last = last == Some(at);
            let of_this = self.fill_from(&mut source, segment, is_last, &rules, cleaned).await;
            source.close().await;
            match of_this? {
                Filled::Same => {}
                Filled::Changed => filled = Filled::Changed,
                Filled::TooLarge(_) if at == 0 => {
                    let path = self.log.file_path(segment.base, names::LOG);
                    let reason = "compressed anew it is larger than a segment may be";
                    return Err(CompactionError::Uncleanable(format!("{}: {reason}", path.display())));
                }
                Filled::TooLarge(_) => return Ok(Filled::TooLarge(at)),
            }
        }
        Ok(filled)
    }

    /// Writes what stays of a segment.
    async fn fill_from(
        &self,
        source: &mut Source,
        segment: &Segment,
        is_last: bool,
        rules: &Rules<'_>,
        cleaned: &mut CleanedSegment,
    ) -> Result<Filled, CompactionError> {
        let mut filled = Filled::Same;
        while let Some(found) = source.next().await? {
            self.pace(found.header.total_bytes()).await?;
            let batch = source.batch(&found).await?;
            let ends_group = is_last && found.end() == segment.bytes;
            let stays = match rules.is_beyond(&found.header) {
                true => Some(batch.bytes().clone()),
                false => self.filtered(source, &found, &batch, ends_group, rules).await?,
            };
            if stays.as_ref().is_none_or(|stays| stays != batch.bytes()) {
                filled = Filled::Changed;
            }
            if let Some(stays) = stays {
                if !cleaned.has_room(stays.len(), self.cleaner.segment_bytes_max) {
                    return Ok(Filled::TooLarge(0));
                }
                self.write(source, &found, &stays, cleaned).await?;
            }
        }
        Ok(filled)
    }

    async fn write(
        &self,
        source: &Source,
        found: &Found,
        batch: &Bytes,
        cleaned: &mut CleanedSegment,
    ) -> Result<(), CompactionError> {
        let header = BatchHeader::parse(batch).map_err(|error| source.damaged(found, &error))?;
        cleaned.push(&header, batch).await.map_err(|error| self.failed_writing(WRITING, error))?;
        self.pace_writing(batch.len()).await
    }

    /// What stays of a batch; `None` if it goes.
    async fn filtered(
        &self,
        source: &Source,
        found: &Found,
        batch: &RecordBatch,
        ends_group: bool,
        rules: &Rules<'_>,
    ) -> Result<Option<Bytes>, CompactionError> {
        let damaged = |error: RecordsError| source.damaged(found, &error);
        let discardable = self.is_discardable(source, found, batch).await?;
        let mut filter = {
            let core = self.log.core.borrow();
            let producer = core.producers.entries().get(&found.header.producer_id);
            Filter::new(rules, found.header, producer, discardable, ends_group)
        };
        if filter.wants_records() {
            for (at, record) in batch.records_within(DECOMPRESSED_BYTES_MAX).enumerate() {
                filter.look(&record.map_err(damaged)?);
                breathe(at).await;
            }
        }
        let (gone, outcome) = filter.finish();
        self.removed_records.set(self.removed_records.get() + gone as u64);
        match outcome {
            Outcome::Whole => Ok(Some(batch.bytes().clone())),
            Outcome::Nothing => Ok(None),
            Outcome::Empty(header) => Ok(Some(header)),
            Outcome::Rewritten(mut rewrite) => {
                for (at, record) in batch.records_within(DECOMPRESSED_BYTES_MAX).enumerate() {
                    rewrite.take(&record.map_err(damaged)?);
                    breathe(at).await;
                }
                let builder = rewrite.into_builder();
                let _memory = self.log.dir.compaction.charge(builder.uncompressed_bytes());
                build(builder).await.map(Some).map_err(damaged)
            }
        }
    }

    /// Whether the batch is of an aborted transaction, or marks the end of one of which nothing is left.
    async fn is_discardable(
        &self,
        source: &Source,
        found: &Found,
        batch: &RecordBatch,
    ) -> Result<bool, CompactionError> {
        let header = &found.header;
        if header.attributes.is_control() {
            let kind = control_kind(batch).map_err(|error| source.damaged(found, &error))?;
            let marks_nothing = self.met.borrow_mut().marks_nothing(header, kind);
            if marks_nothing {
                self.ended.borrow_mut().insert(Offset(header.base_offset));
            }
            return Ok(marks_nothing);
        }
        self.met.borrow_mut().data(header);
        let unknown = || source.damaged(found, &"its transaction's end isn't known");
        self.is_aborted(found).await?.ok_or_else(unknown)
    }
}

async fn breathe(at: usize) {
    if at % RECORDS_PER_STEP == RECORDS_PER_STEP - 1 {
        rt::yield_point().await;
    }
}

/// Writes the new batch; what takes long to compress, beside the shard.
async fn build(builder: BatchBuilder) -> Result<Bytes, RecordsError> {
    if builder.uncompressed_bytes() <= COMPRESS_INLINE_BYTES_MAX {
        return builder.build();
    }
    rt::blocking(move || builder.build()).await
}
