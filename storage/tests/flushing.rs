//! The committer: what it must not do while others hold a log, and when `flush.ms` is over.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::time::Duration;

use common::{append, batch, open, partition};
use rt::sim::{Latency, Sim};
use storage::{LogConfig, LogDirConfig, Offset};

fn unsynced(flush_after: Duration) -> LogConfig {
    LogConfig { sync: false, flush_after: Some(flush_after), ..LogConfig::default() }
}

/// Runs a test that may take only so many steps: a committer that spins takes all it can get.
fn within_steps<F: Future<Output = ()> + 'static>(steps: u64, test: impl FnOnce(rt::sim::Node) -> F) {
    let (sim, node) = Sim::with_node(5);
    sim.set_step_budget(steps);
    let running = test(node.clone());
    sim.block_on(&node, running);
}

/// A sync of a second, in which the committer finds nothing it can do.
fn slow_syncs() -> Latency {
    Latency { sync_us: 1_000_000..=1_000_000, ..Latency::default() }
}

#[test]
fn a_deadline_that_falls_into_a_roll_waits_for_it() {
    within_steps(20_000, |node| async move {
        let opened = open("/data", unsynced(Duration::from_millis(200)), LogDirConfig::default()).await;
        append(&opened.log, batch(0, 1, 100, 5), 0).await;
        opened.log.wait_written(Offset(1)).await.unwrap();
        node.disk().set_latency(slow_syncs());
        opened.log.roll().await.unwrap();
        assert_eq!(opened.log.synced_offset(), Offset(1));
    });
}

#[test]
fn appends_during_a_sync_that_is_due_at_once_wait_for_its_end() {
    within_steps(20_000, |node| async move {
        let opened = open("/data", unsynced(Duration::ZERO), LogDirConfig::default()).await;
        append(&opened.log, batch(0, 1, 100, 5), 0).await;
        opened.log.wait_synced(Offset(1)).await.unwrap();
        node.disk().set_latency(slow_syncs());
        append(&opened.log, batch(1, 1, 100, 5), 0).await;
        rt::sleep(Duration::from_millis(100)).await;
        append(&opened.log, batch(2, 1, 100, 5), 0).await;
        opened.log.wait_synced(Offset(3)).await.unwrap();
        // Closing takes the gate for seconds while the append before it is due at once.
        append(&opened.log, batch(3, 1, 100, 5), 0).await;
        opened.close().await;
    });
}

#[test]
fn a_deleted_log_is_not_waited_for() {
    within_steps(20_000, |_| async move {
        let opened = open("/data", unsynced(Duration::from_millis(200)), LogDirConfig::default()).await;
        append(&opened.log, batch(0, 1, 100, 5), 0).await;
        opened.log.wait_written(Offset(1)).await.unwrap();
        opened.dir.delete_log(&partition()).await.unwrap();
        rt::sleep(Duration::from_secs(5)).await;
        opened.close().await;
    });
}

#[test]
fn logs_without_flush_ms_wait_for_nothing() {
    let (sim, node) = Sim::with_node(5);
    sim.block_on(&node, async {
        let never = [None, Some(Duration::MAX), Some(Duration::from_millis(i64::MAX as u64))];
        for flush_after in never {
            let config = LogConfig { sync: false, flush_after, ..LogConfig::default() };
            let opened = open("/data", config, LogDirConfig::default()).await;
            let end = append(&opened.log, batch(0, 1, 100, 5), 0).await.plus(1);
            opened.log.wait_written(end).await.unwrap();
            rt::sleep(Duration::from_secs(1_000_000)).await;
            assert!(opened.log.synced_offset() < end, "{flush_after:?}");
            opened.close().await;
        }
    });
}

#[test]
fn a_shorter_flush_ms_counts_at_once() {
    let (sim, node) = Sim::with_node(5);
    sim.block_on(&node, async {
        let opened = open("/data", unsynced(Duration::from_secs(3_600)), LogDirConfig::default()).await;
        append(&opened.log, batch(0, 1, 100, 5), 0).await;
        opened.log.wait_written(Offset(1)).await.unwrap();
        rt::sleep(Duration::from_millis(100)).await;
        opened.log.set_config(unsynced(Duration::from_millis(300)));
        let waited = rt::timeout(Duration::from_millis(400), opened.log.wait_synced(Offset(1))).await;
        assert!(waited.is_ok(), "the old deadline was waited for");
    });
}

/// Who waited for a sync when it was switched off used to wait for ever.
#[test]
fn a_sync_that_was_promised_comes_though_it_is_switched_off() {
    let (sim, node) = Sim::with_node(5);
    sim.block_on(&node, async {
        let opened = open("/data", LogConfig::default(), LogDirConfig::default()).await;
        let end = append(&opened.log, batch(0, 1, 100, 5), 0).await.plus(1);
        opened.log.set_config(LogConfig { sync: false, flush_after: None, ..LogConfig::default() });
        let waited = rt::timeout(Duration::from_secs(5), opened.log.wait_synced(end)).await;
        waited.expect("the batch was appended under acks.all.sync").unwrap();
        let end = append(&opened.log, batch(1, 1, 100, 5), 0).await.plus(1);
        opened.log.wait_written(end).await.unwrap();
        rt::sleep(Duration::from_secs(60)).await;
        assert!(opened.log.synced_offset() < end, "later ones go without");
        opened.close().await;
    });
}
