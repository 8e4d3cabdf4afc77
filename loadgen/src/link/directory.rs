//! What a shard knows of the cluster.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use client::{Cluster, Node};
use protocol::messages::MetadataRequest;
use rt::sync::Notify;

use super::{Link, LinkError};
use crate::engine::Layout;

/// Addresses of brokers and leaders of all slots, shared by the tasks of a shard. Whoever meets a stale entry calls
/// [`refresh`](Self::refresh), and one task asks the cluster again.
#[derive(Debug)]
pub(crate) struct Directory {
    layout: Arc<Layout>,
    bootstrap: Vec<String>,
    nodes: RefCell<BTreeMap<i32, String>>,
    leaders: RefCell<Rc<Vec<i32>>>,
    wanted: Notify,
    is_wanted: Cell<bool>,
}

/// Least time between two questions.
const PAUSE: Duration = Duration::from_millis(100);
/// Highest version that is filled here.
const METADATA_MAX: i16 = 12;

impl Directory {
    pub(crate) fn new(
        layout: Arc<Layout>,
        bootstrap: Vec<String>,
        nodes: BTreeMap<i32, String>,
        leaders: Vec<i32>,
    ) -> Self {
        let (nodes, leaders) = (RefCell::new(nodes), RefCell::new(Rc::new(leaders)));
        Self { layout, bootstrap, nodes, leaders, wanted: Notify::new(), is_wanted: Cell::new(false) }
    }

    pub(crate) fn address(&self, node: i32) -> Option<String> {
        self.nodes.borrow().get(&node).cloned()
    }

    /// All brokers known, and those named first: for whom any will do.
    pub(crate) fn addresses(&self) -> Vec<String> {
        self.nodes.borrow().values().chain(&self.bootstrap).cloned().collect()
    }

    /// The leader of each slot; -1 for none. Another allocation whenever one has changed.
    pub(crate) fn leaders(&self) -> Rc<Vec<i32>> {
        self.leaders.borrow().clone()
    }

    /// Something here is stale.
    pub(crate) fn refresh(&self) {
        self.is_wanted.set(true);
        self.wanted.notify_waiters();
    }

    /// Asks the cluster whenever somebody wants it: one task a shard.
    pub(crate) async fn drive(&self) {
        loop {
            let wanted = self.wanted.notified();
            if !self.is_wanted.replace(false) {
                wanted.await;
                continue;
            }
            // While nobody answers, or a partition has no leader, it asks again by itself.
            if self.ask().await.is_err() || self.leaders.borrow().contains(&-1) {
                self.is_wanted.set(true);
            }
            rt::sleep(PAUSE).await;
        }
    }

    async fn ask(&self) -> Result<(), LinkError> {
        let link = self.any_link().await?;
        let names: Vec<String> = self.layout.topics().iter().map(|topic| topic.name.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let answer = link
            .call::<MetadataRequest>(METADATA_MAX, Duration::ZERO, |version| {
                Cluster::metadata_request(Some(&names), false, version)
            })
            .await?;
        let mut cluster = Cluster::new();
        cluster.take_metadata(&answer);
        let nodes: BTreeMap<i32, String> =
            cluster.nodes().map(|node| (node.id, Node::address(node))).collect();
        if !nodes.is_empty() {
            *self.nodes.borrow_mut() = nodes;
        }
        let leaders = leaders_of(&self.layout, &cluster);
        if **self.leaders.borrow() != leaders {
            *self.leaders.borrow_mut() = Rc::new(leaders);
        }
        Ok(())
    }

    /// A connection to any broker that answers.
    pub(crate) async fn any_link(&self) -> Result<Link, LinkError> {
        let mut last = LinkError::Answer("no broker is known".into());
        for address in self.addresses() {
            match Link::connect(&address, Rc::default()).await {
                Ok(link) => return Ok(link),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

/// Each slot's leader as `cluster` knows it, -1 for none.
pub(crate) fn leaders_of(layout: &Layout, cluster: &Cluster) -> Vec<i32> {
    let leader = |slot| {
        let (topic, partition) = layout.place(slot);
        cluster.leader(&topic.name, partition).map_or(-1, |node| node.id)
    };
    (0..layout.slots()).map(leader).collect()
}
