//! From the shards' numbers to the text.

use std::collections::BTreeMap;

use rt::ProcessUsage;

use super::apis::Stage;
use super::families::*;
use super::limits::PARTITIONS_MAX;
use super::positions::{PartitionNumbers, lags};
use super::snapshot::{DirNumbers, ShardSnapshot};
use super::text::TextWriter;
use super::topics::TopicNumbers;
use crate::group::classic::GroupState;

/// What doesn't change while the node runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeFacts {
    /// `node.id`.
    pub node_id: i32,
    /// The log directories, as configured.
    pub log_dirs: Vec<String>,
    /// When the process began, in ms since 1970.
    pub start_ms: i64,
}

/// The shards that answered, each with its number as text.
type Answered<'a> = [(String, &'a ShardSnapshot)];

/// All families; of a shard that didn't answer, or doesn't serve yet, only that it didn't. `shards` are in order of their ids, `process` is none
/// where the kernel doesn't tell.
pub fn render(
    node: &NodeFacts,
    shards: &[Option<Box<ShardSnapshot>>],
    process: Option<&ProcessUsage>,
) -> String {
    let mut out = TextWriter::default();
    out.family(&BUILD);
    out.sample(&[env!("CARGO_PKG_VERSION"), &node.node_id.to_string()], 1);
    out.family(&SHARD_UP);
    for (id, shard) in shards.iter().enumerate() {
        out.sample(&[&id.to_string()], u8::from(shard.is_some()));
    }
    let answered =
        shards.iter().enumerate().filter_map(|(id, shard)| Some((id.to_string(), shard.as_deref()?)));
    let answered: Vec<(String, &ShardSnapshot)> = answered.collect();
    connections(&mut out, &answered);
    apis(&mut out, &answered);
    // A sum without some of its parts would look like a restart.
    let whole = answered.len() == shards.len();
    topics(&mut out, if whole { &answered } else { &[] });
    positions(&mut out, &answered, whole);
    logs(&mut out, &answered);
    log_dirs(&mut out, &node.log_dirs, &answered);
    memory(&mut out, &answered);
    state(&mut out, &answered);
    process_families(&mut out, node, process);
    out.finish()
}

/// `per_shard!(out, shards, FAMILY, numbers.field)`: one number a shard.
macro_rules! per_shard {
    ($out:ident, $shards:ident, $($family:ident $(. $field:ident)+;)*) => {$(
        $out.family(&$family);
        for (id, shard) in $shards {
            $out.sample(&[id], shard$(.$field)+);
        }
    )*};
}

fn connections(out: &mut TextWriter, shards: &Answered<'_>) {
    out.family(&PIECES);
    for (id, shard) in shards {
        out.sample(&[id, "local"], shard.pieces_local);
        out.sample(&[id, "remote"], shard.pieces_remote);
    }
    per_shard! { out, shards,
        CONNECTIONS.connections.open;
        CONNECTIONS_ADOPTED.connections.adopted;
    }
    out.family(&CONNECTIONS_CLOSED);
    for (id, shard) in shards {
        out.sample(&[id, "violation"], shard.connections.violations);
        out.sample(&[id, "idle"], shard.connections.idle);
    }
}

fn apis(out: &mut TextWriter, shards: &Answered<'_>) {
    let apis = || shards.iter().flat_map(|(id, shard)| shard.apis.iter().map(move |api| (id.as_str(), api)));
    out.family(&REQUESTS);
    apis().for_each(|(id, api)| out.sample(&[id, api.api], api.requests));
    out.family(&REQUEST_ERRORS);
    for (id, api) in apis() {
        api.errors.iter().for_each(|(code, count)| out.sample(&[id, api.api, code.name()], count));
    }
    out.family(&REQUEST_BYTES);
    apis().for_each(|(id, api)| out.sample(&[id, api.api], api.request_bytes));
    out.family(&RESPONSE_BYTES);
    apis().for_each(|(id, api)| out.sample(&[id, api.api], api.response_bytes));
    out.family(&REQUEST_TIME);
    apis().for_each(|(id, api)| out.histogram(&[id, api.api], &api.total));
    out.family(&REQUEST_STAGE_TIME);
    for (id, api) in apis() {
        let stages = Stage::ALL.iter().zip(&api.stages).filter(|(_, times)| times.total() > 0);
        stages.for_each(|(stage, times)| out.histogram(&[id, api.api, stage.name()], times));
    }
    out.family(&APPEND_TIME);
    shards.iter().for_each(|(id, shard)| out.histogram(&[id], &shard.append));
    out.family(&DURABLE_TIME);
    shards.iter().for_each(|(id, shard)| out.histogram(&[id], &shard.durable));
}

