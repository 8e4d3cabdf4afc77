//! Nodes to test.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use rt::ShardId;
use rt::net::Listener;
use rt::sim::{DiskControl, Node, Sim};

use crate::admin::{Ask, wires};
use crate::config::{BrokerConfig, Inputs, load};
use crate::server::boot;
use crate::server::connection::adopt;
use crate::server::failure::{Failure, Failures};
use crate::server::first::FirstShard;
use crate::server::join::join;
use crate::server::register::register;
use crate::server::state::ShardState;
use crate::server::wiring::{Ends, Wiring};

const PORT: u16 = 9092;

fn config(settings: &[(&str, &str)]) -> BrokerConfig {
    let settings = [("log.dirs", "/data")].iter().chain(settings);
    let overrides = settings.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let inputs = Inputs { overrides: overrides.collect(), ..Inputs::default() };
    load(inputs.with_listen(&format!("10.0.0.1:{PORT}"))).unwrap().config
}

type Found = Rc<RefCell<Vec<Option<Rc<ShardState>>>>>;

/// Joined shards, each with a port of its own, so that a test chooses where a connection lives and sees what the shard holds.
pub(super) struct Shards {
    pub(super) sim: Sim,
    node: Node,
    client: Node,
    found: Found,
}

impl Shards {
    pub(super) fn start(seed: u64, shards: u16, settings: &[(&str, &str)]) -> Shards {
        let sim = Sim::new(seed);
        let (node, client) = (sim.node("broker"), sim.node("client"));
        let found: Found = Rc::new(RefCell::new((0..shards).map(|_| None).collect()));
        let (_stops, stops) = flume::bounded(1);
        let wiring = Arc::new(Wiring::new(config(settings), shards, stops));
        let (told, ip) = (Rc::clone(&found), node.ip());
        node.start(shards, move |id| {
            let (wiring, found) = (Arc::clone(&wiring), Rc::clone(&told));
            async move {
                let shard = join_shard(&wiring, id).await;
                let listener = Listener::bind(SocketAddr::new(ip, PORT + id.0)).unwrap();
                found.borrow_mut()[usize::from(id.0)] = Some(Rc::clone(&shard));
                loop {
                    adopt(&shard, listener.accept().await.unwrap(), 0);
                }
            }
        });
        let all = Shards { sim, node, client, found };
        let are_there = || all.found.borrow().iter().all(Option::is_some);
        all.sim.run_until(Duration::from_secs(60), are_there).unwrap();
        all
    }

    /// Runs what a client does, which may look at the shards by the way.
    pub(super) fn run<F: Future + 'static>(&self, client: F) -> F::Output {
        self.sim.block_on(&self.client, client)
    }

    /// Where connections of a shard go.
    pub(super) fn address(&self, shard: u16) -> SocketAddr {
        SocketAddr::new(self.node.ip(), PORT + shard)
    }

    pub(super) fn disk(&self) -> DiskControl {
        self.node.disk()
    }

    pub(super) fn shard(&self, shard: u16) -> Rc<ShardState> {
        Rc::clone(self.found.borrow()[usize::from(shard)].as_ref().unwrap())
    }

    /// Lets some time pass, after which every budget and every credit must be back.
    pub(super) fn check_rest(&self) {
        self.sim.run_for(Duration::from_secs(60));
        for shard in self.found.borrow().iter().flatten() {
            let network = &shard.network;
            let used = [
                network.small_request_memory.used(),
                network.large_request_memory.used(),
                network.response_memory.used(),
                network.open_count(),
            ];
            assert_eq!(used, [0; 4], "shard {}: small, large, responses, connections", shard.id);
            for peer in (0..shard.node.shards).map(ShardId).filter(|peer| *peer != shard.id) {
                let under_way = (shard.mesh.under_way(peer), shard.mesh.waiting(peer));
                assert_eq!(under_way, (0, 0), "pieces of {} at {peer}", shard.id);
            }
        }
    }
}

async fn join_shard(wiring: &Wiring, id: ShardId) -> Rc<ShardState> {
    let Ends { ports, updates, mut joint, .. } = wiring.take(id);
    let failures = Rc::new(Failures::default());
    if id != ShardId(0) {
        let joint = joint.recv().await.unwrap();
        return join(id, ports, updates, joint, None, failures).await.unwrap();
    }
    let mut first = wiring.take_first();
    let (homes, joint, controller) = boot::open(wiring, &[], &mut first).await.unwrap();
    let shard = join(id, ports, updates, joint, Some(FirstShard::new(controller)), failures).await.unwrap();
    assert!(homes.begin_use().await.is_empty());
    register(&shard).await.unwrap();
    // The locks of the directories live as long as the node.
    shard.tasks.spawn(async move {
        let _homes = homes;
        std::future::pending::<()>().await;
    });
    shard
}

