//! Where logs start, for those that weren't opened: `log-start-offset-checkpoint` speaks of partitions by name, so it goes once the
//! directory is in use, and what it says goes to each log's own file as the log is opened. For the others that is done here.
//!
//! What can't be written there stands in `ringlog-log-starts`, of the same form: a log without a file of its own starts where it says.
//! Kafka skips it. A log that is made under such a name begins with a file of its own.

use std::io;

use super::files;
use super::home::DirHome;
use super::log_dir::ClosedDir;
use super::offsets_file::{self, LOG_STARTS, Offsets};
use crate::error::is_full;
use crate::limits::CHECKPOINT_BYTES_MAX;
use crate::log::checkpoint::LogCheckpoint;
use crate::segment::names;
use crate::{Offset, TopicPartition};

/// The file's name.
pub(crate) const KEPT: &str = "ringlog-log-starts";

impl DirHome {
    /// What the directory's files say, Kafka's and ours.
    pub(super) async fn all_log_starts(&self) -> io::Result<Offsets> {
        let mut starts = self.offsets(LOG_STARTS).await?;
        for (partition, start) in self.offsets(KEPT).await? {
            if !rt::fs::exists(self.checkpoint_of(&partition)).await {
                starts.entry(partition).or_insert(start);
            }
        }
        Ok(starts)
    }

    /// Keeps what the directory's file says of logs that no shard has opened, before that file goes.
    pub(super) async fn keep_log_starts(&self) -> io::Result<()> {
        let mut left = Offsets::new();
        for (partition, start) in &self.log_starts {
            if !self.fold(partition, *start).await {
                left.insert(partition.clone(), *start);
            }
        }
        self.write_kept(&left).await
    }

    /// Those that are still kept at a stop.
    pub(super) async fn kept_log_starts(&self, shards: &[ClosedDir]) -> io::Result<Offsets> {
        let mut kept = self.offsets(KEPT).await?;
        if kept.is_empty() {
            return Ok(kept);
        }
        for (closed, _) in shards.iter().flat_map(|shard| &shard.logs) {
            kept.remove(closed);
        }
        let mut left = Offsets::new();
        for (partition, start) in kept {
            let dir = self.path().join(names::dir_name(&partition));
            if rt::fs::exists(&dir).await && !rt::fs::exists(self.checkpoint_of(&partition)).await {
                left.insert(partition, start);
            }
        }
        self.write_kept(&left).await?;
        Ok(left)
    }

    /// Sees to it that the log's own file says so. False if that can't be.
    async fn fold(&self, partition: &TopicPartition, start: Offset) -> bool {
        let dir = self.path().join(names::dir_name(partition));
        if !rt::fs::exists(&dir).await {
            return true;
        }
        let is_segment = |name: &str| matches!(names::parse_file_name(name), Some((_, names::LOG)));
        let folded = async {
            // A log without segments isn't one that Kafka stopped: what is said is of an older one of its name.
            if !files::list(&dir).await?.iter().any(|entry| is_segment(&entry.name)) {
                return Ok(());
            }
            let file = self.checkpoint_of(partition);
            let own = match files::read_small(&file, CHECKPOINT_BYTES_MAX).await? {
                Some(bytes) => LogCheckpoint::decode(&bytes).map_err(io::Error::other)?,
                None => LogCheckpoint::default(),
            };
            if own.start >= start {
                return Ok(());
            }
            let known = self.recovery_points.get(partition).copied().unwrap_or_default();
            let recovery_point = own.recovery_point.max(known);
            files::replace(&file, LogCheckpoint { start, recovery_point }.encode()).await
        };
        let folded: io::Result<()> = folded.await;
        if let Err(error) = &folded {
            tracing::warn!(%partition, %start, %error, "where the log starts can't be written into its directory, and is kept beside it");
        }
        folded.is_ok()
    }

    async fn write_kept(&self, left: &Offsets) -> io::Result<()> {
        let file = self.path().join(KEPT);
        if left.is_empty() {
            return files::remove(&file).await;
        }
        match files::replace(&file, offsets_file::to_text(left)).await {
            Err(error) if is_full(&error) => {
                let logs = left.len();
                tracing::warn!(logs, "no space to keep where logs start that can't be opened");
                Ok(())
            }
            written => written,
        }
    }

    fn checkpoint_of(&self, partition: &TopicPartition) -> std::path::PathBuf {
        self.path().join(names::dir_name(partition)).join(names::CHECKPOINT)
    }
}