fn topics(out: &mut TextWriter, shards: &Answered<'_>) {
    let mut sums: BTreeMap<&str, TopicNumbers> = BTreeMap::new();
    for topic in shards.iter().flat_map(|(_, shard)| &shard.topics) {
        sums.entry(&topic.name).or_default().add(topic);
    }
    let mut write = |family, number: fn(&TopicNumbers) -> u64| {
        out.family(family);
        sums.iter().for_each(|(name, topic)| out.sample(&[name], number(topic)));
    };
    write(&TOPIC_RECORDS_IN, |topic| topic.records_in);
    write(&TOPIC_BYTES_IN, |topic| topic.bytes_in);
    write(&TOPIC_RECORDS_OUT, |topic| topic.records_out);
    write(&TOPIC_BYTES_OUT, |topic| topic.bytes_out);
}

fn positions(out: &mut TextWriter, shards: &Answered<'_>, whole: bool) {
    let partitions = || shards.iter().flat_map(|(_, shard)| &shard.partitions);
    let mut told: Vec<&PartitionNumbers> = partitions().collect();
    told.sort_by_key(|one| (&one.topic, one.partition));
    told.truncate(PARTITIONS_MAX);
    let mut write = |family, offset: fn(&PartitionNumbers) -> i64| {
        out.family(family);
        told.iter().for_each(|one| out.sample(&[&one.topic, &one.partition.to_string()], offset(one)));
    };
    write(&PARTITION_END, |one| one.high_watermark);
    write(&PARTITION_START, |one| one.start_offset);
    out.family(&GROUP_LAG);
    if whole {
        let committed = shards.iter().flat_map(|(_, shard)| &shard.groups.committed);
        let lags = lags(partitions(), committed);
        lags.into_iter().for_each(|((group, topic), lag)| out.sample(&[group, topic], lag));
    }
}

fn logs(out: &mut TextWriter, shards: &Answered<'_>) {
    per_shard! { out, shards,
        LOG_APPENDED_BATCHES.log.appended_batches;
        LOG_APPENDED_RECORDS.log.appended_records;
        LOG_APPENDED_BYTES.log.appended_bytes;
        LOG_WRITTEN_RECORDS.log.written_records;
        LOG_SYNCED_RECORDS.log.synced_records;
        LOG_DEVICE_BYTES.log.device_bytes;
        JOURNAL_BYTES.log.journal_bytes;
        JOURNAL_REFUSED_LOGS.log.journal_refused_logs;
        JOURNAL_CHECKPOINTS.log.journal_checkpoints;
        LOG_DELETED_SEGMENTS.log.deleted_segments;
        LOG_DELETED_BYTES.log.deleted_bytes;
        COMPACTION_PASSES.log.compaction_passes;
        COMPACTION_FAILED_PASSES.log.compaction_failed_passes;
        COMPACTION_READ_BYTES.log.compaction_read_bytes;
        COMPACTION_WRITTEN_BYTES.log.compaction_written_bytes;
        COMPACTION_REMOVED_RECORDS.log.compaction_removed_records;
        COMPACTION_REPLACED_SEGMENTS.log.compaction_replaced_segments;
    }
    out.family(&COMPACTION_DIRTIEST);
    for (id, shard) in shards {
        out.sample(&[id], shard.log.compaction_dirtiest_permille as f64 / 1_000.0);
    }
    out.family(&COMPACTION_LOOKED);
    for (id, shard) in shards {
        if let Some(ms) = shard.log.compaction_looked_ms_ago {
            out.sample(&[id], ms as f64 / 1_000.0);
        }
    }
    out.family(&FLUSH_TIME);
    shards.iter().for_each(|(id, shard)| out.histogram(&[id], &shard.log.flush));
    out.family(&SYNC_TIME);
    shards.iter().for_each(|(id, shard)| out.histogram(&[id], &shard.log.sync));
}

