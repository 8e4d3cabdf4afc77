//! Bringing what the journals of a directory hold to the segments, at a start after a crash: before anything else
//! looks at them.
//!
//! Of whatever shards the journals are: a start with another number of shards finds them all. Done again from the
//! start if a crash cuts it short, with the same outcome.
//!
//! What finds no place isn't lost with the journal: records of a partition whose directory doesn't tell its topic, can't be read, or isn't here, are
//! kept aside, and the next start that finds the place brings them there. The partition stays offline until then, if it is here.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use rt::fs::Volume;

use super::apply::{Applied, Failure, apply};
use super::chain::{FoundEntry, PartitionKey};
use super::files::remove_some;
use super::places::{Place, Places};
use super::read::OpenJournal;
use super::{kept, names};
use crate::dir::files;
use crate::{StorageError, TopicPartition};

/// What a start has to know of the replay.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    /// Partitions that miss records which are kept aside, with words for the operator.
    pub kept: BTreeMap<TopicPartition, String>,
    /// Partitions that got records back which were kept aside.
    pub given_back: BTreeSet<TopicPartition>,
}

/// Settles the journals that the last process left: replays those of the start `start` after a crash, and removes all. After a
/// clean stop there are none, or they are of a time before another broker had the directory; nothing in them counts.
///
/// `volume` was opened before.
///
/// # Errors
/// `Corrupt` for a journal of a later release; `NoSpace`, `Io`.
pub(crate) async fn settle(
    dir: &Path,
    volume: &Volume,
    clean: bool,
    start: Option<u64>,
) -> Result<Settled, StorageError> {
    let failed = |error| StorageError::io(format!("replaying the journal in {}", dir.display()), error);
    let listed = files::list(dir).await.map_err(failed)?;
    let mut names: Vec<String> =
        listed.into_iter().filter(|entry| !entry.is_dir).map(|entry| entry.name).collect();
    names.retain(|name| names::is_kept(name) || (!clean && names::parse_file_name(name).is_some()));
    let mut last = BTreeSet::new();
    let mut settled = Settled::default();
    if !names.is_empty() {
        let places = Places::find(dir).await.map_err(failed)?;
        let mut replay = Replay { dir, places, settled, any: false };
        // The older ones first.
        let mut done = Vec::new();
        for name in names.iter().filter(|name| names::is_kept(name)) {
            if replay.give_back(name).await? {
                done.push(name);
            }
        }
        for (shard, found) in by_shard(dir, &names) {
            let newest = replay.journal(shard, found, start).await?;
            last.extend(newest.into_iter().map(|number| names::file_name(shard, number)));
        }
        if replay.any {
            volume.sync().await.map_err(failed)?;
        }
        for name in done {
            files::remove(&dir.join(name)).await.map_err(failed)?;
        }
        settled = replay.settled;
    }
    // After a clean stop its mark is there until they are gone.
    remove_some(dir, None, &last).await.map_err(failed)?;
    Ok(settled)
}

fn by_shard(dir: &Path, names: &[String]) -> BTreeMap<u16, Vec<(u32, PathBuf)>> {
    let mut shards: BTreeMap<u16, Vec<(u32, PathBuf)>> = BTreeMap::new();
    for name in names {
        if let Some((shard, number)) = names::parse_file_name(name) {
            shards.entry(shard).or_default().push((number, dir.join(name)));
        }
    }
    shards
}

struct Replay<'a> {
    dir: &'a Path,
    places: Places,
    settled: Settled,
    /// Whether anything was written.
    any: bool,
}

/// What became of one partition's entries.
enum Fate {
    /// Brought to its segment, as many as were needed.
    Placed(TopicPartition, usize),
    /// Another broker's records stand in their place.
    Foreign(TopicPartition, String),
    /// They may be of these partitions, which can't take them now.
    Waits(Vec<(TopicPartition, String)>),
    /// It was deleted.
    Deleted,
    /// There is no such partition, and nothing says that it was deleted.
    Gone,
}

