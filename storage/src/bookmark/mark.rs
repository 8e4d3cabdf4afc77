//! [`Bookmark`]: the state of a log's last segment at a place in it.

use rkyv::{Archive, Deserialize, Serialize};

use crate::limits::BOOKMARK_INDEX_STEP_BYTES;
use crate::log::active::{LastBatch, SegmentBuild};
use crate::log::core::LogCore;
use crate::producer::{ProducerState, snapshot};
use crate::segment::{OffsetIndex, TimeIndex};
use crate::{LeaderEpoch, Offset};

/// What a scan of the segment up to the place gives. Indexes and producers are in the form of Kafka's files, which have checks
/// of their own.
#[derive(Debug, Clone, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub(crate) struct Bookmark {
    /// Offset of the segment's first record.
    pub base: i64,
    /// Where the place is in the segment, in bytes.
    pub bytes: u64,
    /// The offset after the last record before it.
    pub next: i64,
    last: LastBatch,
    bytes_since_entry: u64,
    first_timestamp_ms: Option<i64>,
    max_timestamp: Option<(i64, i64)>,
    /// With entries left out, so that the file stays small.
    index: Vec<u8>,
    times: Vec<u8>,
    /// Epochs of its records, each with the first offset there. The log's file may not have the one that began before: that is
    /// written some time after the segment was begun.
    epochs: Vec<(i32, i64)>,
    producers: Vec<u8>,
}

/// What a bookmark holds, parsed.
#[derive(Debug)]
pub(crate) struct Marked {
    pub build: SegmentBuild,
    pub next: Offset,
    pub epochs: Vec<(LeaderEpoch, Offset)>,
    pub producers: ProducerState,
}

impl Bookmark {
    /// Of all that was appended to the active segment. `None` without anything.
    pub(crate) fn of(core: &LogCore) -> Option<Self> {
        let build = &core.active.build;
        let last = build.last?;
        let (index, times) = build.thinned_indexes(BOOKMARK_INDEX_STEP_BYTES);
        let entries = core.epochs.entries();
        let holding_base = entries.partition_point(|(_, start)| *start <= build.base).saturating_sub(1);
        let epochs = entries[holding_base..].iter().filter(|(_, start)| *start < core.end);
        Some(Self {
            base: build.base.0,
            bytes: build.bytes,
            next: core.end.0,
            last,
            bytes_since_entry: build.bytes_since_entry,
            first_timestamp_ms: build.first_timestamp_ms,
            max_timestamp: build.max_timestamp.map(|(timestamp_ms, offset)| (timestamp_ms, offset.0)),
            index: index.to_file().to_vec(),
            times: times.to_file().to_vec(),
            epochs: epochs.map(|(epoch, start)| (epoch.0, start.0.max(build.base.0))).collect(),
            producers: snapshot::encode(&core.producers).to_vec(),
        })
    }

    /// Whether it is of all that there is of the active segment.
    pub(crate) fn is_of(&self, build: &SegmentBuild) -> bool {
        (self.base, self.bytes, Some(self.last)) == (build.base.0, build.bytes, build.last)
    }

    /// The batch that ends at the place.
    pub(crate) fn last(&self) -> LastBatch {
        self.last
    }

    /// About what it takes in the file, in bytes.
    pub(crate) fn file_bytes(&self) -> usize {
        const FIXED_BYTES: usize = 128;
        FIXED_BYTES + self.index.len() + self.times.len() + self.epochs.len() * 16 + self.producers.len()
    }

    /// Its content; `None` if that can't be what was written.
    pub(crate) fn parse(self) -> Option<Marked> {
        let base = Offset(self.base);
        let build = SegmentBuild {
            bytes: self.bytes,
            index: OffsetIndex::parse(base, &self.index, self.bytes)?,
            times: TimeIndex::parse(base, &self.times)?,
            first_timestamp_ms: self.first_timestamp_ms,
            max_timestamp: self.max_timestamp.map(|(timestamp_ms, offset)| (timestamp_ms, Offset(offset))),
            last: Some(self.last),
            bytes_since_entry: self.bytes_since_entry,
            ..SegmentBuild::new(base)
        };
        let epochs = self.epochs.into_iter().map(|(epoch, start)| (LeaderEpoch(epoch), Offset(start)));
        let producers = snapshot::decode(self.producers.into()).ok()?;
        Some(Marked { build, next: Offset(self.next), epochs: epochs.collect(), producers })
    }
}
