//! The crash model: random work on two logs, a crash at any step, recovery, and what must be true then.
#![allow(dead_code, reason = "each test uses its part")]

pub(crate) mod crowd;
mod neighbour;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use rt::sim::{Crash, Node, Sim};
use storage::{JournalConfig, LeaderEpoch, Log, LogConfig, LogDirConfig, Offset, StorageError};

use super::common::{self, batch, idempotent, read_all, tag_of};
use neighbour::Neighbour;

/// One batch as the model knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Known {
    base: i64,
    last: i64,
    tag: u64,
    epoch: i32,
    /// Last sequence of an idempotent batch.
    sequence: Option<i32>,
}

/// What a log must hold. Kept outside of the simulated node, so that it survives its crashes.
#[derive(Debug, Default)]
struct Model {
    /// Batches appended, in order; after a recovery those found.
    batches: Vec<Known>,
    /// Where the log ended that the acknowledgements below are about.
    written: i64,
    synced: i64,
    start: i64,
    /// A truncation or start change that was begun and not answered: its outcome is open.
    unsure_end: Option<i64>,
    unsure_start: Option<i64>,
    /// Up to where a look for old segments may have moved the start that was begun and not answered.
    unsure_retention: Option<i64>,
    /// The last idempotent batch that lies before the start: its producer is remembered all the same.
    below: Option<Known>,
    /// A restart at an offset that was begun and not answered.
    unsure_restart: Option<i64>,
    /// Tags that an answered truncation took.
    gone: Vec<u64>,
    next_tag: u64,
    sequence: i32,
    epoch: i32,
    clean: bool,
    /// A power cut since the last look: only what was synced is promised.
    lost_power: bool,
    neighbour: neighbour::Model,
}

/// How the logs and their directory are configured, and how a life begins.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) log: LogConfig,
    pub(crate) dir: LogDirConfig,
    /// Opens the directory and its log.
    pub(crate) open: fn(LogConfig, LogDirConfig) -> Opening,
}

/// A directory that is being opened.
pub(crate) type Opening = std::pin::Pin<Box<dyn Future<Output = common::Open>>>;

/// The settings of a seed: all kinds of logs, with journals that are too small as well as none.
pub(crate) fn setup(seed: u64) -> Setup {
    let log = LogConfig {
        segment_bytes: [6_000, 20_000, 300_000][seed as usize % 3],
        index_interval_bytes: 500,
        sync: seed.is_multiple_of(2),
        tail_bytes_max: [0, 5_000, 1 << 20][seed as usize / 2 % 3],
        ..LogConfig::default()
    };
    let tail_bytes_max = [0, 10_000, 1 << 20][seed as usize / 6 % 3];
    let dir = LogDirConfig { unplaced_bytes_max: 30_000, tail_bytes_max, ..LogDirConfig::default() };
    Setup {
        log,
        dir: LogDirConfig { journal: journal(seed), ..dir },
        open: |log, dir| Box::pin(open(log, dir)),
    }
}

fn journal(seed: u64) -> JournalConfig {
    let (bytes, direct_bytes, age_ms) = match seed % 5 {
        0 => (0, 128 << 10, 10_000),
        1 => (128 << 10, 128 << 10, 10_000),
        2 => (128 << 10, 4_096, 5),
        3 => (256 << 10, 7_000, 2),
        _ => (2 << 20, 30_000, 20),
    };
    JournalConfig { shard: seed as u16 % 3, bytes, direct_bytes, age_max: Duration::from_millis(age_ms) }
}

async fn open(log: LogConfig, dir: LogDirConfig) -> common::Open {
    common::open("/data", log, dir).await
}

