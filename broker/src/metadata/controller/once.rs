//! What a request names more than once.

use std::collections::BTreeSet;

/// The keys that are there more than once. Kafka refuses these and does nothing about them: it can't be known which of the two was meant.
pub(super) fn given_twice<K: Ord>(keys: impl Iterator<Item = K>) -> BTreeSet<K> {
    let (mut seen, mut twice) = (BTreeSet::new(), BTreeSet::new());
    for key in keys {
        if let Some(again) = seen.replace(key) {
            twice.insert(again);
        }
    }
    twice
}
