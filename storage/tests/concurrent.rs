//! The crash model with everything at once: appends, reads and evictions meet cuts, rolls, checkpoints, deletions and
//! closings. By seed: `RINGLOG_SIM_SEEDS=n` runs n of them, `RINGLOG_SIM_SEED=s` only that one.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use common::{batch, batches, idempotent, open, read_all, tag_of};
use rt::sim::{Crash, DiskControl, FaultOp, Node, Sim};
use storage::{
    AppendError, JournalConfig, LeaderEpoch, Log, LogConfig, LogDirConfig, LogStatus, Offset, ReadError,
    TopicPartition,
};

const SEEDS: u64 = 200;
const APPENDERS: u64 = 3;

/// One batch that was appended.
#[derive(Debug, Clone, Copy)]
struct Batch {
    base: i64,
    last: i64,
    appended_at: u64,
    /// When it was acknowledged as synced.
    synced_at: Option<u64>,
    /// When it was acknowledged as written.
    written_at: Option<u64>,
}

/// A cut at its end, or a restart, which cuts at 0.
#[derive(Debug, Clone, Copy)]
struct Cut {
    at: i64,
    begun: u64,
    ended: Option<u64>,
}

/// What was done, outside of the simulated node. Moments are counted.
#[derive(Debug, Default)]
struct History {
    now: Cell<u64>,
    /// Power was lost, or a sync failed, since the last look: only what was synced is promised.
    lost: Cell<bool>,
    batches: RefCell<BTreeMap<u64, Batch>>,
    cuts: RefCell<Vec<Cut>>,
    starts: RefCell<Vec<i64>>,
    neighbour_acked: Cell<i64>,
    next_id: Cell<u64>,
}

impl History {
    fn tick(&self) -> u64 {
        self.now.set(self.now.get() + 1);
        self.now.get()
    }

    fn id(&self) -> u64 {
        self.next_id.set(self.next_id.get() + 1);
        self.next_id.get()
    }

    fn begin_cut(&self, at: i64) -> usize {
        let begun = self.tick();
        self.cuts.borrow_mut().push(Cut { at, begun, ended: None });
        self.cuts.borrow().len() - 1
    }

    fn end_cut(&self, index: usize) {
        let now = self.tick();
        self.cuts.borrow_mut()[index].ended = Some(now);
    }

    /// Whether the batch must be there: it was acknowledged, and every cut that could have taken it was over by then.
    fn is_promised(&self, batch: &Batch, power_lost: bool) -> bool {
        let acked = if power_lost { batch.synced_at } else { batch.synced_at.or(batch.written_at) };
        let start = self.starts.borrow().iter().copied().max().unwrap_or(0);
        acked.is_some_and(|acked| {
            let cuts = self.cuts.borrow();
            batch.base >= start
                && cuts.iter().all(|cut| cut.at > batch.last || cut.ended.is_some_and(|ended| ended < acked))
        })
    }

    /// Whether it must not be there: a cut that was answered began after it.
    fn is_gone(&self, batch: &Batch) -> bool {
        let took = |cut: &Cut| cut.at <= batch.last && cut.begun > batch.appended_at && cut.ended.is_some();
        self.cuts.borrow().iter().any(took)
    }
}

fn random(below: u64) -> u64 {
    rt::random_u64() % below
}

async fn pause() {
    rt::sleep(Duration::from_micros(random(400))).await;
}

