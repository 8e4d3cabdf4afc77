//! A crash at any step of a compaction pass, with retention and deletions of records beside it: nothing that a reader must see
//! is lost, nothing that is gone for good comes back, and the next pass ends what this one began. By seed: `RINGLOG_SEEDS=n` runs n of them, `RINGLOG_SIM_SEED=s` only
//! that one.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;
mod keyed;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use keyed::{Model, cleaner, config, random};
use rt::sim::{Crash, DiskControl, FaultOp, Node, Sim};
use storage::{Log, LogConfig, LogDirConfig, Offset, StorageError};

const SEEDS: u64 = 400;

/// Names that a full disk may refuse a replacement: of the old files that give way, of the new ones.
const REFUSED: [&str; 3] = ["0.timeindex", ".index.swap", ".log.swap"];

/// What is known from outside of the node.
#[derive(Debug, Default)]
struct Outside {
    model: Model,
    /// The log's end as it was last acknowledged.
    written: i64,
    synced: i64,
    /// Where it starts, as was acknowledged.
    start: i64,
    /// A cut was begun and not answered.
    is_cutting: bool,
    /// A power cut since the last look: only what was synced is promised.
    lost_power: bool,
}

/// Works on a copy of the model, and notes it at each step: a crash leaves the last one.
async fn work(seed: u64, disk: DiskControl, outside: Rc<RefCell<Outside>>, operations: u32) {
    let config = config(seed);
    let retention_bytes = seed.is_multiple_of(4).then_some(3 * config.segment_bytes);
    let config = LogConfig { delete: true, retention_bytes, file_delete_delay_ms: random(2) * 500, ..config };
    let opened = common::open("/data", config, LogDirConfig::default()).await;
    let log = &opened.log;
    assert!(!log.is_offline(), "{:?}", log.status());
    let names: Vec<String> =
        rt::fs::read_dir("/data/orders-0").await.unwrap().into_iter().map(|entry| entry.name).collect();
    assert!(!names.iter().any(|name| name.ends_with(".swap") || name.ends_with(".cleaned")), "{names:?}");
    let mut model = outside.borrow().model.clone();
    recovered(log, &mut model, &outside).await;
    note(log, &model, &outside);
    {
        let mut outside = outside.borrow_mut();
        (outside.is_cutting, outside.lost_power) = (false, false);
    }
    for _ in 0..operations {
        let choice = random(100);
        if std::env::var_os("RINGLOG_SHOW").is_some() {
            println!(
                "op {choice} at {}..{}, compacted up to {:?}",
                log.start_offset(),
                log.end_offset(),
                log.cleaned_offset()
            );
        }
        match choice {
            0..50 => model.append(log).await,
            50..58 => model.end_txn(log).await,
            58..62 => log.roll().await.unwrap(),
            62..90 => {
                keyed::close_segment(log).await;
                model.expect_pass();
                note(log, &model, &outside);
                disk.clear_faults();
                if random(4) == 0 {
                    // Long enough for a replacement to be taken back.
                    disk.fail(FaultOp::Rename, REFUSED[random(REFUSED.len() as u64) as usize], 100);
                }
                let shortening = rt::spawn(shorten(log.clone(), outside.clone()));
                model.compact(log, cleaner(seed)).await;
                shortening.await;
                disk.clear_faults();
            }
            90..94 => {
                model.check(log).await;
                model.forget_compacted(log).await;
                note(log, &model, &outside);
                let end = log.end_offset().0;
                let at = end - (random(40) as i64).min(end - log.start_offset().0);
                outside.borrow_mut().is_cutting = true;
                log.truncate_to(Offset(at)).await.unwrap();
                model.cut(log).await;
                note(log, &model, &outside);
                outside.borrow_mut().is_cutting = false;
            }
            94..96 => log.checkpoint().await.unwrap(),
            _ => rt::sleep(Duration::from_millis(random(1_500))).await,
        }
        note(log, &model, &outside);
    }
    model.check(log).await;
    if random(3) == 0 {
        let end = log.end_offset().0;
        opened.close().await;
        let mut outside = outside.borrow_mut();
        (outside.written, outside.synced) = (end, end);
    }
}

