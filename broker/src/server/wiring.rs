//! [`Wiring`]: what is made before the shards, each of which takes its part.

use std::net::SocketAddr;
use std::sync::Arc;

use rt::{ShardId, lane};
use shards::MeshPorts;

use super::log_dirs::JointDirs;
use super::piece::{Answer, Piece};
use super::placement_file::Remembered;
use super::state::Topology;
use super::stop::{Order, Report};
use crate::admin::{AdminEnds, Phase};
use crate::config::BrokerConfig;
use crate::metadata::MetadataUpdate;

/// Metadata batches that may be on their way to a shard.
const UPDATES_MAX: usize = 1024;
/// Orders that may be on their way to a shard: each kind is given once.
const ORDERS_MAX: usize = 3;
/// Reports likewise.
const REPORTS_MAX: usize = 2;

/// What all shards get from shard 0 once the directories are taken.
#[derive(Debug, Clone)]
pub(super) struct Joint {
    pub(super) node: Arc<Topology>,
    pub(super) dirs: JointDirs,
    pub(super) placement: Arc<Remembered>,
}

/// One shard's ends of the lanes.
#[derive(Debug)]
pub(super) struct Ends {
    pub(super) ports: MeshPorts<Piece, Answer>,
    pub(super) updates: lane::Receiver<MetadataUpdate>,
    pub(super) joint: lane::Receiver<Joint>,
    pub(super) orders: lane::Receiver<Order>,
    pub(super) reports: lane::Sender<Report>,
    /// How many connections ended, to shard 0, which hands them out.
    pub(super) ended: lane::Sender<u32>,
}

/// Shard 0's ends of the same, in order of the shards, its own among them.
#[derive(Debug)]
pub(super) struct FirstEnds {
    pub(super) updates: Vec<lane::Sender<MetadataUpdate>>,
    pub(super) joint: Vec<lane::Sender<Joint>>,
    pub(super) orders: Vec<lane::Sender<Order>>,
    pub(super) reports: Vec<lane::Receiver<Report>>,
    pub(super) ended: Vec<lane::Receiver<u32>>,
    pub(super) stops: flume::Receiver<i32>,
}

/// What is handed to the shards' threads; each takes its part once.
#[derive(Debug)]
pub struct Wiring {
    pub(super) config: BrokerConfig,
    pub(super) shards: u16,
    /// None without an admin endpoint.
    pub(super) admin: Option<AdminEnds>,
    /// Told where the node listens, once it serves.
    pub(super) announce: fn(&[SocketAddr]),
    ends: Vec<flume::Receiver<Ends>>,
    first: flume::Receiver<FirstEnds>,
}

impl Wiring {
    /// Lanes between the shards of a node. The first thing to come by `stops` stops it, the second makes it hurry; what it is, a signal's number
    /// as a rule, is only logged.
    pub fn new(config: BrokerConfig, shards: u16, stops: flume::Receiver<i32>) -> Wiring {
        let mut first = FirstEnds {
            updates: vec![],
            joint: vec![],
            orders: vec![],
            reports: vec![],
            ended: vec![],
            stops,
        };
        let ends = shards::mesh(shards).into_iter().map(|ports| {
            let (updates_out, updates) = lane::channel(UPDATES_MAX);
            let (joint_out, joint) = lane::channel(1);
            let (orders_out, orders) = lane::channel(ORDERS_MAX);
            let (reports, reports_in) = lane::channel(REPORTS_MAX);
            // One is enough: what ends while it is on its way is counted up.
            let (ended, ended_in) = lane::channel(1);
            first.updates.push(updates_out);
            first.joint.push(joint_out);
            first.orders.push(orders_out);
            first.reports.push(reports_in);
            first.ended.push(ended_in);
            handed(Ends { ports, updates, joint, orders, reports, ended })
        });
        let ends = ends.collect();
        let announce = |addresses: &[SocketAddr]| tracing::info!(?addresses, "listening");
        Wiring { config, shards, admin: None, announce, ends, first: handed(first) }
    }

    /// The same, with another way to say that the node serves than the log.
    #[must_use]
    pub fn announced_by(self, announce: fn(&[SocketAddr])) -> Wiring {
        Wiring { announce, ..self }
    }

    /// The same with an admin endpoint, whose ends of one node and as many shards these are.
    #[must_use]
    pub fn with_admin(self, admin: AdminEnds) -> Wiring {
        Wiring { admin: Some(admin), ..self }
    }

    /// Tells the endpoint, if there is one.
    pub(super) fn tell(&self, phase: Phase) {
        if let Some(admin) = &self.admin {
            admin.phase.set(phase);
        }
    }

    /// The part of a shard.
    pub(super) fn take(&self, id: ShardId) -> Ends {
        match self.ends[usize::from(id.0)].try_recv() {
            Ok(ends) => ends,
            Err(_) => unreachable!("each shard takes its ends once"),
        }
    }

    /// What shard 0 gets besides.
    pub(super) fn take_first(&self) -> FirstEnds {
        match self.first.try_recv() {
            Ok(first) => first,
            Err(_) => unreachable!("shard 0 takes its ends once"),
        }
    }
}

fn handed<T>(part: T) -> flume::Receiver<T> {
    let (sender, receiver) = flume::bounded(1);
    assert!(sender.send(part).is_ok(), "the receiver is here");
    receiver
}
