//! What is written, and how.

use serde::{Deserialize, Serialize};

/// Where writes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// One block after the other.
    Sequential,
    /// Each block of the file once, in no order.
    Random,
}

/// One way to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskLine {
    /// Where writes go.
    pub pattern: Pattern,
    /// Size of a write, in bytes.
    pub block_bytes: u64,
    /// Writes under way at a time.
    pub depth: u32,
}

const KIB: u64 = 1024;

/// The suite: from what a lone small append costs to what the device gives at most.
pub const LINES: [DiskLine; 11] = [
    sequential(4 * KIB, 1),
    sequential(64 * KIB, 1),
    sequential(64 * KIB, 8),
    sequential(256 * KIB, 4),
    sequential(1024 * KIB, 1),
    sequential(1024 * KIB, 4),
    random(4 * KIB, 1),
    random(4 * KIB, 8),
    random(4 * KIB, 32),
    random(64 * KIB, 8),
    random(1024 * KIB, 4),
];

const fn sequential(block_bytes: u64, depth: u32) -> DiskLine {
    DiskLine { pattern: Pattern::Sequential, block_bytes, depth }
}

const fn random(block_bytes: u64, depth: u32) -> DiskLine {
    DiskLine { pattern: Pattern::Random, block_bytes, depth }
}

impl DiskLine {
    /// The order in which the blocks of a file of `file_bytes` are written. The same each time: both sides and
    /// all rounds meet the same pattern.
    pub(super) fn order(&self, file_bytes: u64) -> Vec<u32> {
        let mut order: Vec<u32> = (0..(file_bytes / self.block_bytes) as u32).collect();
        if self.pattern == Pattern::Random {
            let mut state = 0x9e37_79b9_7f4a_7c15u64;
            for at in (1..order.len()).rev() {
                // xorshift: cheap, and without a pattern that a device could guess.
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                order.swap(at, (state % (at as u64 + 1)) as usize);
            }
        }
        order
    }
}

impl std::fmt::Display for DiskLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let pattern = match self.pattern {
            Pattern::Sequential => "sequential",
            Pattern::Random => "random",
        };
        write!(f, "{pattern} {} KiB x {}", self.block_bytes / KIB, self.depth)
    }
}
