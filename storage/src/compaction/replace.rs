//! Putting a compacted segment in the place of those it was made of.
//!
//! In this order, each step durable before the next:
//! 1. The new segment's bytes, and its indexes, as `.cleaned`. A start removes these.
//! 2. The indexes, then the log, become `.swap`. With the log's the replacement is decided: a start finishes it
//!    ([`crate::log::swapped`]). Up to here anything may be called off.
//! 3. The old segments go, in any order.
//! 4. The new indexes get their names, and last the log.
//!
//! From 2 to the end nobody may open a file of these segments, whose names lead to old or new ones: who wants to read waits.

use std::io;
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
    /// Replaces `group` by what its `.cleaned` file holds, of which `build` tells. The file goes if that is called off.
    pub(crate) async fn replace(
        &self,
        group: &[Segment],
        build: SegmentBuild,
    ) -> Result<(), CompactionError> {
        let log = &self.log;
        let files = log.files.take(1).await;
        let mut is_decided = false;
        if let Err(error) = self.prepare(group, &build, &mut is_decided).await {
            if !log.is_offline() {
                log.remove_passing(build.base, is_decided).await;
            }
            return Err(error);
        }
        let end = group.last().map_or(build.base, |last| last.end);
        let replacing = log.begin_replacing(build.base, end);
        let installed = log.install(group, build.base).await;
        installed.map_err(|error| log.fail("replacing segments of", error))?;
        log.end_replacing(group, build, end);
        drop((replacing, files));
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
        is_decided: &mut bool,
    ) -> Result<(), CompactionError> {
        let log = &self.log;
        self.check()?;
        if !group.iter().all(|segment| log.is_closed(segment)) {
            return Err(CompactionError::CalledOff);
        }
        // Else they would be written over the new ones later.
        let finished = log.finish_small_files().await;
        finished.map_err(|error| self.failed_writing("writing the index files of", error))?;
        let write = async {
            for (suffix, content) in
                [(names::TIME_INDEX, build.times.to_file()), (names::INDEX, build.index.to_file())]
            {
                files::replace(&log.passing_path(build.base, suffix, names::CLEANED), content).await?;
            }
            log.pass_on(build.base, &[names::TIME_INDEX, names::INDEX]).await?;
            files::sync_dir(&log.path).await?;
            log.pass_on(build.base, &[names::LOG]).await?;
            *is_decided = true;
            files::sync_dir(&log.path).await
        };
        write.await.map_err(|error| self.failed_writing("compacting", error))
    }
}

impl LogInner {
    /// The closed segments that end at or before `upto`, oldest first.
    pub(crate) fn closed_segments(&self, upto: Offset) -> Vec<Segment> {
        let core = self.core.borrow();
        let within = core.closed.values().take_while(|segment| segment.end <= upto);
        within.map(|known| Segment { base: known.base, end: known.end, bytes: known.bytes }).collect()
    }

    /// Whether the log still has that segment.
    pub(crate) fn is_closed(&self, segment: &Segment) -> bool {
        let core = self.core.borrow();
        let same = |known: &&ClosedSegment| (known.end, known.bytes) == (segment.end, segment.bytes);
        core.closed.get(&segment.base).filter(same).is_some()
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

    /// `.cleaned` files become `.swap` files.
    async fn pass_on(&self, base: Offset, suffixes: &[&str]) -> io::Result<()> {
        for suffix in suffixes {
            let path = |ending| self.passing_path(base, suffix, ending);
            rt::fs::rename(path(names::CLEANED), path(names::SWAP)).await?;
        }
        Ok(())
    }

    /// Removes what a replacement leaves that was called off; `was_decided` says whether a start may find it decided.
    async fn remove_passing(&self, base: Offset, was_decided: bool) {
        let remove = async {
            for suffix in [names::LOG, names::INDEX, names::TIME_INDEX] {
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

    /// From now on readers of the segments between wait, and those that have begun will look again.
    fn begin_replacing(self: &Rc<Self>, base: Offset, end: Offset) -> Replacing {
        self.compaction.replacing.set(Some((base, end)));
        self.core.borrow_mut().generation += 1;
        Replacing(self.clone())
    }

    /// Removes the old segments' files and names the new one's.
    async fn install(&self, group: &[Segment], base: Offset) -> io::Result<()> {
        for segment in group {
            for suffix in [names::LOG, names::INDEX, names::TIME_INDEX, names::TXN_INDEX] {
                files::remove(&self.file_path(segment.base, suffix)).await?;
            }
            if segment.base != base {
                files::remove(&self.file_path(segment.base, names::SNAPSHOT)).await?;
            }
        }
        files::sync_dir(&self.path).await?;
        for suffixes in [&[names::TIME_INDEX, names::INDEX][..], &[names::LOG]] {
            for suffix in suffixes {
                self.name_finally(base, suffix).await?;
            }
            files::sync_dir(&self.path).await?;
        }
        Ok(())
    }

    /// Tries again while the disk is full: there is no way back any more, and what was removed has left room.
    async fn name_finally(&self, base: Offset, suffix: &str) -> io::Result<()> {
        let (from, to) = (self.passing_path(base, suffix, names::SWAP), self.file_path(base, suffix));
        let mut tries = 1;
        loop {
            match rt::fs::rename(&from, &to).await {
                Err(error) if is_full(&error) && tries < RENAME_TRIES_MAX && !self.dir.has_failed() => {
                    tries += 1;
                    rt::sleep(RENAME_RETRY_AFTER).await;
                }
                renamed => return renamed,
            }
        }
    }

    fn end_replacing(&self, group: &[Segment], build: SegmentBuild, end: Offset) {
        let mut core = self.core.borrow_mut();
        let mut modified_ms = 0;
        for segment in group {
            let old = core.closed.remove(&segment.base);
            modified_ms = old.map_or(0, |old| old.modified_ms).max(modified_ms);
            self.compaction.first_timestamps.borrow_mut().remove(&segment.base);
        }
        let (base, bytes) = (build.base, build.bytes);
        let max_timestamp = Some(build.times.last());
        core.closed.insert(base, ClosedSegment { base, end, bytes, max_timestamp, modified_ms });
        // Also for who began to look something up meanwhile.
        core.generation += 1;
        let active = core.active.build.base;
        let released = core.tail.evict_before(end, active);
        drop(core);
        self.dir.released(released);
        self.dir.forget_log(self.id);
        self.changed.set(true);
    }
}
