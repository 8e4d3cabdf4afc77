//! Putting a compacted segment in the place of those it was made of.
//!
//! In this order, each step durable before the next:
//! 1. The new segment's bytes, and its indexes, as `.cleaned`. A start removes these.
//! 2. The indexes, then the log, become `.swap`. With the log's the replacement is decided: a start finishes it
//!    ([`crate::log::swapped`]). Up to here anything may be called off.
//! 3. The files of the old segments become `.deleted`, but for the log that has the new one's name.
//! 4. The new indexes get their names, and last the log, in place of the old one. From here on there is no way back.
//! 5. The old files go.
//!
//! A full disk may refuse any of the names of 3 and 4. It is waited for a while; then the old files get their names again, and
//! the `.swap` files go: the log is as it was. A crash on that way finds the replacement decided, and what it needs.
//!
//! From 2 to 4 nobody may open a file of these segments, whose names lead to old or new ones: who wants to read waits.

use std::io;
use std::path::Path;
use std::rc::Rc;

use super::pass::Pass;
use super::plan::Segment;
use crate::dir::files;
use crate::dir::stats::add;
use crate::error::is_full;
use crate::limits::{RENAME_RETRY_AFTER, RENAME_TRIES_MAX};
use crate::log::active::SegmentBuild;
use crate::log::core::ClosedSegment;
use crate::log::inner::LogInner;
use crate::segment::names;
use crate::segment::txn_index::{self, AbortedTxn};
use crate::{CompactionError, Offset};

/// Segments that are being replaced, until it is dropped.
struct Replacing(Rc<LogInner>);

impl Drop for Replacing {
    fn drop(&mut self) {
        self.0.compaction.replacing.set(None);
        self.0.compaction.replaced.notify_waiters();
    }
}

impl Pass {
    /// Replaces `group` by what its `.cleaned` file holds, of which `build` tells, and which transactions were `aborted`
    /// there. The file goes if that is called off.
    pub(crate) async fn replace(
        &self,
        group: &[Segment],
        build: SegmentBuild,
        aborted: &[AbortedTxn],
    ) -> Result<(), CompactionError> {
        let log = &self.log;
        let files = log.files.take(1).await;
        let mut is_decided = false;
        if let Err(error) = self.prepare(group, &build, aborted, &mut is_decided).await {
            if !log.is_offline() {
                log.remove_passing(build.base, is_decided).await;
            }
            return Err(error);
        }
        let end = group.last().map_or(build.base, |last| last.end);
        let replacing = log.begin_replacing(group, end);
        let mut is_in_place = false;
        match log.install(group, build.base, &mut is_in_place).await {
            Ok(()) => {}
            Err(error) if is_full(&error) && !is_in_place => {
                let undone = log.undo(group, build.base).await;
                undone.map_err(|error| log.fail("taking back a replacement of segments of", error))?;
                return Err(CompactionError::NoSpace);
            }
            Err(error) => return Err(log.fail("replacing segments of", error).into()),
        }
        log.end_replacing(group, build, end);
        drop(replacing);
        log.remove_aside(group).await;
        drop(files);
        add(&log.dir.stats.compaction_replaced_segments, group.len() as u64);
        log.dir.reap().await;
        Ok(())
    }

    /// Up to the decision, and tells whether that was taken, durably or not. What fails leaves the log as it was, and says
    /// nothing about the medium unless the device failed.
    async fn prepare(
        &self,
        group: &[Segment],
        build: &SegmentBuild,
        aborted: &[AbortedTxn],
        is_decided: &mut bool,
    ) -> Result<(), CompactionError> {
        let log = &self.log;
        self.check()?;
        if !group.iter().all(|segment| log.serves(segment)) {
            return Err(CompactionError::CalledOff);
        }
        // Else they would be written over the new ones later.
        let finished = log.finish_small_files().await;
        finished.map_err(|error| self.failed_writing("writing the index files of", error))?;
        let write = async {
            let with_aborted = (!aborted.is_empty()).then(|| (names::TXN_INDEX, txn_index::encode(aborted)));
            let indexes = [(names::TIME_INDEX, build.times.to_file()), (names::INDEX, build.index.to_file())];
            for (suffix, content) in indexes.into_iter().chain(with_aborted) {
                files::replace(&log.passing_path(build.base, suffix, names::CLEANED), content).await?;
                log.pass_on(build.base, suffix).await?;
            }
            files::sync_dir(&log.path).await?;
            log.pass_on(build.base, names::LOG).await?;
            *is_decided = true;
            files::sync_dir(&log.path).await
        };
        write.await.map_err(|error| self.failed_writing("compacting", error))
    }
}

