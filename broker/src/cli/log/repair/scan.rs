//! What of a segment is sound, and where it is damaged: by the rules of a start's recovery, but going on behind the damage.

use std::ops::Range;
use std::path::{Path, PathBuf};

use protocol::records::{BatchHeader, HEADER_BYTES, PREFIX_BYTES, RecordBatch, batch_bytes};
use storage::{LeaderEpoch, Offset};

use super::super::batches::BATCH_BYTES_MAX;
use super::super::input::Random;
use crate::cli::error::CliError;

/// What the next batch must not be below, along a log.
#[derive(Debug, Clone, Copy)]
pub(super) struct Following {
    pub(super) next: Offset,
    pub(super) epoch: LeaderEpoch,
}

/// Sound batches that stand one behind the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) bytes: Range<u64>,
    pub(super) first: Offset,
    pub(super) next: Offset,
    pub(super) records: u64,
    /// Each leader epoch that begins in it, with its first batch's offset.
    pub(super) epochs: Vec<(LeaderEpoch, Offset)>,
}

/// Bytes that are no batch, or none that can follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Damage {
    pub(super) bytes: Range<u64>,
    /// The offset after the last sound batch before it.
    pub(super) from: Offset,
    pub(super) why: String,
}

/// A segment, from its first byte to its last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scanned {
    pub(super) base: Offset,
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    pub(super) runs: Vec<Run>,
    pub(super) damages: Vec<Damage>,
    /// Bytes of zeros at its end: space that was taken ahead, if it is the last segment.
    pub(super) zeros: u64,
}

struct Scan<'a> {
    base: Offset,
    file: Random,
    following: &'a mut Following,
    runs: Vec<Run>,
}

/// Bytes looked at first on a medium that doesn't give more.
const SECTOR_BYTES: u64 = 4096;
/// Bytes searched at once for the next batch.
const SEARCH_BYTES: usize = 1 << 20;

/// Scans the segment at `base`, and moves `following` to its end.
pub(super) fn scan(base: Offset, path: &Path, following: &mut Following) -> Result<Scanned, CliError> {
    let mut scan = Scan { base, file: Random::open(path)?, following, runs: Vec::new() };
    let bytes = scan.file.bytes;
    let (mut at, mut zeros, mut damages) = (0, 0, Vec::new());
    while at < bytes {
        match scan.sound(at) {
            Ok(header) => at = scan.take(at, &header),
            Err(_) if scan.is_zero_from(at) => {
                zeros = bytes - at;
                break;
            }
            Err(why) => {
                let upto = scan.resume(at);
                damages.push(Damage { bytes: at..upto, from: scan.following.next.max(base), why });
                at = upto;
            }
        }
    }
    scan.following.next = scan.following.next.max(base);
    Ok(Scanned { base, path: path.to_owned(), bytes, runs: scan.runs, damages, zeros })
}

