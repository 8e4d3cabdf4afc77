//! Directories of partitions that the metadata don't know, at the start.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use protocol::types::Uuid;
use rt::fs::DirEntry;

use super::files;
use super::home::DirHome;
use super::meta::{self, TopicOf};
use crate::error::is_device_error;
use crate::journal::kept;
use crate::segment::names;
use crate::{DirFacts, StorageError, TopicPartition};

/// What is done with a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It holds nothing but what a creation that was cut short leaves.
    Removed,
    /// A deleted topic's, with records.
    SetAside,
    /// A partition's, and nothing says that its topic was deleted.
    Unknown,
    /// No partition's.
    Foreign,
}

impl DirHome {
    /// Goes through the directories of `unknown`, partitions that the metadata don't know. Those of the topics
    /// `deleted` are renamed `-stray` and kept, as Kafka does, or go if they hold no records; what a creation
    /// left that a crash cut short goes, and what a replay kept of deleted topics. All others stay as they are: they are somebody else's, or of topics
    /// that other metadata may know. To be called before any shard opens its logs. `facts` say nothing
    /// afterwards of those that are gone.
    ///
    /// One that can't be looked at or renamed stays under its name, with a warning.
    ///
    /// # Errors
    /// `Io`: the device failed.
    pub async fn set_aside(
        &self,
        unknown: &[TopicPartition],
        deleted: &BTreeSet<Uuid>,
        facts: &mut DirFacts,
    ) -> Result<(), StorageError> {
        let forgotten = kept::forget(self.path(), deleted).await;
        forgotten.map_err(|error| self.io("removing what was kept of deleted topics in", error))?;
        if unknown.is_empty() {
            return Ok(());
        }
        let done = self.tidy(unknown, deleted).await;
        let gone = done.map_err(|error| self.io("setting strays aside in", error))?;
        facts.forget(&gone);
        Ok(())
    }

    /// Renames the directory of a partition `-stray`, which stays: another directory of the node holds the partition, as its metadata say. To be
    /// called before any shard opens its logs. `facts` say nothing of it afterwards.
    ///
    /// # Errors
    /// `Io`.
    pub async fn set_aside_copy(
        &self,
        partition: &TopicPartition,
        facts: &mut DirFacts,
    ) -> Result<(), StorageError> {
        let kept = names::put_away_dir_name(partition, rt::random_bytes(), names::STRAY_SUFFIX);
        let renamed = async {
            rt::fs::rename(&self.path().join(names::dir_name(partition)), &self.path().join(&kept)).await?;
            files::sync_dir(self.path()).await
        };
        renamed.await.map_err(|error| self.io("setting a copy aside in", error))?;
        let dir = self.path().display();
        tracing::warn!(%partition, %dir, kept, "another log directory holds the partition: this copy was set aside");
        facts.forget(&BTreeSet::from([partition]));
        Ok(())
    }