impl LogInner {
    /// The closed segments that end at or before `upto` and not below the log's start, oldest first. Those below are
    /// retention's: made a part of what stays they would stay too.
    pub(crate) fn closed_segments(&self, upto: Offset) -> Vec<Segment> {
        let core = self.core.borrow();
        let within = core.closed.values().take_while(|segment| segment.end <= upto);
        let served = within.filter(|segment| segment.end > core.start);
        served.map(|known| Segment { base: known.base, end: known.end, bytes: known.bytes }).collect()
    }

    /// Whether the log still has that segment.
    pub(crate) fn is_closed(&self, segment: &Segment) -> bool {
        let core = self.core.borrow();
        let same = |known: &&ClosedSegment| (known.end, known.bytes) == (segment.end, segment.bytes);
        core.closed.get(&segment.base).filter(same).is_some()
    }

    /// Whether the log still has that segment, and not only until retention takes it.
    pub(crate) fn serves(&self, segment: &Segment) -> bool {
        segment.end > self.core.borrow().start && self.is_closed(segment)
    }

    /// When records were last added to any of `segments`, in ms since 1970; 0 if unknown.
    pub(crate) fn modified_ms(&self, segments: &[Segment]) -> i64 {
        let core = self.core.borrow();
        let known = segments.iter().filter_map(|segment| core.closed.get(&segment.base));
        known.map(|segment| segment.modified_ms).max().unwrap_or(0)
    }

    /// Waits while segments are being replaced of which one starts in `from..upto`. True if it waited: what was looked up
    /// before is void.
    pub(crate) async fn replaced(&self, from: Offset, upto: Offset) -> bool {
        let moved = self.compaction.replaced.notified();
        let concerns = |(first, end): (Offset, Offset)| from < end && first < upto;
        let waits = self.compaction.replacing.get().is_some_and(concerns);
        if waits {
            moved.await;
        }
        waits
    }

    fn passing_path(&self, base: Offset, suffix: &str, ending: &str) -> std::path::PathBuf {
        self.path.join(names::passing_name(base, suffix, ending))
    }

    /// A `.cleaned` file becomes a `.swap` file.
    async fn pass_on(&self, base: Offset, suffix: &str) -> io::Result<()> {
        let path = |ending| self.passing_path(base, suffix, ending);
        rt::fs::rename(path(names::CLEANED), path(names::SWAP)).await
    }

    /// Removes what a replacement leaves that was called off; `was_decided` says whether a start may find it decided.
    async fn remove_passing(&self, base: Offset, was_decided: bool) {
        let remove = async {
            for suffix in [names::LOG, names::INDEX, names::TIME_INDEX, names::TXN_INDEX] {
                for ending in [names::CLEANED, names::SWAP] {
                    files::remove(&self.passing_path(base, suffix, ending)).await?;
                }
            }
            files::sync_dir(&self.path).await
        };
        let what = "removing what compaction left in";
        match remove.await {
            Ok(()) => {}
            // A start would put what was called off in the place of what the log holds by then.
            Err(error) if was_decided => drop(self.fail(what, error)),
            // The next pass overwrites it, or the next start removes it.
            Err(error) => {
                let error = self.fail_on_device(what, error);
                tracing::warn!(log = %self.partition, %error, "unfinished compacted files stay");
            }
        }
    }

    /// From now on readers of these segments wait, and those that have begun will look again.
    fn begin_replacing(self: &Rc<Self>, group: &[Segment], end: Offset) -> Replacing {
        let base = group.first().map_or(end, |first| first.base);
        self.compaction.replacing.set(Some((base, end)));
        let mut core = self.core.borrow_mut();
        core.generation += 1;
        let since = core.generation;
        for segment in group {
            core.closed.entry(segment.base).and_modify(|known| known.since = since);
        }
        drop(core);
        Replacing(self.clone())
    }

