//! Which topics there are, for commits and fetches.

use protocol::types::{Str, Uuid};

/// The metadata image, as far as offsets need it.
pub trait TopicLookup {
    /// The id of a topic; none if there is no such topic.
    fn topic_id(&self, name: &str) -> Option<Uuid>;

    /// The name of a topic; none if there is no such topic.
    fn topic_name(&self, id: Uuid) -> Option<Str>;

    /// How many partitions a topic has; 0 if there is no such topic.
    fn partitions(&self, id: Uuid) -> i32;
}
