//! What a quorum is started with, and what its subscribers get.

use std::path::PathBuf;

use protocol::types::Str;
use rt::ShardId;
use shards::PartitionKey;

use crate::metadata::image::{Delta, Image};

/// Settings of the quorum.
#[derive(Debug, Clone)]
pub struct QuorumConfig {
    /// Directory of `ringlog-raft.log` and `ringlog-raft.snapshot`; made if it isn't there.
    pub dir: PathBuf,
    /// `node.id`; the Raft id is one more, as Raft has no 0.
    pub node_id: i32,
    /// The cluster's id; files of another cluster are refused.
    pub cluster_id: Str,
    /// Whether the log is written by direct I/O.
    pub direct_io: bool,
    /// Bytes that the log may have before a snapshot takes its place.
    pub snapshot_bytes: u64,
}

impl QuorumConfig {
    pub(super) fn raft_id(&self) -> u64 {
        raft_id(self.node_id)
    }
}

pub(super) fn raft_id(node_id: i32) -> u64 {
    u64::from(node_id.unsigned_abs()) + 1
}

/// What a shard gets: the image once, then every committed batch in order.
#[derive(Debug, Clone)]
pub enum MetadataUpdate {
    /// The image to start from.
    Image(Box<Image>),
    /// What comes next.
    Delta(Delta),
    /// Of this node, not of the metadata: a partition's way from one shard to another is over, at the same place among the deltas on all
    /// shards, so that all go on from the same placement. Without a shard it stays where it was.
    Settled(PartitionKey, Option<ShardId>),
}
