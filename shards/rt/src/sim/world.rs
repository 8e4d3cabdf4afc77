//! What a simulation consists of, and the step that moves it on: run one ready task, or let one event happen.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll};

use super::current::{Current, enter};
use super::disk::Disk;
use super::event::{Event, EventKey, EventQueue};
use super::exec::{Exec, LocalFuture, Running, TaskId};
use super::net::Net;
use super::node::{NodeId, NodeState};
use super::rng::Rng;
use super::stop::Stop;
use super::trace::{Mark, Trace};

/// Where virtual time starts, in nanoseconds: not 0, so that code may subtract from an early `now`.
pub(crate) const START_NS: u64 = 1_000_000_000;
/// Wall clock at [`START_NS`], in milliseconds since 1970: 2025-01-01 00:00:00 UTC.
pub(crate) const START_UNIX_MS: i64 = 1_735_689_600_000;
/// What one poll costs in virtual time: a loop that never waits still sees its timeouts pass.
const POLL_NS: std::ops::RangeInclusive<u64> = 100..=1_500;
/// Default step budget of one run, in polls and events.
const STEPS_MAX: u64 = 20_000_000;

/// The random streams, one for each part that makes choices.
pub(crate) struct Streams {
    pub(crate) sched: Rng,
    pub(crate) disk: Rng,
    pub(crate) net: Rng,
    pub(crate) app: Rng,
}

/// All state of one simulation. Each part sits in a cell of its own; none is borrowed while a task is polled or its
/// future dropped, so tasks may call anything.
pub(crate) struct World {
    pub(crate) seed: u64,
    now_ns: Cell<u64>,
    steps_max: Cell<u64>,
    pub(crate) rng: Streams,
    pub(crate) trace: Trace,
    events: RefCell<EventQueue>,
    exec: RefCell<Exec>,
    pub(crate) nodes: RefCell<Vec<NodeState>>,
    pub(crate) net: RefCell<Net>,
}

impl World {
    pub(crate) fn new(seed: u64) -> Rc<World> {
        let rng = Streams {
            sched: Rng::new(seed, 1),
            disk: Rng::new(seed, 2),
            net: Rng::new(seed, 3),
            app: Rng::new(seed, 4),
        };
        Rc::new(World {
            seed,
            now_ns: Cell::new(START_NS),
            steps_max: Cell::new(STEPS_MAX),
            rng,
            trace: Trace::new(seed),
            events: RefCell::default(),
            exec: RefCell::default(),
            nodes: RefCell::default(),
            net: RefCell::default(),
        })
    }

    pub(crate) fn now_ns(&self) -> u64 {
        self.now_ns.get()
    }

    /// A node's wall clock, in milliseconds since 1970.
    pub(crate) fn unix_ms(&self, node: NodeId) -> i64 {
        let since_start_ms = (self.now_ns() - START_NS) / 1_000_000;
        START_UNIX_MS + since_start_ms as i64 + self.nodes.borrow()[node.index()].skew_ms
    }

    /// Virtual time since the start, for messages.
    pub(crate) fn elapsed(&self) -> std::time::Duration {
        std::time::Duration::from_nanos(self.now_ns() - START_NS)
    }

    pub(crate) fn set_step_budget(&self, steps: u64) {
        self.steps_max.set(steps);
    }

    pub(crate) fn push_event(&self, at_ns: u64, event: Event) -> EventKey {
        self.events.borrow_mut().push(at_ns, event)
    }

    pub(crate) fn push_event_in(&self, delay_ns: u64, event: Event) -> EventKey {
        self.push_event(self.now_ns() + delay_ns, event)
    }

    pub(crate) fn remove_event(&self, key: EventKey) {
        self.events.borrow_mut().remove(key);
    }

    /// False once that incarnation of the node has crashed.
    pub(crate) fn is_alive(&self, node: NodeId, incarnation: u32) -> bool {
        self.nodes.borrow()[node.index()].is_running(incarnation)
    }

    /// A node's disk.
    pub(crate) fn disk(&self, node: NodeId) -> Rc<RefCell<Disk>> {
        self.nodes.borrow()[node.index()].disk.clone()
    }

    // ---- tasks

    pub(crate) fn spawn(&self, node: NodeId, incarnation: u32, shard: u16, future: LocalFuture) -> TaskId {
        let alive = self.is_alive(node, incarnation);
        let id = self.exec.borrow_mut().insert(node, incarnation, shard, future);
        if !alive {
            let future = self.exec.borrow_mut().remove(id);
            drop(future);
        }
        id
    }

