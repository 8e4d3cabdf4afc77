//! Whether the metadata log is where the node looks for it, before one is made there: a node with an empty one knows none of its topics.
//!
//! A disk that isn't mounted, or `log.dirs` in another order, looks like a new node. What the other directories hold tells that it is none.

use std::path::Path;

use storage::MetaProperties;

use super::failure::Failure;
use super::homes::AllFacts;
use crate::config::BrokerConfig;
use crate::metadata::quorum::{LOG_NAME, SNAPSHOT_NAME};

/// The operator's word that the metadata log is lost, and a new one is to be made: a file of this name in its directory. It goes once it was obeyed.
pub(super) const BEGIN_ANEW: &str = "ringlog-raft.new";

/// Looks before anything is written. A first start that is cut short makes the directory with the metadata before all others.
///
/// # Errors
/// The metadata log is in another directory, or its directory is new beside others that aren't.
pub(super) async fn check_unopened(config: &BrokerConfig) -> Result<(), Failure> {
    let dir = &config.metadata_log_dir;
    let others = config.log_dirs.iter().filter(|other| *other != dir);
    for other in others.clone() {
        if rt::fs::exists(&other.join(LOG_NAME)).await {
            let (dir, other) = (dir.display(), other.display());
            return Err(Failure::unusable(format!(
                "there is a metadata log in {other}, but it is to be in {dir}: name {other} first in log.dirs, or by metadata.log.dir, or move {LOG_NAME} and {SNAPSHOT_NAME} to the right one"
            )));
        }
    }
    // What is wrong with an identity, opening the directory tells.
    let is_new = config.log_dirs.contains(dir) && matches!(MetaProperties::read(dir).await, Ok(None));
    if !is_new || may_begin(dir).await {
        return Ok(());
    }
    for other in others {
        if let Ok(Some(_)) = MetaProperties::read(other).await {
            return Err(missing(dir, other));
        }
    }
    Ok(())
}

/// Looks at what the directories hold.
///
/// # Errors
/// There is no metadata log, and one of them was in use.
pub(super) async fn check_opened(config: &BrokerConfig, all: &AllFacts) -> Result<(), Failure> {
    let mut each = config.log_dirs.iter().zip(all);
    let in_use = each.find(|(_, facts)| {
        let facts = facts.as_ref().ok();
        facts.is_some_and(|facts| facts.clean || !facts.partitions.is_empty())
    });
    match in_use {
        Some((other, _)) if !may_begin(&config.metadata_log_dir).await => {
            Err(missing(&config.metadata_log_dir, other))
        }
        _ => Ok(()),
    }
}

/// There is a metadata log: the operator's word holds no longer.
///
/// # Errors
/// The file can't be removed.
pub(super) async fn take_word_back(config: &BrokerConfig) -> Result<(), Failure> {
    let (dir, file) = (&config.metadata_log_dir, config.metadata_log_dir.join(BEGIN_ANEW));
    if !rt::fs::exists(&file).await {
        return Ok(());
    }
    tracing::warn!(dir = %dir.display(), "the metadata log began anew, as {BEGIN_ANEW} said: what the log directories hold of older topics isn't served");
    let removed = async {
        rt::fs::remove_file(&file).await?;
        rt::fs::sync_dir(dir).await
    };
    removed.await.map_err(|error| Failure::fatal(format!("removing {}: {error}", file.display())))
}

/// Whether there is a metadata log, or one may be made. Half of one is refused where it is opened.
async fn may_begin(dir: &Path) -> bool {
    for name in [LOG_NAME, SNAPSHOT_NAME, BEGIN_ANEW] {
        if rt::fs::exists(&dir.join(name)).await {
            return true;
        }
    }
    false
}

fn missing(dir: &Path, other: &Path) -> Failure {
    let (dir, other) = (dir.display(), other.display());
    Failure::unusable(format!(
        "there is no metadata log in {dir}, though {other} was in use: is a disk not mounted, or has log.dirs another order? If the log is lost, a file {BEGIN_ANEW} there lets the node begin without its topics; a Kafka's directory is taken over by `ringlog log adopt`"
    ))
}
