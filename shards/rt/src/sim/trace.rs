//! The trace hash: one number that two runs share only if they took the same way.

use std::cell::Cell;

/// What a trace word is about; mixed in, so that equal numbers of different kinds differ.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mark {
    /// A task was polled.
    Poll = 1,
    /// A task's future was dropped on request.
    Cancel,
    /// A timer, disk or network event came due.
    Event,
    /// A disk operation took effect.
    Disk,
    /// Bytes, an end of stream or a reset reached a connection's end.
    Net,
    /// A node came up, crashed, paused or went on.
    Node,
    /// A node drew a random number.
    Random,
}

/// A running 64-bit hash over every scheduling decision, every I/O with its bytes, and the time of each.
#[derive(Debug)]
pub(crate) struct Trace(Cell<u64>);

impl Trace {
    pub(crate) fn new(seed: u64) -> Trace {
        Trace(Cell::new(seed))
    }

    /// Mixes in one fact: its kind and two numbers.
    pub(crate) fn note(&self, mark: Mark, a: u64, b: u64) {
        let h = fold(fold(self.0.get(), a ^ (mark as u64) << 56), b);
        self.0.set(h);
    }

    /// The hash so far, finished so that every input bit reaches every output bit.
    pub(crate) fn hash(&self) -> u64 {
        let mut z = self.0.get();
        z = (z ^ (z >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        z ^ (z >> 32)
    }
}

/// A hash of `bytes`, for the trace: 8 bytes a step, about the speed of a copy.
pub(crate) fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut h = bytes.len() as u64;
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        let mut le = [0; 8];
        le.copy_from_slice(word);
        h = fold(h, u64::from_le_bytes(le));
    }
    for &byte in words.remainder() {
        h = fold(h, u64::from(byte));
    }
    h
}

fn fold(h: u64, word: u64) -> u64 {
    (h.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
