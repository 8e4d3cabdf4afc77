//! [`ReadRecords`]: what a consumer has seen stays as it is, without gaps.

use std::collections::BTreeMap;

use protocol::records::RecordBatch;

use crate::batch::RecordId;
use crate::topics::Place;

/// What all consumers together have seen of a partition.
#[derive(Debug, Default)]
struct Seen {
    /// Record and leader epoch by offset.
    records: BTreeMap<i64, (RecordId, i32)>,
    high_watermark: i64,
}

/// What all consumers have seen, by partition.
#[derive(Debug, Default)]
pub(crate) struct ReadRecords {
    seen: BTreeMap<Place, Seen>,
    /// Counts losses of power.
    power_cuts: u32,
}

/// What was known of a partition when it was asked about. Answers to several consumers may overtake each other, and arrive after the
/// power went at the broker that sent them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    high_watermark: i64,
    power_cuts: u32,
}

impl ReadRecords {
    /// A consumer is about to ask for a partition.
    pub(crate) fn ask(&self, place: Place) -> Asked {
        let high_watermark = self.seen.get(&place).map_or(0, |seen| seen.high_watermark);
        Asked { high_watermark, power_cuts: self.power_cuts }
    }

    /// Whether an answer speaks of a log that the loss of power took away meanwhile.
    fn is_void(&self, place: Place, asked: Asked) -> bool {
        asked.power_cuts != self.power_cuts && !place.topic.promise().reads_survive_power_cuts()
    }

    /// A consumer was given these batches for a fetch at `from`. Gives the records from there on, and the offset after the last.
    ///
    /// Checked: they begin at or before `from`, follow each other without a gap, end at the high watermark at most, leader epochs never
    /// fall, and each record is the one that was seen there before.
    pub(crate) fn fetched(
        &mut self,
        asked: Asked,
        place: Place,
        from: i64,
        high_watermark: i64,
        batches: &[RecordBatch],
    ) -> (Vec<(i64, RecordId)>, i64) {
        self.told_high_watermark(asked, place, high_watermark);
        let is_void = self.is_void(place, asked);
        let seen = self.seen.entry(place).or_default();
        let (mut records, mut next) = (Vec::new(), None);
        for batch in batches {
            let header = batch.header();
            match next {
                None => {
                    let holds = header.base_offset <= from && from <= header.last_offset();
                    assert!(
                        holds,
                        "{place}: a fetch at {from} was given {}..={}",
                        header.base_offset,
                        header.last_offset()
                    );
                }
                Some(next) => assert_eq!(header.base_offset, next, "{place}: a gap within an answer"),
            }
            next = Some(header.last_offset() + 1);
            let mut offset = header.base_offset;
            for record in batch.records() {
                let record = record.expect("records are as they were produced");
                assert_eq!(record.offset, offset, "{place}: a gap within a batch");
                offset += 1;
                let name = RecordId::of(&record);
                if !is_void {
                    seen.note(place, record.offset, name, header.partition_leader_epoch);
                }
                if record.offset >= from {
                    records.push((record.offset, name));
                }
            }
            assert_eq!(offset, header.last_offset() + 1, "{place}: a batch without its last records");
        }
        let next = next.unwrap_or(from);
        assert!(
            next <= high_watermark.max(from),
            "{place}: read up to {next}, above the high watermark {high_watermark}"
        );
        (records, next)
    }

    /// A high watermark, or the latest offset, was told. It never goes back.
    pub(crate) fn told_high_watermark(&mut self, asked: Asked, place: Place, high_watermark: i64) {
        if self.is_void(place, asked) {
            return;
        }
        let before = asked.high_watermark;
        assert!(
            high_watermark >= before,
            "{place}: the high watermark went back from {before} to {high_watermark}"
        );
        let seen = self.seen.entry(place).or_default();
        seen.high_watermark = seen.high_watermark.max(high_watermark);
    }

    /// The node lost power: where that may cost what was seen, all begins anew.
    pub(crate) fn power_cut(&mut self) {
        self.power_cuts += 1;
        self.seen.retain(|place, _| place.topic.promise().reads_survive_power_cuts());
    }

    /// Compares with a partition's whole content.
    pub(crate) fn check(&self, place: Place, log: &[(i64, RecordId)]) {
        let log: BTreeMap<i64, RecordId> = log.iter().copied().collect();
        for (offset, (record, _)) in self.seen.get(&place).into_iter().flat_map(|seen| &seen.records) {
            assert_eq!(log.get(offset), Some(record), "{place}: {record} was read at {offset}");
        }
    }
}

impl Seen {
    fn note(&mut self, place: Place, offset: i64, record: RecordId, epoch: i32) {
        if let Some(before) = self.records.insert(offset, (record, epoch)) {
            assert_eq!(before, (record, epoch), "{place}: another record at {offset} than was read before");
            return;
        }
        let lower = self.records.range(..offset).next_back().map_or(-1, |(_, (_, epoch))| *epoch);
        let higher = self.records.range(offset + 1..).next().map_or(i32::MAX, |(_, (_, epoch))| *epoch);
        assert!(
            lower <= epoch && epoch <= higher,
            "{place}: epoch {epoch} at {offset} between {lower} and {higher}"
        );
    }
}