/// Works until it is crashed or has done `operations`.
async fn work(model: Rc<RefCell<Model>>, setup: Setup, operations: u32) {
    // Opening takes the mark of a clean stop away.
    let was_clean = std::mem::take(&mut model.borrow_mut().clean);
    let opened = (setup.open)(setup.log, setup.dir).await;
    assert!(!was_clean || opened.clean, "a clean stop is seen as one");
    check_recovered(&opened.log, &model, opened.clean).await;
    let log = opened.log.clone();
    let neighbour = Neighbour::open(&opened.dir, model.clone()).await;
    let watcher = rt::spawn(watch(log.clone(), model.clone()));
    for _ in 0..operations {
        let choice = random(100);
        if choice >= 70 && std::env::var("RINGLOG_SHOW").is_ok() {
            println!("op {choice} at {}..{}", log.start_offset(), log.end_offset());
        }
        match choice {
            0..10 => neighbour.append().await,
            10..11 => neighbour.remake(&opened.dir).await,
            11..70 => append(&log, &model).await,
            70..76 => log.roll().await.unwrap(),
            76..80 => truncate(&log, &model).await,
            80..83 => advance_start(&log, &model).await,
            83..84 => restart(&log, &model).await,
            84..88 => log.checkpoint().await.unwrap(),
            88..92 => drop(log.flush().await),
            92..96 => retain(&log, &model).await,
            _ => rt::sleep(Duration::from_micros(random(3_000))).await,
        }
    }
    let stop = random(3) == 0;
    if stop {
        watcher.cancel().await;
        opened.close().await;
        let mut model = model.borrow_mut();
        model.clean = true;
        let end = model.batches.last().map_or(model.written, |known| known.last + 1).max(model.written);
        (model.written, model.synced) = (end, end);
    }
}

/// Notes what is acknowledged, as a client would see it.
async fn watch(log: Log, model: Rc<RefCell<Model>>) {
    loop {
        log.watermarks().written_moved().notified().await;
        let mut model = model.borrow_mut();
        // While a cut is under way the marks are of the log after it.
        if model.unsure_end.is_none() && model.unsure_restart.is_none() {
            model.written = model.written.max(log.written_offset().0);
            model.synced = model.synced.max(log.synced_offset().0);
        }
    }
}

fn note(log: &Log, model: &RefCell<Model>) {
    let mut model = model.borrow_mut();
    model.written = model.written.max(log.written_offset().0);
    model.synced = model.synced.max(log.synced_offset().0);
}

fn random(below: u64) -> u64 {
    rt::random_u64() % below
}

async fn append(log: &Log, model: &RefCell<Model>) {
    let (tag, sequence, epoch) = {
        let mut model = model.borrow_mut();
        model.next_tag += 1;
        if random(20) == 0 {
            model.epoch += 1;
        }
        (model.next_tag, model.sequence, model.epoch)
    };
    let (count, bytes) = (1 + random(4) as u32, [50, 400, 3_000, 5_500][random(4) as usize]);
    let with_producer = random(2) == 0;
    let made = match with_producer {
        true => idempotent(tag, count, bytes, rt::unix_ms(), (7, 0, sequence)),
        false => batch(tag, count, bytes, rt::unix_ms()),
    };
    let reservation = match log.reserve_batch(&made).await {
        Ok(reservation) => reservation,
        Err(StorageError::TooLarge { .. }) => return,
        Err(error) => panic!("{error}"),
    };
    let info = log.append(reservation, made, LeaderEpoch(epoch), rt::unix_ms()).unwrap();
    {
        let mut model = model.borrow_mut();
        if with_producer {
            model.sequence += count as i32;
        }
        let sequence = with_producer.then(|| sequence + count as i32 - 1);
        let (base, last) = (info.base_offset.0, info.last_offset.0);
        model.batches.push(Known { base, last, tag, epoch, sequence });
    }
    match random(4) {
        0 => drop(log.wait_written(info.last_offset.plus(1)).await),
        1 if log.config().sync => drop(log.wait_synced(info.last_offset.plus(1)).await),
        _ => {}
    }
    note(log, model);
}

async fn truncate(log: &Log, model: &RefCell<Model>) {
    let (start, end) = (log.start_offset().0, log.end_offset().0);
    let at = end - (random((end - start) as u64 + 1) as i64).min(random(40) as i64);
    {
        let mut model = model.borrow_mut();
        model.unsure_end = Some(at);
        let held = model.batches.iter().find(|known| known.last >= at).map_or(at, |known| known.base.min(at));
        let at = held;
        model.written = model.written.min(at);
        model.synced = model.synced.min(at);
    }
    log.truncate_to(Offset(at)).await.unwrap();
    let mut model = model.borrow_mut();
    model.unsure_end = None;
    let gone: Vec<u64> =
        model.batches.iter().filter(|known| known.last >= at).map(|known| known.tag).collect();
    model.gone.extend(gone);
    model.batches.retain(|known| known.last < at);
    resume_sequence(log, &mut model);
    model.synced = log.synced_offset().0;
    model.written = log.written_offset().0;
}

