//! What was found.

use std::fmt::Display;
use std::path::{Path, PathBuf};

/// One thing worth telling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Below the directory that is checked.
    pub(crate) path: PathBuf,
    /// Where in the file, in bytes.
    pub(crate) position: Option<u64>,
    /// Whether it is wrong, or only worth knowing.
    pub(crate) is_fault: bool,
    pub(crate) what: String,
}

/// All of them, up to a bound; what is beyond it is counted.
#[derive(Debug)]
pub(crate) struct Findings {
    root: PathBuf,
    kept: Vec<Finding>,
    faults: u64,
    left_out: u64,
}

/// Findings kept: a damaged directory may have any number.
const KEPT_MAX: usize = 10_000;

impl Findings {
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), kept: Vec::new(), faults: 0, left_out: 0 }
    }

    /// Something is wrong.
    pub(super) fn fault(&mut self, path: &Path, position: Option<u64>, what: impl Display) {
        self.faults += 1;
        self.add(path, position, true, what.to_string());
    }

    /// Something is as it may be, but worth knowing.
    pub(super) fn note(&mut self, path: &Path, position: Option<u64>, what: impl Display) {
        self.add(path, position, false, what.to_string());
    }

    fn add(&mut self, path: &Path, position: Option<u64>, is_fault: bool, what: String) {
        if self.kept.len() == KEPT_MAX {
            self.left_out += 1;
            return;
        }
        let path = path.strip_prefix(&self.root).unwrap_or(path).to_owned();
        self.kept.push(Finding { path, position, is_fault, what });
    }

    pub(crate) fn faults(&self) -> u64 {
        self.faults
    }

    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    pub(crate) fn all(&self) -> &[Finding] {
        &self.kept
    }
}
