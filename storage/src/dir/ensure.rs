//! The log of a partition of a known topic: found, made, or kept offline.

use std::rc::Rc;

use protocol::types::Uuid;

use super::log_dir::LogDir;
use crate::log::core::LogCore;
use crate::log::inner::{LogInner, LogStatus};
use crate::segment::names;
use crate::{Log, LogConfig, Offset, StorageError, TopicPartition};

impl LogDir {
    /// Opens the log of a partition of the topic `topic_id`, or makes it.
    ///
    /// A directory of that name that is of another topic is renamed `<topic>-<n>.<unique>-stray` and kept, as
    /// Kafka does. One that doesn't tell its topic is kept where it is and opened offline, for repair: its
    /// records may be this topic's. What a creation cut short by a crash left holds nothing, and is made anew.
    ///
    /// # Errors
    /// As of [`Self::open_log`] and [`Self::create_log`].
    pub async fn ensure_log(
        &self,
        partition: TopicPartition,
        topic_id: Uuid,
        config: LogConfig,
    ) -> Result<Log, StorageError> {
        let log = match self.open_log(partition.clone(), config.clone()).await {
            Err(StorageError::Unknown(_)) => return self.create_log(partition, topic_id, config).await,
            opened => opened?,
        };
        match log.topic_id() {
            found if found == topic_id => Ok(log),
            Uuid::ZERO if log.status() != LogStatus::Online => Ok(log),
            Uuid::ZERO if log.0.is_untouched() => {
                self.delete_log(&partition).await?;
                self.create_log(partition, topic_id, config).await
            }
            Uuid::ZERO => {
                let reason = format!("{} is missing", log.0.path.join(names::METADATA).display());
                tracing::error!(%partition, reason, "the log's topic isn't known, it stays offline");
                log.0.set_status(LogStatus::Corrupt(reason));
                Ok(log)
            }
            found => {
                tracing::warn!(%partition, %found, %topic_id, "the directory is of another topic, it is set aside");
                self.set_aside(&partition).await?;
                self.create_log(partition, topic_id, config).await
            }
        }
    }

    /// A log that can't be used, in place of one that couldn't be opened or made: for the caller to serve
    /// KAFKA_STORAGE_ERROR from until it has tried again. It isn't one of [`Self::logs`].
    pub fn unavailable_log(
        &self,
        partition: TopicPartition,
        topic_id: Uuid,
        config: LogConfig,
        reason: String,
    ) -> Log {
        let (core, status) = (LogCore::empty(Offset::ZERO), LogStatus::Unavailable(reason));
        let log = LogInner::new(self.shared(), partition, topic_id, config, core, status);
        Log(Rc::clone(&log))
    }
}