/// What takes old records out beside a pass, or nothing.
async fn shorten(log: Log, outside: Rc<RefCell<Outside>>) {
    rt::sleep(Duration::from_micros(random(20_000))).await;
    match random(4) {
        0 => {
            let left = log.durable_offset().0 - log.start_offset().0;
            let start = log.start_offset().0 + random(20).min(left as u64) as i64;
            log.advance_start_offset(Offset(start)).await.unwrap();
        }
        1 => {
            let retained = log.retain(log.durable_offset(), rt::unix_ms()).await;
            // For what was refused for the pass's sake.
            assert!(matches!(retained, Ok(()) | Err(StorageError::NoSpace)), "{retained:?}");
        }
        _ => return,
    }
    outside.borrow_mut().start = log.start_offset().0;
}

/// Keeps the model outside, with what is acknowledged.
fn note(log: &storage::Log, model: &Model, outside: &RefCell<Outside>) {
    let mut outside = outside.borrow_mut();
    outside.model = model.clone();
    (outside.written, outside.synced) = (log.written_offset().0, log.synced_offset().0);
}

/// What must hold after any crash, and the model's new truth.
async fn recovered(log: &storage::Log, model: &mut Model, outside: &RefCell<Outside>) {
    let (start, end) = (outside.borrow().start, log.end_offset().0);
    assert!(log.start_offset().0 >= start.min(end), "it starts at {}, not at {start}", log.start_offset());
    let promised = {
        let outside = outside.borrow();
        match outside.is_cutting {
            true => 0,
            false if outside.lost_power => outside.synced,
            false => outside.written,
        }
    };
    if std::env::var_os("RINGLOG_SHOW").is_some() {
        println!(
            "recovered {}..{end}, {promised} was promised, {:?}",
            log.start_offset(),
            model.last_sequence
        );
        log.visit_producers(|id, entry| println!("{id}: {entry:?}"));
    }
    assert!(end >= promised, "{promised} was acknowledged, the log ends at {end}");
    // A pass that wasn't answered may have been noted.
    if let Some(cleaned) = log.cleaned_offset() {
        model.note_compacted(cleaned.0.min(end), rt::unix_ms());
    }
    model.forget_behind(end);
    model.check(log).await;
    model.check_producer(log);
    model.cut(log).await;
}

fn run(seed: u64) {
    let (sim, node) = Sim::with_node(seed);
    let outside = Rc::new(RefCell::new(Outside::default()));
    for _ in 0..4 {
        let crash = if sim.choose(2) == 0 { Crash::Kill } else { Crash::PowerCut };
        crash_once(&sim, &node, seed, &outside, crash);
    }
    let last = outside.clone();
    node.disk().clear_faults();
    sim.block_on(&node, work(seed, node.disk(), last, 0));
}

fn crash_once(sim: &Sim, node: &Node, seed: u64, outside: &Rc<RefCell<Outside>>, crash: Crash) {
    let task = node.spawn(work(seed, node.disk(), outside.clone(), 40));
    sim.run_steps(sim.choose(4_000));
    node.crash(crash);
    drop(task);
    node.disk().clear_faults();
    if std::env::var_os("RINGLOG_SHOW").is_some() {
        println!("{crash:?}: {:?}", node.disk().names("/data/orders-0"));
    }
    outside.borrow_mut().lost_power |= crash == Crash::PowerCut;
}

#[test]
fn a_crash_leaves_a_log_that_can_be_compacted_to_its_end() {
    let read = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    if let Some(only) = read("RINGLOG_SIM_SEED") {
        return run(only);
    }
    for seed in 0..read("RINGLOG_SEEDS").unwrap_or(SEEDS) {
        run(seed);
    }
}
