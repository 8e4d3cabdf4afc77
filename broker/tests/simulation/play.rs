//! One run: a broker, clients, and what disturbs them, all by one seed.

use std::rc::Rc;
use std::time::Duration;

use rt::sim::{Crash, FaultOp, Latency, Node, Sim, Task};

use crate::final_read::read_all;
use crate::link::Link;
use crate::member::Member;
use crate::mover::Mover;
use crate::node::BrokerNode;
use crate::producer::Producer;
use crate::reader::Reader;
use crate::story::Story;
use crate::topics::{self, Topic};

/// Disturbances of a run.
const ROUNDS: u64 = 8;
/// Every client must come to its end within this once nothing is disturbed any more.
const END_WITHIN: Duration = Duration::from_secs(120);
const SHARDS_MAX: u64 = 3;
/// A failing operation is waited for this long.
const FAIL_WITHIN: Duration = Duration::from_secs(3);

/// What a run came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) acked: usize,
    pub(crate) commits: usize,
    pub(crate) generations: usize,
    pub(crate) trace_hash: u64,
}

/// What `log.dirs` says: one directory, or two of which the second may fail without ending the node.
const LOG_DIRS: [&str; 2] = ["/data", "/data,/more"];

/// A run under way.
struct Play {
    sim: Sim,
    has_two_dirs: bool,
    broker: BrokerNode,
    clients: [Node; 3],
    story: Rc<Story>,
    tasks: Vec<Task<()>>,
}

/// Runs the seed to its end.
pub(crate) fn play(seed: u64) -> Outcome {
    let mut play = Play::new(seed);
    play.cast();
    for _ in 0..ROUNDS {
        play.disturb();
    }
    play.calm();
    play.check();
    // All that is there is also there for a start after a clean stop, with any number of shards.
    play.stop_cleanly();
    play.start();
    play.check();
    let outcome = play.outcome();
    play.say(format_args!("{outcome:?}"));
    outcome
}

impl Play {
    fn new(seed: u64) -> Play {
        let sim = Sim::new(seed);
        let has_two_dirs = sim.choose(2) == 1;
        let broker = BrokerNode::add(
            &sim,
            &[
                ("log.dirs", LOG_DIRS[usize::from(has_two_dirs)]),
                ("offsets.topic.num.partitions", ["1", "4"][sim.choose(2) as usize]),
                ("group.initial.rebalance.delay.ms", "100"),
                (
                    "metadata.log.max.record.bytes.between.snapshots",
                    ["20480", "20971520"][sim.choose(2) as usize],
                ),
            ],
        );
        let clients = ["producers", "readers", "members"].map(|name| sim.node(name));
        let story = Rc::new(Story::new(broker.address()));
        Play { sim, has_two_dirs, broker, clients, story, tasks: Vec::new() }
    }

    /// Starts the broker and all clients.
    fn cast(&mut self) {
        self.start();
        let [producers, readers, members] = &self.clients;
        let segment_bytes = [20_000, 200_000, 1 << 30][self.sim.choose(3) as usize];
        producers.spawn(create_topics(self.story.clone(), segment_bytes)).detach();
        for (number, topic) in (0..).zip(Topic::ALL.into_iter().cycle().take(4)) {
            self.tasks.push(producers.spawn(Producer::new(self.story.clone(), number, topic).run()));
        }
        for _ in 0..2 {
            self.tasks.push(readers.spawn(Reader::new(self.story.clone()).run()));
        }
        if self.has_two_dirs {
            self.tasks.push(readers.spawn(Mover::new(self.story.clone(), &["/data", "/more"]).run()));
        }
        for _ in 0..3 {
            self.tasks.push(members.spawn(Member::new(self.story.clone()).run()));
        }
    }

    fn start(&self) {
        let shards = 1 + self.sim.choose(SHARDS_MAX) as u16;
        self.say(format_args!("start with {shards} shards"));
        self.broker.start(shards);
    }

    /// Lets the run go on for a while, then does something to it.
    fn disturb(&self) {
        if self.sim.choose(3) == 0 {
            // Early, as in the middle of a recovery.
            self.sim.run_steps(self.sim.choose(3_000));
        } else {
            self.run_for_up_to(2_000);
        }
        let client = &self.clients[self.sim.choose(3) as usize];
        match self.sim.choose(100) {
            0..25 => self.crash_and_start(Crash::Kill),
            25..48 => self.crash_and_start(Crash::PowerCut),
            48..56 => {
                self.say(format_args!("clean stop"));
                self.broker.stop();
                self.run_for_up_to(500);
                self.crash_and_start(Crash::Kill);
            }
            56..64 => self.fail_disk(),
            64..72 => {
                self.say(format_args!("cut off {}", client.name()));
                self.sim.partition(self.broker.machine(), client);
                self.run_for_up_to(9_000);
                self.sim.heal_all();
            }
            72..79 => {
                self.say(format_args!("reset connections of {}", client.name()));
                self.sim.reset_connections(self.broker.machine(), client);
            }
            79..85 => {
                self.say(format_args!("pause"));
                self.broker.machine().pause();
                self.run_for_up_to(8_000);
                self.broker.machine().resume();
            }
            85..92 => {
                let delay_us = [50, 5_000, 100_000][self.sim.choose(3) as usize];
                self.say(format_args!("delays up to {delay_us} us to {}", client.name()));
                self.sim.set_delay_us(self.broker.machine(), client, 50..=delay_us);
            }
            92..96 => {
                self.say(format_args!("slow disk"));
                let slow = Latency { slow_percent: 20, slow_us: 1_000..=300_000, ..Latency::default() };
                self.broker.machine().disk().set_latency(slow);
            }
            _ => {
                let skew_ms = self.sim.choose(3_600_000) as i64 - 1_800_000;
                self.say(format_args!("clock {skew_ms} ms off"));
                self.broker.machine().set_clock_skew_ms(skew_ms);
            }
        }
        assert_eq!(self.broker.failures(), [], "the broker gave up, though its disk works");
    }

