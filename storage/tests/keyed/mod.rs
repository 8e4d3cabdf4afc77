//! A log of keyed records and what it must hold: random appends (all codecs, tombstones, idempotent and transactional
//! producers), compaction in between, and what a reader must see then.
#![allow(dead_code, reason = "each test uses its part")]

use std::collections::BTreeMap;

use protocol::records::{BatchBuilder, Compression, RecordBatch};
use storage::{
    CleanerConfig, Compacted, CompactionConfig, CompactionError, LeaderEpoch, Log, LogConfig, StorageError,
};

use super::common;

/// The idempotent producer.
const PRODUCER: i64 = 7;
/// Transactions have producers of their own, from here on.
const TXN_PRODUCERS: i64 = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) key: Vec<u8>,
    pub(crate) value: Option<Vec<u8>>,
    pub(crate) timestamp_ms: i64,
    /// Which transaction, if any.
    pub(crate) txn: Option<usize>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Txn {
    first: i64,
    /// Offset of its marker, and whether that commits.
    marker: Option<(i64, bool)>,
    /// What was decided once stays so, also if the marker is lost.
    commits: Option<bool>,
}

/// What a log must hold.
#[derive(Debug, Clone, Default)]
pub(crate) struct Model {
    /// Everything appended, compacted away or not.
    pub(crate) records: BTreeMap<i64, Known>,
    pub(crate) txns: Vec<Txn>,
    /// Up to where the log was compacted, by passes that were answered.
    pub(crate) cleaned: i64,
    /// When a tombstone was first compacted, by its offset.
    pub(crate) compacted_at: BTreeMap<i64, i64>,
    /// The last batch of the idempotent producer: last sequence and offset.
    pub(crate) last_sequence: Option<(i32, i64)>,
    sequence: i32,
    tag: u64,
}

pub(crate) const RETENTION_MS: u64 = 2_000;

pub(crate) fn random(below: u64) -> u64 {
    rt::random_u64() % below
}

/// Small segments, whose sizes go with the seed.
pub(crate) fn config(seed: u64) -> LogConfig {
    LogConfig {
        segment_bytes: [2_000, 7_000, 30_000][seed as usize % 3],
        index_interval_bytes: [200, 4_096][seed as usize % 2],
        tail_bytes_max: [0, 4_000, 1 << 20][seed as usize / 3 % 3],
        compaction: Some(CompactionConfig {
            delete_retention_ms: RETENTION_MS,
            ..CompactionConfig::default()
        }),
        ..LogConfig::default()
    }
}

/// Also maps that are too small for all keys, though never for one batch.
pub(crate) fn cleaner(seed: u64) -> CleanerConfig {
    let map_bytes = [1 << 20, 24 * 10, 24 * 6][seed as usize / 2 % 3];
    CleanerConfig { map_bytes, ..CleanerConfig::default() }
}

fn key() -> Vec<u8> {
    format!("key-{}", random(12)).into_bytes()
}

impl Model {
    fn value(&mut self) -> Option<Vec<u8>> {
        self.tag += 1;
        let mut value = self.tag.to_be_bytes().to_vec();
        value.resize(8 + [0, 20, 300][random(3) as usize], b'.');
        (random(4) > 0).then_some(value)
    }

    /// Appends a batch, of any kind.
    pub(crate) async fn append(&mut self, log: &Log) {
        let count = 1 + random(4);
        let kind = random(6);
        let codec = Compression::ALL[random(5) as usize];
        let mut builder = BatchBuilder::new().compression(codec);
        let mut txn = None;
        if kind == 0 {
            builder = builder.producer(PRODUCER, 0, self.sequence);
        } else if kind == 1 {
            txn = Some(self.txns.len());
            builder = builder.producer(TXN_PRODUCERS + self.txns.len() as i64, 0, 0).transactional(true);
        }
        let mut added = Vec::new();
        for _ in 0..count {
            let (key, value) = (key(), self.value());
            let timestamp_ms = rt::unix_ms() - random(100) as i64;
            builder.push(timestamp_ms, Some(&key), value.as_deref(), &[(&b"h"[..], Some(&b"1"[..]))]);
            added.push(Known { key, value, timestamp_ms, txn });
        }
        let Some(base) = append(log, RecordBatch::parse(builder.build().unwrap()).unwrap()).await else {
            return;
        };
        if kind == 0 {
            self.last_sequence = Some((self.sequence + count as i32 - 1, base + count as i64 - 1));
            self.sequence += count as i32;
        } else if kind == 1 {
            self.txns.push(Txn { first: base, marker: None, commits: None });
        }
        self.records.extend((base..).zip(added));
    }

    /// Ends a transaction that is open.
    pub(crate) async fn end_txn(&mut self, log: &Log) {
        let open: Vec<usize> = (0..self.txns.len()).filter(|at| self.is_open(*at, log)).collect();
        if open.is_empty() {
            return;
        }
        let at = open[random(open.len() as u64) as usize];
        let commit = *self.txns[at].commits.get_or_insert_with(|| random(2) == 0);
        let marker = BatchBuilder::end_txn_marker(TXN_PRODUCERS + at as i64, 0, commit, 0, rt::unix_ms());
        if let Some(offset) = append(log, RecordBatch::parse(marker.build().unwrap()).unwrap()).await {
            self.txns[at].marker = Some((offset, commit));
        }
    }

