//! A log on its way from another log directory (AlterReplicaLogDirs, KIP-113): made beside, filled by the caller, put in its place.
//!
//! Until it is in its place its directory is `<topic>-<n>.<unique>-future`, as Kafka's, and goes past the journal, which tells records by topic
//! and partition. It is none of [`LogDir::logs`], and no stop finishes it: a start removes what it finds of one ([`DirHome::remove_futures`]).

use std::rc::Rc;

use protocol::types::Uuid;

use super::files;
use super::home::DirHome;
use super::log_dir::LogDir;
use crate::error::is_full;
use crate::log::open::{self, Known};
use crate::segment::names;
use crate::{DirFacts, Log, LogConfig, StorageError, TopicPartition};

impl LogDir {
    /// Makes an empty log beside the place of the partition's.
    ///
    /// # Errors
    /// `Offline`, `NoSpace`, `Io`.
    pub async fn create_future(
        &self,
        partition: TopicPartition,
        topic_id: Uuid,
        config: LogConfig,
    ) -> Result<Log, StorageError> {
        if self.is_ending() {
            return Err(StorageError::Offline);
        }
        let name = names::put_away_dir_name(&partition, rt::random_bytes(), names::FUTURE_SUFFIX);
        let path = self.shared().path.join(name);
        // Its own start counts, whatever the directory's files say of one of that name.
        open::create_at(&path, self.shared(), partition, topic_id, config, true).await
    }

    /// Puts such a log, which was closed ([`Log::close`]), into the place of the partition's, and opens it there.
    ///
    /// # Errors
    /// `Exists`: the place isn't free; `Offline`, `NoSpace`, `Io`.
    pub async fn promote(&self, future: &Log, config: LogConfig) -> Result<Log, StorageError> {
        let partition = future.partition().clone();
        let _busy = self.begin(&partition)?;
        let shared = self.shared();
        let path = shared.path.join(names::dir_name(&partition));
        if rt::fs::exists(&path).await {
            return Err(StorageError::Exists(partition));
        }
        let renamed = async {
            rt::fs::rename(&future.0.path, &path).await?;
            files::sync_dir(&shared.path).await
        };
        renamed.await.map_err(|error| {
            if !is_full(&error) {
                shared.fail(format!("renaming to {}: {error}", path.display()));
            }
            StorageError::io(format!("renaming to {}", path.display()), error)
        })?;
        let log = open::open(shared, partition.clone(), config, Known::default()).await?;
        self.admit(&partition, &log)?;
        Ok(log)
    }

    /// Takes such a log out of the place that [`Self::promote`] put it in, also if it couldn't be opened there. Its files go in the background.
    ///
    /// # Errors
    /// As of [`Self::delete_log_of`].
    pub async fn withdraw(&self, future: &Log) -> Result<(), StorageError> {
        if rt::fs::exists(&future.0.path).await {
            // It never came there, and who stands there is another.
            return Ok(());
        }
        let partition = future.partition();
        let deleted = self.delete_log_of(partition, future.topic_id()).await;
        // What it is can't be read: it is set aside.
        if !matches!(deleted, Err(StorageError::Io { .. })) || self.log(partition).is_some() {
            return deleted;
        }
        let _busy = self.begin(partition)?;
        if rt::fs::exists(self.shared().path.join(names::dir_name(partition))).await {
            self.rename_away(partition, names::STRAY_SUFFIX).await?;
        }
        self.forget_unopened(partition);
        Ok(())
    }

    /// Gives such a log up. Its files go in the background.
    ///
    /// # Errors
    /// `NoSpace`, `Io`: the next start removes it.
    pub async fn drop_future(&self, future: &Log) -> Result<(), StorageError> {
        let log = Rc::clone(&future.0);
        if !rt::fs::exists(&log.path).await {
            // It is in its place.
            return Ok(());
        }
        log.detached(|log| async move { log.delete().await }).await
    }
}

impl DirHome {
    /// Removes what logs on their way here left, those of the partitions for which `is_elsewhere` says that they are whole somewhere else. To be
    /// called before any shard opens its logs.
    ///
    /// # Errors
    /// `Io`: the device failed.
    pub async fn remove_futures(
        &self,
        facts: &DirFacts,
        is_elsewhere: impl Fn(&TopicPartition) -> bool,
    ) -> Result<(), StorageError> {
        for (partition, name) in &facts.futures {
            let dir = self.path().display();
            if is_elsewhere(partition) {
                tracing::info!(%partition, %dir, name, "a move to another log directory was cut short: it is undone");
                let removed = self.remove_put_away(name).await;
                removed.map_err(|error| self.io("removing what a move left in", error))?;
            } else {
                tracing::warn!(%partition, %dir, name, "a move to another log directory was cut short, and the log isn't there: this part is left alone");
            }
        }
        Ok(())
    }
}
