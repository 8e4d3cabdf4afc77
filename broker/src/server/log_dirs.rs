//! [`LogDirs`]: a shard's parts of the node's log directories (`log.dirs`).
//!
//! Each directory is by itself: it has a lock, an identity, journals and a committer of its own, and one that fails, or couldn't be opened, takes only
//! its partitions offline, on all shards, until another start. Without the one that holds the metadata, and without any, the node ends.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use protocol::messages::BrokerHeartbeatRequest;
use protocol::types::Uuid;
use rt::ShardId;
use shards::PartitionKey;
use storage::{DirFacts, Log, LogDir, LogDirConfig, TopicPartition};

use super::failure::Failure;
use super::first;
use super::piece::Piece;
use super::state::ShardState;
use super::whereabouts::{DirIndex, Place};
use crate::metadata::{ControllerReply, ControllerRequest};

/// How often who waits for the node's registration looks for it.
const REGISTRATION_POLL: Duration = Duration::from_millis(50);

/// Reasons for which partitions have no place that a shard tells the operator: about one a directory.
const REASONS_TOLD_MAX: usize = 100;
/// After what time the controller is told again what it refused: at first, and at most.
const TELL_PAUSE_MIN: Duration = Duration::from_secs(1);
const TELL_PAUSE_MAX: Duration = Duration::from_secs(60);

/// What all shards are told of the directories.
#[derive(Debug, Clone)]
pub(super) struct JointDirs {
    /// In the order of `log.dirs`: what a directory holds, or why it is offline.
    pub(super) facts: Vec<Result<DirFacts, String>>,
    /// Partitions that aren't where the metadata say.
    pub(super) places: BTreeMap<PartitionKey, Place>,
}

/// A directory on this shard.
#[derive(Debug)]
pub struct ShardDir {
    path: PathBuf,
    id: Uuid,
    opened: Result<LogDir, String>,
    /// Whether the node could open it.
    was_online: bool,
}

/// All of them, in the order of `log.dirs`.
#[derive(Debug)]
pub struct LogDirs {
    dirs: Vec<ShardDir>,
    /// The one with the metadata log, if it is one of them.
    metadata: Option<DirIndex>,
    places: RefCell<BTreeMap<PartitionKey, Place>>,
    /// Why partitions have no place, as far as it was told.
    told: RefCell<BTreeSet<String>>,
}

impl LogDirs {
    /// Opens this shard's part of each directory that is online.
    ///
    /// # Errors
    /// What the node can't do without can't be opened.
    pub(super) async fn open(
        paths: &[PathBuf],
        metadata_dir: &Path,
        joint: JointDirs,
        config: &LogDirConfig,
    ) -> Result<Self, Failure> {
        let mut dirs = Vec::with_capacity(paths.len());
        for (path, facts) in paths.iter().zip(joint.facts) {
            let (id, was_online) =
                facts.as_ref().map_or((Uuid::ZERO, false), |facts| (facts.directory_id, true));
            let opened = match facts {
                Ok(facts) => {
                    LogDir::open(path, facts, config.clone()).await.map_err(|error| error.to_string())
                }
                Err(reason) => Err(reason),
            };
            dirs.push(ShardDir { path: path.clone(), id, opened, was_online });
        }
        let metadata = paths.iter().position(|path| path == metadata_dir);
        let (places, told) = (RefCell::new(joint.places), RefCell::default());
        let dirs = Self { dirs, metadata, places, told };
        let failures =
            dirs.all().filter(|(index, _)| dirs.is_vital(*index)).filter_map(|(_, dir)| dir.failure());
        let vital = failures.last();
        match vital {
            Some(failure) => Err(Failure::fatal(failure)),
            None => Ok(dirs),
        }
    }

    /// All, with their numbers.
    pub fn all(&self) -> impl Iterator<Item = (DirIndex, &ShardDir)> {
        self.dirs.iter().enumerate()
    }

    /// This shard's parts of those that could be opened, also of what failed since.
    pub fn opened(&self) -> impl Iterator<Item = &LogDir> {
        self.dirs.iter().filter_map(ShardDir::opened)
    }

    /// This shard's parts of those that are online.
    pub fn online(&self) -> impl Iterator<Item = &LogDir> {
        self.dirs.iter().filter_map(ShardDir::online)
    }

    /// The directory of that number.
    pub fn get(&self, index: DirIndex) -> Option<&ShardDir> {
        self.dirs.get(index)
    }

    /// The log of that name, wherever it is open. What it was moved from may not be gone yet: one that is online goes before.
    pub fn log(&self, partition: &TopicPartition) -> Option<(&LogDir, Log)> {
        let found = || self.opened().filter_map(|dir| Some((dir, dir.log(partition)?)));
        found().find(|(_, log)| !log.is_offline()).or_else(|| found().next())
    }

    /// All open logs.
    pub fn logs(&self) -> Vec<Log> {
        self.opened().flat_map(LogDir::logs).collect()
    }

    /// The part that gives a log to stand in for one that can't be had: any that was opened.
    pub(super) fn of_stand_ins(&self) -> Option<&LogDir> {
        self.opened().next()
    }

    /// Where a partition is, or is to be made, if the metadata say `directory`.
    ///
    /// # Errors
    /// It is in none that is online: why, in words.
    pub(super) fn place_of(&self, key: &PartitionKey, directory: Uuid) -> Result<&LogDir, String> {
        let index = match self.places.borrow().get(key) {
            Some(Place::In(index)) => Some(*index),
            Some(Place::Offline(reason)) => return Err(reason.clone()),
            None => self.dirs.iter().position(|dir| dir.id == directory && !directory.is_zero()),
        };
        let dir = match index.and_then(|index| self.get(index)) {
            Some(dir) => dir,
            // A broker that told its directories gets none made elsewhere.
            None if directory.is_zero() => {
                return self.online().next().ok_or_else(|| "all are offline".to_owned());
            }
            None => {
                return Err(format!("its log directory, {directory}, isn't one of log.dirs, or is offline"));
            }
        };
        dir.online().ok_or_else(|| format!("the log directory {} is offline", dir.path.display()))
    }