    /// Ends one of the open transactions; false if there is none.
    pub(crate) async fn end_all(&mut self, log: &Log) -> bool {
        let any = (0..self.txns.len()).any(|at| self.is_open(at, log));
        if any {
            self.end_txn(log).await;
        }
        any
    }

    fn is_open(&self, at: usize, log: &Log) -> bool {
        self.txns[at].marker.is_none() && self.txns[at].first < log.end_offset().0
    }

    /// Forgets what lies at `end` and behind it: it was lost.
    pub(crate) fn forget_behind(&mut self, end: i64) {
        self.records.retain(|offset, _| *offset < end);
        for txn in &mut self.txns {
            txn.marker = txn.marker.filter(|(offset, _)| *offset < end);
        }
    }

    /// Forgets what lies behind the log's end, and what is compacted away: what superseded it may have been cut. The log
    /// was checked before.
    pub(crate) async fn cut(&mut self, log: &Log) {
        let end = log.end_offset().0;
        self.forget_compacted(log).await;
        self.compacted_at.split_off(&end);
        for txn in &mut self.txns {
            txn.marker = txn.marker.filter(|(offset, _)| *offset < end);
        }
        self.cleaned = log.cleaned_offset().map_or(0, |cleaned| cleaned.0);
        self.sequence = 0;
        self.last_sequence = None;
        log.visit_producers(|id, entry| {
            if id == PRODUCER && entry.last_offset() >= 0 {
                self.sequence = entry.last_sequence() + 1;
                self.last_sequence = Some((entry.last_sequence(), entry.last_offset()));
            }
        });
        // Its last batch now may be one that compaction took when it wasn't yet: then a crash forgets it.
        let batches = read_all(log).await;
        let is_there = |offset| batches.iter().any(|batch| batch.header().last_offset() == offset);
        self.last_sequence = self.last_sequence.filter(|(_, offset)| is_there(*offset));
    }

    /// Notes that a pass may compact the tombstones there are, from now on.
    pub(crate) fn expect_pass(&mut self) {
        let now_ms = rt::unix_ms();
        for (offset, _) in self.records.iter().filter(|(_, known)| known.value.is_none()) {
            self.compacted_at.entry(*offset).or_insert(now_ms);
        }
    }

    /// Forgets what is compacted away. The log was checked before.
    pub(crate) async fn forget_compacted(&mut self, log: &Log) {
        let left = offsets(log).await;
        self.records.retain(|offset, _| left.binary_search(offset).is_ok());
    }

    /// Makes a pass.
    pub(crate) async fn compact(&mut self, log: &Log, cleaner: CleanerConfig) -> Option<Compacted> {
        let begun_ms = rt::unix_ms();
        let done = match log.compact(cleaner, log.durable_offset()).await {
            // What it had done by then stays, the rest is as it was.
            Err(CompactionError::NoSpace | CompactionError::CalledOff) => return None,
            done => done.unwrap()?,
        };
        assert!(done.upto.0 > self.cleaned, "a pass gets on: {done:?} of {}", self.cleaned);
        self.note_compacted(done.upto.0, begun_ms);
        Some(done)
    }

    /// All below `upto` is compacted.
    pub(crate) fn note_compacted(&mut self, upto: i64, now_ms: i64) {
        for (offset, _) in self.records.range(..upto).filter(|(_, known)| known.value.is_none()) {
            self.compacted_at.entry(*offset).or_insert(now_ms);
        }
        self.cleaned = self.cleaned.max(upto);
    }

    fn is_aborted(&self, known: &Known) -> bool {
        known.txn.is_some_and(|at| matches!(self.txns[at].marker, Some((_, false))))
    }

    fn begins_below(&self, known: &Known, start: i64) -> bool {
        known.txn.is_some_and(|at| self.txns[at].first < start)
    }

    /// Whether a later record of the key, of no aborted transaction, stands before `upto`.
    fn is_superseded(&self, offset: i64, known: &Known, upto: i64) -> bool {
        let mut later = self.records.range(offset + 1..upto.max(offset + 1));
        later.any(|(_, other)| other.key == known.key && !self.is_aborted(other))
    }

    /// Reads the whole log and compares.
    pub(crate) async fn check(&self, log: &Log) {
        let batches = read_all(log).await;
        let mut found: BTreeMap<i64, Known> = BTreeMap::new();
        let mut at = -1;
        for batch in &batches {
            assert!(batch.header().base_offset > at, "batches ascend");
            at = batch.header().last_offset();
            if batch.header().attributes.is_control() {
                continue;
            }
            let records: Vec<_> = batch.records().map(Result::unwrap).collect();
            let max_ms = records.iter().map(|record| record.timestamp).max();
            assert!(max_ms.is_none_or(|max_ms| max_ms == batch.header().max_timestamp), "its largest time");
            for record in records {
                assert!(
                    record.offset <= at
                        && found.last_key_value().is_none_or(|(last, _)| *last < record.offset)
                );
                let txn = self.records.get(&record.offset).and_then(|known| known.txn);
                let key = record.key.unwrap().to_vec();
                let value = record.value.map(|value| value.to_vec());
                assert_eq!(record.headers.len(), 1);
                found.insert(record.offset, Known { key, value, timestamp_ms: record.timestamp, txn });
            }
        }
        self.compare(&found, log.start_offset().0);
    }

