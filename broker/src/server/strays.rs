//! What stands in the log directory without being of any topic, at the start: a deletion that a crash cut short, what somebody put there, or logs
//! of topics that this metadata log doesn't know, being new or an older copy.

use storage::TopicPartition;

use crate::metadata::Image;

/// Those of the partitions `found` on disk that `image` doesn't know. A directory of a known partition that is of an older topic of that name
/// isn't among them: the shard that makes the partition's log sets it aside.
pub(super) fn among(found: &[TopicPartition], image: &Image) -> Vec<TopicPartition> {
    let is_known = |partition: &TopicPartition| {
        image.topic(&partition.topic).is_some_and(|topic| topic.partition(partition.partition).is_some())
    };
    found.iter().filter(|partition| !is_known(partition)).cloned().collect()
}
