//! Many logs at once, of one shard or two: flushes that sync the whole device, groups of unsynced logs that are large enough for the
//! journal, disks that fail or fill up at any moment, and stops amid all of it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use protocol::types::Uuid;
use rt::sim::{Crash, DiskControl, FaultOp, Sim};
use storage::{
    DirHome, HomeConfig, LeaderEpoch, Log, LogConfig, LogDir, LogDirConfig, Mutant, Offset, Offsets,
    StorageError, TopicPartition,
};

use super::{batch, random, read_all, tag_of};

/// Tasks that work at the same time, each on logs of its own.
const WORKERS: usize = 3;

/// What a disk does beside what it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    None,
    /// Writes or syncs fail.
    Fails,
    /// It is full, again and again.
    Full,
}

/// The settings of a seed.
#[derive(Debug, Clone, Copy)]
struct Plan {
    nth: u64,
    logs: usize,
    shards: u16,
    trouble: Trouble,
    /// A rule to break.
    mutant: Option<Mutant>,
}

impl Plan {
    /// The `nth` of all.
    fn of(nth: u64, mutant: Option<Mutant>) -> Self {
        let logs = [3, 20, 36, 44][nth as usize % 4];
        let trouble = [Trouble::None, Trouble::Full, Trouble::Fails][nth as usize / 4 % 3];
        Self { nth, logs, shards: 1 + (nth / 12 % 2) as u16, trouble, mutant }
    }

    /// All unsynced, some, or none.
    fn is_synced(&self, log: usize) -> bool {
        match self.nth / 24 % 3 {
            0 => true,
            1 => false,
            _ => log.is_multiple_of(3),
        }
    }

    fn log(&self, log: usize) -> LogConfig {
        LogConfig {
            segment_bytes: [9_000, 100_000][log % 2],
            index_interval_bytes: 500,
            sync: self.is_synced(log),
            tail_bytes_max: [0, 1 << 20][self.nth as usize / 5 % 2],
            ..LogConfig::default()
        }
    }

    fn dir(&self, shard: u16) -> LogDirConfig {
        let mut journal = super::journal(1 + self.nth / 3 % 4);
        journal.shard = shard;
        let tail_bytes_max = [10_000, 1 << 20][self.nth as usize / 7 % 2];
        let mutant = self.mutant;
        LogDirConfig {
            journal,
            unplaced_bytes_max: 60_000,
            tail_bytes_max,
            mutant,
            ..LogDirConfig::default()
        }
    }
}

/// What one log must hold.
#[derive(Debug, Default)]
struct Expected {
    /// Tags of what was appended, by offset.
    tags: Vec<u64>,
    written: usize,
    synced: usize,
    /// A truncation to there was begun and not answered.
    cut: Option<usize>,
    /// A deletion was begun, and not answered with success.
    deleting: bool,
}

impl Expected {
    fn note(&mut self, log: &Log) {
        if self.cut.is_none() && !self.deleting {
            self.written = self.written.max(log.written_offset().0 as usize);
            self.synced = self.synced.max(log.synced_offset().0 as usize);
        }
    }

    /// What a start found.
    fn check(&mut self, found: Vec<u64>, lost_power: bool) {
        let promised = if lost_power { self.synced } else { self.written };
        let least = if self.deleting { 0 } else { promised.min(self.cut.unwrap_or(promised)) };
        assert!(found.len() >= least, "{least} were acknowledged, {} are there: {self:?}", found.len());
        assert!(self.tags.starts_with(&found), "{found:?} of {self:?}");
        let end = found.len();
        *self = Self { tags: found, written: end, synced: end, ..Self::default() };
    }
}

#[derive(Debug)]
struct Model {
    plan: Plan,
    logs: Vec<RefCell<Expected>>,
    next_tag: Cell<u64>,
    lives: Cell<u64>,
    lost_power: Cell<bool>,
    clean: Cell<bool>,
}

fn of(log: usize) -> TopicPartition {
    TopicPartition::new("crowd", log as i32)
}

/// The logs of one life, and the directories of the shards they are on.
struct Life {
    model: Rc<Model>,
    dirs: Vec<Rc<LogDir>>,
    first: usize,
    stopping: Cell<bool>,
}

impl Life {
    fn dir(&self, log: usize) -> &Rc<LogDir> {
        &self.dirs[(self.first + log) % self.dirs.len()]
    }

    async fn ensure(&self, log: usize) -> Result<Log, StorageError> {
        self.dir(log).ensure_log(of(log), Uuid([5; 16]), self.model.plan.log(log)).await
    }

    /// Whether `error` is what such a disk gives: a directory is offline only where something failed.
    fn is_expected(&self, log: usize, error: &StorageError) -> bool {
        match self.model.plan.trouble {
            Trouble::Fails if self.dir(log).failure().is_some() => true,
            Trouble::Full if matches!(error, StorageError::NoSpace) => true,
            _ => matches!(error, StorageError::Offline) && self.stopping.get(),
        }
    }

