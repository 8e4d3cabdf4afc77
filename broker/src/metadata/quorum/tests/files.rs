//! Files that can't be right, on a simulated disk.

use std::path::Path;

use bytes::Bytes;
use protocol::internal::FeatureLevelRecord;
use protocol::types::Str;
use rt::fs::BLOCK;
use rt::sim::{FaultOp, Node, Sim};

use super::super::{Quorum, QuorumConfig, QuorumError};
use crate::metadata::limits::LOG_START_BYTES;

const LOG: &str = "/data/ringlog-raft.log";
const SNAPSHOT: &str = "/data/ringlog-raft.snapshot";

fn config() -> QuorumConfig {
    QuorumConfig {
        dir: "/data".into(),
        node_id: 1,
        cluster_id: Str::from("cluster"),
        direct_io: true,
        snapshot_bytes: 3 * BLOCK as u64,
    }
}

/// Opens, commits `commits` entries one after the other, and stops cleanly.
fn run(sim: &Sim, node: &Node, config: QuorumConfig, commits: i16) -> Result<i64, QuorumError> {
    sim.block_on(node, async move {
        let quorum = Quorum::open(&config, Vec::new()).await?;
        for feature_level in 1..=commits {
            let record = FeatureLevelRecord { name: "f".into(), feature_level, ..Default::default() };
            quorum.propose(Some(Quorum::encode(&[record.into()])?)).committed().await?;
        }
        quorum.stop().await;
        let offset = quorum.image().offset;
        assert!(quorum.propose(None).committed().await.is_err(), "a stopped quorum takes nothing");
        Ok(offset)
    })
}

fn refusal(sim: &Sim, node: &Node, config: QuorumConfig) -> String {
    run(sim, node, config, 0).unwrap_err().to_string()
}

fn change(node: &Node, path: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let disk = node.disk();
    let mut content = disk.read_file(path).unwrap().to_vec();
    change(&mut content);
    disk.put_file(path, content).unwrap();
}

#[test]
fn a_clean_stop_leaves_files_that_go_on_with_space_for_a_start() {
    let (sim, node) = Sim::with_node(1);
    assert_eq!(run(&sim, &node, config(), 1).unwrap(), 0);
    // Header, election, one entry.
    assert_eq!(node.disk().read_file(LOG).unwrap().len(), 3 * BLOCK + LOG_START_BYTES as usize);
    assert_eq!(run(&sim, &node, config(), 10).unwrap(), 10);
    assert!(node.disk().names("/data").contains(&"ringlog-raft.snapshot".to_string()));
    assert!(
        node.disk().read_file(LOG).unwrap().len() <= 5 * BLOCK + LOG_START_BYTES as usize,
        "the snapshot took the log's place"
    );
    assert_eq!(run(&sim, &node, config(), 1).unwrap(), 11);
}

#[test]
fn files_of_others_are_refused() {
    let (sim, node) = Sim::with_node(1);
    run(&sim, &node, config(), 5).unwrap();
    let other_cluster = QuorumConfig { cluster_id: "other".into(), ..config() };
    assert_eq!(
        refusal(&sim, &node, other_cluster),
        format!("{SNAPSHOT}: it is of cluster cluster, this node is of other")
    );
    let other_node = QuorumConfig { node_id: 2, ..config() };
    assert_eq!(refusal(&sim, &node, other_node), format!("{SNAPSHOT}: it is of node 1, this is node 2"));
    assert!(run(&sim, &node, config(), 0).is_ok(), "a refusal changes nothing");
}

#[test]
fn files_of_newer_versions_are_refused() {
    for path in [LOG, SNAPSHOT] {
        let (sim, node) = Sim::with_node(1);
        run(&sim, &node, config(), 5).unwrap();
        change(&node, path, |bytes| bytes[11] += 1);
        let why = refusal(&sim, &node, config());
        assert!(why.contains(path) && why.contains("newer version of Ringlog"), "{why}");
    }
}

#[test]
fn damage_is_refused() {
    for (path, at) in [(LOG, 20), (SNAPSHOT, 20), (SNAPSHOT, BLOCK + 3), (LOG, BLOCK + 30)] {
        let (sim, node) = Sim::with_node(1);
        run(&sim, &node, config(), 5).unwrap();
        change(&node, path, |bytes| bytes[at] ^= 4);
        let why = refusal(&sim, &node, config());
        assert!(why.contains(path) && why.contains("is damaged"), "{path} {at}: {why}");
    }
}

#[test]
fn a_missing_half_is_refused() {
    let remove = |node: &Node, sim: &Sim, path: &'static str| {
        sim.block_on(node, async move { rt::fs::remove_file(Path::new(path)).await.unwrap() });
    };
    let (sim, node) = Sim::with_node(1);
    run(&sim, &node, config(), 5).unwrap();
    remove(&node, &sim, LOG);
    assert_eq!(refusal(&sim, &node, config()), format!("{LOG}: it is missing, though there is a snapshot"));
    let (sim, node) = Sim::with_node(1);
    run(&sim, &node, config(), 5).unwrap();
    remove(&node, &sim, SNAPSHOT);
    assert!(refusal(&sim, &node, config()).contains("but the snapshot ends at 0"));
}

#[test]
fn a_torn_tail_is_cut() {
    let (sim, node) = Sim::with_node(1);
    run(&sim, &node, config(), 1).unwrap();
    change(&node, LOG, |bytes| {
        let torn = bytes[2 * BLOCK..2 * BLOCK + 40].to_vec();
        bytes.extend_from_slice(&torn);
        bytes.resize(4 * BLOCK, 1);
    });
    assert_eq!(run(&sim, &node, config(), 1).unwrap(), 1);
    assert_eq!(run(&sim, &node, config(), 0).unwrap(), 1);
}

