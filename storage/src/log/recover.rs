//! Reading a log's state back from its files.
//!
//! After a clean stop the files are trusted: indexes, producer snapshot, and a walk over what lies behind the
//! last index entry. Otherwise the last segment, and any before it whose index wasn't finished, are scanned
//! batch by batch: offsets ascend, epochs don't fall, CRCs hold. The scan ends at the first batch that isn't
//! one; if that is behind the recovery point it is a torn tail and is cut, else it is damage, and the log
//! stays as it is, offline, for repair.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use protocol::records::BatchHeader;

use super::active::SegmentBuild;
use super::core::{Active, ClosedSegment, LogCore, producer_of};
use super::open::Found;
use crate::dir::files;
use crate::dir::shared::DirShared;
use crate::epochs::EpochCheckpoint;
use crate::error::is_full;
use crate::limits::{INDEX_FILE_BYTES_MAX, SNAPSHOT_BYTES_MAX, TEXT_FILE_BYTES_MAX};
use crate::producer::{ProducerState, snapshot};
use crate::segment::{OffsetIndex, SegmentReader, TimeIndex, WalkError, names};
use crate::{LeaderEpoch, LogConfig, Offset, StorageError};

/// How a log came back.
pub(crate) struct Recovered {
    pub core: LogCore,
    /// Why the log can't be used, if so.
    pub corrupt: Option<String>,
    /// Whether files differ from what a clean stop would leave.
    pub changed: bool,
}

/// One recovery.
pub(crate) struct Recovery<'a> {
    pub dir: &'a DirShared,
    pub path: &'a Path,
    pub config: &'a LogConfig,
    /// Everything below was synced.
    pub recovery_point: Offset,
    /// The first segment to scan is the one that holds this, or an earlier one without index; `None`: by the
    /// indexes alone.
    pub scan_from: Option<Offset>,
    pub start: Offset,
}

/// Where the batches of a segment end, and why.
struct End {
    bytes: u64,
    next: Offset,
    reason: Option<String>,
}

