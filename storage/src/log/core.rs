//! What a log is, apart from its files: segments, tail, epochs, producers, and the numbers between them.

use std::collections::BTreeMap;
use std::rc::Rc;

use protocol::records::{BatchHeader, RecordBatch};
use rt::fs::File;
use rt::sync::Permit;

use super::active::SegmentBuild;
use super::tail::{Tail, TailBatch, split_for_tail};
use crate::config::TimestampSource;
use crate::epochs::EpochCheckpoint;
use crate::limits::FRAME_SHARE_MIN;
use crate::producer::{ProducerBatch, ProducerState};
use crate::{AppendError, FilePos, LeaderEpoch, LogConfig, Offset};

/// A segment that takes no more appends: exact length, synced.
#[derive(Debug, Clone)]
pub(crate) struct ClosedSegment {
    /// Offset of its first record, its file's name.
    pub base: Offset,
    /// Where the next segment starts.
    pub end: Offset,
    /// Length of the file, in bytes.
    pub bytes: u64,
    /// Largest timestamp and the last offset of its batch; `None` until it was looked up. `Some(None)`: no
    /// record has a timestamp.
    pub max_timestamp: Option<Option<(i64, Offset)>>,
    /// When records were last added to it, in ms since 1970; 0 if unknown.
    pub modified_ms: i64,
    /// [`LogCore::generation`] as of when compaction began to replace it, or put it in the place of others; 0 before.
    pub since: u64,
}

/// The segment that takes appends, and its file.
#[derive(Debug)]
pub(crate) struct Active {
    pub build: SegmentBuild,
    /// Open for writing, from the first reservation on.
    pub file: Option<Rc<File>>,
    /// Whether the file was made.
    pub exists: bool,
    /// Whether index files of a clean stop may stand beside it, which must go before it is written to.
    pub has_indexes: bool,
    /// Bytes of the file that are allocated; appends are admitted up to here.
    pub preset_bytes: u64,
    /// Where the placed bytes end: at the end of a block or of a batch.
    pub placed: FilePos,
    /// Where the bytes end that are placed or in the journal: at the end of a batch, but for a moment within a large
    /// write. `placed <= written <= build.bytes`.
    pub written: FilePos,
    /// When its first records came, by the broker's clock in ms since 1970: what closing it without traffic counts from.
    pub since_ms: Option<i64>,
    /// When its last records came; 0 without.
    pub modified_ms: i64,
}

impl Active {
    /// A segment that has neither file nor data.
    pub(crate) fn fresh(base: Offset) -> Self {
        Self {
            build: SegmentBuild::new(base),
            file: None,
            exists: false,
            has_indexes: false,
            preset_bytes: 0,
            placed: FilePos(0),
            written: FilePos(0),
            since_ms: None,
            modified_ms: 0,
        }
    }

    /// A segment whose file holds what `build` says.
    pub(crate) fn found(build: SegmentBuild) -> Self {
        let placed = FilePos(build.bytes);
        let preset_bytes = placed.0;
        let fresh = Self::fresh(build.base);
        Self { build, exists: true, has_indexes: true, preset_bytes, placed, written: placed, ..fresh }
    }

    /// Its file was last changed at `modified_ms`. When its first records came isn't written anywhere: their own time, if
    /// that may be, or else the latest there is.
    pub(crate) fn date(&mut self, modified_ms: i64) {
        let first_ms = self.build.first_timestamp_ms.filter(|first_ms| (0..=modified_ms).contains(first_ms));
        self.since_ms = (self.build.bytes > 0).then(|| first_ms.unwrap_or(modified_ms));
        self.modified_ms = modified_ms;
    }

    /// Records came at `now_ms`.
    fn touch(&mut self, now_ms: i64) {
        self.since_ms.get_or_insert(now_ms);
        self.modified_ms = now_ms;
    }

    /// Whether it has records and is to be closed though none may follow.
    pub(crate) fn is_due(&self, config: &LogConfig, now_ms: i64) -> bool {
        let age_ms = self.since_ms.and_then(|since_ms| u64::try_from(now_ms.saturating_sub(since_ms)).ok());
        self.build.bytes > 0 && age_ms.is_some_and(|age_ms| age_ms > config.segment_age_max_ms())
    }
}

/// Where an append went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppendInfo {
    /// Offset of the first record.
    pub base_offset: Offset,
    /// Offset of the last record.
    pub last_offset: Offset,
    /// The broker's time stamped on the records, in ms since 1970; -1 if they keep the producer's.
    pub append_time_ms: i64,
    /// Where the log starts.
    pub log_start_offset: Offset,
}

