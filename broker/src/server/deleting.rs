//! Deleting the log of a partition whose topic is gone: now, or once that works.

use std::rc::Rc;
use std::time::Duration;

use protocol::types::Uuid;
use storage::{LogDir, StorageError, TopicPartition};

use super::state::ShardState;

/// After what time a deletion that was refused is tried again: at first, and at most.
const RETRY_PAUSE_MIN: Duration = Duration::from_secs(1);
const RETRY_PAUSE_MAX: Duration = Duration::from_secs(60);

/// Deletes the log. If a full disk refuses that, or the log is just being opened, it is tried again in the background; a topic made anew under
/// the name needn't wait for it.
pub(super) async fn delete(shard: &Rc<ShardState>, partition: TopicPartition, topic_id: Uuid) {
    if !is_done(shard, &partition, topic_id).await {
        let again = Rc::clone(shard);
        shard.tasks.spawn(try_again(again, partition, topic_id));
    }
}

/// Seldomer and seldomer, until it is done or the shard ends; then the next start finds it.
async fn try_again(shard: Rc<ShardState>, partition: TopicPartition, topic_id: Uuid) {
    let mut pause = RETRY_PAUSE_MIN;
    loop {
        rt::sleep(pause).await;
        pause = (pause * 2).min(RETRY_PAUSE_MAX);
        if is_done(&shard, &partition, topic_id).await {
            return;
        }
    }
}

/// False if it is worth another try.
async fn is_done(shard: &Rc<ShardState>, partition: &TopicPartition, topic_id: Uuid) -> bool {
    let mut done = true;
    for dir in shard.log_dirs.online() {
        done &= is_done_in(dir, partition, topic_id).await;
    }
    // What is in a directory that is offline, the start with which that is back sets aside.
    done
}

async fn is_done_in(dir: &LogDir, partition: &TopicPartition, topic_id: Uuid) -> bool {
    match dir.delete_log_of(partition, topic_id).await {
        Ok(()) => true,
        Err(error @ (StorageError::NoSpace | StorageError::Exists(_))) => {
            tracing::warn!(%partition, %error, "a log can't be deleted yet");
            false
        }
        Err(error) => {
            tracing::error!(%partition, %error, "a log wasn't deleted");
            true
        }
    }
}
