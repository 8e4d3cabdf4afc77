//! What the device took.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::DiskLine;
use crate::compare::{Machine, Summary};

/// The suite on one directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiskResult {
    /// Where and when.
    pub machine: Machine,
    /// The directory.
    pub data_dir: PathBuf,
    /// Size of each line's file, in bytes.
    pub file_bytes: u64,
    /// Rounds of which the median counts.
    pub rounds: u32,
    /// The lines.
    pub lines: Vec<DiskLineResult>,
    /// Why fio wasn't measured, if it wasn't.
    pub fio_not_measured: Option<String>,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiskLineResult {
    /// What was written.
    pub line: DiskLine,
    /// MB (10^6 bytes) a second by `rt::fs`.
    pub ours_mb_per_s: Summary,
    /// The same by fio.
    pub fio_mb_per_s: Option<Summary>,
    /// Of the last round.
    pub ours: Reached,
    /// Of the last round.
    pub fio: Option<Reached>,
}

/// One side of one round.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Reached {
    /// MB (10^6 bytes) a second.
    pub mb_per_s: f64,
    /// Writes a second.
    pub writes_per_s: f64,
    /// Half of the writes took no longer, in us.
    pub p50_us: f64,
    /// 99 of 100 took no longer, in us.
    pub p99_us: f64,
}

impl DiskLineResult {
    /// What we reach of fio's rate; 1 is as much.
    pub fn share_of_fio(&self) -> Option<f64> {
        let fio = self.fio_mb_per_s.as_ref()?;
        (fio.median > 0.0).then(|| self.ours_mb_per_s.median / fio.median)
    }
}