/// How a batch comes in.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Origin {
    /// From a client, at a leader: gets the next offset, `epoch`, and `now_ms` where the topic wants it.
    Leader { epoch: LeaderEpoch, now_ms: i64 },
    /// From the leader, at a follower: keeps offset and epoch.
    Follower { now_ms: i64 },
}

impl Origin {
    fn now_ms(self) -> i64 {
        match self {
            Self::Leader { now_ms, .. } | Self::Follower { now_ms } => now_ms,
        }
    }
}

/// The pure part of a log. Every change of offsets goes through here, in one piece, without an await.
#[derive(Debug)]
pub(crate) struct LogCore {
    /// First offset served.
    pub start: Offset,
    /// The next offset.
    pub end: Offset,
    /// What `ringlog-checkpoint` says is synced.
    pub recovery_point: Offset,
    /// Closed segments by base offset.
    pub closed: BTreeMap<Offset, ClosedSegment>,
    pub active: Active,
    /// The last segment while a roll brings it to disk: takes no appends, isn't in `closed` yet.
    pub closing: Option<Active>,
    pub tail: Tail<Permit>,
    pub epochs: EpochCheckpoint,
    pub producers: ProducerState,
    /// Counts truncations, and replacements by compaction: what was read or looked up before one is void.
    pub generation: u64,
    /// Counts old segments that went: what was looked up in several of them may be about one that isn't there any more.
    pub removals: u64,
    /// Counts truncations alone: what was reserved before one is void.
    pub cuts: u64,
    /// `generation` as of the last truncation.
    cut_at: u64,
}

impl LogCore {
    /// An empty log whose first record will have offset `start`.
    pub(crate) fn empty(start: Offset) -> Self {
        Self {
            start,
            end: start,
            recovery_point: start,
            closed: BTreeMap::new(),
            active: Active::fresh(start),
            closing: None,
            tail: Tail::default(),
            epochs: EpochCheckpoint::default(),
            producers: ProducerState::default(),
            generation: 0,
            removals: 0,
            cuts: 0,
            cut_at: 0,
        }
    }

    /// Appends `batch` or changes nothing. Costs a copy of the batch, or of its header if the batch fills
    /// enough of its frame.
    pub(crate) fn append(
        &mut self,
        batch: &RecordBatch,
        origin: Origin,
        config: &LogConfig,
        frame_bytes: usize,
        permit: Option<Permit>,
    ) -> Result<AppendInfo, AppendError> {
        let mut header = *batch.header();
        self.place(&mut header, origin)?;
        let stamp = stamp_ms(&header, origin, config);
        if let Some(now_ms) = stamp {
            header.max_timestamp = now_ms;
        }
        let producer = producer_of(&header);
        if let (Some(producer), Origin::Leader { now_ms, .. }) = (&producer, origin) {
            if !producer.control {
                self.producers.check(producer)?;
            }
            self.producers.record(producer);
            self.producers.touch(producer.producer_id, now_ms);
        } else if let Some(producer) = &producer {
            self.producers.record(producer);
        }
        self.epochs.assign(LeaderEpoch(header.partition_leader_epoch), Offset(header.base_offset));
        let position = self.active.build.push(&header, config.index_interval_bytes);
        self.active.touch(origin.now_ms());
        let copy = stamp.is_some() || batch.total_bytes() * FRAME_SHARE_MIN < frame_bytes;
        let (head, body) = split_for_tail(batch.bytes(), copy, |bytes| patch(bytes, &header, stamp));
        let base_offset = Offset(header.base_offset);
        let last_offset = Offset(header.last_offset());
        let segment = self.active.build.base;
        self.tail.push(TailBatch {
            base: base_offset,
            last: last_offset,
            segment,
            position,
            head,
            body,
            permit,
        });
        self.end = last_offset.plus(1);
        let append_time_ms = stamp.unwrap_or(-1);
        Ok(AppendInfo { base_offset, last_offset, append_time_ms, log_start_offset: self.start })
    }

