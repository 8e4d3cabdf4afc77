//! What stands in the log directory without being of any topic, at the start: a deletion that a crash cut short, or a metadata log that isn't
//! the one this directory belongs to.

use storage::TopicPartition;

use crate::metadata::Image;

/// Those of the partitions `found` on disk that `image` doesn't know. A directory of a known partition that is of an older topic of that name
/// isn't among them: the shard that makes the partition's log sets it aside.
///
/// Where the metadata log is new there are none: with the right one back, the node finds all logs where they were.
pub(super) fn among(found: &[TopicPartition], image: &Image) -> Vec<TopicPartition> {
    let is_known = |partition: &TopicPartition| {
        image.topic(&partition.topic).is_some_and(|topic| topic.partition(partition.partition).is_some())
    };
    let strays: Vec<_> = found.iter().filter(|partition| !is_known(partition)).cloned().collect();
    if let (Some(first), true) = (strays.first(), image.brokers.is_empty()) {
        let logs = strays.len();
        tracing::error!(logs, %first, "the metadata log is new and the log directory isn't: these logs are left alone, and not served");
        return Vec::new();
    }
    strays
}
