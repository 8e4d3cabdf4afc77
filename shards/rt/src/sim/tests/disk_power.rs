//! Contents and sizes through power cuts and kills.

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;

use super::{SEEDS, background, can_happen, node_after};
use crate::sim::disk::{File, sync_dir};
use crate::sim::facade::now_ns;
use crate::sim::timer::sleep_until;
use crate::sim::{Crash, FaultOp, Node, Sim};

const PATH: &str = "/f";
const SECTOR: usize = 512;

fn filled(byte: u8, len: usize) -> Bytes {
    Bytes::from(vec![byte; len])
}

// 8 KiB of 1, synced, name and all.
async fn synced_ones() {
    let file = File::open(Path::new(PATH), true).await.unwrap();
    file.write_at(0, filled(1, 8192)).await.unwrap();
    file.sync_data().await.unwrap();
    sync_dir(Path::new("/")).await.unwrap();
}

async fn write_twos(sync: bool) {
    let file = File::open(Path::new(PATH), false).await.unwrap();
    file.write_at(0, filled(2, 8192)).await.unwrap();
    if sync {
        file.sync_data().await.unwrap();
    }
}

// The byte of each sector; a mixed sector fails.
fn sectors(node: &Node) -> Vec<u8> {
    let content = node.disk().read_file(PATH).unwrap();
    let whole = |sector: &[u8]| {
        assert!(sector.iter().all(|byte| *byte == sector[0]), "a sector is mixed");
        sector[0]
    };
    content.chunks(SECTOR).map(whole).collect()
}

fn after_power_cut(seed: u64, sync: bool) -> Vec<u8> {
    let (sim, node) = node_after(seed, synced_ones());
    sim.block_on(&node, write_twos(sync));
    node.crash(Crash::PowerCut);
    sectors(&node)
}

#[test]
fn an_unsynced_write_survives_in_any_subset_of_sectors() {
    assert!(can_happen(|seed| after_power_cut(seed, false) == [1; 16]), "nothing");
    assert!(can_happen(|seed| after_power_cut(seed, false) == [2; 16]), "everything");
    assert!(can_happen(|seed| after_power_cut(seed, false)[..3] == [2, 1, 2]), "scattered");
    assert!(can_happen(|seed| {
        let sectors = after_power_cut(seed, false);
        sectors[0] == 2 && sectors.is_sorted_by(|a, b| a >= b) && sectors[15] == 1
    }));
    for seed in 0..SEEDS {
        let sectors = after_power_cut(seed, false);
        assert!(sectors.len() == 16 && sectors.iter().all(|byte| [1, 2].contains(byte)), "seed {seed}");
    }
}

async fn write_twos_durably(after_ones: bool) {
    let file = File::open(Path::new(PATH), false).await.unwrap();
    if after_ones {
        file.write_at(0, filled(1, 512)).await.unwrap();
    }
    file.write_durable_at(4096, filled(2, 4096)).await.unwrap();
}

fn after_durable_write(seed: u64, after_ones: bool) -> Vec<u8> {
    let (sim, node) = node_after(seed, synced_ones());
    sim.block_on(&node, write_twos_durably(after_ones));
    node.crash(Crash::PowerCut);
    sectors(&node)
}

#[test]
fn a_durable_write_survives_without_a_sync_unless_others_wait_for_one() {
    for seed in 0..SEEDS {
        assert_eq!(after_durable_write(seed, false), [[1; 8], [2; 8]].concat(), "seed {seed}");
    }
    assert!(can_happen(|seed| after_durable_write(seed, true)[8..] != [2; 8]));
}

fn after_a_cut_in_a_durable_write(seed: u64) -> Vec<u8> {
    let (sim, node) = node_after(seed, synced_ones());
    let done = background(&node, async {
        let file = File::open(Path::new(PATH), false).await.unwrap();
        file.write_durable_at(0, filled(2, 8192)).await.unwrap();
    });
    // As of `killed_in_flight`: the write is in flight then.
    sim.run_steps(4);
    assert!(!done.get());
    node.crash(Crash::PowerCut);
    sectors(&node)
}

#[test]
fn a_durable_write_that_a_power_cut_meets_is_there_in_any_subset_of_sectors() {
    assert!(can_happen(|seed| after_a_cut_in_a_durable_write(seed) == [1; 16]), "nothing");
    assert!(can_happen(|seed| after_a_cut_in_a_durable_write(seed) == [2; 16]), "everything");
    assert!(can_happen(|seed| after_a_cut_in_a_durable_write(seed)[..3] == [2, 1, 2]), "scattered");
}