async fn advance_start(log: &Log, model: &RefCell<Model>) {
    let (start, end) = (log.start_offset().0, log.end_offset().0);
    let at = start + (random((end - start) as u64 + 1) as i64).min(random(30) as i64);
    model.borrow_mut().unsure_start = Some(at);
    log.advance_start_offset(Offset(at)).await.unwrap();
    let mut model = model.borrow_mut();
    model.unsure_start = None;
    model.start = model.start.max(at);
}

/// Looks for old segments by settings that are others each time.
async fn retain(log: &Log, model: &RefCell<Model>) {
    let size_bytes = log.size_bytes();
    log.set_config(LogConfig {
        delete: random(10) > 0,
        retention_bytes: (random(2) == 0).then(|| random(size_bytes + 1)),
        retention_ms: (random(3) == 0).then(|| random(50)),
        file_delete_delay_ms: [0, 1, 60_000][random(3) as usize],
        ..(*log.config()).clone()
    });
    const WEEKS_MS: i64 = 14 * 86_400_000;
    let high_watermark = log.durable_offset();
    log.roll_if_old(rt::unix_ms() + random(2) as i64 * WEEKS_MS).await.unwrap();
    model.borrow_mut().unsure_retention = Some(high_watermark.0);
    log.retain(high_watermark, rt::unix_ms()).await.unwrap();
    let mut model = model.borrow_mut();
    model.unsure_retention = None;
    let start = log.start_offset();
    assert!(start.0 == model.start || start <= high_watermark, "{start} is above {high_watermark}");
    model.start = start.0;
}

async fn restart(log: &Log, model: &RefCell<Model>) {
    let at = log.end_offset().0 + random(1_000) as i64;
    {
        let mut model = model.borrow_mut();
        model.unsure_restart = Some(at);
        (model.written, model.synced) = (0, 0);
    }
    log.truncate_fully_and_start_at(Offset(at)).await.unwrap();
    let mut model = model.borrow_mut();
    model.unsure_restart = None;
    let gone: Vec<u64> = model.batches.iter().map(|known| known.tag).collect();
    model.gone.extend(gone);
    model.batches.clear();
    model.below = None;
    model.sequence = 0;
    (model.start, model.written, model.synced) = (at, at, at);
}

fn resume_sequence(log: &Log, model: &mut Model) {
    model.sequence = 0;
    log.visit_producers(|_, entry| model.sequence = entry.last_sequence() + 1);
}

/// What must hold after any crash, and the model's new truth.
async fn check_recovered(log: &Log, model: &RefCell<Model>, clean: bool) {
    assert!(!log.is_offline(), "{:?}", log.status());
    let found: Vec<Known> = read_all(log, log.start_offset(), 9_000).await.iter().map(known).collect();
    judge(log, &mut model.borrow_mut(), found.clone(), clean);
    check_lookups(log, &found).await;
}

fn judge(log: &Log, model: &mut Model, found: Vec<Known>, clean: bool) {
    let (start, end) = (log.start_offset().0, log.end_offset().0);
    let crash_keeps = !std::mem::take(&mut model.lost_power);
    let promised = if crash_keeps { model.written } else { model.synced };
    if std::env::var("RINGLOG_SHOW").is_ok() {
        println!("recovered kill={crash_keeps} clean={clean} {start}..{end} of {model:?}; found {found:?}");
    }
    let restarted = model.unsure_restart.filter(|at| start == *at || found.is_empty());
    if restarted.is_none() {
        assert!(end >= promised, "{promised} was acknowledged, the log ends at {end}");
        let starts = [Some(model.start), model.unsure_start, model.unsure_restart];
        let may_be = model.unsure_retention.is_some_and(|upto| (model.start..=upto).contains(&start));
        assert!(may_be || starts.contains(&Some(start)), "starts at {start}, not {starts:?}");
        check_order(&found, model, start);
    } else {
        assert!(found.is_empty(), "nothing was appended behind a restart");
    }
    for batch in &found {
        assert!(!model.gone.contains(&batch.tag), "a truncated batch came back: {batch:?}");
    }
    // What lies behind the start is there only if all before it is.
    let promised = if found.is_empty() { promised } else { start };
    note_below(log, model, start.min(promised), restarted.is_some());
    model.batches = found;
    (model.start, model.written, model.synced) = (start, end, end);
    (model.unsure_end, model.unsure_start, model.unsure_restart) = (None, None, None);
    model.unsure_retention = None;
    // The caller's duty after a crash: a new epoch.
    model.epoch += 1;
    check_producers(log, model);
}