impl Recovery<'_> {
    /// Reads the segments that were `found`, oldest first.
    ///
    /// # Errors
    /// `Io`: nothing was changed then but caches.
    pub(crate) async fn run(&self, found: Found) -> Result<Recovered, StorageError> {
        let Some(last) = found.segments.last().copied() else {
            let mut core = LogCore::empty(self.start);
            core.epochs = found.epochs.unwrap_or_default();
            core.epochs.truncate_end(core.end);
            core.recovery_point = self.recovery_point.min(self.start);
            self.restore_producers(&mut core).await?;
            return Ok(Recovered { core, corrupt: None, changed: false });
        };
        let first = found.segments[0].0;
        let mut core = LogCore::empty(self.start.max(first));
        core.epochs = found.epochs.clone().unwrap_or_default();
        core.recovery_point = self.recovery_point;
        // Without their checkpoint only the batches tell the epochs.
        let clean = self.dir.config.clean && found.epochs.is_some();
        let scan_at = if clean { last.0 } else { self.first_to_scan(&found) };
        let at = found.segments.partition_point(|(base, _)| *base < scan_at);
        for pair in found.segments[..=at].windows(2) {
            let (base, bytes) = pair[0];
            let end = pair[1].0;
            core.closed.insert(
                base,
                ClosedSegment { base, end, bytes, max_timestamp: None, modified_ms: 0, since: 0 },
            );
        }
        if clean && self.resume(&mut core, last).await? {
            date(&mut core, &found);
            return Ok(Recovered { core, corrupt: None, changed: false });
        }
        let corrupt = self.scan(&mut core, &found.segments[at..]).await?;
        date(&mut core, &found);
        if corrupt.is_none() {
            // Of a cut that a crash met between the segment and them, or of a clean stop behind a torn tail.
            let forgotten = files::remove_snapshots_behind(self.path, core.end).await;
            forgotten.map_err(|error| self.fail(core.end, error))?;
        }
        Ok(Recovered { core, corrupt, changed: true })
    }

    /// The oldest segment whose batches must be looked at. None that lies before the log's start: of those a crash may
    /// have left some and not others, on their way to be removed.
    fn first_to_scan(&self, found: &Found) -> Offset {
        let holds_start = found.segments.partition_point(|(base, _)| *base <= self.start).saturating_sub(1);
        let mut at = found.segments.len() - 1;
        if found.epochs.is_none() {
            return found.segments[holds_start].0;
        }
        if let Some(from) = self.scan_from {
            at = at.min(found.segments.partition_point(|(base, _)| *base <= from).saturating_sub(1));
        }
        while at > holds_start && !found.indexed.contains(&found.segments[at - 1].0) {
            at -= 1;
        }
        found.segments[at.max(holds_start)].0
    }

    /// All segments went, and none was made since: the producers are those of the snapshot that stands where the log goes
    /// on.
    async fn restore_producers(&self, core: &mut LogCore) -> Result<(), StorageError> {
        let (producers, at) = self.load_snapshot(core.end).await?;
        if at == core.end {
            core.producers = producers;
        }
        Ok(())
    }

    /// Trusts the last segment's files. False if they don't fit together, which a clean stop never leaves.
    async fn resume(&self, core: &mut LogCore, (base, bytes): (Offset, u64)) -> Result<bool, StorageError> {
        let offsets = self.read_index(base, names::INDEX).await;
        let times = self.read_index(base, names::TIME_INDEX).await;
        let indexes = offsets.zip(times).and_then(|(offsets, times)| {
            Some((OffsetIndex::parse(base, &offsets, bytes)?, TimeIndex::parse(base, &times)?))
        });
        let Some((offsets, times)) = indexes else { return Ok(bytes == 0 && self.resume_empty(core, base)) };
        let (producers, from) = self.load_snapshot(Offset(i64::MAX)).await?;
        let mut reader = self.open(base, bytes).await?;
        let mut build = SegmentBuild::resume(offsets, times, base);
        let walked = self.walk_rest(&mut build, &mut reader).await;
        reader.close().await.map_err(|error| self.io(base, error))?;
        let next = walked.map_err(|error| self.io(base, error))?;
        if build.bytes < bytes || from > next {
            // Something behind the last batch, or a snapshot behind the end: not what a clean stop left.
            return Ok(false);
        }
        core.producers = producers;
        if from < next {
            self.replay_producers(core, from, (base, bytes)).await?;
        }
        self.finish(core, build, next);
        Ok(true)
    }

    /// Goes on behind what the indexes tell, to the end or to what is no batch. Gives the offset after the last
    /// batch.
    async fn walk_rest(
        &self,
        build: &mut SegmentBuild,
        reader: &mut SegmentReader<'_>,
    ) -> std::io::Result<Offset> {
        let first = batch_or_end(reader.header_at(0).await)?;
        build.first_timestamp_ms = first.map(|header| header.max_timestamp);
        let mut next = build.base;
        while let Some(header) = batch_or_end(reader.header_at(build.bytes).await)? {
            build.push(&header, self.config.index_interval_bytes);
            next = Offset(header.next_offset());
            rt::yield_point().await;
        }
        Ok(next)
    }

    fn resume_empty(&self, core: &mut LogCore, base: Offset) -> bool {
        self.finish(core, SegmentBuild::new(base), base);
        true
    }

    fn finish(&self, core: &mut LogCore, build: SegmentBuild, next: Offset) {
        core.end = next.max(core.start).max(build.base);
        // Epochs that got no record here: they may have been another leader's (as Kafka drops them).
        core.epochs.truncate_end(core.end);
        core.start = core.start.min(core.end);
        if core.start < core.end {
            core.epochs.truncate_start(core.start);
        }
        core.active = Active::found(build);
    }

    /// Takes in the producers of all batches in `from..`, up to the end of the last segment.
    async fn replay_producers(
        &self,
        core: &mut LogCore,
        from: Offset,
        last: (Offset, u64),
    ) -> Result<(), StorageError> {
        let mut segments: Vec<(Offset, u64)> = core
            .closed
            .values()
            .filter(|segment| segment.end > from)
            .map(|segment| (segment.base, segment.bytes))
            .collect();
        segments.push(last);
        for (base, bytes) in segments {
            let mut reader = self.open(base, bytes).await?;
            let replayed = replay(&mut core.producers, from, &mut reader).await;
            reader.close().await.map_err(|error| self.io(base, error))?;
            replayed.map_err(|error| self.io(base, error))?;
        }
        Ok(())
    }

    /// Scans segments, the last of which becomes the active one. Gives the reason if there is damage that
    /// mustn't be cut.
    async fn scan(
        &self,
        core: &mut LogCore,
        segments: &[(Offset, u64)],
    ) -> Result<Option<String>, StorageError> {
        let first = segments[0].0;
        // Epochs of the scanned batches are taken from themselves.
        core.epochs.truncate_end(first);
        let (producers, from) = self.load_snapshot(first).await?;
        core.producers = producers;
        if from < first {
            self.replay_producers_until(core, from, first).await?;
            self.keep_producers(core, first).await?;
        }
        for (at, &(base, bytes)) in segments.iter().enumerate() {
            let last = at + 1 == segments.len();
            let mut build = SegmentBuild::new(base);
            let end = self.scan_segment(core, &mut build, bytes).await?;
            let whole = last || (end.reason.is_none() && segments[at + 1].0 >= end.next);
            if whole && !last {
                self.close_scanned(core, build, segments[at + 1].0).await?;
                continue;
            }
            let reason = end.reason.unwrap_or_else(|| match last {
                true => "the file ends".into(),
                false => "the next segment starts before its end".into(),
            });
            // The recovery point may stand at the end of the log, where there is nothing to damage.
            if end.next.max(self.start) < self.recovery_point || (!last && base < self.recovery_point) {
                let file = self.path.join(names::file_name(base, names::LOG));
                self.finish(core, build, end.next);
                return Ok(Some(format!(
                    "{} at {}: {reason}; offset {} was synced before",
                    file.display(),
                    end.bytes,
                    self.recovery_point
                )));
            }
            self.cut(base, bytes, end.bytes, &segments[at + 1..]).await?;
            self.finish(core, build, end.next);
            return Ok(None);
        }
        Ok(None)
    }

    /// Writes the snapshot that stands before the scanned segments: those that it would be made of may go.
    async fn keep_producers(&self, core: &LogCore, first: Offset) -> Result<(), StorageError> {
        let path = self.path.join(names::file_name(first, names::SNAPSHOT));
        match files::replace(&path, snapshot::encode(&core.producers)).await {
            Err(error) if is_full(&error) => Ok(()),
            written => written.map_err(|error| self.fail(first, error)),
        }
    }

    async fn replay_producers_until(
        &self,
        core: &mut LogCore,
        from: Offset,
        first: Offset,
    ) -> Result<(), StorageError> {
        let Some(last) = core.closed.range(..first).next_back().map(|(_, last)| (last.base, last.bytes))
        else {
            return Ok(());
        };
        let kept = core.closed.remove(&last.0);
        let result = self.replay_producers(core, from, last).await;
        core.closed.extend(kept.map(|segment| (segment.base, segment)));
        result
    }

    async fn scan_segment(
        &self,
        core: &mut LogCore,
        build: &mut SegmentBuild,
        bytes: u64,
    ) -> Result<End, StorageError> {
        let mut reader = self.open(build.base, bytes).await?;
        let end = self.walk(core, build, &mut reader).await;
        let closed = reader.close().await;
        let end = end.map_err(|error| self.io(build.base, error))?;
        closed.map_err(|error| self.io(build.base, error))?;
        Ok(end)
    }

    async fn walk(
        &self,
        core: &mut LogCore,
        build: &mut SegmentBuild,
        reader: &mut SegmentReader<'_>,
    ) -> std::io::Result<End> {
        let mut next = build.base;
        loop {
            let at = build.bytes;
            let end = |reason: Option<String>| End { bytes: at, next, reason };
            let header = match reader.header_at(at).await {
                Ok(Some(header)) => header,
                Ok(None) => return Ok(end(None)),
                Err(WalkError::NoBatch(reason)) => return Ok(end(Some(reason))),
                Err(WalkError::Io(error)) => return Err(error),
            };
            if let Some(reason) = misfit(core, build, &header, next) {
                return Ok(end(Some(reason)));
            }
            if !reader.crc_holds(at, &header).await? {
                return Ok(end(Some("the CRC doesn't match".into())));
            }
            build.push(&header, self.config.index_interval_bytes);
            core.epochs.assign(LeaderEpoch(header.partition_leader_epoch), Offset(header.base_offset));
            if let Some(batch) = producer_of(&header) {
                core.producers.record(&batch);
            }
            next = Offset(header.next_offset());
            rt::yield_point().await;
        }
    }

    /// A scanned segment that isn't the last: its small files are written, the index last.
    async fn close_scanned(
        &self,
        core: &mut LogCore,
        mut build: SegmentBuild,
        end: Offset,
    ) -> Result<(), StorageError> {
        build.seal();
        let base = build.base;
        let write = async {
            files::replace(&self.path.join(names::EPOCHS), core.epochs.to_text()).await?;
            let producers = snapshot::encode(&core.producers);
            files::replace(&self.path.join(names::file_name(end, names::SNAPSHOT)), producers).await?;
            files::replace(&self.path.join(names::file_name(base, names::TIME_INDEX)), build.times.to_file())
                .await?;
            files::replace(&self.path.join(names::file_name(base, names::INDEX)), build.index.to_file()).await
        };
        match write.await {
            // They are caches: without them reading takes longer.
            Err(error) if is_full(&error) => {
                tracing::warn!(log = %self.path.display(), %base, "no space for its indexes")
            }
            written => written.map_err(|error| self.fail(base, error))?,
        }
        let max_timestamp = Some(build.times.last());
        let bytes = build.bytes;
        core.closed.insert(base, ClosedSegment { base, end, bytes, max_timestamp, modified_ms: 0, since: 0 });
        Ok(())
    }

    /// Makes `base` the last segment, `bytes` long, on the medium: what is cut must not come back.
    async fn cut(
        &self,
        base: Offset,
        found_bytes: u64,
        bytes: u64,
        later: &[(Offset, u64)],
    ) -> Result<(), StorageError> {
        let cut = async {
            for (later, _) in later.iter().rev() {
                files::remove_segment(self.path, *later).await?;
            }
            // Both were of another end.
            for suffix in [names::INDEX, names::TIME_INDEX] {
                files::remove(&self.path.join(names::file_name(base, suffix))).await?;
            }
            if bytes < found_bytes {
                let path = self.path.join(names::file_name(base, names::LOG));
                let file = files::open_for_writing(&path, false, self.dir.config.direct_io).await?;
                let result = match file.set_len(bytes).await {
                    Ok(()) => file.sync_data().await,
                    Err(error) => Err(error),
                };
                file.close().await?;
                result?;
            }
            Ok(())
        };
        cut.await.map_err(|error| self.fail(base, error))
    }

    async fn load_snapshot(&self, end: Offset) -> Result<(ProducerState, Offset), StorageError> {
        let loaded = load_snapshot(self.path, end).await;
        loaded.map_err(|error| StorageError::io(format!("reading {}", self.path.display()), error))
    }

    async fn open(&self, base: Offset, bytes: u64) -> Result<SegmentReader<'static>, StorageError> {
        let path = self.path.join(names::file_name(base, names::LOG));
        // An empty file can't tell whether the device reads directly (and has nothing to read).
        let file = files::open_for_reading(&path, self.dir.config.direct_io && bytes > 0).await;
        Ok(SegmentReader::uncached(Rc::new(file.map_err(|error| self.io(base, error))?), bytes))
    }

    async fn read_index(&self, base: Offset, suffix: &str) -> Option<bytes::Bytes> {
        let path: PathBuf = self.path.join(names::file_name(base, suffix));
        files::read_small(&path, INDEX_FILE_BYTES_MAX).await.ok().flatten()
    }

    /// A failed write or sync: what is on the medium isn't known, here as in any other file of the directory.
    fn fail(&self, base: Offset, error: std::io::Error) -> StorageError {
        self.dir.fail(format!("recovering {} at {base}: {error}", self.path.display()));
        self.io(base, error)
    }

    fn io(&self, base: Offset, error: std::io::Error) -> StorageError {
        StorageError::io(
            format!("recovering {}", self.path.join(names::file_name(base, names::LOG)).display()),
            error,
        )
    }
}