    /// Whether the operator wasn't told yet that partitions have no place for this reason.
    pub(super) fn is_news(&self, reason: &str) -> bool {
        let mut told = self.told.borrow_mut();
        told.len() < REASONS_TOLD_MAX && told.insert(reason.to_owned())
    }

    /// Partitions that the start found elsewhere than the metadata say, with the directory's id.
    pub(super) fn misplaced(&self) -> Vec<(PartitionKey, Uuid)> {
        let places = self.places.borrow();
        let found = places.iter().filter_map(|(key, place)| match place {
            Place::In(index) => Some((*key, self.dirs.get(*index)?.id)),
            Place::Offline(_) => None,
        });
        found.collect()
    }

    /// The directory of that path, as DescribeLogDirs tells it.
    pub fn at_path(&self, path: &str) -> Option<(DirIndex, &ShardDir)> {
        self.all().find(|(_, dir)| dir.told_path() == path)
    }

    /// Another shard had the partition since the start, and it is in this directory.
    pub(super) fn take_in(&self, key: PartitionKey, name: &TopicPartition, index: DirIndex) {
        self.places.borrow_mut().insert(key, Place::In(index));
        self.opened().for_each(|dir| dir.outdate(name));
    }

    /// The metadata know where the partition is.
    pub(super) fn forget_place(&self, key: &PartitionKey) {
        self.places.borrow_mut().remove(key);
    }

    /// Whether the node can't do without that directory: it holds the metadata, or no other is online.
    pub(super) fn is_vital(&self, index: DirIndex) -> bool {
        let is_other_online = || self.all().any(|(other, dir)| other != index && dir.online().is_some());
        self.metadata == Some(index) || !is_other_online()
    }

    /// Id of the directory with the metadata log; of the first where that has a directory of its own.
    pub fn metadata_dir_id(&self) -> Uuid {
        self.dirs.get(self.metadata.unwrap_or(0)).map_or(Uuid::ZERO, |dir| dir.id)
    }

    /// Takes a directory offline here: another shard met a failure of it.
    pub(super) fn fail(&self, index: DirIndex, reason: &str) {
        if let Some(dir) = self.dirs.get(index).and_then(ShardDir::opened) {
            dir.fail(reason);
        }
    }
}

impl ShardDir {
    /// As it stands in `log.dirs`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// As Kafka tells it, also for a directory that was given relative to the working directory.
    pub fn told_path(&self) -> String {
        std::path::absolute(&self.path).unwrap_or_else(|_| self.path.clone()).display().to_string()
    }

    /// Its id; zero where it was offline at the start.
    pub fn id(&self) -> Uuid {
        self.id
    }

    /// This shard's part, also if it failed since.
    pub fn opened(&self) -> Option<&LogDir> {
        self.opened.as_ref().ok()
    }

    /// This shard's part, if it is online.
    pub fn online(&self) -> Option<&LogDir> {
        self.opened().filter(|dir| dir.failure().is_none())
    }

    /// Why it is offline, if it is.
    pub fn failure(&self) -> Option<String> {
        match &self.opened {
            Ok(dir) => dir.failure(),
            Err(reason) => Some(reason.clone()),
        }
    }

    async fn failed(&self) -> String {
        match &self.opened {
            Ok(dir) => dir.failed().await,
            Err(reason) => reason.clone(),
        }
    }
}

/// Watches each directory that was online when the node started.
pub(super) fn watch(shard: &Rc<ShardState>) {
    for (index, _) in shard.log_dirs.all().filter(|(_, dir)| dir.was_online) {
        shard.tasks.spawn(watch_one(Rc::clone(shard), index));
    }
}

/// When it fails here, it is offline on all shards; the first one tells them, and the controller.
async fn watch_one(shard: Rc<ShardState>, index: DirIndex) {
    let Some(dir) = shard.log_dirs.get(index) else { return };
    let reason = dir.failed().await;
    if shard.log_dirs.is_vital(index) {
        let text = format!("the log directory {} failed: {reason}", dir.path.display());
        return shard.failures.tell(Failure::fatal(text));
    }
    let failed = |peer| shard.call(peer, Piece::DirFailed { dir: index, reason: reason.clone() });
    let Some(first) = &shard.first else {
        failed(ShardId(0)).await;
        return;
    };
    tracing::error!(dir = %dir.path.display(), reason, "a log directory failed: its partitions are offline until a restart, the others are served");
    for peer in (1..shard.node.shards).map(ShardId) {
        failed(peer).await;
    }
    // The registration may have been on its way with the directory in it.
    while first.broker_epoch.get() < 0 {
        rt::sleep(REGISTRATION_POLL).await;
    }
    let mut pause = TELL_PAUSE_MIN;
    loop {
        let request = BrokerHeartbeatRequest {
            broker_id: shard.node.config.node_id,
            broker_epoch: first.broker_epoch.get(),
            offline_log_dirs: vec![dir.id],
            ..Default::default()
        };
        match first::control(&shard, ControllerRequest::BrokerHeartbeat(request)).await {
            ControllerReply::BrokerHeartbeat(reply) if reply.error_code == 0 => return,
            // Clients would be sent to what isn't served.
            reply => {
                tracing::warn!(dir = %dir.path.display(), ?reply, "the controller can't be told yet of a failed log directory");
            }
        }
        rt::sleep(pause).await;
        pause = (pause * 2).min(TELL_PAUSE_MAX);
    }
}