#[test]
fn an_old_log_behind_a_new_snapshot_is_skipped() {
    let (sim, node) = Sim::with_node(1);
    let large = QuorumConfig { snapshot_bytes: 1 << 20, ..config() };
    run(&sim, &node, large.clone(), 5).unwrap();
    let old: Bytes = node.disk().read_file(LOG).unwrap();
    // A start that writes a snapshot, then loses the new log, as in a crash between the two.
    run(&sim, &node, QuorumConfig { snapshot_bytes: 1, ..config() }, 1).unwrap();
    let log_after = node.disk().read_file(LOG).unwrap();
    assert_ne!(old, log_after);
    // The frames up to the snapshot, as they were before the log was started anew.
    assert_eq!(run(&sim, &node, large, 0).unwrap(), 5);
}

/// Without it, the election's frame could reach the disk and the one before it, written by a killed process, not: that
/// would look like damage.
#[test]
fn what_was_read_is_synced_before_the_election_is_written() {
    let (sim, node) = Sim::with_node(1);
    run(&sim, &node, config(), 1).unwrap();
    let before = node.disk().read_file(LOG).unwrap();
    node.disk().fail(FaultOp::Sync, "ringlog-raft.log", 1);
    let why = refusal(&sim, &node, config());
    assert!(why.starts_with(LOG), "{why}");
    assert_eq!(node.disk().read_file(LOG).unwrap(), before, "nothing is written before the sync");
}

/// A read that only waits for what was decided before was refused when the disk was full, and what was queued behind it too.
#[test]
fn a_full_disk_refuses_records_but_nothing_that_writes_none() {
    let (sim, node) = Sim::with_node(1);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let quorum = Quorum::open(&config(), Vec::new()).await.unwrap();
        let record = |feature_level| {
            let record = FeatureLevelRecord { name: "f".into(), feature_level, ..Default::default() };
            Some(Quorum::encode(&[record.into()]).unwrap())
        };
        disk.set_capacity(Some(0));
        // What is allocated is used up first.
        let mut level = 0;
        let refused = loop {
            level += 1;
            if let Err(error) = quorum.propose(record(level)).committed().await {
                break error;
            }
        };
        assert!(matches!(refused, QuorumError::DiskFull), "{refused}");
        quorum.propose(None).committed().await.unwrap();
        disk.set_capacity(None);
        quorum.propose(record(level)).committed().await.unwrap();
        quorum.stop().await;
    });
}

/// Leaves no byte free; what is freed can be taken again.
fn fill(node: &Node) {
    const MUCH: u64 = 1 << 40;
    let disk = node.disk();
    disk.set_capacity(Some(MUCH));
    disk.set_capacity(Some(MUCH - disk.free_bytes()));
}

/// The stop used to cut off what it couldn't add to: whoever took that space kept the next start from coming up.
#[test]
fn what_is_kept_for_the_next_start_outlives_stops_on_a_full_disk() {
    let (sim, node) = Sim::with_node(1);
    run(&sim, &node, config(), 1).unwrap();
    for start in 1..=8 {
        fill(&node);
        run(&sim, &node, config(), 0).unwrap_or_else(|error| panic!("start {start}: {error}"));
    }
}

/// The same where a crash cut a flush short.
#[test]
fn what_is_kept_for_the_next_start_outlives_a_torn_flush() {
    let (sim, node) = Sim::with_node(1);
    run(&sim, &node, config(), 1).unwrap();
    let len = node.disk().read_file(LOG).unwrap().len();
    change(&node, LOG, |bytes| bytes.copy_within(2 * BLOCK..2 * BLOCK + 40, 3 * BLOCK));
    fill(&node);
    assert_eq!(run(&sim, &node, config(), 0).unwrap(), 0);
    assert_eq!(node.disk().read_file(LOG).unwrap().len(), len);
    fill(&node);
    assert_eq!(run(&sim, &node, config(), 0).unwrap(), 0);
}

#[test]
fn a_quorum_goes_on_from_files_that_were_made_for_it() {
    use protocol::internal::TopicRecord;
    use protocol::types::Uuid;

    use super::super::seed;
    use crate::metadata::image::{Delta, Image};

    let record = TopicRecord { name: "t".into(), topic_id: Uuid([5; 16]), ..Default::default() };
    let mut image = Image::empty(Str::from("cluster"));
    image.apply_delta(&Delta { base_offset: 0, epoch: 1, records: [record.into()].into() }).unwrap();
    let seed = seed(1, &image, 77).unwrap();
    let (sim, node) = Sim::with_node(1);
    node.disk().put_file(SNAPSHOT, seed.snapshot.to_vec()).unwrap();
    let alone = refusal(&sim, &node, config());
    assert!(alone.contains("it is missing, though there is a snapshot"), "{alone}");
    node.disk().put_file(LOG, seed.log.to_vec()).unwrap();
    for offset in [3, 6] {
        let (now, commits) = (config(), 3);
        assert_eq!(run(&sim, &node, now, commits).unwrap(), offset, "records follow the image's");
    }
    let config = config();
    let found = sim.block_on(&node, async move {
        let quorum = Quorum::open(&config, Vec::new()).await.unwrap();
        let found = quorum.image().topic("t").map(|topic| topic.id);
        quorum.stop().await;
        found
    });
    assert_eq!(found, Some(Uuid([5; 16])));
}
