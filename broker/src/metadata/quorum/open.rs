//! Start: files to a log, a machine and an image.

use std::path::Path;

use bytes::Bytes;
use protocol::types::Str;
use rt::fs::BLOCK;

use super::config::QuorumConfig;
use super::error::QuorumError;
use super::files::{self, LOG_NAME, LogFile, SNAPSHOT_NAME};
use super::header::{HeaderError, LogHeader, SnapshotHeader};
use super::machine::Machine;
use super::raft_store::RaftStore;
use super::scan::{Scanned, scan};
use super::snapshot::{self, Snapshot};
use crate::metadata::image::Image;

/// What the driver goes on with: not elected yet, entries after `applied` not applied yet.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) log: LogFile,
    pub(super) machine: Machine,
    pub(super) image: Image,
    /// Index and term of the last entry in the image.
    pub(super) applied: (u64, u64),
}

/// Reads snapshot and log, or makes an empty log where there is neither.
///
/// # Errors
/// Files of something else, of a newer version, of another node or cluster; damage; what the disk says.
pub(super) async fn open(config: &QuorumConfig) -> Result<Opened, QuorumError> {
    let dir = &config.dir;
    rt::fs::create_dir_all(dir).await.map_err(|e| QuorumError::io(dir, &e))?;
    settle_names(dir).await?;
    let (log_path, snapshot_path) = (dir.join(LOG_NAME), dir.join(SNAPSHOT_NAME));
    let snapshot = match files::read(&snapshot_path).await? {
        Some(file) => Some(read_snapshot(config, &snapshot_path, &file).await?),
        None => None,
    };
    let Some(file) = files::read(&log_path).await? else {
        return match snapshot {
            Some(_) => Err(refused(&log_path, "it is missing, though there is a snapshot")),
            None => create(config, &log_path).await,
        };
    };
    let header = LogHeader::decode(&file).map_err(|error| from_header(&log_path, error))?;
    check_owner(config, &log_path, header.raft_id, &header.cluster_id)?;
    let scanned = scan(&file, &header).map_err(|why| damaged(&log_path, why))?;
    let start = (header.start_index, header.start_term);
    let applied = snapshot.as_ref().map_or((0, 0), |snapshot| (snapshot.index, snapshot.term));
    if applied.0 < start.0 {
        let why = format!("it starts after entry {}, but the snapshot ends at {}", start.0, applied.0);
        return Err(refused(&log_path, &why));
    }
    let image = snapshot.map_or_else(|| Image::empty(config.cluster_id.clone()), |snapshot| snapshot.image);
    let torn = scanned.torn;
    let log = LogFile::open(log_path, header, scanned.end, scanned.next_seq, config.direct_io).await?;
    if torn {
        tracing::info!(end = scanned.end, "metadata log: an unfinished flush is cut off");
    }
    log.settle(torn).await?;
    let store = store(config.raft_id(), scanned, start.0, applied);
    let machine = Machine::new(config.raft_id(), store, applied.0)?;
    Ok(Opened { log, machine, image, applied })
}

/// Makes the names durable that are seen now. A killed process may have left a rename that isn't: what is written to the
/// new file would vanish with its name when the power fails, and the old file come back.
async fn settle_names(dir: &Path) -> Result<(), QuorumError> {
    let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    for dir in [parent, dir] {
        rt::fs::sync_dir(dir).await.map_err(|e| QuorumError::io(dir, &e))?;
    }
    Ok(())
}

async fn create(config: &QuorumConfig, path: &Path) -> Result<Opened, QuorumError> {
    // The directory may be new as well: its name must be as durable as what it will hold.
    let parent =
        config.dir.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    rt::fs::sync_dir(parent).await.map_err(|e| QuorumError::io(parent, &e))?;
    let header = LogHeader {
        file_id: rt::random_u64(),
        raft_id: config.raft_id(),
        start_index: 0,
        start_term: 0,
        first_seq: 1,
        cluster_id: config.cluster_id.clone(),
    };
    let log = LogFile::create(path.to_path_buf(), header, &[], config.direct_io).await?;
    let store = store(config.raft_id(), Scanned::default(), 0, (0, 0));
    let machine = Machine::new(config.raft_id(), store, 0)?;
    Ok(Opened { log, machine, image: Image::empty(config.cluster_id.clone()), applied: (0, 0) })
}

/// The log after what the snapshot holds. A crash between snapshot and log leaves entries that both hold.
fn store(raft_id: u64, scanned: Scanned, log_start: u64, applied: (u64, u64)) -> RaftStore {
    let mut entries = scanned.entries;
    let both = usize::try_from(applied.0 - log_start).unwrap_or(usize::MAX);
    entries.drain(..both.min(entries.len()));
    let mut hard_state = scanned.hard_state;
    // The commit index is written with the flush after; the snapshot knows better.
    hard_state.commit = hard_state.commit.max(applied.0);
    RaftStore::new(raft_id, hard_state, applied, entries)
}

async fn read_snapshot(config: &QuorumConfig, path: &Path, file: &Bytes) -> Result<Snapshot, QuorumError> {
    let header = SnapshotHeader::decode(file).map_err(|error| from_header(path, error))?;
    check_owner(config, path, header.raft_id, &header.cluster_id)?;
    debug_assert!(file.len() >= BLOCK, "a header is a block");
    snapshot::decode(&header, file).await.map_err(|why| damaged(path, why))
}

fn check_owner(
    config: &QuorumConfig,
    path: &Path,
    raft_id: u64,
    cluster_id: &Str,
) -> Result<(), QuorumError> {
    if *cluster_id != config.cluster_id {
        let why = format!("it is of cluster {cluster_id}, this node is of {}", config.cluster_id);
        return Err(refused(path, &why));
    }
    if raft_id != config.raft_id() {
        let why = format!("it is of node {}, this is node {}", raft_id.wrapping_sub(1), config.node_id);
        return Err(refused(path, &why));
    }
    Ok(())
}

fn from_header(path: &Path, error: HeaderError) -> QuorumError {
    match error {
        HeaderError::Refused(why) => refused(path, &why),
        HeaderError::Damaged(why) => damaged(path, why),
    }
}

fn refused(path: &Path, why: &str) -> QuorumError {
    QuorumError::Refused { file: path.display().to_string(), why: why.into() }
}

fn damaged(path: &Path, why: String) -> QuorumError {
    QuorumError::Damaged { file: path.display().to_string(), why }
}
