//! A simulated machine: a name, an address, a clock, a disk, and the process that runs on it.

use std::cell::{Ref, RefCell};
use std::future::Future;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::Pin;
use std::rc::Rc;

use super::current::Current;
use super::disk::{Disk, DiskControl, Fate};
use super::exec::TaskId;
use super::task::Task;
use super::trace::Mark;
use super::world::World;
use crate::ShardId;

/// A node's place in the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NodeId(pub(crate) u16);

impl NodeId {
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The node's address: 10.0.0.1 for the first node made, and so on.
    pub(crate) fn ip(self) -> IpAddr {
        let n = self.0 + 1;
        IpAddr::V4(Ipv4Addr::new(10, 0, (n >> 8) as u8, n as u8))
    }
}

/// How a node ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crash {
    /// `kill -9`: the process ends, the machine lives on. Completed writes stay, those in flight are done, partly done
    /// or not done. Its peers see an end of stream or a reset.
    Kill,
    /// The machine loses power: only synced data is sure; of the rest each sector, size and directory entry is old or
    /// new by seed. Its peers learn it late.
    PowerCut,
}

type Main = Rc<dyn Fn(ShardId) -> Pin<Box<dyn Future<Output = ()>>>>;

/// Which part of a node is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Power {
    /// A process runs.
    Up,
    /// The machine runs, without a process.
    Killed,
    /// The machine is without power.
    Off,
}

pub(crate) struct NodeState {
    name: String,
    power: Power,
    // Counts processes; tasks, files and connections of an earlier one are void.
    incarnation: u32,
    main: Option<(u16, Main)>,
    mains: Vec<Task<()>>,
    // Some while the node is paused: the tasks that were picked meanwhile.
    parked: Option<Vec<TaskId>>,
    pub(crate) skew_ms: i64,
    pub(crate) disk: Rc<RefCell<Disk>>,
}

impl NodeState {
    pub(crate) fn is_running(&self, incarnation: u32) -> bool {
        self.power == Power::Up && self.incarnation == incarnation
    }

    pub(crate) fn parked_tasks(&mut self) -> Option<&mut Vec<TaskId>> {
        self.parked.as_mut()
    }

    pub(crate) fn power(&self) -> Power {
        self.power
    }

    pub(crate) fn incarnation(&self) -> u32 {
        self.incarnation
    }
}

/// A handle to a simulated node; clones mean the same node.
#[derive(Clone)]
pub struct Node {
    pub(crate) world: Rc<World>,
    pub(crate) id: NodeId,
}

impl Node {
    /// Adds a node, down, with an empty disk.
    pub(crate) fn add(world: &Rc<World>, name: &str) -> Node {
        let mut nodes = world.nodes.borrow_mut();
        let id = NodeId(u16::try_from(nodes.len()).expect("at most 65,535 nodes"));
        nodes.push(NodeState {
            name: name.to_owned(),
            power: Power::Killed,
            incarnation: 0,
            main: None,
            mains: Vec::new(),
            parked: None,
            skew_ms: 0,
            disk: Rc::new(RefCell::new(Disk::new())),
        });
        Node { world: world.clone(), id }
    }

    /// The name given to [`super::Sim::node`].
    pub fn name(&self) -> String {
        self.state().name.clone()
    }

    /// The address that other nodes reach this one by; listeners bound to 0.0.0.0 answer on it.
    pub fn ip(&self) -> IpAddr {
        self.id.ip()
    }

    /// Starts the process: `main` once for each of `shards` shards, as `rt::run` does.
    ///
    /// # Panics
    /// If the node is already up.
    pub fn start<F, Fut>(&self, shards: u16, main: F)
    where
        F: Fn(ShardId) -> Fut + 'static,
        Fut: Future<Output = ()> + 'static,
    {
        let main: Main = Rc::new(move |shard| Box::pin(main(shard)));
        self.world.nodes.borrow_mut()[self.id.index()].main = Some((shards, main));
        self.restart();
    }

    /// Starts the process again as [`Node::start`] last did; without one, an empty process.
    ///
    /// # Panics
    /// If the node is already up.
    pub fn restart(&self) {
        self.boot();
        let main = self.state().main.clone();
        let Some((shards, main)) = main else { return };
        let mains: Vec<_> = (0..shards)
            .map(|shard| Task::spawn(&self.world, self.place(shard), main(ShardId(shard))))
            .collect();
        self.world.nodes.borrow_mut()[self.id.index()].mains = mains;
    }