    /// Has one operation of the disk fail: the broker must end by itself then, and lose nothing; or, if it was one of the second directory, go on
    /// with the other until it is started again.
    fn fail_disk(&self) {
        let op = [FaultOp::Sync, FaultOp::Write][self.sim.choose(2) as usize];
        let path_parts = ["", "synced-", "__consumer_offsets", "ringlog-raft", "/more/"];
        let path_part = path_parts[self.sim.choose(path_parts.len() as u64) as usize];
        let disk = self.broker.machine().disk();
        disk.fail_after(op, path_part, self.sim.choose(30) as u32, 1);
        // Nothing may ask for such an operation in that time.
        let ended = self.sim.run_until(FAIL_WITHIN, || !self.broker.failures().is_empty());
        self.say(format_args!("{op:?} of {path_part:?} fails, {:?}", self.broker.failures()));
        disk.clear_faults();
        if ended.is_err() && !self.has_two_dirs {
            return;
        }
        self.broker.crash(Crash::Kill);
        self.broker.forget_failures();
        if op == FaultOp::Sync {
            // What the failed sync should have covered is lost, as if the power had gone.
            self.story.power_cut();
        }
        self.start();
    }

    fn crash_and_start(&self, how: Crash) {
        self.say(format_args!("{how:?}"));
        self.broker.crash(how);
        if how == Crash::PowerCut {
            self.story.power_cut();
        }
        self.run_for_up_to(1_000);
        self.start();
    }

    /// Ends all disturbance, and lets every client finish.
    fn calm(&mut self) {
        self.say(format_args!("calm"));
        for client in &self.clients {
            self.sim.set_delay_us(self.broker.machine(), client, 50..=400);
        }
        self.broker.machine().disk().set_latency(Latency::default());
        self.story.end();
        let tasks = std::mem::take(&mut self.tasks);
        let ended = self.sim.run_until(END_WITHIN, || tasks.iter().all(Task::is_finished));
        ended.unwrap_or_else(|stop| panic!("a client doesn't come to its end: {stop}"));
    }

    /// Reads everything and asks the checkers.
    fn check(&self) {
        let all = self.sim.block_on(&self.clients[1], read_all(self.story.clone()));
        for (place, content) in all {
            let offsets: Vec<i64> = content.iter().map(|(offset, _)| *offset).collect();
            let expected: Vec<i64> = (0..).take(offsets.len()).collect();
            assert_eq!(offsets, expected, "{place}: offsets without a gap");
            self.story.acked.borrow().check(place, &content);
            self.story.reads.borrow().check(place, &content);
        }
        assert_eq!(self.broker.failures(), [], "the broker gave up, though its disk works");
    }

    fn stop_cleanly(&self) {
        self.broker.stop();
        let ended = self.sim.run_until(END_WITHIN, || self.broker.machine().is_finished());
        ended.unwrap_or_else(|stop| panic!("the broker doesn't stop: {stop}"));
        self.broker.crash(Crash::PowerCut);
        self.run_for_up_to(100);
    }

    fn outcome(&self) -> Outcome {
        Outcome {
            acked: Topic::ALL.into_iter().map(|topic| self.story.acked.borrow().count(topic)).sum(),
            commits: self.story.commits.borrow().count(),
            generations: self.story.owners.borrow().generations(),
            trace_hash: self.sim.trace_hash(),
        }
    }

    fn run_for_up_to(&self, ms: u64) {
        self.sim.run_for(Duration::from_micros(self.sim.choose(ms * 1_000)));
    }

    fn say(&self, what: std::fmt::Arguments<'_>) {
        self.story.note(format_args!("{:?} {what}", self.sim.elapsed()));
    }
}

/// Creates the topics, however often it takes.
async fn create_topics(story: Rc<Story>, segment_bytes: u64) {
    loop {
        let created = async {
            let mut link = Link::open(story.broker(), "admin").await?;
            topics::create(&mut link, segment_bytes).await
        };
        match created.await {
            Ok(()) => return,
            Err(lost) => story.note(format_args!("admin: {lost}")),
        }
        rt::sleep(Duration::from_millis(50)).await;
    }
}