    /// Gives the header its offset and epoch, and checks that the batch may stand at the end.
    fn place(&self, header: &mut BatchHeader, origin: Origin) -> Result<(), AppendError> {
        match origin {
            Origin::Leader { epoch, .. } => {
                header.base_offset = self.end.0;
                header.partition_leader_epoch = epoch.0;
            }
            Origin::Follower { .. } if Offset(header.base_offset) < self.end => {
                return Err(AppendError::NotContiguous {
                    base_offset: Offset(header.base_offset),
                    end: self.end,
                });
            }
            Origin::Follower { .. } => {}
        }
        let epoch = LeaderEpoch(header.partition_leader_epoch);
        if let Some(current) = self.epochs.latest().filter(|current| epoch < *current) {
            return Err(AppendError::StaleEpoch { epoch, current });
        }
        let fits = header.last_offset_delta >= 0 && self.active.build.holds(Offset(header.last_offset()));
        if fits { Ok(()) } else { Err(AppendError::SegmentOffsetsFull) }
    }

    /// Closes the active segment in memory: what comes next goes to a new one, into `next`, a file with so many
    /// bytes of space. Its name, and the files of the old one, follow. Without `next` nothing may be reserved.
    ///
    /// # Panics
    /// If a roll is under way, or nothing was appended to the segment.
    pub(crate) fn begin_roll(&mut self, next: Option<(Rc<File>, u64)>) {
        assert!(self.closing.is_none(), "one roll at a time");
        assert!(self.active.build.bytes > 0, "an empty segment isn't rolled");
        let mut fresh = Active::fresh(self.end);
        if let Some((file, preset_bytes)) = next {
            (fresh.exists, fresh.file, fresh.preset_bytes) = (true, Some(file), preset_bytes);
        }
        self.closing = Some(std::mem::replace(&mut self.active, fresh));
    }

    /// The closing segment is on disk whole.
    pub(crate) fn end_roll(&mut self) -> Option<ClosedSegment> {
        let mut closing = self.closing.take()?;
        closing.build.seal();
        let segment = ClosedSegment {
            base: closing.build.base,
            end: self.active.build.base,
            bytes: closing.build.bytes,
            max_timestamp: Some(closing.build.times.last()),
            modified_ms: closing.modified_ms,
            since: 0,
        };
        self.closed.insert(segment.base, segment.clone());
        Some(segment)
    }

    /// The log was truncated.
    pub(crate) fn count_cut(&mut self) {
        self.generation += 1;
        self.cuts += 1;
        self.cut_at = self.generation;
    }

    /// Names what the file of the segment at `base` holds: another number after a truncation, and when the segment is
    /// replaced. What was read or looked up of the others stays true.
    pub(crate) fn version_of(&self, base: Offset) -> u64 {
        self.closed.get(&base).map_or(0, |segment| segment.since).max(self.cut_at)
    }

    /// Whether there is a segment that starts at `base`.
    pub(crate) fn has_segment(&self, base: Offset) -> bool {
        self.closed.contains_key(&base)
            || self.active.build.base == base
            || self.closing.as_ref().is_some_and(|closing| closing.build.base == base)
    }

    /// All segments' sizes, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let closing = self.closing.as_ref().map_or(0, |closing| closing.build.bytes);
        self.closed.values().map(|segment| segment.bytes).sum::<u64>() + closing + self.active.build.bytes
    }
}

/// The time to stamp on the records: the topic wants the broker's, and a client sent them.
fn stamp_ms(header: &BatchHeader, origin: Origin, config: &LogConfig) -> Option<i64> {
    match origin {
        Origin::Leader { now_ms, .. } if config.timestamps == TimestampSource::LogAppendTime => {
            (!header.attributes.is_control()).then_some(now_ms)
        }
        _ => None,
    }
}

fn patch(bytes: &mut [u8], header: &BatchHeader, stamp: Option<i64>) {
    use protocol::records::{TimestampType, patch_offset_and_epoch, patch_timestamp};
    patch_offset_and_epoch(bytes, header.base_offset, header.partition_leader_epoch);
    if let Some(now_ms) = stamp {
        patch_timestamp(bytes, TimestampType::LogAppendTime, now_ms);
    }
}

/// The producer's part of a header; `None` without a producer.
pub(crate) fn producer_of(header: &BatchHeader) -> Option<ProducerBatch> {
    header.has_producer().then(|| ProducerBatch {
        producer_id: header.producer_id,
        epoch: header.producer_epoch,
        first_sequence: header.base_sequence,
        last_sequence: header.last_sequence(),
        base_offset: Offset(header.base_offset),
        last_offset: Offset(header.last_offset()),
        timestamp_ms: header.max_timestamp,
        transactional: header.attributes.is_transactional(),
        control: header.attributes.is_control(),
    })
}
