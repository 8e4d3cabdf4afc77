//! `meta.properties`, `partition.metadata` and the clean-shutdown marker: small text files that Kafka reads
//! too.

use std::io;
use std::path::Path;

use protocol::types::Uuid;

use super::files;
use crate::StorageError;
use crate::limits::{CLUSTER_ID_BYTES_MAX, TEXT_FILE_BYTES_MAX};
use crate::segment::names;

/// Name of the directory's identity file.
pub(crate) const META_PROPERTIES: &str = "meta.properties";
/// Name of the marker that a clean stop leaves, as Kafka calls it.
pub(crate) const CLEAN_MARKER: &str = ".kafka_cleanshutdown";
/// Name of the lock file.
pub(crate) const LOCK: &str = ".lock";

/// Name of the mark that `ringlog log adopt` leaves while it works: what the directory holds isn't whole yet.
pub(crate) const ADOPTING: &str = "ringlog-adopting";

/// Whose directory it is: `version=1, node.id, cluster.id, directory.id` (KIP-858).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetaProperties {
    /// The node.
    pub node_id: i32,
    /// The cluster, 22 characters of base64 as Kafka makes them, or any other text.
    pub cluster_id: String,
    /// This directory, for life.
    pub directory_id: Uuid,
}

impl MetaProperties {
    /// Reads Java's properties format as far as Kafka uses it: `key=value` lines, `#` comments, backslash
    /// before `:` and `=`.
    ///
    /// # Errors
    /// Words for what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let get = |wanted: &str| {
            let lines = text.lines().map(str::trim).filter(|line| !line.starts_with(['#', '!']));
            let mut pairs = lines.filter_map(|line| line.split_once('='));
            pairs.find(|(key, _)| key.trim() == wanted).map(|(_, value)| value.trim().replace('\\', ""))
        };
        match get("version").as_deref() {
            Some("1") => {}
            Some(other) => return Err(format!("version {other} isn't known, only 1")),
            None => return Err("there is no version".into()),
        }
        let node_id = get("node.id").ok_or("there is no node.id")?;
        let node_id = node_id.parse().map_err(|_| format!("node.id {node_id:?} isn't a number"))?;
        let cluster_id = get("cluster.id").ok_or("there is no cluster.id")?;
        if cluster_id.is_empty() || cluster_id.len() > CLUSTER_ID_BYTES_MAX {
            let bytes = cluster_id.len();
            return Err(format!("cluster.id has {bytes} bytes, it may have 1 to {CLUSTER_ID_BYTES_MAX}"));
        }
        let directory_id = get("directory.id").ok_or("there is no directory.id")?;
        let directory_id =
            directory_id.parse().map_err(|_| format!("directory.id {directory_id:?} isn't an id"))?;
        Ok(Self { node_id, cluster_id, directory_id })
    }

    /// What stands in the directory `dir`; `None` for one that is new, or isn't there.
    ///
    /// # Errors
    /// `Corrupt`, `Io`.
    pub async fn read(dir: &Path) -> Result<Option<Self>, StorageError> {
        let file = dir.join(META_PROPERTIES);
        let text = files::read_text(&file, TEXT_FILE_BYTES_MAX).await;
        let text = text.map_err(|error| StorageError::io(format!("reading {}", file.display()), error))?;
        let parsed = text.as_deref().map(Self::parse).transpose();
        parsed.map_err(|reason| StorageError::corrupt(file.display().to_string(), reason))
    }

    /// The file.
    pub fn to_text(&self) -> String {
        let Self { node_id, cluster_id, directory_id } = self;
        format!("version=1\nnode.id={node_id}\ncluster.id={cluster_id}\ndirectory.id={directory_id}\n")
    }
}

/// `partition.metadata`: which topic the directory is of.
pub(crate) fn partition_metadata_text(topic_id: Uuid) -> String {
    format!("version: 0\ntopic_id: {topic_id}\n")
}

/// What a partition's directory says of its topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TopicOf {
    /// The topic's id.
    Known(Uuid),
    /// There is no `partition.metadata`.
    Missing,
    /// There is one, and it can't be right: words for why, with the path.
    Damaged(String),
}

/// Reads the `partition.metadata` of the directory `dir`.
///
/// # Errors
/// The device's, or those of the path: they say nothing about what is in the file.
pub(crate) async fn topic_of(dir: &Path) -> io::Result<TopicOf> {
    let file = dir.join(names::METADATA);
    let parsed = match files::content(files::read_text(&file, TEXT_FILE_BYTES_MAX).await)? {
        Ok(None) => return Ok(TopicOf::Missing),
        Ok(Some(text)) => parse_partition_metadata(&text),
        Err(reason) => Err(reason),
    };
    Ok(match parsed {
        Ok(topic_id) => TopicOf::Known(topic_id),
        Err(reason) => TopicOf::Damaged(format!("{}: {reason}", file.display())),
    })
}

/// Parses `partition.metadata`.
///
/// # Errors
/// Words for what is wrong with it.
pub(crate) fn parse_partition_metadata(text: &str) -> Result<Uuid, String> {
    let mut lines = text.lines();
    match lines.next().map(str::trim) {
        Some("version: 0") => {}
        other => return Err(format!("{other:?} isn't version 0")),
    }
    let id =
        lines.next().and_then(|line| line.trim().strip_prefix("topic_id: ")).ok_or("there is no topic_id")?;
    id.parse().map_err(|_| format!("topic_id {id:?} isn't an id"))
}

/// The marker's content: JSON with the broker epoch under which the stop happened.
pub(crate) fn clean_marker_text(broker_epoch: i64) -> String {
    format!("{{\"version\":0,\"brokerEpoch\":{broker_epoch}}}")
}

/// The broker epoch in a clean-shutdown marker; -1 if it isn't told.
pub(crate) fn parse_clean_marker(text: &str) -> i64 {
    let Some((_, rest)) = text.split_once("\"brokerEpoch\"") else { return -1 };
    let number: String = rest
        .trim_start()
        .trim_start_matches(':')
        .trim_start()
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == '-')
        .collect();
    number.parse().unwrap_or(-1)
}

#[cfg(test)]
mod tests;
