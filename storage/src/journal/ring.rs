//! The journal's files as a ring: which is written, which may be overwritten. Pure; a file is whatever `F` is.

use std::collections::VecDeque;

use crate::limits::BLOCK_BYTES;

/// Where the next frame goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// Into the file that is written.
    Here,
    /// To the start of a free file, once the file that is written is synced.
    Next,
    /// Nowhere.
    Full,
}

/// Files of equal size, used in turn: always the one freed longest ago, or a new one, so that what is still there
/// of the past is its newest part.
#[derive(Debug)]
pub(crate) struct Ring<F> {
    file_bytes: u64,
    /// Oldest first; the last is being written.
    used: VecDeque<Used<F>>,
    free: VecDeque<F>,
    /// Where the next frame goes in the file that is written.
    position: u64,
    /// Files begun so far.
    begun: u32,
}

#[derive(Debug)]
struct Used<F> {
    file: F,
    /// The last frame in it.
    last: u64,
}

impl<F> Ring<F> {
    pub(crate) fn new(file_bytes: u64) -> Self {
        Self { file_bytes, used: VecDeque::new(), free: VecDeque::new(), position: 0, begun: 0 }
    }

    /// A file that was made.
    pub(crate) fn add(&mut self, file: F) {
        self.free.push_back(file);
    }

    /// Frees the files whose frames all stand before `floor`.
    pub(crate) fn reclaim(&mut self, floor: u64) {
        while self.used.len() > 1 && self.used.front().is_some_and(|oldest| oldest.last < floor) {
            self.free.extend(self.used.pop_front().map(|oldest| oldest.file));
        }
    }

    /// Where a frame of `bytes` goes, if `spare` files must stay free. None is given up by going on in one that was begun when they
    /// were needed.
    pub(crate) fn room(&self, bytes: u64, spare: usize) -> Room {
        if self.free.len() < spare {
            Room::Full
        } else if !self.used.is_empty() && self.position + bytes <= self.file_bytes {
            Room::Here
        } else if self.free.len() > spare && BLOCK_BYTES as u64 + bytes <= self.file_bytes {
            Room::Next
        } else {
            Room::Full
        }
    }

    /// Begins a free file.
    pub(crate) fn begin_next(&mut self) {
        if let Some(file) = self.free.pop_front() {
            self.used.push_back(Used { file, last: 0 });
            self.position = BLOCK_BYTES as u64;
            self.begun += 1;
        }
    }

    /// The file that is written, and where.
    pub(crate) fn current(&self) -> Option<(&F, u64)> {
        self.used.back().map(|used| (&used.file, self.position))
    }

    /// How many files were begun before the one that is written.
    pub(crate) fn lap(&self) -> u32 {
        self.begun.saturating_sub(1)
    }

    /// A frame was written to the current file.
    pub(crate) fn advance(&mut self, bytes: u64, sequence: u64) {
        self.position += bytes;
        if let Some(current) = self.used.back_mut() {
            current.last = sequence;
        }
    }

    /// Bytes that can't be overwritten now.
    pub(crate) fn used_bytes(&self) -> u64 {
        (self.used.len() as u64).saturating_sub(1) * self.file_bytes + self.position
    }

    /// Number of files that may be begun.
    pub(crate) fn free_count(&self) -> usize {
        self.free.len()
    }

    /// Number of all files.
    pub(crate) fn count(&self) -> usize {
        self.used.len() + self.free.len()
    }

    /// All files; the ring is empty then.
    pub(crate) fn take_all(&mut self) -> Vec<F> {
        self.position = 0;
        self.used.drain(..).map(|used| used.file).chain(self.free.drain(..)).collect()
    }
}

#[cfg(test)]
mod tests;