    /// Puts the old segments' files aside and gives the new one's their names. A full disk may end it anywhere before the new
    /// log is in place.
    async fn install(&self, group: &[Segment], base: Offset, is_in_place: &mut bool) -> io::Result<()> {
        for (old, suffix) in put_aside(group, base) {
            let aside = self.path.join(names::doomed_file_name(old, suffix));
            self.rename_if_there(&self.file_path(old, suffix), &aside).await?;
        }
        files::sync_dir(&self.path).await?;
        for suffix in [names::TIME_INDEX, names::INDEX, names::TXN_INDEX] {
            let from = self.passing_path(base, suffix, names::SWAP);
            self.rename_if_there(&from, &self.file_path(base, suffix)).await?;
        }
        files::sync_dir(&self.path).await?;
        let from = self.passing_path(base, names::LOG, names::SWAP);
        self.rename_with_room(&from, &self.file_path(base, names::LOG)).await?;
        *is_in_place = true;
        files::sync_dir(&self.path).await
    }

    /// Removes the files that were put aside. What stays the next start removes.
    async fn remove_aside(&self, group: &[Segment]) {
        for segment in group {
            if let Err(error) = files::remove_doomed(&self.path, segment.base).await {
                let error = self.fail_on_device("removing replaced segments of", error);
                tracing::warn!(log = %self.partition, %error, "files of replaced segments stay");
                return;
            }
        }
    }

    /// Gives the old segments' files their names again, and calls the replacement off.
    async fn undo(&self, group: &[Segment], base: Offset) -> io::Result<()> {
        for (old, suffix) in put_aside(group, base) {
            let aside = self.path.join(names::doomed_file_name(old, suffix));
            self.rename_if_there(&aside, &self.file_path(old, suffix)).await?;
        }
        files::sync_dir(&self.path).await?;
        self.remove_passing(base, true).await;
        self.forget(group);
        Ok(())
    }

    /// Forgets what was read of these segments.
    fn forget(&self, group: &[Segment]) {
        group.iter().for_each(|segment| self.dir.forget_segment(self.id, segment.base));
    }

    /// As [`Self::rename_with_room`]; nothing if the file isn't there.
    async fn rename_if_there(&self, from: &Path, to: &Path) -> io::Result<()> {
        match self.rename_with_room(from, to).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            renamed => renamed,
        }
    }

    /// Renames a file; tries again for a while if the disk is full.
    async fn rename_with_room(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut tries = 1;
        loop {
            match rt::fs::rename(from, to).await {
                Err(error) if is_full(&error) && tries < RENAME_TRIES_MAX && !self.dir.has_failed() => {
                    tries += 1;
                    rt::sleep(RENAME_RETRY_AFTER).await;
                }
                renamed => return renamed,
            }
        }
    }

    fn end_replacing(&self, group: &[Segment], build: SegmentBuild, end: Offset) {
        let modified_ms = self.modified_ms(group);
        let mut core = self.core.borrow_mut();
        for segment in group {
            core.closed.remove(&segment.base);
            self.compaction.first_timestamps.borrow_mut().remove(&segment.base);
        }
        let (base, bytes) = (build.base, build.bytes);
        let max_timestamp = Some(build.times.last());
        // Also for who began to look something up meanwhile.
        core.generation += 1;
        let since = core.generation;
        core.closed.insert(base, ClosedSegment { base, end, bytes, max_timestamp, modified_ms, since });
        let active = core.active.build.base;
        let released = core.tail.evict_before(end, active);
        drop(core);
        self.dir.released(released);
        self.forget(group);
        self.changed.set(true);
    }
}

/// The files that give way to those of a new segment at `base`: all of `group`, but for the log that the new one's replaces at
/// once, and the producers that stand where the group begins.
fn put_aside(group: &[Segment], base: Offset) -> impl Iterator<Item = (Offset, &'static str)> {
    let of_all = [names::INDEX, names::TIME_INDEX, names::TXN_INDEX];
    let of_others = [names::SNAPSHOT, names::LOG];
    group.iter().flat_map(move |segment| {
        let others = of_others.into_iter().filter(move |_| segment.base != base);
        of_all.into_iter().chain(others).map(|suffix| (segment.base, suffix))
    })
}