#[test]
fn a_durable_write_fails_as_a_sync_does() {
    let (sim, node) = node_after(1, synced_ones());
    node.disk().fail(FaultOp::Sync, PATH, 1);
    sim.block_on(&node, async {
        let file = File::open(Path::new(PATH), false).await.unwrap();
        assert!(file.write_durable_at(0, filled(2, 4096)).await.is_err());
        file.write_durable_at(0, filled(2, 4096)).await.unwrap();
    });
}

#[test]
fn a_synced_write_survives() {
    for seed in 0..SEEDS {
        assert_eq!(after_power_cut(seed, true), [2; 16], "seed {seed}");
    }
}

#[test]
fn each_version_since_the_sync_can_survive_and_no_other() {
    let run = |seed| {
        let (sim, node) = node_after(seed, synced_ones());
        sim.block_on(&node, async {
            let file = File::open(Path::new(PATH), false).await.unwrap();
            for byte in [2, 3] {
                file.write_at(512, filled(byte, 512)).await.unwrap();
            }
        });
        node.crash(Crash::PowerCut);
        let sectors = sectors(&node);
        assert!(sectors.iter().enumerate().all(|(n, byte)| n == 1 || *byte == 1));
        sectors[1]
    };
    for byte in [1, 2, 3] {
        assert!(can_happen(|seed| run(seed) == byte), "version {byte}");
    }
    assert!(!can_happen(|seed| run(seed) > 3));
}

#[test]
fn a_write_that_completes_during_a_sync_is_not_covered() {
    let run = |seed| {
        let (sim, node) = node_after(seed, synced_ones());
        sim.block_on(&node, async {
            let file = File::open(Path::new(PATH), false).await.unwrap();
            // Begin the sync first; whichever ends first, the write was not complete when it began.
            let sync = file.sync_data();
            let write = file.write_at(0, filled(2, 8192));
            let mut sync = std::pin::pin!(sync);
            std::future::poll_fn(|cx| {
                let _ = sync.as_mut().poll(cx);
                std::task::Poll::Ready(())
            })
            .await;
            write.await.unwrap();
            let _ = sync.await;
        });
        node.crash(Crash::PowerCut);
        sectors(&node)
    };
    assert!(can_happen(|seed| run(seed) == [1; 16]));
}

#[test]
fn a_size_is_durable_only_by_a_sync() {
    let run = |seed, sync: bool| {
        let (sim, node) = node_after(seed, synced_ones());
        sim.block_on(&node, async move {
            let file = File::open(Path::new(PATH), false).await.unwrap();
            file.set_len(1 << 20).await.unwrap();
            if sync {
                file.sync_data().await.unwrap();
            }
        });
        node.crash(Crash::PowerCut);
        node.disk().read_file(PATH).unwrap().len()
    };
    assert!(can_happen(|seed| run(seed, false) == 8192));
    assert!(can_happen(|seed| run(seed, false) == 1 << 20));
    assert!((0..SEEDS).all(|seed| [8192, 1 << 20].contains(&run(seed, false))));
    assert!((0..SEEDS).all(|seed| run(seed, true) == 1 << 20));
}

#[test]
fn what_a_truncation_cut_off_comes_back_as_zeros_or_as_it_was() {
    let run = |seed| {
        let (sim, node) = node_after(seed, synced_ones());
        sim.block_on(&node, async move {
            let file = File::open(Path::new(PATH), false).await.unwrap();
            file.set_len(4096).await.unwrap();
            file.set_len(8192).await.unwrap();
            assert_eq!(file.read_at(4096, 8192).await.unwrap(), filled(0, 4096));
        });
        node.crash(Crash::PowerCut);
        let sectors = sectors(&node);
        assert_eq!(sectors[..8], [1; 8]);
        sectors.get(8).copied()
    };
    for end in [None, Some(0), Some(1)] {
        assert!(can_happen(|seed| run(seed) == end), "{end:?}");
    }
}

#[test]
fn a_kill_keeps_completed_writes() {
    for seed in 0..SEEDS {
        let (sim, node) = node_after(seed, synced_ones());
        sim.block_on(&node, write_twos(false));
        node.crash(Crash::Kill);
        assert_eq!(sectors(&node), [2; 16], "seed {seed}");
    }
}

#[test]
fn a_power_cut_after_a_kill_still_loses_what_was_not_synced() {
    assert!(can_happen(|seed| {
        let (sim, node) = node_after(seed, synced_ones());
        sim.block_on(&node, write_twos(false));
        node.crash(Crash::Kill);
        node.crash(Crash::PowerCut);
        sectors(&node) == [1; 16]
    }));
}

fn killed_in_flight(seed: u64) -> Vec<u8> {
    let (sim, node) = node_after(seed, synced_ones());
    let done = background(&node, write_twos(false));
    // A poll, the way to the event that opens the file, the event, and a poll: then the write is in flight.
    sim.run_steps(4);
    assert!(!done.get());
    node.crash(Crash::Kill);
    sectors(&node)
}

