//! [`Numbered`]: what a request names, by number.

use std::collections::BTreeMap;

/// Gives each distinct name of a request a number, from 0.
///
/// A request names partitions by a topic and an index. A set of them that is keyed by the name compares it at every step, and one request of
/// 2 MiB may have 131,000 partitions of a topic whose name has 32 KiB: seconds of the shard. So a name is looked up once for each time it is
/// in the request, and its partitions are told apart by two numbers.
#[derive(Debug)]
pub(super) struct Numbered<K>(BTreeMap<K, usize>);

impl<K: Ord> Numbered<K> {
    /// Nothing yet.
    pub(super) fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// The number of `name`: the one it got before, or the next.
    pub(super) fn number(&mut self, name: K) -> usize {
        let next = self.0.len();
        *self.0.entry(name).or_insert(next)
    }
}

#[cfg(test)]
mod tests;
