//! One shard's part of the load.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use rt::{Task, TaskSet};

use super::{Control, Plan, Reading, Report, ShardContext, Stats, churn};
use crate::consumer::{Consumer, ConsumerPlan, Positions, Taker, Tally};
use crate::draw::KeyDraw;
use crate::group::{self, Member};
use crate::link::Directory;
use crate::producer::{self, Finished, ProducerPlan};
use crate::verify::Ledger;

/// How often a waiting shard looks at the conductor's orders.
const LOOK: Duration = Duration::from_millis(5);

type Reports = flume::Sender<Report>;

/// Runs shard `shard` of the plan, from `Ready` to `Ended`.
pub(super) async fn run(plan: Arc<Plan>, control: Arc<Control>, reports: Reports, shard: u16) {
    if reports.send_async(Report::Ready).await.is_err() {
        return;
    }
    let start_ns = loop {
        match control.start_ns() {
            Some(ns) => break ns,
            None if control.is_stopped() => return,
            None => rt::sleep(LOOK).await,
        }
    };
    let layout = plan.layout.clone();
    let directory =
        Rc::new(Directory::new(layout, plan.bootstrap.clone(), plan.nodes.clone(), plan.leaders.clone()));
    let context = Rc::new(ShardContext { plan, control, directory, stats: RefCell::default(), start_ns });
    rt::sleep(Duration::from_nanos(start_ns.saturating_sub(rt::now().as_nanos()))).await;
    let load = Rc::new(Load::start(&context, shard));
    load.run(&context, &reports).await;
    // The conductor may be gone already.
    let _ = reports.send_async(Report::Ended).await;
}

/// The tasks of a shard.
#[derive(Debug)]
struct Load {
    producers: RefCell<Vec<Task<Finished>>>,
    consumers: Vec<Rc<Consumer>>,
    reading: RefCell<Vec<Task<Result<(), crate::link::LinkError>>>>,
    members: Vec<Rc<Member>>,
    /// Members' tasks, which end by themselves after a stop.
    member_tasks: RefCell<Vec<Task<()>>>,
    background: TaskSet,
    proves: bool,
    last_consumed_ns: Cell<u64>,
}

impl Load {
    fn start(context: &Rc<ShardContext>, shard: u16) -> Self {
        let background = TaskSet::new();
        let directory = context.directory.clone();
        background.spawn(async move { directory.drive().await });
        let mut load = Self {
            producers: RefCell::new(start_producers(context, shard)),
            consumers: Vec::new(),
            reading: RefCell::default(),
            members: Vec::new(),
            member_tasks: RefCell::default(),
            background,
            proves: context.plan.reading.as_ref().is_some_and(|reading| reading.rules.is_some()),
            last_consumed_ns: Cell::new(0),
        };
        if let Some(reading) = &context.plan.reading {
            load.start_reading(context, reading, shard);
        }
        if let Some(spec) = context.plan.churn.clone() {
            let members = load.members.clone();
            load.background.spawn(churn::drive(context.clone(), spec, members));
        }
        load
    }

    fn start_reading(&mut self, context: &Rc<ShardContext>, reading: &Reading, shard: u16) {
        let plan = Rc::new(ConsumerPlan { spec: reading.spec.clone() });
        let spec = &reading.spec;
        for index in context.plan.share(shard, spec.total() as u32) {
            if spec.groups > 0 {
                let member = Member::new(format!("{}-{}", context.plan.group, index / spec.consumers));
                let (taken, run) = (reading.clone(), context.plan.run);
                let taker = move || tally(&taken, run);
                let driven = group::drive(context.clone(), plan.clone(), member.clone(), taker);
                self.member_tasks.borrow_mut().push(rt::spawn(driven));
                self.members.push(member);
                continue;
            }
            let mut positions = Positions::default();
            for slot in context.plan.slots_of(index % spec.consumers, spec.consumers) {
                let end = context.plan.ends.as_ref().map(|ends| ends[slot as usize]);
                positions.add(slot, context.plan.starts[slot as usize], end);
            }
            let taker = match reading.rules {
                Some(rules) => Taker::Ledger(Box::new(Ledger::new(rules, context.plan.layout.clone()))),
                None => tally(reading, context.plan.run),
            };
            let consumer = Consumer::new(positions, taker);
            self.reading.borrow_mut().push(rt::spawn(consumer.clone().drive(context.clone(), plan.clone())));
            self.consumers.push(consumer);
        }
    }

