//! Directories that the metadata don't know, at the start.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::collections::BTreeSet;

use common::{append, batch, open, partition};
use protocol::types::Uuid;
use rt::sim::{Crash, FaultOp, Node, Sim};
use storage::{
    ClosedDir, DirFacts, DirHome, HomeConfig, LogConfig, LogDir, LogDirConfig, LogStatus, Offset, Offsets,
    StorageError, TopicPartition,
};

const OURS: Uuid = Uuid([3; 16]);
const OTHER: Uuid = Uuid([9; 16]);
const LOG: &str = "00000000000000000000.log";

async fn home() -> (DirHome, DirFacts) {
    DirHome::open("/data", HomeConfig { node_id: 1, cluster_id: None }).await.unwrap()
}

fn metadata(topic_id: Uuid) -> String {
    format!("version: 0\ntopic_id: {topic_id}\n")
}

fn put(sim: &Sim, node: &Node, dir: &str, files: &[(&str, String)]) {
    let path = format!("/data/{dir}");
    let made = path.clone();
    sim.block_on(node, async move { rt::fs::create_dir_all(made).await.unwrap() });
    for (name, content) in files {
        node.disk().put_file(format!("{path}/{name}"), content.clone().into_bytes()).unwrap();
    }
}

/// Names of directories, and what is kept of them.
fn dirs(node: &Node) -> Vec<String> {
    let names = node.disk().names("/data").into_iter().filter(|name| name.contains('-'));
    let names = names.filter(|name| !name.ends_with("-checkpoint") && !name.starts_with("ringlog-"));
    names
        .map(|name| match name.split_once('.') {
            Some((of, rest)) => format!("{of} {}", rest.rsplit('-').next().unwrap()),
            None => name,
        })
        .collect()
}

/// Sets all there is aside where the topic [`OURS`] is deleted.
fn set_aside(sim: &Sim, node: &Node) -> Result<Vec<TopicPartition>, StorageError> {
    sim.block_on(node, async {
        let (home, mut facts) = home().await;
        let unknown = facts.partitions.clone();
        home.set_aside(&unknown, &BTreeSet::from([OURS]), &mut facts).await?;
        Ok(facts.partitions)
    })
}

/// An operator's `backup-2024` used to be removed with all that was in it, and logs of topics that were merely unknown to be renamed.
#[test]
fn only_what_is_known_to_be_deleted_is_touched() {
    let (sim, node) = Sim::with_node(1);
    let records = || (LOG, "records".to_string());
    put(&sim, &node, "backup-2024", &[("dump.tar", "all there is".into())]);
    put(&sim, &node, "nested-1/inner", &[("notes", "text".into())]);
    put(&sim, &node, "empty-0", &[]);
    put(&sim, &node, "half-0", &[("partition.metadata.tmp", String::new())]);
    put(&sim, &node, "half-1", &[("partition.metadata", metadata(OURS))]);
    put(&sim, &node, "gone-0", &[("partition.metadata", metadata(OURS)), records()]);
    put(&sim, &node, "other-0", &[("partition.metadata", metadata(OTHER)), records()]);
    put(&sim, &node, "other-1", &[("partition.metadata", metadata(OTHER))]);
    put(&sim, &node, "damaged-0", &[("partition.metadata", "version: 7".into()), records()]);
    put(&sim, &node, "mute-0", &[records()]);
    let left = set_aside(&sim, &node).unwrap();
    let kept = ["backup-2024", "damaged-0", "mute-0", "nested-1", "other-0", "other-1"];
    assert_eq!(left.iter().map(ToString::to_string).collect::<Vec<_>>(), kept);
    let mut all = kept.map(String::from).to_vec();
    all.push("gone-0 stray".into());
    all.sort();
    assert_eq!(dirs(&node), all);
    assert_eq!(node.disk().read_file("/data/backup-2024/dump.tar").unwrap(), "all there is");
}

/// A mount point in the directory used to keep the node from starting.
#[test]
fn a_directory_that_can_not_be_renamed_is_left() {
    let (sim, node) = Sim::with_node(1);
    for name in ["gone-0", "gone-1"] {
        put(&sim, &node, name, &[("partition.metadata", metadata(OURS)), (LOG, "records".into())]);
    }
    node.disk().fail(FaultOp::RenameBusy, "gone-0", u32::MAX);
    assert_eq!(set_aside(&sim, &node).unwrap(), [TopicPartition::new("gone", 0)]);
    assert_eq!(dirs(&node), ["gone-0", "gone-1 stray"]);
    node.crash(Crash::Kill);
    node.disk().clear_faults();
    // The device itself is another matter.
    node.disk().fail(FaultOp::Read, "gone-0/partition.metadata", 1);
    assert!(matches!(set_aside(&sim, &node), Err(StorageError::Io { .. })));
}

