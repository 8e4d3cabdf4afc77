//! Which directory the entries of a partition belong to, at a start.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use super::chain::PartitionKey;
use crate::TopicPartition;
use crate::dir::files;
use crate::dir::meta::{self, TopicOf};
use crate::segment::names;

/// A partition's directory.
#[derive(Debug)]
pub(super) struct Place {
    pub partition: TopicPartition,
    pub path: PathBuf,
}

/// The directories of partitions, by what they say of their topic.
#[derive(Debug, Default)]
pub(super) struct Places {
    known: BTreeMap<PartitionKey, Place>,
    /// Those that don't tell it, by the partition's number, and why.
    mute: BTreeMap<i32, Vec<(TopicPartition, String)>>,
    /// Those that were deleted, and whose directories are still there: a deletion voids what the journal has only when its directory has another
    /// name, and removes that after.
    deleted: BTreeSet<PartitionKey>,
}

impl Places {
    /// Looks at the directories in `dir`.
    ///
    /// # Errors
    /// `dir` itself can't be read. What is wrong with one partition's directory is that partition's trouble.
    pub(super) async fn find(dir: &Path) -> io::Result<Self> {
        let mut places = Self::default();
        for entry in files::list(dir).await?.into_iter().filter(|entry| entry.is_dir) {
            let path = dir.join(&entry.name);
            if let Some(deleted) = names::parse_deleted_dir_name(&entry.name) {
                if let Ok(TopicOf::Known(topic_id)) = meta::topic_of(&path).await {
                    places.deleted.insert((topic_id, deleted.partition));
                }
                continue;
            }
            let Some(partition) = names::parse_dir_name(&entry.name) else { continue };
            let reason = match meta::topic_of(&path).await {
                Ok(TopicOf::Known(topic_id)) if !topic_id.is_zero() => {
                    places.known.insert((topic_id, partition.partition), Place { partition, path });
                    continue;
                }
                // The journal never has entries of one.
                Ok(TopicOf::Known(_)) => continue,
                Ok(TopicOf::Missing) => format!("{} is missing", path.join(names::METADATA).display()),
                Ok(TopicOf::Damaged(reason)) => reason,
                Err(error) => format!("{}: {error}", path.display()),
            };
            places.mute.entry(partition.partition).or_default().push((partition, reason));
        }
        Ok(places)
    }

    /// The directory that says it is that partition's.
    pub(super) fn of(&self, key: &PartitionKey) -> Option<&Place> {
        self.known.get(key)
    }

    /// Whether it is known that the partition was deleted.
    pub(super) fn is_deleted(&self, key: &PartitionKey) -> bool {
        self.deleted.contains(key)
    }

    /// Those that may be, for all they tell, and why they don't.
    pub(super) fn perhaps_of(&self, key: &PartitionKey) -> &[(TopicPartition, String)] {
        self.mute.get(&key.1).map_or(&[], Vec::as_slice)
    }
}