/// The last idempotent batch below `promised`, or a later one that was kept all the same.
fn note_below(log: &Log, model: &mut Model, promised: i64, restarted: bool) {
    if restarted {
        model.below = None;
        return;
    }
    let mut kept = -1;
    log.visit_producers(|_, entry| kept = entry.last_offset());
    let start = log.start_offset().0;
    let is_below = |known: &&Known| {
        known.sequence.is_some() && (known.last < promised || (known.last == kept && kept < start))
    };
    if let Some(below) = model.batches.iter().rfind(is_below) {
        model.below = Some(*below);
    }
}

/// Epochs and indexes tell the same as the batches.
async fn check_lookups(log: &Log, found: &[Known]) {
    for batch in found {
        let at = Offset(batch.last.max(log.start_offset().0));
        assert_eq!(log.epoch_at(at), Some(LeaderEpoch(batch.epoch)), "epoch of {batch:?}");
    }
    for _ in 0..found.len().min(3) {
        let batch = found[random(found.len() as u64) as usize];
        let from = Offset(batch.last.max(log.start_offset().0));
        let slice = log.read(from, log.end_offset(), 1, true).await.unwrap();
        assert_eq!(common::batches(slice).first().map(tag_of), Some(batch.tag));
    }
}

/// The batches found are a prefix of those appended, from the start on.
fn check_order(found: &[Known], model: &Model, start: i64) {
    let expected: Vec<&Known> = model.batches.iter().filter(|known| known.last >= start).collect();
    assert!(found.len() <= expected.len(), "more batches than were appended: {found:?}");
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, *expected, "another batch than was appended");
    }
}

fn check_producers(log: &Log, model: &mut Model) {
    let mut last = None;
    log.visit_producers(|id, entry| last = Some((id, entry.last_sequence(), entry.last_offset())));
    // The last batch of the producer that is still there is what its state is about.
    let there = model.batches.iter().rfind(|known| known.sequence.is_some()).copied();
    // What went is remembered by the snapshots.
    if let Some(known) = there.or(model.below) {
        assert_eq!(
            last.map(|(_, sequence, offset)| (Some(sequence), offset)),
            Some((known.sequence, known.last))
        );
    }
    if let Some((_, sequence, offset)) = last {
        assert!(offset < log.end_offset().0, "a producer's batch at {offset} isn't in the log");
        model.sequence = sequence + 1;
    } else {
        model.sequence = 0;
    }
}

fn known(batch: &protocol::records::RecordBatch) -> Known {
    let header = batch.header();
    Known {
        base: header.base_offset,
        last: header.last_offset(),
        tag: tag_of(batch),
        epoch: header.partition_leader_epoch,
        sequence: header.has_producer().then(|| header.last_sequence()),
    }
}

/// Four lives of a node, each ended by a crash, and a last look.
pub(crate) fn run_seed(seed: u64, setup: Setup) {
    let (sim, node) = Sim::with_node(seed);
    let model = Rc::new(RefCell::new(Model::default()));
    for _ in 0..4 {
        let crash = if sim.choose(2) == 0 { Crash::Kill } else { Crash::PowerCut };
        crash_once(&sim, &node, &model, setup.clone(), crash);
    }
    let last = model.clone();
    sim.block_on(&node, async move { work(last, setup, 0).await });
}

fn crash_once(sim: &Sim, node: &Node, model: &Rc<RefCell<Model>>, setup: Setup, crash: Crash) {
    let task = node.spawn(work(model.clone(), setup, 40));
    sim.run_steps(sim.choose(1_500));
    if task.is_finished() {
        // Closed, or idle after all its work: both end here as well.
    }
    node.crash(crash);
    drop(task);
    if std::env::var("RINGLOG_SHOW").is_ok() {
        for name in node.disk().names("/data/orders-0") {
            println!(
                "{crash:?} {name} {}",
                node.disk().read_file(format!("/data/orders-0/{name}")).unwrap().len()
            );
        }
    }
    // A run may be crashed before it has looked: then the harder crash counts.
    model.borrow_mut().lost_power |= crash == Crash::PowerCut;
}