/// A node as `serve` runs it.
pub(super) struct Broker {
    pub(super) sim: Sim,
    node: Node,
    pub(super) client: Node,
    shards: u16,
    settings: &'static [(&'static str, &'static str)],
    stops: RefCell<flume::Sender<i32>>,
    asks: RefCell<flume::Sender<Ask>>,
    ended: Rc<RefCell<Vec<Result<(), Failure>>>>,
}

impl Broker {
    pub(super) fn start(seed: u64, shards: u16) -> Broker {
        Broker::start_with(seed, shards, &[])
    }

    pub(super) fn start_with(
        seed: u64,
        shards: u16,
        settings: &'static [(&'static str, &'static str)],
    ) -> Broker {
        let sim = Sim::new(seed);
        let (node, client) = (sim.node("broker"), sim.node("client"));
        let (stops, _) = flume::bounded(1);
        let (asks, _) = flume::bounded(1);
        let (stops, asks, ended) = (RefCell::new(stops), RefCell::new(asks), Rc::default());
        let broker = Broker { sim, node, client, shards, settings, stops, asks, ended };
        broker.boot();
        broker
    }

    fn boot(&self) {
        let (stops_out, stops) = flume::bounded(4);
        let (mut admin, _) = wires(self.shards, Duration::ZERO);
        let (asks, asked) = flume::bounded(1);
        admin.asks[0] = asked;
        self.asks.replace(asks);
        let wiring = Wiring::new(config(self.settings), self.shards, stops).with_admin(admin);
        let wiring = Arc::new(wiring);
        self.stops.replace(stops_out);
        let ended = Rc::clone(&self.ended);
        self.node.start(self.shards, move |id| {
            let (wiring, ended) = (Arc::clone(&wiring), Rc::clone(&ended));
            async move {
                let end = boot::run_shard(wiring, id).await;
                ended.borrow_mut().push(end);
            }
        });
    }

    pub(super) fn address(&self) -> SocketAddr {
        SocketAddr::new(self.node.ip(), PORT)
    }

    /// The way by which the admin endpoint asks the first shard.
    pub(super) fn asks(&self) -> flume::Sender<Ask> {
        self.asks.borrow().clone()
    }

    /// What SIGTERM does.
    pub(super) fn stop(&self) {
        self.stops.borrow().send(15).unwrap();
    }

    pub(super) fn disk(&self) -> DiskControl {
        self.node.disk()
    }

    /// Runs until the shards have ended, or one has failed; how long it took, and how each ended.
    pub(super) fn ended(&self, within: Duration) -> (Duration, Vec<Result<(), Failure>>) {
        let since = self.sim.elapsed();
        let is_over = || {
            let ended = self.ended.borrow();
            ended.len() == usize::from(self.shards) || ended.iter().any(Result::is_err)
        };
        self.sim.run_until(within, is_over).unwrap_or_else(|stop| panic!("{stop}"));
        (self.sim.elapsed() - since, self.ended.take())
    }

    /// What its shards ended with by themselves so far.
    pub(super) fn failures(&self) -> Vec<Failure> {
        self.ended.borrow().iter().filter_map(|end| end.clone().err()).collect()
    }

    /// Whether the directory says that the last stop was clean.
    pub(super) fn is_clean(&self) -> bool {
        self.disk().names("/data").iter().any(|name| name == ".kafka_cleanshutdown")
    }

    /// Kills it.
    pub(super) fn kill(&self) {
        self.node.crash(rt::sim::Crash::Kill);
        // Shards of the run before, that ended after it was looked at.
        self.ended.borrow_mut().clear();
    }

    /// Cuts its machine's power.
    pub(super) fn cut_power(&self) {
        self.node.crash(rt::sim::Crash::PowerCut);
        self.ended.borrow_mut().clear();
    }

    /// Does something on its machine, where it doesn't run.
    pub(super) fn on_machine<F: Future + 'static>(&self, job: F) -> F::Output {
        self.kill();
        self.sim.block_on(&self.node, job)
    }

    /// Starts it again after its end.
    pub(super) fn start_again(&self) {
        self.kill();
        self.boot();
    }

    /// The same, on another number of cores.
    pub(super) fn start_again_on(&mut self, shards: u16) {
        self.shards = shards;
        self.start_again();
    }

    /// The same, with other settings.
    pub(super) fn start_again_with(&mut self, settings: &'static [(&'static str, &'static str)]) {
        self.settings = settings;
        self.start_again();
    }

    pub(super) fn run<F: Future + 'static>(&self, client: F) -> F::Output {
        self.sim.block_on(&self.client, client)
    }
}
