//! The log of a topic that is deleted: whether it is open, or couldn't be opened.

use protocol::types::Uuid;

use super::files;
use super::log_dir::LogDir;
use super::meta::{self, TopicOf};
use crate::error::is_full;
use crate::segment::names;
use crate::{StorageError, TopicPartition};

impl LogDir {
    /// Deletes the log of a partition of the topic `topic_id`, also one that couldn't be opened. What stands under
    /// that name and is of another topic stays; one that doesn't tell its topic is renamed `-stray` and kept.
    ///
    /// # Errors
    /// `Exists`: it is just being opened; `NoSpace`: its name isn't free yet; call again after both. `Offline`,
    /// `Io`.
    pub async fn delete_log_of(
        &self,
        partition: &TopicPartition,
        topic_id: Uuid,
    ) -> Result<(), StorageError> {
        match self.log(partition).map(|log| log.topic_id()) {
            Some(found) if found == topic_id => self.delete_log(partition).await,
            Some(Uuid::ZERO) => {
                tracing::warn!(%partition, "a deleted topic's log doesn't tell its topic, it is set aside");
                self.set_aside(partition).await
            }
            Some(_) => Ok(()),
            None => self.delete_unopened(partition, topic_id).await,
        }
    }

    async fn delete_unopened(&self, partition: &TopicPartition, topic_id: Uuid) -> Result<(), StorageError> {
        let _busy = self.begin(partition)?;
        let path = self.shared().path.join(names::dir_name(partition));
        if rt::fs::exists(&path).await {
            let found = meta::topic_of(&path).await;
            let found = found.map_err(|error| {
                StorageError::io(format!("reading {}", path.join(names::METADATA).display()), error)
            })?;
            let ending = match found {
                TopicOf::Known(found) if found == topic_id => names::DELETE_SUFFIX,
                TopicOf::Known(_) => return Ok(()),
                TopicOf::Missing | TopicOf::Damaged(_) => names::STRAY_SUFFIX,
            };
            let gone = self.rename_away(partition, ending).await?;
            if ending == names::DELETE_SUFFIX {
                self.shared().remove_later(gone);
            } else {
                tracing::warn!(%partition, kept = %gone.display(), "a deleted topic's log doesn't tell its topic, it is set aside");
            }
        }
        self.forget_unopened(partition);
        Ok(())
    }

    pub(super) async fn rename_away(
        &self,
        partition: &TopicPartition,
        ending: &str,
    ) -> Result<std::path::PathBuf, StorageError> {
        let shared = self.shared();
        let gone = shared.path.join(names::put_away_dir_name(partition, rt::random_bytes(), ending));
        let renamed = rt::fs::rename(&shared.path.join(names::dir_name(partition)), &gone).await;
        let done = match renamed {
            Err(error) if is_full(&error) => return Err(StorageError::NoSpace),
            Err(error) => Err(error),
            Ok(()) => files::sync_dir(&shared.path).await,
        };
        done.map_err(|error| {
            shared.fail(format!("renaming {}: {error}", gone.display()));
            StorageError::io(format!("renaming to {}", gone.display()), error)
        })?;
        Ok(gone)
    }
}