/// A log of the topic [`OURS`] with 7 records, left by a kill.
fn with_records(sim: &Sim, node: &Node) {
    sim.block_on(node, async move {
        let opened = open("/data", LogConfig::default(), LogDirConfig::default()).await;
        for tag in 0..7 {
            append(&opened.log, batch(tag, 1, 100, 5), 0).await;
        }
        opened.log.wait_synced(Offset(7)).await.unwrap();
    });
    node.crash(Crash::Kill);
}

/// One that was open used to be deleted, where an unopened one was kept.
#[test]
fn a_deleted_topics_log_that_does_not_tell_its_topic_is_kept() {
    for is_open in [true, false] {
        let (sim, node) = Sim::with_node(1);
        with_records(&sim, &node);
        sim.block_on(&node, async move {
            rt::fs::remove_file("/data/orders-0/partition.metadata").await.unwrap();
            let (_home, facts) = home().await;
            let dir = LogDir::open("/data", facts, LogDirConfig::default()).await.unwrap();
            if is_open {
                let log = dir.ensure_log(partition(), OURS, LogConfig::default()).await.unwrap();
                assert!(matches!(log.status(), LogStatus::Corrupt(_)));
            }
            dir.delete_log_of(&partition(), OURS).await.unwrap();
            rt::sleep(std::time::Duration::from_secs(10)).await;
        });
        assert_eq!(dirs(&node), ["orders-0 stray"]);
        let kept = node.disk().names("/data").into_iter().find(|name| name.ends_with("-stray")).unwrap();
        assert!(node.disk().names(format!("/data/{kept}")).contains(&LOG.into()));
    }
}

/// A stop where nobody knows the log.
fn stop_without(sim: &Sim, node: &Node) {
    sim.block_on(node, async {
        let (home, facts) = home().await;
        let dir = LogDir::open("/data", facts, LogDirConfig::default()).await.unwrap();
        home.begin_use().await.unwrap();
        let closed: ClosedDir = dir.close().await;
        home.close(&[closed], &Offsets::new(), 7).await.unwrap();
    });
    node.crash(Crash::PowerCut);
}

/// No stop used to be clean as long as it lay there, and with that every start recovered all logs.
#[test]
fn a_log_that_nobody_knows_is_no_reason_against_a_clean_stop_and_is_recovered_once_it_is_known() {
    let (sim, node) = Sim::with_node(1);
    with_records(&sim, &node);
    for _ in 0..2 {
        stop_without(&sim, &node);
        sim.block_on(&node, async {
            let (_home, facts) = home().await;
            assert!(facts.clean);
            assert_eq!(facts.unrecovered, BTreeSet::from([partition()]));
        });
        node.crash(Crash::Kill);
    }
    sim.block_on(&node, async {
        let opened = open("/data", LogConfig::default(), LogDirConfig::default()).await;
        assert!(opened.clean);
        assert_eq!((opened.log.status(), opened.log.end_offset()), (LogStatus::Online, Offset(7)));
        opened.close().await;
        let (_home, facts) = home().await;
        assert!(facts.clean && facts.unrecovered.is_empty());
    });
    node.crash(Crash::Kill);
    // Which ones it leaves out must be known.
    node.disk().put_file("/data/ringlog-unrecovered", "?").unwrap();
    sim.block_on(&node, async { assert!(!home().await.1.clean) });
}

/// After a clean stop it is nothing that the next start would have to recover.
#[test]
fn a_log_that_nobody_knows_after_a_clean_stop_stays_clean() {
    let (sim, node) = Sim::with_node(1);
    with_records(&sim, &node);
    sim.block_on(&node, async {
        open("/data", LogConfig::default(), LogDirConfig::default()).await.close().await;
    });
    stop_without(&sim, &node);
    sim.block_on(&node, async {
        let (_home, facts) = home().await;
        assert!(facts.clean && facts.unrecovered.is_empty());
    });
}

/// The mark used to go first: a start cut short cost the next one a recovery of all logs.
#[test]
fn a_start_cut_short_leaves_the_mark_of_the_clean_stop() {
    let (sim, node) = Sim::with_node(1);
    with_records(&sim, &node);
    sim.block_on(&node, async {
        open("/data", LogConfig::default(), LogDirConfig::default()).await.close().await;
    });
    for crash in [Crash::Kill, Crash::PowerCut] {
        sim.block_on(&node, async {
            let (_home, facts) = home().await;
            assert!(facts.clean);
            let dir = LogDir::open("/data", facts, LogDirConfig::default()).await.unwrap();
            dir.open_logs(vec![(partition(), LogConfig::default())]).await.unwrap();
        });
        node.crash(crash);
    }
    sim.block_on(&node, async {
        let opened = open("/data", LogConfig::default(), LogDirConfig::default()).await;
        assert!(opened.clean);
        assert_eq!(opened.log.end_offset(), Offset(7));
    });
    node.crash(Crash::PowerCut);
    sim.block_on(&node, async { assert!(!home().await.1.clean, "it was in use") });
}
