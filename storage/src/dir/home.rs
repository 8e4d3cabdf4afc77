//! [`DirHome`]: the directory itself, in the hands of one shard.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use protocol::types::Uuid;
use rt::fs::Volume;

use super::files;
use super::log_dir::ClosedDir;
use super::meta::{self, MetaProperties};
use super::offsets_file::{self, Offsets};
use super::{room, start, unrecovered};
use crate::journal::replay;
use crate::limits::TEXT_FILE_BYTES_MAX;
use crate::segment::names;
use crate::{StorageError, TopicPartition};

/// Who uses the directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeConfig {
    /// `node.id`.
    pub node_id: i32,
    /// The cluster it must be of; `None` takes what the directory says, or a new random one.
    pub cluster_id: Option<String>,
}

/// What the other shards need to know of the directory to open their logs. Goes to them by message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirFacts {
    /// Whether the last stop was clean.
    pub clean: bool,
    /// The broker epoch of the last clean stop, -1 without.
    pub clean_broker_epoch: i64,
    /// The cluster's id.
    pub cluster_id: String,
    /// The directory's id.
    pub directory_id: Uuid,
    /// Partitions that have a directory here.
    pub partitions: Vec<TopicPartition>,
    /// Logs that were on their way here from another directory, with the names of their directories.
    pub futures: Vec<(TopicPartition, String)>,
    /// Those that are as a crash left them, though the last stop was clean: nobody knew them since.
    pub unrecovered: BTreeSet<TopicPartition>,
    /// Where logs start, as a clean stop wrote it.
    pub log_starts: Offsets,
    /// Up to where logs are compacted, as a stop wrote it, Kafka's own or this program's; gone once the directory is in
    /// use. `None` without that file: then the logs' own count.
    pub cleaned: Option<Offsets>,
    /// What was synced, as a clean stop wrote it; gone once the directory is in use.
    pub recovery_points: Offsets,
    /// High watermarks, as a clean stop wrote them.
    pub high_watermarks: Offsets,
    /// Partitions that stay offline because records of theirs are kept aside, with words for the operator.
    pub unreplayed: BTreeMap<TopicPartition, String>,
    /// This start's id, which journals repeat; 0 if the directory doesn't have it.
    pub start: u64,
}

/// The directory's lock, identity and clean-shutdown marker. Exactly one shard of one process holds it.
#[derive(Debug)]
pub struct DirHome {
    path: PathBuf,
    lock: rt::fs::FileLock,
    /// Whether the last stop was clean: then logs that nobody opened are still as it left them.
    was_clean: bool,
    /// Those that aren't, all the same.
    unrecovered: BTreeSet<TopicPartition>,
    /// Where logs start, and up to where they were synced, by the directory's files.
    pub(super) log_starts: Offsets,
    pub(super) recovery_points: Offsets,
}

