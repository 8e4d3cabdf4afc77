//! Directories of partitions that nobody knows any more, at the start.

use std::collections::BTreeSet;

use protocol::types::Uuid;

use super::files;
use super::home::DirHome;
use super::meta;
use crate::error::is_full;
use crate::limits::TEXT_FILE_BYTES_MAX;
use crate::segment::names;
use crate::{DirFacts, StorageError, TopicPartition};

impl DirHome {
    /// Renames the directories of `strays`, which the metadata know nothing of, to `-stray` ones and keeps
    /// them, as Kafka does; what a creation left that a crash cut short holds no records, and goes. To be
    /// called before any shard opens its logs. `facts` say nothing of them afterwards.
    ///
    /// One that a full disk keeps from being renamed stays under its name until the next start.
    ///
    /// # Errors
    /// `Io`.
    pub async fn set_aside(
        &self,
        strays: &[TopicPartition],
        facts: &mut DirFacts,
    ) -> Result<(), StorageError> {
        if strays.is_empty() {
            return Ok(());
        }
        let done = async {
            let mut empty = Vec::new();
            for stray in strays {
                empty.extend(self.rename_stray(stray).await?);
            }
            // All names at once.
            files::sync_dir(self.path()).await?;
            for name in empty {
                rt::fs::remove_dir_all(&self.path().join(name)).await?;
            }
            Ok(())
        };
        done.await.map_err(|error| self.io("setting strays aside in", error))?;
        facts.forget(&strays.iter().collect());
        Ok(())
    }

    /// Gives the new name of one that holds no records and is to be removed.
    async fn rename_stray(&self, stray: &TopicPartition) -> std::io::Result<Option<String>> {
        let path = self.path().join(names::dir_name(stray));
        let entries = files::list(&path).await?;
        let holds_records = entries
            .iter()
            .any(|entry| names::parse_file_name(&entry.name).is_some_and(|(_, suffix)| suffix == names::LOG));
        let ending = if holds_records { names::STRAY_SUFFIX } else { names::DELETE_SUFFIX };
        let name = names::put_away_dir_name(stray, rt::random_bytes(), ending);
        match rt::fs::rename(&path, &self.path().join(&name)).await {
            Err(error) if is_full(&error) => {
                tracing::warn!(partition = %stray, "of no topic, and no space to set it aside");
                return Ok(None);
            }
            renamed => renamed?,
        }
        if holds_records {
            let file = self.path().join(&name).join(names::METADATA);
            let text = files::content(files::read_text(&file, TEXT_FILE_BYTES_MAX).await)?;
            let topic_id = text.ok().flatten();
            let topic_id = topic_id.and_then(|text| meta::parse_partition_metadata(&text).ok());
            let topic_id = topic_id.unwrap_or(Uuid::ZERO);
            tracing::warn!(partition = %stray, %topic_id, kept = name, "a log of no topic was set aside");
        }
        Ok((!holds_records).then_some(name))
    }
}

impl DirFacts {
    fn forget(&mut self, partitions: &BTreeSet<&TopicPartition>) {
        self.partitions.retain(|known| !partitions.contains(known));
        for offsets in [&mut self.log_starts, &mut self.recovery_points, &mut self.high_watermarks] {
            offsets.retain(|known, _| !partitions.contains(known));
        }
    }
}