#[test]
fn a_kill_leaves_a_write_in_flight_done_partly_done_or_not_done() {
    assert!(can_happen(|seed| killed_in_flight(seed) == [1; 16]));
    assert!(can_happen(|seed| killed_in_flight(seed) == [2; 16]));
    assert!(can_happen(|seed| killed_in_flight(seed)[..3] == [2, 1, 2]));
    assert!((0..SEEDS).all(|seed| killed_in_flight(seed).len() == 16));
}

#[test]
fn a_dropped_future_does_not_stop_its_write() {
    let (sim, node) = node_after(1, synced_ones());
    sim.block_on(&node, async {
        let file = File::open(Path::new(PATH), false).await.unwrap();
        {
            let mut write = std::pin::pin!(file.write_at(0, filled(2, 8192)));
            std::future::poll_fn(|cx| {
                let _ = write.as_mut().poll(cx);
                std::task::Poll::Ready(())
            })
            .await;
        }
        sleep_until(now_ns() + 100_000_000).await;
    });
    assert_eq!(sectors(&node), [2; 16]);
}

fn failed_sync(seed: u64) -> (Sim, Node) {
    let (sim, node) = node_after(seed, synced_ones());
    node.disk().fail(FaultOp::Sync, PATH, 1);
    sim.block_on(&node, async {
        let file = File::open(Path::new(PATH), false).await.unwrap();
        file.write_at(0, filled(2, 8192)).await.unwrap();
        assert_eq!(file.sync_data().await.unwrap_err().raw_os_error(), Some(5));
        // The process still reads what it wrote, and the next sync claims success.
        assert_eq!(file.read_at(0, 8192).await.unwrap(), filled(2, 8192));
        file.sync_data().await.unwrap();
    });
    (sim, node)
}

#[test]
fn after_a_failed_sync_a_later_one_does_not_help() {
    let run = |seed| {
        let (_sim, node) = failed_sync(seed);
        node.crash(Crash::PowerCut);
        sectors(&node)
    };
    assert!(can_happen(|seed| run(seed) == [1; 16]));
    assert!(can_happen(|seed| run(seed) == [2; 16]));
    assert!(can_happen(|seed| run(seed)[..3] == [2, 1, 2]));
    assert!((0..SEEDS).all(|seed| run(seed).iter().all(|byte| [1, 2].contains(byte))));
}

#[test]
fn after_a_failed_sync_and_a_kill_what_is_read_is_what_is_on_disk() {
    for seed in 0..SEEDS {
        let (_sim, node) = failed_sync(seed);
        node.crash(Crash::Kill);
        let read = sectors(&node);
        node.crash(Crash::PowerCut);
        assert_eq!(sectors(&node), read, "seed {seed}");
    }
}

#[test]
fn a_write_after_a_failed_sync_can_be_synced() {
    for seed in 0..SEEDS {
        let (sim, node) = failed_sync(seed);
        sim.block_on(&node, async {
            let file = File::open(Path::new(PATH), false).await.unwrap();
            file.write_at(0, filled(3, 12_288)).await.unwrap();
            file.sync_data().await.unwrap();
        });
        node.crash(if seed.is_multiple_of(2) { Crash::PowerCut } else { Crash::Kill });
        node.crash(Crash::PowerCut);
        assert_eq!(sectors(&node), [3; 24], "seed {seed}");
    }
}

#[test]
fn a_failed_write_leaves_any_subset() {
    let run = |seed| {
        let (sim, node) = node_after(seed, synced_ones());
        node.disk().fail(FaultOp::Write, PATH, 1);
        sim.block_on(&node, async {
            let file = File::open(Path::new(PATH), false).await.unwrap();
            assert_eq!(file.write_at(0, filled(2, 8192)).await.unwrap_err().raw_os_error(), Some(5));
        });
        sectors(&node)
    };
    assert!(can_happen(|seed| run(seed) == [1; 16]));
    assert!(can_happen(|seed| run(seed) == [2; 16]));
    assert!(can_happen(|seed| run(seed)[..3] == [2, 1, 2]));
}

#[test]
fn the_seed_decides_how_long_a_sync_takes() {
    let (sim, node) = node_after(1, synced_ones());
    let mut latency = crate::sim::Latency::default();
    (latency.sync_us, latency.slow_percent) = (3_000_000..=5_000_000, 0);
    node.disk().set_latency(latency);
    let before = sim.elapsed();
    sim.block_on(&node, write_twos(true));
    let took = sim.elapsed() - before;
    assert!(took > Duration::from_secs(3) && took < Duration::from_secs(6), "{took:?}");
}
