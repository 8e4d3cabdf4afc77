//! The log of a topic that is deleted: whether it is open, or couldn't be opened.

use protocol::types::Uuid;

use super::log_dir::LogDir;
use super::{files, meta};
use crate::error::is_full;
use crate::limits::TEXT_FILE_BYTES_MAX;
use crate::segment::names;
use crate::{StorageError, TopicPartition};

impl LogDir {
    /// Deletes the log of a partition of the topic `topic_id`, also one that couldn't be opened. What stands under
    /// that name and is of another topic stays; one that doesn't tell its topic and isn't open is renamed `-stray`.
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
            Some(found) if found == topic_id || found.is_zero() => self.delete_log(partition).await,
            Some(_) => Ok(()),
            None => self.delete_unopened(partition, topic_id).await,
        }
    }

    async fn delete_unopened(&self, partition: &TopicPartition, topic_id: Uuid) -> Result<(), StorageError> {
        let _busy = self.begin(partition)?;
        let path = self.shared().path.join(names::dir_name(partition));
        if rt::fs::exists(&path).await {
            let file = path.join(names::METADATA);
            let text = files::content(files::read_text(&file, TEXT_FILE_BYTES_MAX).await);
            let text =
                text.map_err(|error| StorageError::io(format!("reading {}", file.display()), error))?;
            let found = text.ok().flatten().and_then(|text| meta::parse_partition_metadata(&text).ok());
            let ending = match found {
                Some(found) if found == topic_id => names::DELETE_SUFFIX,
                Some(_) => return Ok(()),
                None => names::STRAY_SUFFIX,
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

    async fn rename_away(
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