async fn append(log: Log, history: Rc<History>) {
    let (mut producer, mut sequence, mut cuts) = (history.id() as i64, 0, 0);
    loop {
        let (tag, count) = (history.id(), 1 + random(3) as i32);
        let bytes = [50, 700, 3_000][random(3) as usize];
        let made = idempotent(tag, count as u32, bytes, rt::unix_ms(), (producer, 0, sequence));
        let Ok(reservation) = log.reserve_batch(&made).await else { return };
        if random(3) == 0 {
            pause().await;
        }
        let info = match log.append(reservation, made, LeaderEpoch(0), rt::unix_ms()) {
            Ok(info) => info,
            Err(AppendError::Offline) => return,
            Err(AppendError::OutOfOrderSequence { .. }) => {
                let now = history.cuts.borrow().len();
                assert!(now > cuts, "the sequence was ours, and nothing was cut");
                (producer, sequence, cuts) = (history.id() as i64, 0, now);
                continue;
            }
            // A cut made the reservation void.
            Err(_) => continue,
        };
        let (base, last) = (info.base_offset.0, info.last_offset.0);
        let appended_at = history.tick();
        sequence += count;
        let made = Batch { base, last, appended_at, synced_at: None, written_at: None };
        history.batches.borrow_mut().insert(tag, made);
        match random(4) {
            0 if log.wait_written(Offset(last + 1)).await.is_ok() => {
                history.batches.borrow_mut().get_mut(&tag).unwrap().written_at = Some(history.tick());
            }
            1 | 2 if log.wait_synced(Offset(last + 1)).await.is_ok() => {
                history.batches.borrow_mut().get_mut(&tag).unwrap().synced_at = Some(history.tick());
            }
            _ => {}
        }
    }
}