impl DirHome {
    /// Takes the directory: makes it if need be, locks it, checks or writes `meta.properties`, removes what
    /// deletions left behind, and finds out how the last stop was. Its mark stays until [`Self::begin_use`].
    ///
    /// # Errors
    /// `Refused`: another process has it, or it is of another node or cluster; `Corrupt`, `Io`.
    pub async fn open(
        path: impl Into<PathBuf>,
        config: HomeConfig,
    ) -> Result<(Self, DirFacts), StorageError> {
        let path = path.into();
        let failed = |error| StorageError::io(format!("opening {}", path.display()), error);
        rt::fs::create_dir_all(&path).await.map_err(failed)?;
        let lock = match rt::fs::try_lock(&path.join(meta::LOCK)).await.map_err(failed)? {
            Some(lock) => lock,
            None => return Err(refused(&path, "another process uses this directory".into())),
        };
        if rt::fs::exists(&path.join(meta::ADOPTING)).await {
            let reason = "an adoption into it isn't finished: run the same `ringlog log adopt` again";
            return Err(refused(&path, reason.into()));
        }
        let mut home = Self {
            path,
            lock,
            was_clean: false,
            unrecovered: BTreeSet::new(),
            log_starts: Offsets::new(),
            recovery_points: Offsets::new(),
        };
        // Before anything is written of which it must tell whether that failed.
        let volume = Volume::open(home.path.join(meta::LOCK)).await;
        let volume = volume.map_err(|error| home.io("opening", error))?;
        let identity = home.identity(config).await?;
        let (mut facts, put_away) = home.survey(identity).await.map_err(|error| home.io("reading", error))?;
        // An earlier start may have been killed before it synced what this one has read.
        let settled = async {
            files::sync_dir(&home.path).await?;
            match home.path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
                Some(parent) => files::sync_dir(parent).await,
                None => Ok(()),
            }
        };
        settled.await.map_err(|error| home.io("taking into use", error))?;
        // Before anything looks at a segment.
        home.replay(&volume, &mut facts).await?;
        // The journal has nothing of them any more.
        for name in put_away {
            home.remove_put_away(&name)
                .await
                .map_err(|error| home.io("removing what a deletion left in", error))?;
        }
        (home.was_clean, home.unrecovered) = (facts.clean, facts.unrecovered.clone());
        (home.log_starts, home.recovery_points) = (facts.log_starts.clone(), facts.recovery_points.clone());
        Ok((home, facts))
    }

    async fn replay(&self, volume: &Volume, facts: &mut DirFacts) -> Result<(), StorageError> {
        let last = start::read(&self.path).await.map_err(|error| self.io("reading", error))?;
        let settled = replay::settle(&self.path, volume, facts.clean, last).await?;
        // No clean stop has seen what they got back.
        facts.unrecovered.extend(settled.given_back);
        facts.unreplayed = settled.kept;
        facts.start =
            start::begin(&self.path, last).await.map_err(|error| self.io("taking into use", error))?;
        Ok(())
    }

    /// Makes the ballast, or removes it if it is to have no size; to be called before any shard opens its logs. Without space
    /// for it there is none, until there is.
    ///
    /// # Errors
    /// `Io`.
    pub async fn make_ballast(&self, bytes: u64) -> Result<(), StorageError> {
        let made = async {
            let space = rt::fs::space(&self.path).await?;
            room::make_ballast(&self.path, bytes, space).await
        };
        match made.await.map_err(|error| self.io("making the ballast in", error)) {
            Err(StorageError::NoSpace) => Ok(()),
            made => made,
        }
    }

    /// Says that all shards have opened their logs: what a clean stop wrote of them is history, and so is that
    /// stop: from now on a crash is a crash. To be called before the first append. Up to here nothing was
    /// changed that makes a log other than the clean stop left it, so that a start cut short costs the next one
    /// nothing.
    ///
    /// # Errors
    /// `Io`.
    pub async fn begin_use(&self) -> Result<(), StorageError> {
        let begin = async {
            self.keep_log_starts().await?;
            files::remove(&self.path.join(meta::CLEAN_MARKER)).await?;
            // By name, not by topic: they would be taken for those of a later topic of that name. What they
            // said is in the logs' own files now, or kept beside.
            files::remove(&self.path.join(offsets_file::RECOVERY_POINTS)).await?;
            files::remove(&self.path.join(offsets_file::LOG_STARTS)).await?;
            files::remove(&self.path.join(offsets_file::CLEANED)).await?;
            files::sync_dir(&self.path).await
        };
        begin.await.map_err(|error| self.io("taking into use", error))
    }

    /// Writes Kafka's files of offsets and, if all shards closed cleanly, the marker; then gives the lock
    /// back. Logs that no shard has opened are no reason against it: which of them a crash left is written
    /// beside it.
    ///
    /// # Errors
    /// `Io`.
    pub async fn close(
        self,
        shards: &[ClosedDir],
        high_watermarks: &Offsets,
        broker_epoch: i64,
    ) -> Result<(), StorageError> {
        let unrecovered = self.unrecovered(shards).await.map_err(|error| self.io("closing", error))?;
        let clean = shards.iter().all(|shard| shard.clean);
        let ends: Offsets =
            shards.iter().flat_map(ClosedDir::ends).map(|(of, end)| (of.clone(), end)).collect();
        let all = || shards.iter().flat_map(|shard| &shard.logs);
        let closed = all().filter(|(_, at)| at.start_is_inside);
        let mut starts: Offsets = closed.map(|(of, at)| (of.clone(), at.start)).collect();
        let cleaned: Offsets =
            all().filter_map(|(of, at)| at.cleaned.map(|cleaned| (of.clone(), cleaned))).collect();
        let write = async {
            starts.extend(self.kept_log_starts(shards).await?);
            let path = |name: &str| self.path.join(name);
            files::replace(&path(offsets_file::LOG_STARTS), offsets_file::to_text(&starts)).await?;
            files::replace(&path(offsets_file::CLEANED), offsets_file::to_text(&cleaned)).await?;
            files::replace(&path(offsets_file::HIGH_WATERMARKS), offsets_file::to_text(high_watermarks))
                .await?;
            if clean {
                files::replace(&path(offsets_file::RECOVERY_POINTS), offsets_file::to_text(&ends)).await?;
                self.write_unrecovered(&unrecovered).await?;
                files::replace(&path(meta::CLEAN_MARKER), meta::clean_marker_text(broker_epoch)).await?;
            }
            Ok(())
        };
        write.await.map_err(|error| self.io("closing", error))?;
        drop(self.lock);
        Ok(())
    }

    /// Partitions that are as a crash left them: no shard opened them, and so none recovered them.
    async fn unrecovered(&self, shards: &[ClosedDir]) -> std::io::Result<BTreeSet<TopicPartition>> {
        let closed: BTreeSet<&TopicPartition> =
            shards.iter().flat_map(|shard| &shard.logs).map(|(partition, _)| partition).collect();
        let entries = files::list(&self.path).await?;
        let found =
            entries.iter().filter(|e| e.is_dir).filter_map(|entry| names::parse_dir_name(&entry.name));
        let is_left = |partition: &TopicPartition| {
            !closed.contains(partition) && (!self.was_clean || self.unrecovered.contains(partition))
        };
        Ok(found.filter(is_left).collect())
    }

    async fn write_unrecovered(&self, partitions: &BTreeSet<TopicPartition>) -> std::io::Result<()> {
        let file = self.path.join(unrecovered::UNRECOVERED);
        match partitions.first() {
            // One that comes back after a crash names what needs no recovery: that costs time only.
            None => files::remove(&file).await,
            Some(first) => {
                let logs = partitions.len();
                tracing::warn!(logs, %first, "logs that nobody opened since a crash: they are recovered once they are");
                files::replace(&file, unrecovered::to_text(partitions)).await
            }
        }
    }

    async fn identity(&self, config: HomeConfig) -> Result<MetaProperties, StorageError> {
        let file = self.path.join(meta::META_PROPERTIES);
        let Some(identity) = MetaProperties::read(&self.path).await? else {
            let random = || Uuid::from_random(rt::random_bytes());
            let identity = MetaProperties {
                node_id: config.node_id,
                cluster_id: config.cluster_id.unwrap_or_else(|| random().to_string()),
                directory_id: random(),
            };
            files::replace(&file, identity.to_text()).await.map_err(|error| self.io("writing", error))?;
            return Ok(identity);
        };
        if identity.node_id != config.node_id {
            let reason = format!("it is of node {}, this is node {}", identity.node_id, config.node_id);
            return Err(refused(&file, reason));
        }
        if let Some(cluster_id) = config.cluster_id.filter(|cluster_id| *cluster_id != identity.cluster_id) {
            let reason = format!("it is of cluster {}, this node is of {cluster_id}", identity.cluster_id);
            return Err(refused(&file, reason));
        }
        Ok(identity)
    }

    /// Gives the names of deleted partitions' directories too, with all in them that takes space removed.
    async fn survey(&self, identity: MetaProperties) -> std::io::Result<(DirFacts, Vec<String>)> {
        let (mut partitions, mut futures, mut put_away) = (Vec::new(), Vec::new(), Vec::new());
        for entry in files::list(&self.path).await? {
            if entry.is_dir && names::is_deleted_dir(&entry.name) {
                self.empty_put_away(&entry.name).await?;
                put_away.push(entry.name);
            } else if let Some(partition) = names::parse_future_dir_name(&entry.name).filter(|_| entry.is_dir)
            {
                futures.push((partition, entry.name));
            } else if entry.is_dir {
                partitions.extend(names::parse_dir_name(&entry.name));
            } else if names::is_leftover(&entry.name) {
                files::remove(&self.path.join(&entry.name)).await?;
            }
        }
        let marker = files::read_text(&self.path.join(meta::CLEAN_MARKER), TEXT_FILE_BYTES_MAX).await?;
        let unrecovered = self.read_unrecovered().await?;
        // Without knowing which ones it leaves out, a clean stop is worth nothing.
        let unrecovered = marker.as_ref().and(unrecovered);
        let facts = DirFacts {
            clean: unrecovered.is_some(),
            unrecovered: unrecovered.unwrap_or_default(),
            clean_broker_epoch: marker.as_deref().map_or(-1, meta::parse_clean_marker),
            cluster_id: identity.cluster_id,
            directory_id: identity.directory_id,
            partitions,
            futures,
            log_starts: self.all_log_starts().await?,
            recovery_points: self.offsets(offsets_file::RECOVERY_POINTS).await?,
            cleaned: match rt::fs::exists(&self.path.join(offsets_file::CLEANED)).await {
                true => Some(self.offsets(offsets_file::CLEANED).await?),
                false => None,
            },
            high_watermarks: self.offsets(offsets_file::HIGH_WATERMARKS).await?,
            unreplayed: BTreeMap::new(),
            start: 0,
        };
        Ok((facts, put_away))
    }

    /// `None` if the file is there and can't be read.
    async fn read_unrecovered(&self) -> std::io::Result<Option<BTreeSet<TopicPartition>>> {
        let file = self.path.join(unrecovered::UNRECOVERED);
        let parsed = match files::content(files::read_text(&file, TEXT_FILE_BYTES_MAX).await)? {
            Ok(None) => return Ok(Some(BTreeSet::new())),
            Ok(Some(text)) => unrecovered::parse(&text),
            Err(reason) => Err(reason),
        };
        let warn = |reason: &String| tracing::warn!(file = %file.display(), reason, "damaged: all logs are recovered");
        Ok(parsed.inspect_err(warn).ok())
    }

    /// A file of offsets; one that can't be read counts as empty, which costs time or a replica's head start,
    /// never data.
    pub(super) async fn offsets(&self, name: &str) -> std::io::Result<Offsets> {
        let file = self.path.join(name);
        let parsed = match files::content(files::read_text(&file, TEXT_FILE_BYTES_MAX).await)? {
            Ok(None) => return Ok(Offsets::new()),
            Ok(Some(text)) => offsets_file::parse(&text),
            Err(reason) => Err(reason),
        };
        Ok(parsed.unwrap_or_else(|reason| {
            tracing::warn!(file = %file.display(), reason, "a file of offsets is damaged and ignored");
            Offsets::new()
        }))
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn io(&self, what: &str, error: std::io::Error) -> StorageError {
        StorageError::io(format!("{what} {}", self.path.display()), error)
    }
}

fn refused(path: &Path, reason: String) -> StorageError {
    StorageError::Refused { path: path.display().to_string(), reason }
}
