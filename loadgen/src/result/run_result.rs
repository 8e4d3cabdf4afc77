//! One scenario against one target.

use serde::{Deserialize, Serialize};

use super::LineResult;

/// What a run of a scenario measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunResult {
    /// The scenario's name.
    pub scenario: String,
    /// Whom it was run against.
    pub target: TargetInfo,
    /// Where the load came from.
    pub host: Host,
    /// When it started, in ms since 1970.
    pub started_unix_ms: i64,
    /// How long all of it took, preparation and verification included, in s.
    pub duration_s: f64,
    /// How far the scenario was shrunk: 1 is full size.
    pub scale: f64,
    /// The lines, in the scenario's order; those that weren't run too.
    pub lines: Vec<LineResult>,
}

impl RunResult {
    /// True if verification found fault with any line.
    pub fn is_faulty(&self) -> bool {
        self.lines.iter().any(|line| line.verify.as_ref().is_some_and(|verify| !verify.is_proven()))
    }

    /// True if any line failed.
    pub fn has_failed(&self) -> bool {
        self.lines.iter().any(|line| matches!(line.outcome, super::Outcome::Failed { .. }))
    }
}

/// Whom a scenario was run against.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TargetInfo {
    /// A name for tables, as `ringlog` or `kafka`.
    pub name: String,
    /// The brokers asked first.
    pub bootstrap: String,
    /// The cluster's id, once told.
    pub cluster_id: Option<String>,
    /// How many brokers it has.
    pub brokers: u32,
}

/// The machine the load came from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Host {
    /// Cores this process may use.
    pub cores: u32,
    /// The processor, as the kernel names it.
    pub cpu: String,
    /// The kernel's release.
    pub kernel: String,
    /// Bytes of memory.
    pub memory_bytes: u64,
}
