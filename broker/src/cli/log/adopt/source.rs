//! Kafka's directories, and what they say of themselves.

use std::path::{Path, PathBuf};

use storage::inspect::{self, DirKind, FileKind, dir_kind, file_kind};
use storage::{MetaProperties, Offsets, TopicPartition};

use super::super::input::{fault, list, text};
use super::super::lock;
use super::{AdoptArgs, metadata_log};
use crate::cli::error::CliError;
use crate::metadata::kafka::KafkaMetadata;

/// A partition's directory.
#[derive(Debug, Clone)]
pub(super) struct PartitionDir {
    pub(super) of: TopicPartition,
    pub(super) path: PathBuf,
}

/// A stopped Kafka node's directories.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) dirs: Vec<PathBuf>,
    pub(super) node_id: i32,
    pub(super) cluster_id: String,
    pub(super) metadata: KafkaMetadata,
    pub(super) partitions: Vec<PartitionDir>,
    /// Kafka's files of one offset per partition, those of all directories together.
    pub(super) offsets: Vec<(&'static str, Offsets)>,
}

/// The files of offsets that are taken over.
const OFFSET_FILES: [&str; 4] = [
    "recovery-point-offset-checkpoint",
    "log-start-offset-checkpoint",
    "replication-offset-checkpoint",
    "cleaner-offset-checkpoint",
];
const METADATA_DIR: &str = "__cluster_metadata-0";

impl Source {
    /// Reads the directories.
    ///
    /// # Errors
    /// `Refused`: it isn't a Kafka's that was stopped cleanly, or they aren't of one node.
    pub(super) fn open(args: &AdoptArgs) -> Result<Self, CliError> {
        let mut dirs = Vec::new();
        for dir in &args.dirs {
            let path = dir.canonicalize().map_err(|error| fault(dir, &error))?;
            if !dirs.contains(&path) {
                dirs.push(path);
            }
        }
        let mut owner: Option<MetaProperties> = None;
        for dir in &dirs {
            let found = check(dir)?;
            if let Some(owner) = owner
                .as_ref()
                .filter(|owner| (owner.node_id, &owner.cluster_id) != (found.node_id, &found.cluster_id))
            {
                let (node, cluster) = (owner.node_id, &owner.cluster_id);
                return Err(refused(
                    dir,
                    &format!("it isn't of node {node} of cluster {cluster}, as the others are"),
                ));
            }
            owner.get_or_insert(found);
        }
        let MetaProperties { node_id, cluster_id, .. } =
            owner.ok_or_else(|| CliError::Usage("no directory was named".to_owned()))?;
        let homes = dirs.iter().cloned().chain(args.metadata_dir.clone());
        let log = homes.map(|dir| dir.join(METADATA_DIR)).find(|log| log.is_dir()).ok_or_else(|| {
            let why = format!("there is no {METADATA_DIR} in any of these directories: name Kafka's metadata.log.dir by --metadata-dir");
            refused(&args.dirs[0], &why)
        })?;
        let metadata = metadata_log::read(&log)?;
        let mut partitions = Vec::new();
        for dir in &dirs {
            for entry in list(dir)?.into_iter().filter(|entry| entry.is_dir && entry.name != METADATA_DIR) {
                if let DirKind::Partition(of) = dir_kind(&entry.name) {
                    partitions.push(PartitionDir { of, path: entry.path });
                }
            }
        }
        let offsets = OFFSET_FILES.iter().map(|name| Ok((*name, offsets(&dirs, name)?)));
        let offsets = offsets.collect::<Result<_, CliError>>()?;
        Ok(Self { dirs, node_id, cluster_id, metadata, partitions, offsets })
    }

    /// Whether nobody started Kafka on the directories meanwhile: a start removes the mark of the clean stop.
    ///
    /// # Errors
    /// `Refused` if somebody did.
    pub(super) fn is_still_stopped(&self) -> Result<(), CliError> {
        let started = |dir: &&PathBuf| !dir.join(CLEAN_MARKER).is_file();
        match self.dirs.iter().find(started) {
            None => Ok(()),
            Some(dir) => Err(refused(
                dir,
                "Kafka was started on it meanwhile: stop it, remove what was adopted, and begin again",
            )),
        }
    }
}

const CLEAN_MARKER: &str = ".kafka_cleanshutdown";

/// Whether the directory is a Kafka's that was stopped cleanly; whose.
fn check(dir: &Path) -> Result<MetaProperties, CliError> {
    lock::refuse_running(dir)?;
    let entries = list(dir)?;
    let has = |kind: FileKind| entries.iter().any(|entry| !entry.is_dir && file_kind(&entry.name) == kind);
    if entries.iter().any(|entry| !entry.is_dir && entry.name.starts_with("ringlog-")) {
        return Err(refused(dir, "it is Ringlog's own: `ringlog serve --data-dir` serves it"));
    }
    if !has(FileKind::MetaProperties) {
        return Err(refused(dir, "it is no log directory of Kafka's: it has no meta.properties"));
    }
    let path = dir.join("meta.properties");
    let owner = text(&path)?.and_then(|text| MetaProperties::parse(&text));
    let owner =
        owner.map_err(|why| refused(&path, &format!("{why}: only Kafka 4's directories are taken over")))?;
    if !has(FileKind::CleanMarker) {
        let why = "Kafka wasn't stopped cleanly, or runs on it: start it once and stop it, by SIGTERM and not by SIGKILL";
        return Err(refused(dir, why));
    }
    Ok(owner)
}

fn offsets(dirs: &[PathBuf], name: &str) -> Result<Offsets, CliError> {
    let mut all = Offsets::new();
    for path in dirs.iter().map(|dir| dir.join(name)).filter(|path| path.is_file()) {
        let read = text(&path)?.and_then(|text| inspect::offsets(&text));
        all.extend(read.map_err(|why| refused(&path, &why))?);
    }
    Ok(all)
}

pub(super) fn refused(path: &Path, why: &str) -> CliError {
    CliError::Refused(format!("{}: {why}", path.display()))
}