/// Tells segments when they were last written to.
fn date(core: &mut LogCore, found: &Found) {
    let modified_ms = |base: Offset| found.modified_ms.get(&base).copied().unwrap_or_default();
    core.closed.values_mut().for_each(|segment| segment.modified_ms = modified_ms(segment.base));
    core.active.date(modified_ms(core.active.build.base));
}

/// Why a batch can't be the next one.
fn misfit(core: &LogCore, build: &SegmentBuild, header: &BatchHeader, next: Offset) -> Option<String> {
    let base = Offset(header.base_offset);
    if base < next {
        return Some(format!("offset {base} where {next} or later must stand"));
    }
    if header.last_offset_delta < 0 || !build.holds(Offset(header.last_offset())) {
        return Some(format!("last offset delta {} isn't possible", header.last_offset_delta));
    }
    let epoch = LeaderEpoch(header.partition_leader_epoch);
    let latest = core.epochs.latest().filter(|latest| epoch < *latest);
    latest.map(|latest| format!("leader epoch {epoch} behind {latest}"))
}

/// What is no batch ends a walk like the file's end; what can't be read is an error.
fn batch_or_end(header: Result<Option<BatchHeader>, WalkError>) -> std::io::Result<Option<BatchHeader>> {
    match header {
        Ok(header) => Ok(header),
        Err(WalkError::NoBatch(_)) => Ok(None),
        Err(WalkError::Io(error)) => Err(error),
    }
}