    /// Ticks until the line is over and everything has ended.
    async fn run(&self, context: &Rc<ShardContext>, reports: &Reports) {
        let tick_ns = context.plan.tick.as_nanos() as u64;
        let mut index = 0;
        let (mut has_produced, mut has_consumed) = (false, false);
        loop {
            let next_ns = context.start_ns + (index + 1) * tick_ns;
            let is_over = loop {
                let producing = self.producers.borrow().iter().any(|task| !task.is_finished());
                let reading = self.reading.borrow().iter().any(|task| !task.is_finished());
                if !producing && !std::mem::replace(&mut has_produced, true) {
                    let _ = reports.send_async(Report::Produced(self.finished().await)).await;
                }
                if !reading && !std::mem::replace(&mut has_consumed, true) {
                    self.report_read(reports).await;
                }
                let sitting = self.member_tasks.borrow().iter().any(|task| !task.is_finished());
                let stopped = context.control.is_stopped() && !producing && !reading && !sitting;
                if stopped || context.control.is_aborted() {
                    break true;
                }
                let now_ns = rt::now().as_nanos();
                if now_ns >= next_ns {
                    break false;
                }
                rt::sleep(LOOK.min(Duration::from_nanos(next_ns - now_ns))).await;
            };
            let report = Report::Tick {
                index,
                stats: Box::new(self.take_stats(context)),
                last_record_ns: self.last_consumed_ns.get(),
            };
            if reports.send_async(report).await.is_err() || is_over {
                break;
            }
            index += 1;
        }
        if self.proves {
            let ledgers = self.consumers.iter().filter_map(|consumer| take_ledger(consumer, context));
            let _ = reports.send_async(Report::Proven(ledgers.collect())).await;
        }
        self.background.cancel_all().await;
    }

    async fn finished(&self) -> Vec<Finished> {
        let tasks = std::mem::take(&mut *self.producers.borrow_mut());
        let mut finished = Vec::with_capacity(tasks.len());
        for task in tasks {
            finished.push(task.await);
        }
        finished
    }

    async fn report_read(&self, reports: &Reports) {
        let tasks = std::mem::take(&mut *self.reading.borrow_mut());
        for task in tasks {
            if let Err(error) = task.await {
                let _ = reports.send_async(Report::Failed(error.to_string())).await;
            }
        }
        if self.members.is_empty() {
            let _ = reports.send_async(Report::Consumed).await;
        }
    }

    fn take_stats(&self, context: &ShardContext) -> Stats {
        let mut stats = std::mem::take(&mut *context.stats.borrow_mut());
        let members = self.members.iter().filter_map(|member| {
            let consumer = member.consumer.borrow().clone();
            self.note_read(member.last_record_ns.get());
            consumer
        });
        for consumer in self.consumers.iter().cloned().chain(members) {
            stats.lag += consumer.positions.borrow().lag();
            self.note_read(consumer.last_record_ns.get());
        }
        stats
    }

    fn note_read(&self, ns: u64) {
        self.last_consumed_ns.set(self.last_consumed_ns.get().max(ns));
    }
}

fn start_producers(context: &Rc<ShardContext>, shard: u16) -> Vec<Task<Finished>> {
    let Some(spec) = context.plan.produce.clone() else { return Vec::new() };
    let (producers, records) = (spec.producers, spec.records);
    let plan = Arc::new(ProducerPlan {
        keys: KeyDraw::new(spec.keys),
        layout: context.plan.layout.clone(),
        run: context.plan.run,
        verifies: context.plan.verifies,
        spec,
    });
    let start = |index| {
        let records = Plan::records_of(index, producers, records);
        rt::spawn(producer::drive(context.clone(), plan.clone(), index, records))
    };
    context.plan.share(shard, producers).map(start).collect()
}

fn tally(reading: &Reading, run: u32) -> Taker {
    Taker::Tally(Tally { run, each_record: reading.each_record, value_bytes: reading.value_bytes })
}

fn take_ledger(consumer: &Consumer, context: &ShardContext) -> Option<Ledger> {
    let tally = Tally { run: context.plan.run, each_record: false, value_bytes: None };
    match consumer.taker.replace(Taker::Tally(tally)) {
        Taker::Ledger(ledger) => Some(*ledger),
        Taker::Tally(_) => None,
    }
}