fn log_dirs(out: &mut TextWriter, dirs: &[String], shards: &Answered<'_>) {
    let mut write = |family, number: fn(&DirNumbers) -> u64| {
        out.family(family);
        for (id, shard) in shards {
            for (dir, numbers) in dirs.iter().zip(&shard.dirs) {
                out.sample(&[id, dir], number(numbers));
            }
        }
    };
    write(&LOG_DIR_BYTES, |dir| dir.bytes);
    write(&LOG_DIR_PARTITIONS, |dir| dir.partitions);
    write(&LOG_SEGMENTS, |dir| dir.segments);
    write(&LOG_PRODUCERS, |dir| dir.producers);
    write(&LOG_DIR_UNCLEANABLE, |dir| dir.uncleanable_partitions);
    write(&LOG_DIR_OFFLINE_PARTITIONS, |dir| dir.offline_partitions);
    write(&LOG_DIR_OFFLINE, |dir| u64::from(dir.is_offline));
    write(&DISK_BYTES, |dir| dir.room.total_bytes);
    write(&DISK_FREE_BYTES, |dir| dir.room.free_bytes);
    write(&DISK_REFUSES_WRITES, |dir| u64::from(dir.room.refuses_writes));
}

fn memory(out: &mut TextWriter, shards: &Answered<'_>) {
    let budgets =
        || shards.iter().flat_map(|(id, shard)| shard.memory.iter().map(move |budget| (id, budget)));
    out.family(&MEMORY_USED);
    budgets().for_each(|(id, (budget, memory))| out.sample(&[id, budget], memory.used_bytes));
    out.family(&MEMORY_CAPACITY);
    budgets().for_each(|(id, (budget, memory))| out.sample(&[id, budget], memory.capacity_bytes));
}

fn state(out: &mut TextWriter, shards: &Answered<'_>) {
    per_shard! { out, shards,
        METADATA_OFFSET.metadata.offset;
        TOPICS.metadata.topics;
        PARTITIONS.metadata.partitions;
        FETCH_SESSIONS.fetch_sessions;
    }
    out.family(&GROUPS);
    for (id, shard) in shards {
        let states = GroupState::ALL.iter().zip(shard.groups.states);
        states.for_each(|(state, groups)| out.sample(&[id, state.name()], groups));
    }
    out.family(&COORDINATORS);
    for (id, shard) in shards {
        out.sample(&[id, "loading"], shard.groups.loading);
        out.sample(&[id, "active"], shard.groups.active);
        out.sample(&[id, "lost"], shard.groups.lost);
    }
}

fn process_families(out: &mut TextWriter, node: &NodeFacts, usage: Option<&ProcessUsage>) {
    let mut write = |family, number: fn(&ProcessUsage) -> Option<u64>| {
        out.family(family);
        usage.and_then(number).into_iter().for_each(|number| out.sample(&[], number));
    };
    write(&PROCESS_RESIDENT, |usage| Some(usage.resident_bytes));
    write(&PROCESS_OPEN_FDS, |usage| Some(usage.open_files));
    write(&PROCESS_MAX_FDS, |usage| usage.open_files_max);
    write(&PROCESS_THREADS, |usage| Some(usage.threads));
    out.family(&PROCESS_CPU);
    usage.into_iter().for_each(|usage| out.sample(&[], usage.cpu.as_secs_f64()));
    out.family(&PROCESS_START);
    out.sample(&[], node.start_ms as f64 / 1e3);
}
