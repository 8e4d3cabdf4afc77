//! Which log directory a new replica goes to.

use std::collections::BTreeMap;

use protocol::types::Uuid;

use crate::metadata::image::{DIRECTORY_UNASSIGNED, Image};

/// How many replicas each broker's log directories have. A new one goes to the directory with the fewest, as in Kafka; the first of them.
///
/// Counts the partitions of the whole image once, and only where there is a choice.
#[derive(Debug)]
pub(super) struct DirLoads<'a> {
    image: &'a Image,
    /// By broker and directory.
    counts: Option<BTreeMap<(i32, Uuid), usize>>,
}

impl<'a> DirLoads<'a> {
    /// As of `image`.
    pub(super) fn new(image: &'a Image) -> Self {
        Self { image, counts: None }
    }

    /// The directory of the broker's next replica. Without any that is known the broker is free to choose.
    pub(super) fn choose(&mut self, broker: i32) -> Uuid {
        let dirs = self.image.brokers.get(&broker).map_or(&[][..], |broker| &broker.log_dirs[..]);
        match dirs {
            [] => DIRECTORY_UNASSIGNED,
            [only] => *only,
            [..] => {
                let counts = self.counts.get_or_insert_with(|| count(self.image));
                let load = |dir: &&Uuid| counts.get(&(broker, **dir)).copied().unwrap_or_default();
                // Never empty here.
                let fewest = dirs.iter().min_by_key(load).copied().unwrap_or(DIRECTORY_UNASSIGNED);
                *counts.entry((broker, fewest)).or_default() += 1;
                fewest
            }
        }
    }
}

fn count(image: &Image) -> BTreeMap<(i32, Uuid), usize> {
    let mut counts = BTreeMap::new();
    for partition in image.topics().flat_map(|topic| &topic.partitions) {
        for (broker, dir) in partition.replicas.iter().zip(&partition.directories) {
            *counts.entry((*broker, *dir)).or_default() += 1;
        }
    }
    counts
}
