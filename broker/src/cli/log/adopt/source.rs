//! Kafka's directories, and what they say of themselves.

use std::fmt::Write;
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
    /// Its log directories, in the order of their names.
    pub(super) dirs: Vec<PathBuf>,
    /// The one with the metadata log: one of these, or another.
    pub(super) metadata_dir: PathBuf,
    pub(super) node_id: i32,
    pub(super) cluster_id: String,
    pub(super) metadata: KafkaMetadata,
    pub(super) partitions: Vec<PartitionDir>,
    /// Kafka's files of one offset per partition, those of all directories together.
    pub(super) offsets: Vec<(&'static str, Offsets)>,
    /// What tells this stop of Kafka from any other: text of several lines.
    pub(super) stop: String,
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
        let mut dirs = args.dirs.iter().map(|dir| real(dir)).collect::<Result<Vec<_>, _>>()?;
        dirs.sort();
        dirs.dedup();
        // Its files tell the stop of its log directories only.
        let metadata_only = args.metadata_dir.as_deref().map(real).transpose()?;
        let metadata_only = metadata_only.filter(|dir| !dirs.contains(dir));
        let mut owner: Option<MetaProperties> = None;
        for dir in dirs.iter().chain(&metadata_only) {
            let found = check(dir, metadata_only.as_ref() != Some(dir))?;
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
        let metadata_dir = metadata_dir(args, &dirs)?;
        // Before anything is read that a Kafka which runs meanwhile would change.
        let stop = stop(&dirs, &metadata_dir)?;
        let metadata = metadata_log::read(&metadata_dir.join(METADATA_DIR))?;
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
        Ok(Self { dirs, metadata_dir, node_id, cluster_id, metadata, partitions, offsets, stop })
    }

    /// Whether nobody started Kafka on the directories meanwhile: a start removes the mark of the clean stop, and another stop makes
    /// another one.
    pub(super) fn is_still_stopped(&self) -> Result<bool, CliError> {
        Ok(stop(&self.dirs, &self.metadata_dir)? == self.stop)
    }
}

fn real(dir: &Path) -> Result<PathBuf, CliError> {
    dir.canonicalize().map_err(|error| fault(dir, &error))
}

/// The directory with the metadata log: the one that was named, or the only log directory that holds one.
fn metadata_dir(args: &AdoptArgs, dirs: &[PathBuf]) -> Result<PathBuf, CliError> {
    let has_log = |dir: &&PathBuf| dir.join(METADATA_DIR).is_dir();
    if let Some(named) = &args.metadata_dir {
        let why = format!("there is no {METADATA_DIR} in it");
        return Some(real(named)?).filter(|dir| has_log(&dir)).ok_or_else(|| refused(named, &why));
    }
    let with_log: Vec<&PathBuf> = dirs.iter().filter(has_log).collect();
    match with_log[..] {
        [only] => Ok(only.clone()),
        [] => {
            let why = format!(
                "there is no {METADATA_DIR} in any of these directories: name Kafka's metadata.log.dir by --metadata-dir"
            );
            Err(refused(&args.dirs[0], &why))
        }
        [one, other, ..] => {
            let (other, why) = (
                other.display(),
                "one of them is an old one: name Kafka's metadata.log.dir by --metadata-dir",
            );
            Err(refused(one, &format!("{METADATA_DIR} is in it and in {other}, {why}")))
        }
    }
}

/// What tells a stop of Kafka from any other: when, and at what broker epoch, each directory was marked, and how far the metadata log was
/// written then.
fn stop(dirs: &[PathBuf], metadata_dir: &Path) -> Result<String, CliError> {
    let mut stop = String::new();
    for dir in dirs {
        let entries = list(dir)?;
        let marker = entries.iter().find(|entry| entry.name == CLEAN_MARKER);
        let told = match marker {
            Some(marker) => {
                format!("{} {:?}", marker.modified_ns, text(&marker.path)?.unwrap_or_default().trim())
            }
            None => "not stopped".to_owned(),
        };
        let _ = writeln!(stop, "stop.{dir:?}={told}");
    }
    let entries = list(&metadata_dir.join(METADATA_DIR))?;
    let bytes: u64 = entries.iter().map(|entry| entry.bytes).sum();
    let modified_ns = entries.iter().map(|entry| entry.modified_ns).max().unwrap_or_default();
    let _ = writeln!(stop, "metadata.{metadata_dir:?}={modified_ns} {bytes}");
    Ok(stop)
}

const CLEAN_MARKER: &str = ".kafka_cleanshutdown";

/// Whether the directory is a Kafka's that was stopped cleanly; whose. A directory for the metadata log alone isn't marked at a stop
/// (`is_marked`).
fn check(dir: &Path, is_marked: bool) -> Result<MetaProperties, CliError> {
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
    if is_marked && !has(FileKind::CleanMarker) {
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
