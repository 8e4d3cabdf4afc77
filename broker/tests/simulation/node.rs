//! [`BrokerNode`]: the whole broker on a simulated machine.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use broker::config::{BrokerConfig, Inputs, load};
use broker::server::boot::run_shard;
use broker::server::{Failure, Wiring};
use rt::sim::{Crash, Node, Sim};

const PORT: u16 = 9092;
const DIR: (&str, &str) = ("log.dirs", "/data");
const SMALL_JOURNAL: (&str, &str) = ("ringlog.journal.bytes", "262144");
/// What a stop is told by; only logged.
const SIGTERM: i32 = 15;

/// A machine with a disk, and the broker that runs on it from time to time.
pub(crate) struct BrokerNode {
    node: Node,
    config: BrokerConfig,
    stop: RefCell<Option<flume::Sender<i32>>>,
    failures: Rc<RefCell<Vec<Failure>>>,
}

impl BrokerNode {
    /// A machine with an empty disk, not started.
    pub(crate) fn add(sim: &Sim, settings: &[(&str, &str)]) -> BrokerNode {
        let node = sim.node("broker");
        let mut inputs = Inputs { host_name: node.ip().to_string(), ..Inputs::default() };
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        // So small that it is full, freed and grown while a test runs.
        inputs.overrides = [DIR, SMALL_JOURNAL].iter().chain(settings).map(owned).collect();
        let listen = format!("{}:{PORT}", node.ip());
        let inputs = inputs.with_listen(&listen);
        let loaded = load(inputs).unwrap_or_else(|errors| panic!("{errors}"));
        BrokerNode { node, config: loaded.config, stop: RefCell::default(), failures: Rc::default() }
    }

    /// Where it listens, when it does.
    pub(crate) fn address(&self) -> SocketAddr {
        SocketAddr::new(self.node.ip(), PORT)
    }

    /// The machine.
    pub(crate) fn machine(&self) -> &Node {
        &self.node
    }

    /// Starts the broker with that many shards.
    pub(crate) fn start(&self, shards: u16) {
        let (stop, stops) = flume::bounded(2);
        *self.stop.borrow_mut() = Some(stop);
        let wiring = Arc::new(Wiring::new(self.config.clone(), shards, stops));
        let failures = self.failures.clone();
        self.node.start(shards, move |shard| {
            let (wiring, failures) = (wiring.clone(), failures.clone());
            async move {
                match run_shard(wiring, shard).await {
                    // Told to stop before it served.
                    Ok(()) | Err(Failure { code: 0, .. }) => {}
                    Err(failure) => failures.borrow_mut().push(failure),
                }
            }
        });
    }

    /// Tells it to stop, as SIGTERM does.
    pub(crate) fn stop(&self) {
        if let Some(stop) = &*self.stop.borrow() {
            // One that has ended already doesn't listen.
            let _ = stop.try_send(SIGTERM);
        }
    }

    /// Ends it.
    pub(crate) fn crash(&self, how: Crash) {
        self.node.crash(how);
    }

    /// Leaves no byte free on the disk; what was allocated before can still be written to.
    pub(crate) fn fill_disk(&self) {
        const MUCH: u64 = 1 << 40;
        let disk = self.node.disk();
        disk.set_capacity(Some(MUCH));
        disk.set_capacity(Some(MUCH - disk.free_bytes()));
    }

    /// What it ended with by itself.
    pub(crate) fn failures(&self) -> Vec<Failure> {
        self.failures.borrow().clone()
    }

    /// Begins anew, after a failure that was to be.
    pub(crate) fn forget_failures(&self) {
        self.failures.borrow_mut().clear();
    }
}
