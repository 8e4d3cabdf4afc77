//! What the metadata speak of, and where it lies.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use protocol::types::{Str, Uuid};
use storage::inspect::{self, FileKind, file_kind};
use storage::{Offset, TopicPartition};

use super::super::input::{list, text};
use super::AdoptArgs;
use super::source::Source;
use super::target::Target;
use crate::cli::error::CliError;
use crate::metadata::kafka::{KafkaPartition, Untaken};

/// A partition that is taken over.
#[derive(Debug, Clone)]
pub(crate) struct Taken {
    pub(super) of: TopicPartition,
    pub(super) dir: PathBuf,
    /// Base offsets of its segments, ascending.
    pub(super) segments: Vec<Offset>,
    pub(super) bytes: u64,
}

/// All that is taken over.
#[derive(Debug)]
pub(crate) struct Adoption {
    pub(super) node_id: i32,
    pub(super) cluster_id: String,
    pub(super) topics: usize,
    pub(super) partitions: Vec<Taken>,
    /// Partitions in Kafka's directories that its metadata don't know.
    pub(super) unknown: Vec<TopicPartition>,
    pub(super) untaken: Untaken,
}

/// Troubles told at once.
const TROUBLES_SHOWN: usize = 20;

impl Adoption {
    /// Finds every partition of the metadata in the directories.
    ///
    /// # Errors
    /// `Refused`, with all that keeps the cluster from being taken over.
    pub(super) fn find(args: &AdoptArgs, source: &Source, target: &Target) -> Result<Self, CliError> {
        let mut troubles = Vec::new();
        let mut dirs: BTreeMap<&TopicPartition, &Path> = BTreeMap::new();
        for dir in &source.partitions {
            if let Some(other) = dirs.insert(&dir.of, &dir.path) {
                troubles.push(format!(
                    "{} is there twice: {} and {}",
                    dir.of,
                    other.display(),
                    dir.path.display()
                ));
            }
        }
        let untaken = source.metadata.untaken.clone();
        if !untaken.acls.is_empty() && !args.without_acls {
            troubles.push(format!(
                "the cluster has {} access control entries, which this release doesn't have: anybody could do anything. With --without-acls it is \
                 taken over all the same",
                untaken.acls.len()
            ));
        }
        let mut partitions = Vec::new();
        for (id, topic) in &source.metadata.topics {
            if is_tiered(source, &topic.name) {
                troubles
                    .push(format!("{} keeps records in remote storage, which isn't read here", topic.name));
            }
            for (number, partition) in &topic.partitions {
                let of = TopicPartition::new(topic.name.to_string(), *number);
                let moved = target.dir_of(&of);
                let dir = dirs.remove(&of).or(moved.as_deref());
                match find(&of, *id, partition, dir, source.node_id) {
                    Ok(taken) => partitions.push(taken),
                    Err(why) => troubles.push(format!("{of}: {why}")),
                }
            }
        }
        if !troubles.is_empty() {
            return Err(refused(&troubles));
        }
        let unknown = dirs.into_keys().cloned().collect();
        let (node_id, cluster_id, topics) =
            (source.node_id, source.cluster_id.clone(), source.metadata.topics.len());
        Ok(Self { node_id, cluster_id, topics, partitions, unknown, untaken })
    }
}

fn refused(troubles: &[String]) -> CliError {
    let shown = troubles.iter().take(TROUBLES_SHOWN).map(String::as_str).collect::<Vec<_>>().join("\n  ");
    let more = match troubles.len().saturating_sub(TROUBLES_SHOWN) {
        0 => String::new(),
        more => format!("\n  and {more} more"),
    };
    CliError::Refused(format!("it can't be taken over:\n  {shown}{more}"))
}

fn is_tiered(source: &Source, topic: &Str) -> bool {
    let configs = source.metadata.topic_configs(topic);
    configs.and_then(|configs| configs.get("remote.storage.enable")).is_some_and(|value| *value == "true")
}

/// Looks at a partition's directory; words for why it can't be taken over.
fn find(
    of: &TopicPartition,
    topic_id: Uuid,
    partition: &KafkaPartition,
    dir: Option<&Path>,
    node_id: i32,
) -> Result<Taken, String> {
    if !partition.replicas.contains(&node_id) {
        let replicas = &partition.replicas;
        return Err(format!(
            "it lies on other nodes ({replicas:?}), not on node {node_id}: reassign it to this node first, with all others"
        ));
    }
    if !partition.is_whole_at(node_id) {
        return Err(format!("node {node_id} isn't in sync ({:?} are): let it catch up first", partition.isr));
    }
    let dir = dir.ok_or("its directory isn't here: name all of Kafka's log.dirs")?;
    let words = |error: CliError| error.to_string();
    let found = text(&dir.join("partition.metadata")).map_err(words)?;
    let found = found.and_then(|text| inspect::partition_metadata(&text));
    match found.map_err(|why| format!("partition.metadata: {why}"))? {
        found if found == topic_id => {}
        found => return Err(format!("its directory is of topic {found}, the metadata say {topic_id}")),
    }
    let (mut segments, mut bytes) = (Vec::new(), 0);
    for entry in list(dir).map_err(words)?.iter().filter(|entry| !entry.is_dir) {
        bytes += entry.bytes;
        match file_kind(&entry.name) {
            FileKind::Log(base) => {
                segments.push(base);
                if let Some(magic) = first_magic(&entry.path).map_err(words)?.filter(|magic| *magic < 2) {
                    return Err(format!(
                        "{} holds records in format {magic}, from before Kafka 0.11: only format 2 is read",
                        entry.name
                    ));
                }
            }
            FileKind::Swap(_) => {
                return Err(format!(
                    "{}: a compaction isn't finished: start Kafka once, and stop it",
                    entry.name
                ));
            }
            _ => {}
        }
    }
    segments.sort();
    Ok(Taken { of: of.clone(), dir: dir.to_owned(), segments, bytes })
}

/// The format of a segment's first batch; none if it has none.
fn first_magic(path: &Path) -> Result<Option<u8>, CliError> {
    let head = super::super::input::Random::open(path)?.at(0, protocol::records::PREFIX_BYTES);
    Ok(head.ok().and_then(|head| head.get(protocol::records::PREFIX_BYTES - 1).copied()))
}