async fn read(log: Log, history: Rc<History>) {
    loop {
        pause().await;
        let (start, end) = (log.start_offset().0, log.end_offset().0);
        assert!(log.synced_offset() <= log.written_offset() && log.written_offset() <= log.end_offset());
        let from = Offset(start + random((end - start).max(0) as u64 + 1) as i64);
        match log.read(from, Offset(end), 5_000, true).await {
            Ok(slice) => {
                let next = slice.next_offset;
                for batch in batches(slice) {
                    let (tag, base) = (tag_of(&batch), batch.header().base_offset);
                    let known = history.batches.borrow().get(&tag).copied();
                    let known = known.expect("a batch that was appended");
                    assert_eq!(known.base, base, "tag {tag}");
                    assert!(known.last >= from.0 && known.last < next.0);
                }
            }
            Err(ReadError::OffsetOutOfRange { .. }) => {}
            Err(ReadError::Offline) => return,
            Err(error) => panic!("{error}"),
        }
        if random(4) == 0 {
            match log.max_timestamp_offset(log.end_offset()).await {
                Ok(_) | Err(ReadError::OffsetOutOfRange { .. }) => {}
                Err(ReadError::Offline) => return,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

async fn change(log: Log, history: Rc<History>) {
    loop {
        rt::sleep(Duration::from_micros(random(4_000))).await;
        let (start, end) = (log.start_offset().0, log.end_offset().0);
        let result = match random(10) {
            0..4 => {
                let at = (end - random(30) as i64).max(start);
                // A batch that holds the offset goes whole.
                let index = history.begin_cut(at);
                let result = log.truncate_to(Offset(at)).await;
                if result.is_ok() {
                    history.end_cut(index);
                }
                result
            }
            4 => {
                let at = start + random((end - start) as u64 / 3 + 1) as i64;
                history.starts.borrow_mut().push(at);
                log.advance_start_offset(Offset(at)).await
            }
            5 if random(3) == 0 => {
                let at = end + random(50) as i64;
                let index = history.begin_cut(0);
                history.starts.borrow_mut().push(0);
                let result = log.truncate_fully_and_start_at(Offset(at)).await;
                if result.is_ok() {
                    history.end_cut(index);
                }
                result
            }
            6 => log.checkpoint().await,
            _ => log.roll().await,
        };
        match result {
            Ok(()) | Err(storage::StorageError::OutOfRange { .. }) => {}
            Err(storage::StorageError::Offline) => return,
            Err(error) if log.is_offline() => return drop(error),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Competes for memory, so that batches of the other log are evicted at any moment.
async fn crowd(log: Log, history: Rc<History>) {
    for tag in log.end_offset().0.. {
        let made = batch(tag as u64, 1, 900, 5);
        let Ok(reservation) = log.reserve_batch(&made).await else { return };
        if log.append(reservation, made, LeaderEpoch(0), 5).is_err() {
            return;
        }
        pause().await;
        if tag % 5 == 0 && log.wait_synced(Offset(tag + 1)).await.is_ok() {
            history.neighbour_acked.set(tag + 1);
        }
    }
}

/// Makes and deletes logs of one name, some of them of the same topic.
async fn churn(dir: Rc<storage::LogDir>) {
    let of = TopicPartition::new("churn", 0);
    for round in 1.. {
        let id = protocol::types::Uuid([100 + (round / 2 % 3) as u8; 16]);
        let Ok(log) = dir.ensure_log(of.clone(), id, LogConfig::default()).await else { return };
        assert_eq!(log.end_offset(), Offset(0), "a new log is empty");
        let made = batch(round, 1, 300, 5);
        let Ok(reservation) = log.reserve_batch(&made).await else { return };
        if log.append(reservation, made, LeaderEpoch(0), 5).is_err() {
            return;
        }
        pause().await;
        if dir.delete_log(&of).await.is_err() {
            return;
        }
    }
}

fn neighbour() -> TopicPartition {
    TopicPartition::new("neighbour", 0)
}

fn config(seed: u64) -> (LogConfig, LogDirConfig) {
    let log = LogConfig {
        segment_bytes: [6_000, 20_000, 300_000][seed as usize % 3],
        index_interval_bytes: 500,
        sync: seed % 4 != 3,
        flush_after: (seed % 4 == 3).then_some(Duration::from_millis(2)),
        tail_bytes_max: [0, 5_000, 1 << 20][seed as usize / 4 % 3],
        ..LogConfig::default()
    };
    let tail_bytes_max = [0, 10_000, 1 << 20][seed as usize / 12 % 3];
    let (bytes, direct_bytes, age_ms) =
        [(0, 0, 1), (128 << 10, 128 << 10, 10_000), (128 << 10, 4_096, 5), (2 << 20, 30_000, 20)]
            [seed as usize % 5 % 4];
    let journal = JournalConfig { shard: 0, bytes, direct_bytes, age_max: Duration::from_millis(age_ms) };
    (log, LogDirConfig { unplaced_bytes_max: 30_000, tail_bytes_max, journal, ..LogDirConfig::default() })
}

async fn work(history: Rc<History>, seed: u64, faults: Option<DiskControl>) {
    let (config, dir_config) = config(seed);
    let opened = open("/data", config.clone(), dir_config).await;
    check(&opened.log, &history).await;
    let beside = opened.dir.ensure_log(neighbour(), protocol::types::Uuid([7; 16]), config).await.unwrap();
    assert!(beside.end_offset().0 >= history.neighbour_acked.get(), "the neighbour lost records");
    let tags: Vec<u64> = read_all(&beside, Offset(0), 9_000).await.iter().map(tag_of).collect();
    assert_eq!(tags, (0..beside.end_offset().0 as u64).collect::<Vec<_>>());
    let churned = opened.dir.open_log(TopicPartition::new("churn", 0), LogConfig::default()).await;
    if churned.is_ok() {
        opened.dir.delete_log(&TopicPartition::new("churn", 0)).await.unwrap();
    }
    let may_fail = faults.is_some();
    if let Some(disk) = faults {
        let part = ["orders-0/0", "neighbour-0", "churn", "/data", "journal"][random(5) as usize];
        disk.fail_after(FaultOp::Sync, part, random(60) as u32, 1);
    }
    let dir = Rc::new(opened.dir);
    let tasks = rt::TaskSet::new();
    for _ in 0..APPENDERS {
        tasks.spawn(append(opened.log.clone(), history.clone()));
    }
    tasks.spawn(read(opened.log.clone(), history.clone()));
    tasks.spawn(change(opened.log.clone(), history.clone()));
    tasks.spawn(crowd(beside, history.clone()));
    tasks.spawn(churn(dir.clone()));
    rt::sleep(Duration::from_millis(5 + random(60))).await;
    if random(2) == 0 {
        // Under full load. What is appended before it began, and not cut, is in the closed log.
        let closed = dir.close().await;
        let ended = opened.home.close(&[closed], &storage::Offsets::new(), 7).await;
        assert!(ended.is_ok() || may_fail);
    }
    rt::sleep(Duration::from_millis(50)).await;
    tasks.cancel_all().await;
    // A directory that isn't closed lives as long as its process.
    std::future::pending::<()>().await;
}

async fn check(log: &Log, history: &History) {
    let power_lost = history.lost.take();
    assert_eq!(log.status(), LogStatus::Online);
    let mut found = BTreeMap::new();
    let (mut producers, mut there) = (BTreeMap::new(), BTreeSet::new());
    for batch in read_all(log, log.start_offset(), 9_000).await {
        let (tag, header) = (tag_of(&batch), *batch.header());
        assert!(found.insert(tag, header.base_offset).is_none(), "tag {tag} is there twice");
        producers.insert(header.producer_id, header.last_sequence());
    }
    for (tag, batch) in history.batches.borrow().iter() {
        let at = found.remove(tag);
        there.extend(at.map(|_| *tag));
        assert!(at.is_none_or(|at| at == batch.base), "tag {tag} has moved: {at:?}, {batch:?}");
        assert!(at.is_none() || !history.is_gone(batch), "a cut batch came back: {tag} {batch:?}");
        assert!(
            at.is_some() || !history.is_promised(batch, power_lost),
            "lost: {tag} {batch:?} of {:?}; {}..{}",
            history.cuts.borrow(),
            log.start_offset(),
            log.end_offset()
        );
    }
    assert!(found.is_empty(), "never appended: {found:?}");
    log.visit_producers(|id, entry| {
        if let Some(last) = producers.remove(&id) {
            assert_eq!(entry.last_sequence(), last, "producer {id}");
        }
        assert!(entry.last_offset() < log.end_offset().0, "producer {id} is beyond the end");
    });
    assert!(producers.is_empty(), "forgotten: {producers:?}");
    // The next round is about what is there now.
    let now = history.tick();
    history.cuts.borrow_mut().clear();
    history.batches.borrow_mut().retain(|tag, batch| {
        (batch.synced_at, batch.written_at) = (Some(now), Some(now));
        there.contains(tag)
    });
    *history.starts.borrow_mut() = vec![log.start_offset().0];
}

fn run(seed: u64, faults: bool) {
    let (sim, node) = Sim::with_node(seed);
    let history = Rc::new(History::default());
    for _ in 0..3 {
        let disk = faults.then(|| node.disk());
        let task = node.spawn(work(history.clone(), seed, disk));
        sim.run_steps(400 + sim.choose(6_000));
        // A run may be crashed before it has looked: then the harder crash counts.
        history.lost.set(crash(&sim, &node) || faults || history.lost.get());
        drop(task);
        node.disk().clear_faults();
    }
    let last = history.clone();
    sim.block_on(&node, async move {
        let (config, dir_config) = config(seed);
        let opened = open("/data", config, dir_config).await;
        check(&opened.log, &last).await;
        opened.close().await;
    });
}

fn crash(sim: &Sim, node: &Node) -> bool {
    let power = sim.choose(2) == 0;
    node.crash(if power { Crash::PowerCut } else { Crash::Kill });
    power
}

#[test]
fn what_was_acknowledged_survives_whatever_meets() {
    rt::sim::for_each_seed(SEEDS, |seed| run(seed, false));
}

#[test]
fn what_was_acknowledged_survives_failed_syncs() {
    rt::sim::for_each_seed(SEEDS / 2, |seed| run(seed, true));
}