    pub(crate) fn cancel_task(&self, id: TaskId) {
        self.exec.borrow_mut().cancel(id);
    }

    pub(crate) fn requeue_task(&self, id: TaskId) {
        self.exec.borrow().requeue(id);
    }

    /// Drops every task of a node, in an order that the seed decides, each in its own place.
    pub(crate) fn drop_tasks(self: &Rc<Self>, node: NodeId, incarnation: u32) {
        loop {
            // Looked up anew each time: a destructor may have removed others.
            let mut tasks = self.exec.borrow().tasks_of(node);
            if tasks.is_empty() {
                return;
            }
            let (id, shard) = tasks.swap_remove(self.rng.sched.index(tasks.len()));
            let future = self.exec.borrow_mut().remove(id);
            let _place = enter(Current { world: self.clone(), node, incarnation, shard });
            drop(future);
        }
    }

    // ---- running

    /// Runs until `done` says so, checked before each step; `until_ns` is the last moment to reach.
    pub(crate) fn run(self: &Rc<Self>, until_ns: u64, mut done: impl FnMut() -> bool) -> Result<(), Stop> {
        let budget = self.steps_max.get();
        let mut steps = 0;
        while !done() {
            if steps == budget {
                return Err(Stop::Budget { seed: self.seed, steps, now: self.elapsed() });
            }
            steps += 1;
            match self.step(until_ns) {
                Step::Ran => {}
                Step::Horizon => {
                    self.now_ns.set(self.now_ns().max(until_ns));
                    return Err(Stop::Deadline { seed: self.seed, now: self.elapsed() });
                }
                Step::Idle => return Err(Stop::Idle { seed: self.seed, now: self.elapsed() }),
            }
        }
        Ok(())
    }

    fn step(self: &Rc<Self>, until_ns: u64) -> Step {
        if self.now_ns() > until_ns {
            return Step::Horizon;
        }
        if let Some((key, event)) = self.pop_due() {
            self.trace.note(Mark::Event, key.0, key.1);
            self.happen(event);
            return Step::Ran;
        }
        let picked = self.exec.borrow().ready.pick(&self.rng.sched);
        if let Some(id) = picked {
            self.run_task(id);
            return Step::Ran;
        }
        let next_at = self.events.borrow().next_at();
        match next_at {
            None => Step::Idle,
            Some(at) if at > until_ns => Step::Horizon,
            Some(at) => {
                self.now_ns.set(at);
                Step::Ran
            }
        }
    }

    fn pop_due(&self) -> Option<(EventKey, Event)> {
        self.events.borrow_mut().pop_due(self.now_ns())
    }

    fn happen(self: &Rc<Self>, event: Event) {
        match event {
            Event::Wake(waker) => waker.wake(),
            Event::Disk(node, op) => self.complete_disk_op(node, op),
            Event::Net(event) => self.net_event(event),
        }
    }

    fn run_task(self: &Rc<Self>, id: TaskId) {
        let Some(node) = self.exec.borrow_mut().node_of(id) else { return };
        if let Some(parked) = self.nodes.borrow_mut()[node.index()].parked_tasks() {
            parked.push(id);
            return;
        }
        let running = self.exec.borrow_mut().begin(id);
        let Some(running) = running else { return };
        if running.cancelled {
            self.end_cancelled(running);
        } else {
            self.poll_task(running);
        }
    }

    fn poll_task(self: &Rc<Self>, running: Running) {
        let Running { id, node, incarnation, shard, mut future, waker, .. } = running;
        self.trace.note(Mark::Poll, id.word(), self.now_ns());
        self.now_ns.set(self.now_ns() + self.rng.sched.within(&POLL_NS));
        let _place = enter(Current { world: self.clone(), node, incarnation, shard });
        let poll = future.as_mut().poll(&mut Context::from_waker(&waker));
        let dead = match poll {
            Poll::Ready(()) => {
                let _ = self.exec.borrow_mut().remove(id);
                Some(future)
            }
            Poll::Pending => self.exec.borrow_mut().put_back(id, future),
        };
        drop(dead);
    }

    fn end_cancelled(self: &Rc<Self>, running: Running) {
        let Running { id, node, incarnation, shard, future, .. } = running;
        self.trace.note(Mark::Cancel, id.word(), self.now_ns());
        let _ = self.exec.borrow_mut().remove(id);
        let _place = enter(Current { world: self.clone(), node, incarnation, shard });
        drop(future);
    }
}

/// What a step came to.
enum Step {
    /// Something ran, or time moved to the next event.
    Ran,
    /// The next thing lies beyond the moment to reach.
    Horizon,
    /// Nothing will ever run again.
    Idle,
}