    fn accept(&self, log: usize, what: &str, error: &StorageError) {
        let failure = self.dir(log).failure();
        assert!(self.is_expected(log, error), "{what} of log {log}: {error}; {failure:?}");
    }
}

/// One life, up to the crash.
async fn live(model: Rc<Model>, disk: DiskControl) {
    let was_clean = model.clean.take();
    let (home, facts) = DirHome::open("/data", HomeConfig { node_id: 1, cluster_id: None }).await.unwrap();
    assert!(!was_clean || facts.clean, "a clean stop is seen as one");
    let plan = model.plan;
    let mut dirs = Vec::new();
    for shard in 0..plan.shards {
        dirs.push(Rc::new(LogDir::open("/data", facts.clone(), plan.dir(shard)).await.unwrap()));
    }
    model.lives.set(model.lives.get() + 1);
    let first = model.lives.get() as usize;
    let life = Rc::new(Life { model: model.clone(), dirs, first, stopping: Cell::default() });
    let mut logs = Vec::new();
    let lost_power = model.lost_power.get();
    for at in 0..plan.logs {
        let log = life.ensure(at).await.unwrap();
        assert!(!log.is_offline(), "{:?}", log.status());
        let found = read_all(&log, Offset(0), 9_000).await.iter().map(tag_of).collect();
        model.logs[at].borrow_mut().check(found, lost_power);
        logs.push(log);
    }
    model.lost_power.set(false);
    home.begin_use().await.unwrap();
    let tasks = rt::TaskSet::new();
    let disk = Rc::new(disk);
    match plan.trouble {
        Trouble::None => {}
        Trouble::Fails => fail_some(&disk),
        Trouble::Full => tasks.spawn(fill_again_and_again(disk.clone())),
    }
    for worker in 0..WORKERS {
        let own: Vec<(usize, Log)> =
            logs.iter().cloned().enumerate().filter(|(at, _)| at % WORKERS == worker).collect();
        if !own.is_empty() {
            tasks.spawn(work(life.clone(), own));
        }
    }
    rt::sleep(Duration::from_millis(2 + random(40))).await;
    let failed = life.dirs.iter().find_map(|dir| dir.failure());
    assert!(failed.is_none() || plan.trouble == Trouble::Fails, "{failed:?}");
    if random(2) == 0 {
        stop(&life, home).await;
    }
    std::future::pending::<()>().await;
}

fn fail_some(disk: &DiskControl) {
    let op = [FaultOp::Sync, FaultOp::Write][random(2) as usize];
    let part = ["/data", "ringlog-journal", ".lock", ".log", "crowd-0"][random(5) as usize];
    disk.fail_after(op, part, random(80) as u32, 1 + random(2) as u32);
}

/// Full, or nearly so, for a while, and then not.
async fn fill_again_and_again(disk: Rc<DiskControl>) {
    loop {
        rt::sleep(Duration::from_micros(random(4_000))).await;
        match random(3) {
            0 => disk.set_capacity(Some(0)),
            1 => disk.set_capacity(Some(random(3 << 20))),
            _ => disk.fail_after(FaultOp::Rename, "", random(4) as u32, 1 + random(3) as u32),
        }
        rt::sleep(Duration::from_micros(random(8_000))).await;
        disk.set_capacity(None);
    }
}

async fn stop(life: &Life, home: DirHome) {
    life.stopping.set(true);
    let mut closed = Vec::new();
    for dir in &life.dirs {
        closed.push(dir.close().await);
    }
    let clean = closed.iter().all(|dir| dir.clean);
    let ended = home.close(&closed, &Offsets::new(), 7).await;
    assert!(ended.is_ok() || life.model.plan.trouble != Trouble::None, "{ended:?}");
    life.model.clean.set(clean && ended.is_ok());
    if life.model.clean.get() {
        // All that was appended is in the logs.
        let logs = life.model.logs.iter().map(|expected| expected.borrow_mut());
        for mut expected in logs.filter(|expected| expected.cut.is_none() && !expected.deleting) {
            (expected.written, expected.synced) = (expected.tags.len(), expected.tags.len());
        }
    }
    assert!(clean || life.model.plan.trouble != Trouble::None);
}

/// Works on some of the logs until they are closed, or the directory fails.
async fn work(life: Rc<Life>, mut own: Vec<(usize, Log)>) {
    loop {
        let at = random(own.len() as u64) as usize;
        let (number, log) = (own[at].0, own[at].1.clone());
        let expected = &life.model.logs[number];
        let goes_on = match random(100) {
            0..75 => append(&life, number, &log).await,
            75..81 => may_fail(&life, number, "a roll", log.roll().await),
            81..87 => truncate(&life, number, &log).await,
            87..90 => may_fail(&life, number, "a checkpoint", log.checkpoint().await),
            90..93 => {
                // What was the log's says nothing of the next one.
                let Some(again) = remake(&life, number).await else { return };
                own[at].1 = again;
                true
            }
            _ => {
                rt::sleep(Duration::from_micros(random(1_500))).await;
                true
            }
        };
        expected.borrow_mut().note(&own[at].1);
        if !goes_on {
            return;
        }
    }
}