    /// Brings up a process without any task, for `block_on` and `spawn`; does nothing on a node that is up.
    pub(crate) fn boot_if_down(&self) {
        if !self.is_up() {
            self.boot();
        }
    }

    /// Drops what [`Node::restart`] would run.
    pub(crate) fn forget_main(&self) {
        let main = self.world.nodes.borrow_mut()[self.id.index()].main.take();
        drop(main);
    }

    fn boot(&self) {
        let was_off = {
            let mut nodes = self.world.nodes.borrow_mut();
            let state = &mut nodes[self.id.index()];
            assert!(state.power != Power::Up, "node {} is already up", state.name);
            let was_off = state.power == Power::Off;
            state.power = Power::Up;
            state.incarnation += 1;
            was_off
        };
        self.world.trace.note(Mark::Node, u64::from(self.id.0), self.world.now_ns());
        if was_off {
            self.world.net_power_on(self.id);
        }
    }

    /// Ends the process, or the machine. Does nothing to the process of a node that is down, but still cuts its power.
    ///
    /// All the node's tasks are dropped: their destructors run, yet whatever these start is void.
    pub fn crash(&self, how: Crash) {
        let (incarnation, mains, was) = {
            let mut nodes = self.world.nodes.borrow_mut();
            let state = &mut nodes[self.id.index()];
            let was = state.power;
            state.power = match how {
                Crash::Kill if was == Power::Off => Power::Off,
                Crash::Kill => Power::Killed,
                Crash::PowerCut => Power::Off,
            };
            state.parked = None;
            (state.incarnation, std::mem::take(&mut state.mains), was)
        };
        if was == Power::Off {
            return;
        }
        let word = u64::from(self.id.0) | 1 << 32 | (how as u64) << 33;
        self.world.trace.note(Mark::Node, word, self.world.now_ns());
        // Before the tasks go: a destructor that closes a file or a socket must find it already dead.
        let fate = if how == Crash::Kill { Fate::Killed } else { Fate::PowerCut };
        self.state().disk.clone().borrow_mut().crash(fate, &self.world.rng.disk);
        self.world.net_crash(self.id, how);
        self.world.drop_tasks(self.id, incarnation);
        drop(mains);
    }

    /// Stops running the node's tasks, as SIGSTOP would: its disk and sockets go on, its clock too.
    pub fn pause(&self) {
        self.world.nodes.borrow_mut()[self.id.index()].parked.get_or_insert_default();
    }

    /// Ends a pause.
    pub fn resume(&self) {
        let parked = self.world.nodes.borrow_mut()[self.id.index()].parked.take();
        for task in parked.into_iter().flatten() {
            self.world.requeue_task(task);
        }
    }

    /// True while a process runs, also when all its mains have returned.
    pub fn is_up(&self) -> bool {
        self.state().power == Power::Up
    }

    /// True when the main of every shard has returned: the process has ended by itself.
    pub fn is_finished(&self) -> bool {
        self.state().mains.iter().all(Task::is_finished)
    }

    /// Shifts this node's wall clock (`rt::unix_ms`) by `skew_ms`; `rt::now` is not touched.
    pub fn set_clock_skew_ms(&self, skew_ms: i64) {
        self.world.nodes.borrow_mut()[self.id.index()].skew_ms = skew_ms;
    }

    /// Spawns a task on shard 0, booting an empty process if the node is down. It runs on when the handle is detached.
    pub fn spawn<F: Future + 'static>(&self, future: F) -> Task<F::Output> {
        self.boot_if_down();
        Task::spawn(&self.world, self.place(0), future)
    }

    /// The node's disk: faults, capacity, and its files as a test sees them from outside.
    pub fn disk(&self) -> DiskControl {
        DiskControl::new(self.world.clone(), self.id)
    }

    pub(crate) fn place(&self, shard: u16) -> Current {
        let incarnation = self.state().incarnation;
        Current { world: self.world.clone(), node: self.id, incarnation, shard }
    }

    pub(crate) fn state(&self) -> Ref<'_, NodeState> {
        Ref::map(self.world.nodes.borrow(), |nodes| &nodes[self.id.index()])
    }
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Node").field("name", &self.state().name).field("power", &self.state().power).finish()
    }
}
