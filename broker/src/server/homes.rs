//! [`Homes`]: the log directories themselves, in the hands of shard 0: taken at the start, given back at the end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use shards::PartitionKey;
use storage::{
    ClosedDir, DirFacts, DirHome, HomeConfig, MetaProperties, Offsets, StorageError, TopicPartition,
};

use super::failure::Failure;
use super::log_dirs::JointDirs;
use super::strays;
use super::whereabouts::{self, DirIndex, Found, Place};
use crate::config::BrokerConfig;
use crate::metadata::Image;

/// One for each of `log.dirs`, in that order; `None` for one that is offline.
#[derive(Debug)]
pub(super) struct Homes(Vec<Option<DirHome>>);

/// What the directories hold, in the order of `log.dirs`, or why one is offline.
pub(super) type AllFacts = Vec<Result<DirFacts, String>>;

impl Homes {
    /// Takes all directories. One whose disk fails is offline, and the others are used.
    ///
    /// # Errors
    /// None can be used, or not the one with the metadata; or one is another's: of another node or cluster, or in use.
    pub(super) async fn open(config: &BrokerConfig) -> Result<(Self, AllFacts), Failure> {
        let mut order: Vec<DirIndex> = (0..config.log_dirs.len()).collect();
        // The one with the metadata is made first: then a first start that is cut short doesn't look as if it were lost.
        order.sort_by_key(|index| config.log_dirs[*index] != config.metadata_log_dir);
        let mut homes: Vec<Option<DirHome>> = order.iter().map(|_| None).collect();
        let mut all: AllFacts = order.iter().map(|_| Err(String::new())).collect();
        let mut cluster_id = known_cluster_id(&config.log_dirs).await;
        for index in order {
            let path = &config.log_dirs[index];
            match open_one(config, path, cluster_id.clone()).await {
                Ok((home, facts)) => {
                    cluster_id = Some(facts.cluster_id.clone());
                    homes[index] = Some(home);
                    all[index] = Ok(facts);
                }
                Err(error @ (StorageError::Refused { .. } | StorageError::Corrupt { .. })) => {
                    return Err(Failure::unusable(error));
                }
                Err(error) if *path == config.metadata_log_dir || config.log_dirs.len() == 1 => {
                    return Err(Failure::unusable(error));
                }
                Err(error) => all[index] = Err(offline(path, &error)),
            }
        }
        if let Some(twice) = same_id(&all) {
            let [a, b] = twice.map(|index: DirIndex| config.log_dirs[index].display());
            return Err(Failure::unusable(format!(
                "{a} and {b} have the same directory.id: one is a copy of the other"
            )));
        }
        if homes.iter().all(Option::is_none) {
            let reasons: Vec<String> = all.into_iter().filter_map(Result::err).collect();
            return Err(Failure::unusable(format!("no log directory can be used: {}", reasons.join("; "))));
        }
        Ok((Self(homes), all))
    }

    /// The cluster that they are of.
    pub(super) fn cluster_id(all: &AllFacts) -> String {
        let mut known = all.iter().flatten().map(|facts| facts.cluster_id.clone());
        known.next().unwrap_or_default()
    }

    /// Puts in order what they hold, by what the metadata say. To be called before any shard opens a log. One whose disk fails at that is offline, and
    /// the others are used.
    ///
    /// # Errors
    /// None is left, or not the one with the metadata.
    pub(super) async fn settle(
        &mut self,
        config: &BrokerConfig,
        image: &Image,
        mut all: AllFacts,
    ) -> Result<JointDirs, Failure> {
        loop {
            let (index, error) = match self.tidy(image, config.node_id, &mut all).await {
                Ok(places) => return Ok(JointDirs { facts: all, places }),
                Err(failed) => failed,
            };
            let path = &config.log_dirs[index];
            let is_last = all.iter().flatten().count() < 2;
            if is_last || *path == config.metadata_log_dir {
                return Err(Failure::fatal(error));
            }
            all[index] = Err(offline(path, &error));
            self.0[index] = None;
            // What was in it is looked for anew.
        }
    }

