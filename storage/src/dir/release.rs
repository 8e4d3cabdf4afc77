//! A log that goes from one shard to another: its files stay where they are.

use super::log_dir::LogDir;
use crate::{StorageError, TopicPartition};

impl LogDir {
    /// Ends a log's use on this shard, so that another one may open it: all of it is synced in its segments, and this shard's journal has
    /// nothing of it that counts. Its files tell all that was remembered of it, a producer's last batches too.
    ///
    /// # Errors
    /// `Unknown`; `Offline`, `NoSpace`, `Io`: it isn't in use any more all the same, and may be opened again.
    pub async fn release(&self, partition: &TopicPartition) -> Result<(), StorageError> {
        if self.is_ending() {
            return Err(StorageError::Offline);
        }
        let unknown = || StorageError::Unknown(partition.clone());
        let _busy = self.busy().begin(partition).ok_or_else(unknown)?;
        let log = self.take_out(partition).ok_or_else(unknown)?;
        log.close().await?;
        self.settle_unopened(partition);
        Ok(())
    }

    /// Another shard had the log since the start: what the directory's files of offsets said of it then doesn't hold any more.
    pub fn outdate(&self, partition: &TopicPartition) {
        self.forget_unopened(partition);
    }
}