    async fn tidy<'a>(
        &self,
        unknown: &'a [TopicPartition],
        deleted: &BTreeSet<Uuid>,
    ) -> io::Result<BTreeSet<&'a TopicPartition>> {
        let (mut gone, mut empty, mut left) = (BTreeSet::new(), Vec::new(), Vec::new());
        for partition in unknown {
            match self.put_away(partition, deleted).await {
                Ok((Fate::Unknown, _)) => left.push(partition),
                Ok((Fate::Foreign, _)) => {
                    tracing::info!(%partition, "a directory of no partition is left alone")
                }
                Ok((Fate::Removed, name)) => {
                    gone.insert(partition);
                    empty.push(name);
                }
                Ok((Fate::SetAside, kept)) => {
                    gone.insert(partition);
                    tracing::warn!(%partition, kept, "a deleted topic's log was set aside");
                }
                Err(error) if is_device_error(&error) => return Err(error),
                Err(error) => tracing::warn!(%partition, %error, "of no topic, and left where it is"),
            }
        }
        if let Some(first) = left.first() {
            let logs = left.len();
            tracing::error!(logs, %first, "the metadata know nothing of these logs, nor of their deletion: they are left alone, and not served");
        }
        // All names at once.
        files::sync_dir(self.path()).await?;
        for name in empty {
            self.remove_put_away(&name).await?;
        }
        Ok(gone)
    }

    /// Tells its new name too.
    async fn put_away(
        &self,
        partition: &TopicPartition,
        deleted: &BTreeSet<Uuid>,
    ) -> io::Result<(Fate, String)> {
        let path = self.path().join(names::dir_name(partition));
        let fate = fate(&path, deleted).await?;
        let ending = match fate {
            Fate::Removed => names::DELETE_SUFFIX,
            Fate::SetAside => names::STRAY_SUFFIX,
            Fate::Unknown | Fate::Foreign => return Ok((fate, String::new())),
        };
        let name = names::put_away_dir_name(partition, rt::random_bytes(), ending);
        rt::fs::rename(&path, &self.path().join(&name)).await?;
        Ok((fate, name))
    }

    /// Removes what takes space in a `-delete` directory. Whose it was stays to be read: the journal may have records of it.
    pub(super) async fn empty_put_away(&self, name: &str) -> io::Result<()> {
        let path = self.path().join(name);
        let emptied = async {
            for entry in files::list(&path).await?.iter().filter(|entry| entry.name != names::METADATA) {
                files::remove(&path.join(&entry.name)).await?;
            }
            Ok(())
        };
        match emptied.await {
            Err(error) if !is_device_error(&error) => {
                tracing::warn!(name, %error, "what a deletion left can't be removed");
                Ok(())
            }
            done => done,
        }
    }

    /// Removes a `-delete` directory. One that can't be is no reason not to start: the next start tries again.
    pub(super) async fn remove_put_away(&self, name: &str) -> io::Result<()> {
        match rt::fs::remove_dir_all(&self.path().join(name)).await {
            Err(error) if !is_device_error(&error) => {
                tracing::warn!(name, %error, "what a deletion left can't be removed");
                Ok(())
            }
            done => done,
        }
    }
}

async fn fate(path: &Path, deleted: &BTreeSet<Uuid>) -> io::Result<Fate> {
    let entries = files::list(path).await?;
    let is_empty = entries.iter().all(is_of_a_creation);
    Ok(match meta::topic_of(path).await? {
        TopicOf::Known(topic_id) if !deleted.contains(&topic_id) => Fate::Unknown,
        TopicOf::Known(_) | TopicOf::Missing if is_empty => Fate::Removed,
        TopicOf::Known(_) => Fate::SetAside,
        TopicOf::Damaged(_) => Fate::Unknown,
        TopicOf::Missing if entries.iter().any(is_of_a_log) => Fate::Unknown,
        TopicOf::Missing => Fate::Foreign,
    })
}

/// Whether making a log leaves it, and no record is in it.
fn is_of_a_creation(entry: &DirEntry) -> bool {
    let name = entry.name.strip_suffix(".tmp").unwrap_or(&entry.name);
    !entry.is_dir && [names::METADATA, names::EPOCHS].contains(&name)
}

fn is_of_a_log(entry: &DirEntry) -> bool {
    let suffix = names::parse_file_name(&entry.name).map(|(_, suffix)| suffix);
    !entry.is_dir && matches!(suffix, Some(names::LOG | names::INDEX))
}

impl DirFacts {
    fn forget(&mut self, partitions: &BTreeSet<&TopicPartition>) {
        self.partitions.retain(|known| !partitions.contains(known));
        for offsets in [&mut self.log_starts, &mut self.recovery_points, &mut self.high_watermarks] {
            offsets.retain(|known, _| !partitions.contains(known));
        }
        self.unreplayed.retain(|known, _| !partitions.contains(known));
    }
}
