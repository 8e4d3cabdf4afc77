//! A stop that meets operations under way, and what is set aside whole.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::rc::Rc;
use std::time::Duration;

use common::{append, batch, calm, open, partition, read_all, tag_of};
use protocol::types::Uuid;
use rt::sim::{Crash, FaultOp, Sim};
use storage::{DirHome, HomeConfig, LogConfig, LogDir, Offset, Offsets};

/// A deletion whose caller had gone was cut off, and the stop counted as clean: with the log as a crash leaves it.
#[test]
fn a_deletion_under_way_ends_before_the_stop_does() {
    let mut kept = 0;
    for seed in 0..60 {
        let (sim, node) = Sim::with_node(seed);
        let refused = seed % 4 == 0;
        let disk = node.disk();
        let clean = sim.block_on(&node, async move {
            let opened = open("/data", LogConfig::default(), calm()).await;
            for tag in 0..6 {
                append(&opened.log, batch(tag, 1, 100, 5), 0).await;
                opened.log.flush().await.unwrap();
                rt::sleep(Duration::from_millis(20)).await;
            }
            append(&opened.log, batch(6, 1, 100, 5), 0).await;
            if refused {
                disk.fail(FaultOp::Rename, "orders-0", 1);
            }
            let dir = Rc::new(opened.dir);
            let deleting = dir.clone();
            let task = rt::spawn(async move { drop(deleting.delete_log(&partition()).await) });
            rt::sleep(Duration::from_micros(rt::random_u64() % 400)).await;
            task.cancel().await;
            let closed = dir.close().await;
            let clean = closed.clean;
            opened.home.close(&[closed], &Offsets::new(), 1).await.unwrap();
            clean
        });
        // A clean stop leaves a log closed whole or none.
        let there = node.disk().names("/data/orders-0");
        kept += usize::from(!there.is_empty());
        let closed = there.contains(&"00000000000000000000.index".to_owned());
        assert!(there.is_empty() || closed || !clean, "seed {seed}: {there:?}");
        node.crash(Crash::PowerCut);
        sim.block_on(&node, async move {
            let (_home, facts) =
                DirHome::open("/data", HomeConfig { node_id: 1, cluster_id: None }).await.unwrap();
            let is_there = facts.partitions.contains(&partition());
            let dir = LogDir::open("/data", facts, calm()).await.unwrap();
            if is_there {
                let log = dir.open_log(partition(), LogConfig::default()).await.unwrap();
                assert!(!clean || log.end_offset() == Offset(7), "seed {seed}: {}", log.end_offset());
            }
        });
    }
    assert!((1..60).contains(&kept), "some were, some weren't: {kept}");
}

/// What only the journal and memory had of it was lost.
#[test]
fn a_log_that_is_set_aside_is_kept_whole() {
    for crash in [Crash::Kill, Crash::PowerCut] {
        let (sim, node) = Sim::with_node(5);
        sim.block_on(&node, async {
            let opened = open("/data", LogConfig::default(), calm()).await;
            for tag in 0..6 {
                append(&opened.log, batch(tag, 1, 100, 5), 0).await;
                opened.log.flush().await.unwrap();
                rt::sleep(Duration::from_millis(20)).await;
            }
            append(&opened.log, batch(6, 1, 100, 5), 0).await;
            opened.dir.set_aside(&partition()).await.unwrap();
            // The name is free for a log of another topic.
            let again =
                opened.dir.create_log(partition(), Uuid([8; 16]), LogConfig::default()).await.unwrap();
            append(&again, batch(50, 1, 100, 5), 0).await;
            again.flush().await.unwrap();
        });
        node.crash(crash);
        let names = node.disk().names("/data");
        let stray = names.iter().find(|name| name.ends_with("-stray")).unwrap().clone();
        sim.block_on(&node, async move {
            let opened = open("/data", LogConfig::default(), calm()).await;
            assert_eq!(
                read_all(&opened.log, Offset(0), 9_000).await.iter().map(tag_of).collect::<Vec<_>>(),
                [50]
            );
            opened.dir.delete_log(&partition()).await.unwrap();
            rt::fs::rename(format!("/data/{stray}"), "/data/orders-0").await.unwrap();
            let log = opened.dir.open_log(partition(), LogConfig::default()).await.unwrap();
            let tags: Vec<u64> = read_all(&log, Offset(0), 9_000).await.iter().map(tag_of).collect();
            assert_eq!(tags, [0, 1, 2, 3, 4, 5, 6], "{crash:?}");
        });
    }
}