/// Takes in the producers of a segment's batches in `from..`.
pub(crate) async fn replay(
    producers: &mut ProducerState,
    from: Offset,
    reader: &mut SegmentReader<'_>,
) -> std::io::Result<()> {
    let mut position = 0;
    while let Some(header) = batch_or_end(reader.header_at(position).await)? {
        position += header.total_bytes() as u64;
        if Offset(header.base_offset) >= from
            && let Some(batch) = producer_of(&header)
        {
            producers.record(&batch);
        }
        rt::yield_point().await;
    }
    Ok(())
}

/// The newest readable producer snapshot at or before `end`, and its offset; nothing, and offset 0, without
/// one.
///
/// # Errors
/// The device's: an older one in place of what can't be read now would forget producers.
pub(crate) async fn load_snapshot(path: &Path, end: Offset) -> std::io::Result<(ProducerState, Offset)> {
    let entries = files::list(path).await?;
    let parsed = entries.iter().filter_map(|entry| names::parse_file_name(&entry.name));
    let mut offsets: Vec<Offset> =
        parsed.filter(|(_, suffix)| *suffix == names::SNAPSHOT).map(|(offset, _)| offset).collect();
    offsets.sort();
    for offset in offsets.into_iter().rev().filter(|offset| *offset <= end) {
        let file = path.join(names::file_name(offset, names::SNAPSHOT));
        let decoded = match files::content(files::read_small(&file, SNAPSHOT_BYTES_MAX).await)? {
            Ok(Some(bytes)) => snapshot::decode(bytes),
            Ok(None) => continue,
            Err(reason) => Err(reason),
        };
        match decoded {
            Ok(state) => return Ok((state, offset)),
            Err(reason) => {
                tracing::warn!(file = %file.display(), reason, "a producer snapshot is damaged, using an older one")
            }
        }
    }
    Ok(Default::default())
}

/// Reads the leader-epoch checkpoint; an unreadable one counts as none.
pub(crate) async fn load_epochs(path: &Path) -> Result<Option<EpochCheckpoint>, StorageError> {
    let file = path.join(names::EPOCHS);
    let text = files::content(files::read_text(&file, TEXT_FILE_BYTES_MAX).await);
    let text = text.map_err(|error| StorageError::io(format!("reading {}", file.display()), error))?;
    let parsed = match text {
        Ok(None) => return Ok(None),
        Ok(Some(text)) => EpochCheckpoint::parse(&text),
        Err(reason) => Err(reason),
    };
    Ok(parsed
        .inspect_err(|reason| {
            tracing::warn!(file = %file.display(), reason, "a leader-epoch checkpoint is damaged");
        })
        .ok())
}
