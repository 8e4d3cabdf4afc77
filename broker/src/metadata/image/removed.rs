//! [`RemovedTopics`]: topics that were deleted.

use std::collections::{BTreeSet, VecDeque};

use protocol::types::{Str, Uuid};

use crate::metadata::limits::REMOVED_TOPICS_MAX;

/// The topics deleted last, oldest first. What a shard finds of one of them, on disk or among committed offsets, may go; of a topic that is
/// merely unknown it may not: an older or another metadata log knows nothing of topics that are in full use.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct RemovedTopics(VecDeque<(Uuid, Str)>);

impl RemovedTopics {
    pub(super) fn push(&mut self, id: Uuid, name: Str) {
        if self.0.len() == REMOVED_TOPICS_MAX {
            self.0.pop_front();
        }
        self.0.push_back((id, name));
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &(Uuid, Str)> {
        self.0.iter()
    }

    pub(super) fn ids(&self) -> BTreeSet<Uuid> {
        self.0.iter().map(|(id, _)| *id).collect()
    }
}
