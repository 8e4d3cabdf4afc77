//! [`ProducerIds`]: no producer id is given out twice.

use std::collections::BTreeSet;

/// The ids given out so far.
#[derive(Debug, Default)]
pub(crate) struct ProducerIds(BTreeSet<i64>);

impl ProducerIds {
    /// A producer was given an id.
    pub(crate) fn given(&mut self, id: i64) {
        assert!(id >= 0 && self.0.insert(id), "producer id {id} is given out twice");
    }
}
