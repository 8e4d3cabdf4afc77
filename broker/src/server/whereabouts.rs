//! Where the node's partitions lie at a start: what the log directories hold, beside what the metadata say.
//!
//! The metadata name each replica's directory (KIP-858). Where they don't know better than the disk, the disk counts: a partition may have been
//! moved by hand while the node was stopped. Where they do, they count: what a directory holds that isn't theirs is a copy that a move left behind.
//! While a directory is offline, or isn't among `log.dirs`, what it may hold isn't made anew elsewhere.

use std::collections::BTreeMap;

use shards::PartitionKey;
use storage::{DirFacts, TopicPartition};

use crate::metadata::Image;

/// Number of a log directory: its place in `log.dirs`.
pub(super) type DirIndex = usize;

/// Where a partition lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// In this log directory.
    In(DirIndex),
    /// In none that is online, or nobody can tell: why, for the operator. It stays so until another start.
    Offline(String),
}

/// What a start found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Partitions that aren't where the metadata say.
    pub(super) places: BTreeMap<PartitionKey, Place>,
    /// Copies of partitions that are elsewhere.
    pub(super) copies: Vec<(DirIndex, TopicPartition)>,
}

/// Looks at all of the node's partitions. `dirs` are in the order of `log.dirs`, `None` stands for one that is offline.
pub(super) fn find(image: &Image, node_id: i32, dirs: &[Option<&DirFacts>]) -> Found {
    let mut held: BTreeMap<&TopicPartition, Vec<DirIndex>> = BTreeMap::new();
    for (index, facts) in online(dirs) {
        facts.partitions.iter().for_each(|partition| held.entry(partition).or_default().push(index));
    }
    let mut loads: Vec<(DirIndex, usize)> =
        online(dirs).map(|(index, facts)| (index, facts.partitions.len())).collect();
    let is_any_offline = loads.len() < dirs.len();
    let mut found = Found::default();
    for topic in image.topics() {
        for (number, partition) in (0..).zip(&topic.partitions) {
            if !partition.replicas.contains(&node_id) {
                continue;
            }
            let name = TopicPartition::new(topic.name.as_str(), number);
            let directory = partition.directory_of(node_id);
            let named = online(dirs).find(|(_, facts)| facts.directory_id == directory);
            let named = named.map(|(index, _)| index);
            // A place that is told is one of a directory, which may be the one that is offline.
            let may_be_offline = is_any_offline && named.is_none();
            let is_told = !directory.is_zero();
            let holders = held.get(&name).map_or(&[][..], Vec::as_slice);
            let is_cut_short = holders.is_empty() && is_on_its_way(&name, dirs);
            let place = match (named, holders) {
                (Some(named), holders) if holders.contains(&named) => {
                    let others = holders.iter().filter(|other| **other != named);
                    found.copies.extend(others.map(|other| (*other, name.clone())));
                    Place::In(named)
                }
                (_, [_, _, ..]) => Place::Offline(format!(
                    "it is in several log directories (numbers {holders:?} of log.dirs), and the metadata name none of them: move all but one away"
                )),
                (None, _) if may_be_offline && is_told => {
                    Place::Offline(format!("its log directory, {directory}, is offline"))
                }
                (_, [only]) => Place::In(*only),
                (_, []) if is_cut_short => Place::Offline(
                    "it was being moved to another log directory, and the one that it came from isn't there, or lost it: bring that back, or, to serve what was copied, give its -future directory the partition's name"
                        .to_owned(),
                ),
                (Some(named), []) => Place::In(named),
                (None, []) if may_be_offline => {
                    Place::Offline("a log directory that may hold it is offline".to_owned())
                }
                // Made anew it would be empty, and be the one that counts once that disk is there again.
                (None, []) if is_told => Place::Offline(format!(
                    "its log directory, {directory}, is none of log.dirs: is its disk not mounted? If it is lost, an empty directory of a partition's name in another one has that begin anew"
                )),
                (None, []) => least(&mut loads),
            };
            if named.is_none_or(|named| place != Place::In(named)) {
                found.places.insert(PartitionKey { topic_id: topic.id, partition: number }, place);
            }
        }
    }
    found
}

fn online<'a>(dirs: &'a [Option<&'a DirFacts>]) -> impl Iterator<Item = (DirIndex, &'a DirFacts)> {
    dirs.iter().enumerate().filter_map(|(index, facts)| Some((index, (*facts)?)))
}

/// Whether a directory holds what a move was copying there when it was cut short.
fn is_on_its_way(name: &TopicPartition, dirs: &[Option<&DirFacts>]) -> bool {
    online(dirs).any(|(_, facts)| facts.futures.iter().any(|(partition, _)| partition == name))
}

/// The directory with the fewest partitions, which has one more then.
fn least(loads: &mut [(DirIndex, usize)]) -> Place {
    match loads.iter_mut().min_by_key(|(_, load)| *load) {
        Some((index, load)) => {
            *load += 1;
            Place::In(*index)
        }
        None => Place::Offline("all log directories are offline".to_owned()),
    }
}

#[cfg(test)]
mod tests;