    fn compare(&self, found: &BTreeMap<i64, Known>, start: i64) {
        for (offset, known) in found {
            assert_eq!(Some(known), self.records.get(offset), "at {offset}");
        }
        let now_ms = rt::unix_ms();
        for (offset, known) in self.records.range(start..) {
            let is_there = found.contains_key(offset);
            let below = *offset < self.cleaned;
            let is_gone = self.is_aborted(known) || self.is_superseded(*offset, known, self.cleaned);
            if below && self.is_aborted(known) && self.begins_below(known, start) {
                // Of a transaction that isn't served whole a pass doesn't judge.
                continue;
            }
            if below && is_gone {
                assert!(!is_there, "{offset} should be compacted away: {known:?} of {}", self.cleaned);
                continue;
            }
            if self.is_aborted(known) || self.is_superseded(*offset, known, i64::MAX) {
                // Whether a pass that wasn't answered took it is open.
                continue;
            }
            let first_ms = self.compacted_at.get(offset).copied().unwrap_or(now_ms);
            let is_kept = known.value.is_some() || now_ms < first_ms + RETENTION_MS as i64;
            assert!(is_there || !is_kept, "{offset} is missing: {known:?}, compacted up to {}", self.cleaned);
        }
    }

    /// What the log knows of the idempotent producer is what was appended last.
    pub(crate) fn check_producer(&self, log: &Log) {
        let mut found = None;
        log.visit_producers(|id, entry| {
            found = found.or((id == PRODUCER).then(|| (entry.last_sequence(), entry.last_offset())));
        });
        let known = self.last_sequence.filter(|(_, offset)| *offset < log.end_offset().0);
        assert!(known.is_none() || found == known, "{found:?} instead of {:?}", self.last_sequence);
    }

    /// The value of each key, as a reader that follows the log from its start has it.
    pub(crate) async fn state(&self, log: &Log) -> BTreeMap<Vec<u8>, Vec<u8>> {
        let mut state = BTreeMap::new();
        for batch in read_all(log).await {
            if batch.header().attributes.is_control() {
                continue;
            }
            for record in batch.records().map(Result::unwrap) {
                if self.records.get(&record.offset).is_some_and(|known| self.is_aborted(known)) {
                    continue;
                }
                let key = record.key.unwrap().to_vec();
                match record.value {
                    Some(value) => drop(state.insert(key, value.to_vec())),
                    None => drop(state.remove(&key)),
                }
            }
        }
        state
    }

    /// The same of what was appended from `start` on.
    pub(crate) fn expected_state(&self, start: i64) -> BTreeMap<Vec<u8>, Vec<u8>> {
        let mut state = BTreeMap::new();
        for (_, known) in self.records.range(start..).filter(|(_, known)| !self.is_aborted(known)) {
            match &known.value {
                Some(value) => drop(state.insert(known.key.clone(), value.clone())),
                None => drop(state.remove(&known.key)),
            }
        }
        state
    }
}

async fn append(log: &Log, batch: RecordBatch) -> Option<i64> {
    let reservation = match log.reserve_batch(&batch).await {
        Ok(reservation) => reservation,
        Err(StorageError::TooLarge { .. }) => return None,
        Err(error) => panic!("{error}"),
    };
    let epoch = log.latest_epoch().unwrap_or(LeaderEpoch(0));
    Some(log.append(reservation, batch, epoch, rt::unix_ms()).unwrap().base_offset.0)
}

/// Everything is on disk, and all but what comes next in closed segments.
pub(crate) async fn close_segment(log: &Log) {
    log.roll().await.unwrap();
    log.wait_synced(log.end_offset()).await.unwrap();
}

/// All batches. A log that was cut where records are compacted away may end in a hole.
async fn read_all(log: &Log) -> Vec<RecordBatch> {
    let (mut at, mut all) = (log.start_offset(), Vec::new());
    loop {
        let slice = log.read(at, log.end_offset(), 5_000, true).await.unwrap();
        if slice.bytes == 0 {
            return all;
        }
        assert!(slice.next_offset > at, "no progress at {at}");
        at = slice.next_offset;
        all.extend(common::batches(slice));
    }
}

/// The offsets of a log's records.
pub(crate) async fn offsets(log: &Log) -> Vec<i64> {
    let batches = read_all(log).await;
    let data = batches.iter().filter(|batch| !batch.header().attributes.is_control());
    data.flat_map(|batch| batch.records().map(|record| record.unwrap().offset)).collect()
}
