//! Choosing what to compact, and compacting it.

use std::rc::Rc;

use super::pass::{Pass, Plan};
use super::plan::{Dirt, first_dirty};
use super::source::Source;
use crate::config::CompactionConfig;
use crate::dir::shared::DirShared;
use crate::dir::stats::add;
use crate::limits::COMPACTION_RETRY_AFTER;
use crate::log::inner::LogInner;
use crate::{CleanerConfig, CompactionError, Log, LogDir, Offset, ReadError, TopicPartition};

/// What a pass did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compacted {
    /// Which log.
    pub partition: TopicPartition,
    /// It is compacted up to here.
    pub upto: Offset,
    /// Whether there was more to compact than keys fitted the map.
    pub is_partial: bool,
    /// Keys of the part that was dirty.
    pub keys: u64,
    /// Records taken out.
    pub removed_records: u64,
    /// Read, in bytes: what was dirty twice.
    pub read_bytes: u64,
    /// Written, in bytes.
    pub written_bytes: u64,
}

impl LogDir {
    /// Makes one pass over the dirtiest of this shard's logs that are due, or, if the disk hasn't room for that, the next;
    /// `None` if there was none to compact. `high_watermark` tells how far a log is replicated, or that it isn't to be
    /// compacted now.
    ///
    /// A log whose records are damaged is left out from then on, and the reason logged; where only a file couldn't be opened,
    /// read or written, it is tried again a minute later. Dropping the future leaves a pass that has begun running.
    pub async fn compact_dirtiest(
        &self,
        cleaner: CleanerConfig,
        high_watermark: impl Fn(&Log) -> Option<Offset>,
    ) -> Option<Compacted> {
        let compaction = &self.shared().compaction;
        let mut due: Vec<(f64, Log)> = Vec::new();
        let mut dirtiest = 0f64;
        let plan = async |log: &Log| log.plan(high_watermark(log)?).await;
        for log in self.logs() {
            let Some((config, Plan { dirt, .. })) = plan(&log).await else { continue };
            dirtiest = dirtiest.max(dirt.ratio());
            if dirt.is_due(&config) && !log.0.compaction.rests(rt::now()) {
                due.push((dirt.ratio(), log));
            }
            rt::yield_point().await;
        }
        compaction.looked_at.set(Some(rt::now()));
        compaction.dirtiest.set(dirtiest);
        due.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (_, log) in due {
            // Anew: the passes before may have taken hours.
            let due = plan(&log).await.filter(|(config, plan)| plan.dirt.is_due(config));
            let Some((_, plan)) = due else { continue };
            match log.pass(plan, cleaner).await {
                Ok(compacted) => return Some(compacted),
                Err(error) => {
                    tracing::debug!(log = %log.partition(), %error, "a compaction pass ended early")
                }
            }
        }
        None
    }

    /// Has the pass that is under way keep to another rate, in bytes a second, from now on.
    pub fn limit_compaction(&self, bytes_per_second: f64) {
        self.shared().compaction.bytes_per_second.set(bytes_per_second);
    }

    /// When a pass was last looked for; `None` if never.
    pub fn compaction_looked_at(&self) -> Option<rt::Instant> {
        self.shared().compaction.looked_at.get()
    }

    /// Which part of the dirtiest log was dirty then, 0 to 1.
    pub fn compaction_dirtiest(&self) -> f64 {
        self.shared().compaction.dirtiest.get()
    }
}

impl Log {
    /// Makes one pass over the log, whether or not it is due. `None` if nothing is dirty that may be compacted.
    ///
    /// # Errors
    /// See [`CompactionError`].
    pub async fn compact(
        &self,
        cleaner: CleanerConfig,
        high_watermark: Offset,
    ) -> Result<Option<Compacted>, CompactionError> {
        match self.plan(high_watermark).await {
            Some((_, plan)) if plan.dirt.dirty_bytes > 0 => self.pass(plan, cleaner).await.map(Some),
            _ => Ok(None),
        }
    }

    /// Why the log can't be compacted, if so.
    pub fn uncleanable(&self) -> Option<String> {
        self.0.compaction.uncleanable.borrow().clone()
    }

    /// Whether it can't.
    pub fn is_uncleanable(&self) -> bool {
        self.0.compaction.uncleanable.borrow().is_some()
    }

    /// Up to where the log is compacted, if that is known.
    pub fn cleaned_offset(&self) -> Option<Offset> {
        self.0.compaction.cleaned.get()
    }

    /// What of the log is dirty now; `None` if it isn't to be compacted.
    async fn plan(&self, high_watermark: Offset) -> Option<(CompactionConfig, Plan)> {
        let log = &self.0;
        let config = log.config().compaction?;
        if log.is_offline() || log.compaction.uncleanable.borrow().is_some() {
            return None;
        }
        let (now_ms, cuts) = (rt::unix_ms(), log.core.borrow().cuts);
        match log.dirt(&config, high_watermark, now_ms).await {
            Ok(dirt) => Some((config, Plan { dirt, high_watermark, now_ms, cuts })),
            // It was cut or ended, or else the pass, or the next look, meets it again.
            Err(error) => {
                tracing::debug!(log = %log.partition, %error, "its dirty part can't be looked at");
                None
            }
        }
    }

