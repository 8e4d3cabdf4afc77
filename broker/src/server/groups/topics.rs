//! The topics there are, as of the shard's image.

use std::rc::Rc;

use protocol::types::{Str, Uuid};

use crate::group::TopicLookup;
use crate::server::ShardState;

/// Looks into the image anew each time: an answer never holds it.
#[derive(Debug)]
pub(super) struct ImageTopics(pub(super) Rc<ShardState>);

impl TopicLookup for ImageTopics {
    fn topic_id(&self, name: &str) -> Option<Uuid> {
        self.0.image.borrow().topic(name).map(|topic| topic.id)
    }

    fn topic_name(&self, id: Uuid) -> Option<Str> {
        self.0.image.borrow().topic_by_id(id).map(|topic| topic.name.clone())
    }

    fn partitions(&self, id: Uuid) -> i32 {
        let partitions = self.0.image.borrow().topic_by_id(id).map_or(0, |topic| topic.partitions.len());
        i32::try_from(partitions).unwrap_or(i32::MAX)
    }
}
