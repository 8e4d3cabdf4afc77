//! `/placement`: which core has which partition, and `/placement/move`, which changes that.

use serde_json::{Value, json};

use crate::metrics::NodeFacts;
use crate::server::core_move::MoveWish;
use crate::server::placed_partitions::PlacedPartition;

/// The partitions of all shards; `null` in place of those of a shard that didn't answer.
pub(super) fn as_json(node: &NodeFacts, at_ms: i64, shards: Vec<Option<Vec<PlacedPartition>>>) -> Value {
    let cores = shards.len();
    let silent: Vec<usize> = (0..cores).filter(|core| shards[*core].is_none()).collect();
    let mut partitions: Vec<(usize, PlacedPartition)> = shards
        .into_iter()
        .enumerate()
        .flat_map(|(core, placed)| placed.into_iter().flatten().map(move |one| (core, one)))
        .collect();
    partitions.sort_by(|(_, a), (_, b)| (&a.topic, a.partition).cmp(&(&b.topic, b.partition)));
    let partitions: Vec<Value> =
        partitions.into_iter().map(|(core, one)| partition_as_json(node, core, &one)).collect();
    json!({"node": node.node_id, "cores": cores, "silent": silent, "at_ms": at_ms, "partitions": partitions})
}

fn partition_as_json(node: &NodeFacts, core: usize, one: &PlacedPartition) -> Value {
    let dir = one.dir.and_then(|dir| node.log_dirs.get(dir));
    json!({
        "topic": one.topic, "partition": one.partition, "core": core, "dir": dir, "on_purpose": one.on_purpose,
        "since_ms": one.since_ms, "records_in": one.records_in, "bytes_in": one.bytes_in,
        "records_out": one.records_out, "bytes_out": one.bytes_out,
    })
}

/// What `topic=...&partition=...&core=...` asks for. A topic's name has nothing that a query would have to escape.
pub(super) fn wish(query: &str) -> Option<MoveWish> {
    let value = |name: &str| {
        query
            .split('&')
            .find_map(|pair| pair.split_once('=').filter(|(key, _)| *key == name))
            .map(|(_, value)| value)
    };
    Some(MoveWish {
        topic: value("topic")?.to_owned(),
        partition: value("partition")?.parse().ok()?,
        core: value("core")?.parse().ok()?,
    })
}