    /// A pass, as a task of the directory.
    async fn pass(&self, plan: Plan, cleaner: CleanerConfig) -> Result<Compacted, CompactionError> {
        let log = &self.0;
        let Some(running) = Running::begin(&log.dir) else { return Err(CompactionError::CalledOff) };
        let pass = Pass::new(log.clone(), plan, cleaner);
        let (done, result) = rt::sync::oneshot::channel();
        log.dir.tasks.spawn(async move {
            let result = pass.run().await;
            tell(&pass.log, &result);
            drop(running);
            // The caller may have gone.
            let _ = done.send(result);
        });
        result.recv().await.unwrap_or(Err(CompactionError::CalledOff))
    }
}

/// The one pass of a shard and directory.
struct Running(Rc<DirShared>);

impl Running {
    fn begin(dir: &Rc<DirShared>) -> Option<Self> {
        let compaction = &dir.compaction;
        if compaction.stopping.get() || compaction.running.replace(true) {
            return None;
        }
        Some(Self(dir.clone()))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.compaction.running.set(false);
        self.0.compaction.ended.notify_waiters();
    }
}

/// Counts and logs how a pass ended.
fn tell(log: &LogInner, result: &Result<Compacted, CompactionError>) {
    let stats = &log.dir.stats;
    match result {
        Ok(done) => {
            add(&stats.compaction_passes, 1);
            add(&stats.compaction_removed_records, done.removed_records);
            tracing::debug!(log = %log.partition, upto = %done.upto, removed = done.removed_records, read_bytes = done.read_bytes,
                written_bytes = done.written_bytes, is_partial = done.is_partial, "compacted");
        }
        Err(CompactionError::CalledOff) => {}
        Err(error) => {
            add(&stats.compaction_failed_passes, 1);
            match error {
                CompactionError::Uncleanable(reason) => {
                    tracing::error!(log = %log.partition, reason, "the log can't be compacted, and won't be until the next start");
                    *log.compaction.uncleanable.borrow_mut() = Some(reason.clone());
                }
                error => {
                    if matches!(error, CompactionError::Storage(_)) {
                        log.compaction.rests_until.set(Some(rt::now() + COMPACTION_RETRY_AFTER));
                    }
                    tracing::warn!(log = %log.partition, %error, "a log wasn't compacted");
                }
            }
        }
    }
}

impl LogInner {
    async fn dirt(
        &self,
        config: &CompactionConfig,
        high_watermark: Offset,
        now_ms: i64,
    ) -> Result<Dirt, ReadError> {
        let (start, end, open_txn) = {
            let core = self.core.borrow();
            (core.start, core.end, core.producers.first_open_txn())
        };
        let stable = open_txn.map_or(high_watermark, |open| open.min(high_watermark));
        let segments = self.closed_segments(Offset(i64::MAX));
        let first_dirty = first_dirty(self.compaction.cleaned.get(), start, end);
        let mut young_from = None;
        let mut oldest_ms = None;
        for segment in segments.iter().filter(|segment| segment.end > first_dirty) {
            if config.min_lag_ms > 0 && young_from.is_none() && segment.bytes > 0 {
                let part = self.core.borrow().part_of(segment.base);
                let max = self.max_timestamp_of(&part).await?;
                let young_ms =
                    i64::try_from(config.min_lag_ms).map_or(i64::MIN, |lag| now_ms.saturating_sub(lag));
                young_from = max.filter(|(max_ms, _)| *max_ms > young_ms).map(|_| segment.base);
            }
            if config.max_lag_ms < i64::MAX as u64 && segment.bytes > 0 {
                let first_ms = self.first_timestamp(segment).await.filter(|first| *first > 0);
                oldest_ms = oldest_ms.into_iter().chain(first_ms).min();
            }
        }
        let dirt = Dirt::of(&segments, first_dirty, stable, young_from);
        Ok(dirt.since(oldest_ms, now_ms, config.max_lag_ms))
    }

    /// The largest timestamp of a segment's first batch; `None` if it can't be read now.
    async fn first_timestamp(&self, segment: &super::plan::Segment) -> Option<i64> {
        if let Some(known) = self.compaction.first_timestamps.borrow().get(&segment.base) {
            return Some(*known);
        }
        let mut source = Source::open(self, segment, 0).await.ok()?;
        let found = source.next().await;
        source.close().await;
        let timestamp_ms = found.ok()??.header.max_timestamp;
        if self.is_closed(segment) {
            self.compaction.first_timestamps.borrow_mut().insert(segment.base, timestamp_ms);
        }
        Some(timestamp_ms)
    }
}

#[cfg(test)]
mod tests;
