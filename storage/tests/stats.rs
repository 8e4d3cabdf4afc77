//! What a log directory counts about itself.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use common::{append, batch, open, read_all};
use rt::sim::Sim;
use storage::{LogConfig, LogDirConfig, Offset};

fn on_sim<F: Future<Output = ()> + 'static>(test: F) {
    let (sim, node) = Sim::with_node(5);
    sim.block_on(&node, test);
}

#[test]
fn appends_writes_and_syncs_are_counted() {
    on_sim(async {
        let opened = open("/data", LogConfig::default(), LogDirConfig::default()).await;
        let stats = opened.dir.stats();
        let made = [batch(1, 10, 1_000, 0), batch(2, 5, 500, 0)];
        let bytes: usize = made.iter().map(|batch| batch.total_bytes()).sum();
        for batch in made {
            append(&opened.log, batch, 0).await;
        }
        let appended =
            (stats.appended_batches.get(), stats.appended_records.get(), stats.appended_bytes.get());
        assert_eq!(appended, (2, 15, bytes as u64));
        assert_eq!((stats.written_records.get(), stats.synced_records.get()), (0, 0), "in memory so far");
        let held = opened.dir.memory().tail.used_bytes;
        assert!(held > bytes && held < bytes + 1_000, "with what keeping two batches takes: {held}");
        assert!(opened.dir.memory().unplaced.used_bytes >= bytes);

        opened.log.wait_synced(Offset(15)).await.unwrap();
        // The committer ends its turn after it woke those who waited.
        rt::sleep(std::time::Duration::from_secs(1)).await;
        assert_eq!((stats.written_records.get(), stats.synced_records.get()), (15, 15));
        assert_eq!(stats.device_bytes.get(), 4096, "both in one block, written once");
        let (flushes, syncs) = (stats.flush_time.counts(), stats.sync_time.counts());
        assert_eq!((flushes.total(), syncs.total()), (1, 1), "one group");
        assert!(flushes.sum_ns >= syncs.sum_ns, "the sync is a part of the flush");
        assert_eq!(opened.dir.memory().unplaced.used_bytes, 0, "placed");
        assert_eq!(opened.dir.memory().unplaced.capacity_bytes, LogDirConfig::default().unplaced_bytes_max);
    });
}

#[test]
fn without_sync_mode_what_is_written_is_not_counted_as_synced() {
    on_sim(async {
        let config = LogConfig { sync: false, ..LogConfig::default() };
        let opened = open("/data", config, LogDirConfig::default()).await;
        append(&opened.log, batch(1, 3, 300, 0), 0).await;
        opened.log.wait_written(Offset(3)).await.unwrap();
        rt::sleep(std::time::Duration::from_secs(1)).await;
        let stats = opened.dir.stats();
        assert_eq!((stats.written_records.get(), stats.synced_records.get()), (3, 0));
        assert_eq!((stats.flush_time.counts().total(), stats.sync_time.counts().total()), (1, 0));
        opened.log.flush().await.unwrap();
        assert_eq!(stats.synced_records.get(), 3);
    });
}

#[test]
fn what_catch_up_readers_hold_is_counted() {
    on_sim(async {
        let config = LogConfig { tail_bytes_max: 0, ..LogConfig::default() };
        let dir_config = LogDirConfig { tail_bytes_max: 0, ..LogDirConfig::default() };
        let opened = open("/data", config, dir_config).await;
        for tag in 0..20 {
            append(&opened.log, batch(tag, 1, 5_000, 0), 0).await;
            opened.log.wait_synced(Offset(tag as i64 + 1)).await.unwrap();
        }
        opened.log.roll().await.unwrap();
        assert_eq!(read_all(&opened.log, Offset::ZERO, 1 << 20).await.len(), 20);
        let memory = opened.dir.memory();
        assert!(memory.cache.used_bytes >= 100_000, "{memory:?}");
        assert!(memory.cache.used_bytes <= memory.cache.capacity_bytes, "{memory:?}");
    });
}
