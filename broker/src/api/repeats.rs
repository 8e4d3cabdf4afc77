//! [`Repeats`]: what one request asks for more than once.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use protocol::types::Str;

/// The things a request has named so far, and what the answers to those named again may still take.
///
/// Kafka answers each mention, and so does this broker. What is answered once is bounded by what the node holds; but a mention takes a few
/// bytes of a request and its answer may be a group with all its members. So repeats are answered within a bound, and refused beyond it.
#[derive(Debug)]
pub(super) struct Repeats<K> {
    seen: RefCell<BTreeSet<K>>,
    left_bytes: Cell<usize>,
}

impl<K: Ord> Repeats<K> {
    /// Of one request; the answers to repeats may take `bytes_max` together.
    pub(super) fn within(bytes_max: usize) -> Self {
        Self { seen: RefCell::default(), left_bytes: Cell::new(bytes_max) }
    }

    /// Notes a mention of `key`; whether it is the first.
    pub(super) fn is_first(&self, key: K) -> bool {
        self.seen.borrow_mut().insert(key)
    }

    /// Whether nothing more fits.
    pub(super) fn is_full(&self) -> bool {
        self.left_bytes.get() == 0
    }

    /// Takes the room of an answer to a repeat. One that doesn't fit leaves none for others.
    pub(super) fn fits(&self, bytes: usize) -> bool {
        let left = self.left_bytes.get().checked_sub(bytes);
        self.left_bytes.set(left.unwrap_or(0));
        left.is_some()
    }
}

/// What a refused repeat is told, with INVALID_REQUEST.
pub(super) fn too_much() -> Str {
    Str::from_static("Too much is asked for more than once in one request.")
}