/// False if the log can't be used any more.
fn may_fail(life: &Life, number: usize, what: &str, result: Result<(), StorageError>) -> bool {
    match result {
        Ok(()) => true,
        Err(error) => {
            life.accept(number, what, &error);
            matches!(error, StorageError::NoSpace)
        }
    }
}

async fn append(life: &Life, number: usize, log: &Log) -> bool {
    let bytes = [60, 700, 3_000, 7_000][random(4) as usize];
    let tag = life.model.next_tag.replace(life.model.next_tag.get() + 1);
    let made = batch(tag, 1, bytes, 5);
    let reservation = match log.reserve_batch(&made).await {
        Ok(reservation) => reservation,
        Err(error) => return may_fail(life, number, "a reservation", Err(error)),
    };
    let expected = &life.model.logs[number];
    let Ok(at) = log.append(reservation, made, LeaderEpoch(0), 5) else { return false };
    expected.borrow_mut().tags.push(tag);
    let end = at.last_offset.plus(1);
    match random(6) {
        0 => log.wait_written(end).await.is_ok(),
        1 if life.model.plan.is_synced(number) => log.wait_synced(end).await.is_ok(),
        2 => log.flush().await.is_ok(),
        _ => true,
    }
}

async fn truncate(life: &Life, number: usize, log: &Log) -> bool {
    let end = log.end_offset().0;
    let at = end - random((end as u64).min(8) + 1) as i64;
    let expected = &life.model.logs[number];
    expected.borrow_mut().cut = Some(at as usize);
    let result = log.truncate_to(Offset(at)).await;
    if result.is_ok() {
        let mut expected = expected.borrow_mut();
        expected.tags.truncate(at as usize);
        (expected.written, expected.synced) =
            (log.written_offset().0 as usize, log.synced_offset().0 as usize);
    }
    let goes_on = may_fail(life, number, "a truncation", result);
    if goes_on {
        expected.borrow_mut().cut = None;
    }
    goes_on
}

/// Deletes the log and makes it again, under the same topic id.
async fn remake(life: &Life, number: usize) -> Option<Log> {
    let expected = &life.model.logs[number];
    expected.borrow_mut().deleting = true;
    while let Err(error) = life.dir(number).delete_log(&of(number)).await {
        // A log that a stop took is unknown.
        if matches!(error, StorageError::Unknown(_)) || !may_fail(life, number, "a deletion", Err(error)) {
            return None;
        }
        rt::sleep(Duration::from_millis(1)).await;
    }
    *expected.borrow_mut() = Expected::default();
    loop {
        let made = match life.ensure(number).await {
            Ok(log) => return Some(log),
            Err(error) => Err(error),
        };
        if !may_fail(life, number, "making it again", made) {
            return None;
        }
        rt::sleep(Duration::from_millis(1)).await;
    }
}

/// Two lives of a node, each ended by a crash, and a last look.
pub(crate) fn run_seed(seed: u64, nth: u64, mutant: Option<Mutant>) {
    let (sim, node) = Sim::with_node(seed);
    let plan = Plan::of(nth, mutant);
    let logs = (0..plan.logs).map(|_| RefCell::default()).collect();
    let model = Rc::new(Model {
        plan,
        logs,
        next_tag: Cell::default(),
        lives: Cell::default(),
        lost_power: Cell::default(),
        clean: Cell::default(),
    });
    for _ in 0..2 {
        let task = node.spawn(live(model.clone(), node.disk()));
        sim.run_steps(sim.choose(400 + 100 * plan.logs as u64));
        let power = sim.choose(2) == 0;
        node.crash(if power { Crash::PowerCut } else { Crash::Kill });
        drop(task);
        node.disk().clear_faults();
        node.disk().set_capacity(None);
        // A run may be crashed before it has looked: then the harder crash counts. So it does after a failed sync.
        let lost = power || plan.trouble == Trouble::Fails || model.lost_power.get();
        model.lost_power.set(lost);
    }
    let last = model.clone();
    sim.block_on(&node, async move {
        let (_home, facts) =
            DirHome::open("/data", HomeConfig { node_id: 1, cluster_id: None }).await.unwrap();
        let dir = LogDir::open("/data", facts, last.plan.dir(0)).await.unwrap();
        for at in 0..last.plan.logs {
            let log = dir.ensure_log(of(at), Uuid([5; 16]), last.plan.log(at)).await.unwrap();
            let found = read_all(&log, Offset(0), 9_000).await.iter().map(tag_of).collect();
            last.logs[at].borrow_mut().check(found, last.lost_power.get());
        }
    });
}
