//! [`Parts`]: a request dealt out to those who answer parts of it.

use std::collections::BTreeMap;
use std::collections::btree_map::IntoIter;

/// By who answers: the parts of a request, and beside each the place that its answer has in the whole.
#[derive(Debug)]
pub(super) struct Parts<K, P, T>(BTreeMap<K, (Vec<P>, Vec<T>)>);

impl<K: Ord, P, T> Parts<K, P, T> {
    /// Nothing for nobody.
    pub(super) fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// One more for `to`.
    pub(super) fn add(&mut self, to: K, place: P, part: T) {
        let (places, parts) = self.0.entry(to).or_default();
        places.push(place);
        parts.push(part);
    }

    /// How many have something to answer.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }
}

impl<K, P, T> IntoIterator for Parts<K, P, T> {
    type Item = (K, (Vec<P>, Vec<T>));
    type IntoIter = IntoIter<K, (Vec<P>, Vec<T>)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