impl Replay<'_> {
    /// Replays one shard's journal. Gives the files that were written last.
    async fn journal(
        &mut self,
        shard: u16,
        found: Vec<(u32, PathBuf)>,
        start: Option<u64>,
    ) -> Result<Vec<u32>, StorageError> {
        let journal = OpenJournal::open(found, start).await?;
        let replayed = self.replay(&journal).await;
        journal.close().await.map_err(|error| self.failed(error))?;
        let (entries, newest) = replayed.map_err(|error| self.failed(error))?;
        tracing::info!(dir = %self.dir.display(), shard, entries, "replayed a journal");
        Ok(newest)
    }

    async fn replay(&mut self, journal: &OpenJournal) -> io::Result<(usize, Vec<u32>)> {
        let found = journal.find().await?;
        let mut count = 0;
        for (id, entries) in found.needed {
            for (key, entries) in by_partition(entries) {
                match self.place(journal, &key, &entries).await? {
                    Fate::Placed(_, placed) => count += placed,
                    Fate::Foreign(partition, reason) => {
                        let name = names::foreign_name(id, &key);
                        let is_aside = self.put_aside(&name, id, journal, &entries).await?;
                        let entries = entries.len();
                        if is_aside {
                            tracing::warn!(%partition, entries, reason, "another broker had the directory since: the journal's records are set aside");
                        } else {
                            tracing::error!(%partition, entries, reason, "another broker had the directory since, and there is no space to set the journal's records aside: they are lost");
                        }
                    }
                    Fate::Waits(partitions) => {
                        let name = names::kept_name(id, &key);
                        kept::write(self.dir, &name, id, journal, &entries).await?;
                        self.wait(&name, entries.len(), partitions);
                    }
                    Fate::Deleted => {}
                    Fate::Gone => {
                        let name = names::kept_name(id, &key);
                        kept::write(self.dir, &name, id, journal, &entries).await?;
                        self.tell_gone(&name, &key, entries.len());
                    }
                }
            }
        }
        Ok((count, found.newest))
    }

    /// As well as may be: a full disk is no reason not to start. False if there was no space.
    async fn put_aside(
        &self,
        name: &str,
        id: u64,
        journal: &OpenJournal,
        entries: &[FoundEntry],
    ) -> io::Result<bool> {
        match kept::write(self.dir, name, id, journal, entries).await {
            Err(error) if crate::error::is_full(&error) => Ok(false),
            written => written.map(|()| true),
        }
    }

    /// Brings what was kept aside to its place, if there is one now. True if the file isn't needed any more.
    async fn give_back(&mut self, name: &str) -> Result<bool, StorageError> {
        let journal = OpenJournal::open(vec![(0, self.dir.join(name))], None).await?;
        let given = self.give_back_all(&journal, name).await;
        journal.close().await.map_err(|error| self.failed(error))?;
        given.map_err(|error| self.failed(error))
    }

    async fn give_back_all(&mut self, journal: &OpenJournal, name: &str) -> io::Result<bool> {
        let found = journal.find().await?;
        let mut is_done = true;
        for (id, entries) in found.needed {
            for (key, entries) in by_partition(entries) {
                match self.place(journal, &key, &entries).await? {
                    // The log has changed since: it has no segment for some, or would have a hole.
                    Fate::Placed(partition, placed) if placed < entries.len() => {
                        is_done &=
                            self.put_aside(&names::foreign_name(id, &key), id, journal, &entries).await?;
                        let entries = entries.len();
                        tracing::warn!(%partition, entries, placed, name, "not all records that were kept aside have a place any more: they stay aside");
                        self.settled.given_back.insert(partition);
                    }
                    Fate::Placed(partition, entries) => {
                        tracing::warn!(%partition, entries, name, "records that were kept aside are in their place");
                        self.settled.given_back.insert(partition);
                    }
                    Fate::Foreign(partition, reason) => {
                        is_done &=
                            self.put_aside(&names::foreign_name(id, &key), id, journal, &entries).await?;
                        let entries = entries.len();
                        tracing::warn!(%partition, entries, reason, name, "records that were kept aside don't continue the log any more");
                    }
                    Fate::Waits(partitions) => {
                        self.wait(name, entries.len(), partitions);
                        is_done = false;
                    }
                    Fate::Deleted => {}
                    Fate::Gone => {
                        self.tell_gone(name, &key, entries.len());
                        is_done = false;
                    }
                }
            }
        }
        Ok(is_done)
    }

    async fn place(
        &mut self,
        journal: &OpenJournal,
        key: &PartitionKey,
        entries: &[FoundEntry],
    ) -> io::Result<Fate> {
        let Some(Place { partition, path }) = self.places.of(key) else {
            return Ok(match self.places.perhaps_of(key) {
                [] if self.places.is_deleted(key) => Fate::Deleted,
                [] => Fate::Gone,
                partitions => Fate::Waits(partitions.to_vec()),
            });
        };
        let partition = partition.clone();
        match apply(journal, path, entries).await {
            Ok(Applied::Continued(count)) => {
                self.any |= count > 0;
                Ok(Fate::Placed(partition, count))
            }
            Ok(Applied::Foreign(reason)) => Ok(Fate::Foreign(partition, reason)),
            Err(Failure::Partition(error)) => Ok(Fate::Waits(vec![(partition, error.to_string())])),
            Err(Failure::Dir(error)) => Err(error),
        }
    }

    fn wait(&mut self, name: &str, entries: usize, partitions: Vec<(TopicPartition, String)>) {
        for (partition, reason) in partitions {
            tracing::error!(%partition, entries, name, reason, "the journal's records can't be brought to the partition, and are kept aside");
            let words =
                format!("records of it are kept in {name}, for a start that can bring them to it: {reason}");
            self.settled.kept.insert(partition, words);
        }
    }

    /// At every start, until the partition is here again, or its topic is known to be deleted.
    fn tell_gone(&self, name: &str, (topic_id, partition): &PartitionKey, entries: usize) {
        let dir = self.dir.display();
        tracing::error!(%dir, %topic_id, partition, entries, name, "records that only the journal had are of a partition that isn't in this log directory: was it moved away after a crash? They are kept aside, for a start that finds it here");
    }

    fn failed(&self, error: io::Error) -> StorageError {
        StorageError::io(format!("replaying the journal in {}", self.dir.display()), error)
    }
}

fn by_partition(entries: Vec<FoundEntry>) -> BTreeMap<PartitionKey, Vec<FoundEntry>> {
    let mut partitions: BTreeMap<PartitionKey, Vec<FoundEntry>> = BTreeMap::new();
    for found in entries {
        partitions.entry((found.entry.topic_id, found.entry.partition)).or_default().push(found);
    }
    partitions
}