    /// Gives which partitions aren't where the metadata say; or the directory that failed.
    async fn tidy(
        &self,
        image: &Image,
        node_id: i32,
        all: &mut AllFacts,
    ) -> Result<BTreeMap<PartitionKey, Place>, (DirIndex, StorageError)> {
        let deleted = image.removed_topics();
        for (index, (home, facts)) in self.0.iter().zip(all.iter_mut()).enumerate() {
            if let (Some(home), Ok(facts)) = (home, facts) {
                let unknown = strays::among(&facts.partitions, image);
                let done = home.set_aside(&unknown, &deleted, facts).await;
                done.map_err(|error| (index, error))?;
            }
        }
        let seen: Vec<Option<&DirFacts>> = all.iter().map(|facts| facts.as_ref().ok()).collect();
        let found = whereabouts::find(image, node_id, &seen);
        for (index, copy) in &found.copies {
            if let (Some(Some(home)), Some(Ok(facts))) = (self.0.get(*index), all.get_mut(*index)) {
                home.set_aside_copy(copy, facts).await.map_err(|error| (*index, error))?;
            }
        }
        for (index, (home, facts)) in self.0.iter().zip(&*all).enumerate() {
            if let (Some(home), Ok(facts)) = (home, facts) {
                let is_whole = |partition: &TopicPartition| is_whole(image, partition, &found, all);
                home.remove_futures(facts, is_whole).await.map_err(|error| (index, error))?;
            }
        }
        Ok(found.places)
    }

    /// Says that all shards have opened their logs. Gives those that failed at that.
    pub(super) async fn begin_use(&self) -> Vec<(DirIndex, StorageError)> {
        let mut failed = Vec::new();
        for (index, home) in self.0.iter().enumerate() {
            if let Some(home) = home
                && let Err(error) = home.begin_use().await
            {
                failed.push((index, error));
            }
        }
        failed
    }

    /// Closes them with what the shards closed of each. One that failed is left as it is: the next start recovers it.
    ///
    /// # Errors
    /// One that didn't fail wasn't closed cleanly: the next start recovers.
    pub(super) async fn close(
        self,
        mut shards: Vec<Vec<Option<ClosedDir>>>,
        broker_epoch: i64,
    ) -> Result<(), Failure> {
        let mut result = Ok(());
        for (index, home) in self.0.into_iter().enumerate() {
            let Some(home) = home else { continue };
            let closed = shards.iter_mut().map(|shard| shard.get_mut(index).and_then(Option::take));
            let Some(closed) = closed.collect::<Option<Vec<ClosedDir>>>() else {
                tracing::warn!(dir = %home.path().display(), "a log directory is left as its failure left it");
                continue;
            };
            if let Err(error) = close_one(home, &closed, broker_epoch).await {
                result = Err(Failure::fatal(format!("a log directory wasn't closed cleanly: {error}")));
            }
        }
        result
    }
}

/// Whether the log of a partition that the metadata know is in its place.
fn is_whole(image: &Image, partition: &TopicPartition, found: &Found, all: &AllFacts) -> bool {
    let Some(topic) = image.topic(&partition.topic) else { return false };
    let key = PartitionKey { topic_id: topic.id, partition: partition.partition };
    let is_offline = matches!(found.places.get(&key), Some(Place::Offline(_)));
    !is_offline && all.iter().flatten().any(|facts| facts.partitions.contains(partition))
}

/// Says it, and gives why.
fn offline(path: &Path, error: &StorageError) -> String {
    tracing::error!(dir = %path.display(), %error, "a log directory can't be used: its partitions are offline until a restart");
    error.to_string()
}

async fn open_one(
    config: &BrokerConfig,
    path: &Path,
    cluster_id: Option<String>,
) -> Result<(DirHome, DirFacts), StorageError> {
    let home = HomeConfig { node_id: config.node_id, cluster_id };
    let (home, facts) = DirHome::open(path, home).await?;
    home.make_ballast(config.ringlog.disk_ballast_bytes).await?;
    Ok((home, facts))
}

/// The first that a directory tells: a new directory joins the others' cluster, wherever it stands among them.
async fn known_cluster_id(dirs: &[PathBuf]) -> Option<String> {
    for dir in dirs {
        // What is wrong with it, opening it tells.
        if let Ok(Some(identity)) = MetaProperties::read(dir).await {
            return Some(identity.cluster_id);
        }
    }
    None
}

fn same_id(all: &AllFacts) -> Option<[DirIndex; 2]> {
    let mut seen = BTreeMap::new();
    for (index, facts) in all.iter().enumerate() {
        if let Ok(facts) = facts
            && let Some(other) = seen.insert(facts.directory_id, index)
        {
            return Some([other, index]);
        }
    }
    None
}

async fn close_one(home: DirHome, closed: &[ClosedDir], broker_epoch: i64) -> Result<(), StorageError> {
    // The ISR is this node alone: all that was closed is committed.
    let marks: Offsets = closed
        .iter()
        .flat_map(|dir| dir.logs.iter().map(|(partition, at)| (partition.clone(), at.end)))
        .collect();
    home.close(closed, &marks, broker_epoch).await
}