impl Scan<'_> {
    /// The batch at a position, if it is one and can follow; words for why not.
    fn sound(&mut self, at: u64) -> Result<BatchHeader, String> {
        let left = self.file.bytes - at;
        let need = match self.claimed_bytes(at)? {
            need if need > left => return Err(format!("a batch of {need} bytes ends after {left}")),
            need => need as usize,
        };
        let bytes = self.file.at(at, need).map_err(|error| format!("it can't be read: {error}"))?;
        let batch = RecordBatch::parse(bytes.into()).map_err(|why| why.to_string())?;
        let header = *batch.header();
        let (base, next, epoch) =
            (Offset(header.base_offset), self.following.next.max(self.base), self.following.epoch);
        if base < next {
            return Err(format!("offset {base} comes after {next} was reached"));
        }
        let delta = header.last_offset().saturating_sub(self.base.0);
        if header.last_offset_delta < 0 || delta > i64::from(i32::MAX) || at > i32::MAX as u64 {
            return Err(format!("its last offset, {}, doesn't fit the segment", header.last_offset()));
        }
        if header.partition_leader_epoch < epoch.0 && header.partition_leader_epoch >= 0 {
            return Err(format!("leader epoch {} comes after {epoch}", header.partition_leader_epoch));
        }
        Ok(header)
    }

    /// Bytes that the batch at a position has, by its own account.
    fn claimed_bytes(&mut self, at: u64) -> Result<u64, String> {
        let prefix = self.file.at(at, PREFIX_BYTES).map_err(|error| format!("it can't be read: {error}"))?;
        match batch_bytes(&prefix) {
            Ok(Some(bytes)) if bytes <= BATCH_BYTES_MAX => Ok(bytes as u64),
            Ok(Some(bytes)) => Err(format!("a batch of {bytes} bytes")),
            Ok(None) => Err(format!("{} bytes are no batch", prefix.len())),
            Err(why) => Err(why.to_string()),
        }
    }

    /// Takes in a sound batch. Gives where the next one stands.
    fn take(&mut self, at: u64, header: &BatchHeader) -> u64 {
        let end = at + header.total_bytes() as u64;
        let (first, next) = (Offset(header.base_offset), Offset(header.next_offset()));
        if self.runs.last().is_none_or(|run| run.bytes.end != at) {
            self.runs.push(Run { bytes: at..at, first, next, records: 0, epochs: Vec::new() });
        }
        let epoch = LeaderEpoch(header.partition_leader_epoch);
        if let Some(run) = self.runs.last_mut() {
            (run.bytes.end, run.next) = (end, next);
            run.records += u64::from(header.records_count.max(0).cast_unsigned());
            if epoch > self.following.epoch {
                run.epochs.push((epoch, first));
            }
        }
        *self.following = Following { next, epoch: self.following.epoch.max(epoch) };
        end
    }

    fn is_zero_from(&mut self, at: u64) -> bool {
        let (mut at, end) = (at, self.file.bytes);
        while at < end {
            match self.file.at(at, SEARCH_BYTES) {
                Ok(piece) if piece.iter().all(|byte| *byte == 0) => at += piece.len() as u64,
                _ => return false,
            }
        }
        true
    }

    /// Where sound batches go on behind a damaged place: where its length says, or else where the next one is found.
    fn resume(&mut self, at: u64) -> u64 {
        let end = self.file.bytes;
        if let Ok(bytes) = self.claimed_bytes(at) {
            let next = at.saturating_add(bytes);
            if next == end || (next < end && self.sound(next).is_ok()) {
                return next;
            }
        }
        let mut at = at + 1;
        while at + HEADER_BYTES as u64 <= end {
            let window = self.file.at(at, SEARCH_BYTES);
            let Ok(window) = window.or_else(|_| self.file.at(at, SECTOR_BYTES as usize)) else {
                at = (at + 1).next_multiple_of(SECTOR_BYTES);
                continue;
            };
            let candidates = window.windows(PREFIX_BYTES).enumerate();
            let starts: Vec<u64> = candidates
                .filter(|(_, prefix)| self.may_follow(prefix))
                .map(|(index, _)| at + index as u64)
                .collect();
            if let Some(found) = starts.into_iter().find(|start| self.sound(*start).is_ok()) {
                return found;
            }
            // The last bytes may be the start of one.
            at += (window.len() - (PREFIX_BYTES - 1)).max(1) as u64;
        }
        end
    }

    /// Whether a batch may begin like this: a cheap look before its CRC is reckoned.
    fn may_follow(&self, prefix: &[u8]) -> bool {
        let Some(base) = prefix.first_chunk::<8>().map(|base| i64::from_be_bytes(*base)) else {
            return false;
        };
        let possible = self.following.next.max(self.base).0..=self.base.0.saturating_add(i64::from(i32::MAX));
        possible.contains(&base) && batch_bytes(prefix).is_ok_and(|bytes| bytes.is_some())
    }
}
