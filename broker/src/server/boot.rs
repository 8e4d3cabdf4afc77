//! A shard from its first step to its last.
//!
//! ```text
//!   shard 0: listeners, directories, controller ── Joint ──> every shard: its logs, its image
//!            all serve ── directories in use ── registration (leader epochs) ── accept
//!            told to stop before it serves: the process ends as it is
//!   stop:    none accepted ── connections answered ── logs closed ── quorum ended ── directories closed
//! ```

use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;

use futures_util::future::{Either, join, select};
use protocol::types::Str;
use rt::net::Listener;
use rt::{ShardId, TaskSet, lane};
use shards::MeshPorts;

use super::accept::{Loads, accept, follow_ended, tell_ended};
use super::failure::{Failure, Failures};
use super::first::{self, FirstShard};
use super::homes::Homes;
use super::join::join as join_node;
use super::listen;
use super::metadata_dir;
use super::piece::{Answer, Piece};
use super::placement_file::{self, Remembered};
use super::register::register;
use super::state::{ShardState, Topology};
use super::stop;
use super::wiring::{Ends, FirstEnds, Joint, Wiring};
use crate::admin::{self, Phase, Seat};
use crate::metadata::{Controller, ControllerConfig, Image, MetadataUpdate, QuorumConfig};

/// A shard's whole life, until the node was told to stop.
///
/// # Errors
/// The node can't start or can't go on: all of it must end, whatever other shards are doing.
pub async fn run_shard(wiring: Arc<Wiring>, id: ShardId) -> Result<(), Failure> {
    let failures = Rc::new(Failures::default());
    let ends = wiring.take(id);
    // From the first step to the last: a long recovery is no lack of health.
    let seat = Seat::default();
    let asks = wiring.admin.as_ref().map(|admin| admin.asks[usize::from(id.0)].clone());
    let _answering = asks.map(|asks| rt::spawn(admin::answer(asks, seat.clone())));
    let life = async {
        match id {
            ShardId(0) => lead(&wiring, ends, &seat, Rc::clone(&failures)).await,
            _ => follow(id, ends, &seat, Rc::clone(&failures)).await,
        }
    };
    match select(pin!(life), pin!(failures.first())).await {
        Either::Left((ended, _)) => ended,
        Either::Right((failure, _)) => Err(failure),
    }
}

async fn follow(id: ShardId, ends: Ends, seat: &Seat, failures: Rc<Failures>) -> Result<(), Failure> {
    let Ends { ports, updates, mut joint, orders, reports, ended } = ends;
    // Without it shard 0 has failed, and says so.
    let Some(joint) = joint.recv().await else { return Ok(()) };
    let shard = join_node(id, ports, updates, joint, None, failures).await?;
    seat.take(&shard);
    shard.tasks.spawn(tell_ended(Rc::clone(&shard), ended));
    stop::obey(shard, orders, reports).await;
    Ok(())
}

async fn lead(wiring: &Wiring, ends: Ends, seat: &Seat, failures: Rc<Failures>) -> Result<(), Failure> {
    let Ends { ports, updates, orders, reports, ended, .. } = ends;
    let mut first = wiring.take_first();
    let stops = first.stops.clone();
    let starting = start(wiring, ports, updates, &mut first, seat, failures);
    let started = match select(pin!(starting), pin!(told_to_stop(&stops))).await {
        Either::Left((started, _)) => started?,
        // What is being recovered is left as a crash would leave it; a recovery may take far longer than service managers wait.
        Either::Right(_) => return Err(Failure::stopped_early()),
    };
    let Started { shard, homes, controller, listeners } = started;
    shard.tasks.spawn(tell_ended(Rc::clone(&shard), ended));
    let addresses: Vec<SocketAddr> = listeners.iter().map(Listener::local_addr).collect();
    let accepting = accept_all(&shard, listeners, std::mem::take(&mut first.ended));
    // First: whoever reads the line may ask at once.
    wiring.tell(Phase::Serving);
    (wiring.announce)(&addresses);
    let signal = first.stops.recv_async().await;
    wiring.tell(Phase::Stopping);
    tracing::info!(?signal, "stopping");
    accepting.cancel_all().await;
    let broker_epoch = shard.first.as_ref().map_or(-1, |first| first.broker_epoch.get());
    let conducted = stop::conduct(&mut first.orders, &mut first.reports, &first.stops);
    let (closed, ()) = join(conducted, stop::obey(shard, orders, reports)).await;
    controller.stop().await;
    stop::close_homes(homes, closed, broker_epoch).await
}

/// What serves, with all that it needs but clients.
struct Started {
    shard: Rc<ShardState>,
    homes: Homes,
    controller: Controller,
    listeners: Vec<Listener>,
}

async fn start(
    wiring: &Wiring,
    ports: MeshPorts<Piece, Answer>,
    updates: lane::Receiver<MetadataUpdate>,
    first: &mut FirstEnds,
    seat: &Seat,
    failures: Rc<Failures>,
) -> Result<Started, Failure> {
    let listeners = listen::bind(&wiring.config)?;
    let (homes, joint, controller) = open(wiring, &listeners, first).await?;
    let first_shard = FirstShard::new(controller.clone());
    let shard = join_node(ShardId(0), ports, updates, joint, Some(first_shard), failures).await?;
    seat.take(&shard);
    shard.tasks.spawn(watch_metadata(Rc::clone(&shard), controller.clone()));
    shard.tasks.spawn(placement_file::keep(Rc::clone(&shard)));
    let offset = shard.image.borrow().offset;
    first::await_everywhere(&shard, offset).await;
    begin_use(&shard, &homes).await?;
    register(&shard).await?;
    Ok(Started { shard, homes, controller, listeners })
}

/// The directories are in use from now on; one in which that can't be written down has failed.
async fn begin_use(shard: &ShardState, homes: &Homes) -> Result<(), Failure> {
    for (index, error) in homes.begin_use().await {
        if shard.log_dirs.is_vital(index) {
            return Err(Failure::fatal(error));
        }
        shard.log_dirs.fail(index, &error.to_string());
    }
    Ok(())
}

/// Waits for the first signal.
async fn told_to_stop(stops: &flume::Receiver<i32>) {
    match stops.recv_async().await {
        Ok(signal) => tracing::info!(signal, "stopping before the node serves"),
        Err(flume::RecvError::Disconnected) => std::future::pending().await,
    }
}

/// Takes the directories, starts the controller, and tells all shards of both.
pub(super) async fn open(
    wiring: &Wiring,
    listeners: &[Listener],
    first: &mut FirstEnds,
) -> Result<(Homes, Joint, Controller), Failure> {
    let config = wiring.config.clone();
    metadata_dir::check_unopened(&config).await?;
    let (mut homes, facts) = Homes::open(&config).await?;
    metadata_dir::check_opened(&config, &facts).await?;
    let node = Arc::new(Topology {
        advertised: listen::advertised(&config, listeners),
        config,
        cluster_id: Homes::cluster_id(&facts),
        shards: wiring.shards,
    });
    let controller = Controller::start(controller_config(&node), std::mem::take(&mut first.updates)).await;
    let controller = controller.map_err(|error| Failure::unusable(format!("the metadata log: {error}")))?;
    metadata_dir::take_word_back(&node.config).await?;
    // Before any shard opens a log.
    let image = controller.with_image(Image::clone);
    let dirs = homes.settle(&node.config, &image, facts).await?;
    let placement = Arc::new(Remembered::read(&node.config.metadata_log_dir).await?);
    let joint = Joint { node, dirs, placement };
    for sender in &mut first.joint {
        // A shard that has ended has ended the process.
        let _ = sender.try_send(joint.clone());
    }
    Ok((homes, joint, controller))
}

/// Without its metadata log the node can change nothing any more, and what it was about to change may or may not be on the disk.
async fn watch_metadata(shard: Rc<ShardState>, controller: Controller) {
    let error = controller.ended().await;
    shard.failures.tell(Failure::fatal(format!("the metadata log: {error}")));
}

fn accept_all(shard: &Rc<ShardState>, listeners: Vec<Listener>, ended: Vec<lane::Receiver<u32>>) -> TaskSet {
    let accepting = TaskSet::new();
    let loads = Rc::new(Loads::new(shard.node.shards));
    for (id, ended) in (0..).map(ShardId).zip(ended) {
        accepting.spawn(follow_ended(Rc::clone(&loads), id, ended));
    }
    for (index, listener) in listeners.into_iter().enumerate() {
        accepting.spawn(accept(Rc::clone(shard), Rc::clone(&loads), listener, index));
    }
    accepting
}

fn controller_config(node: &Topology) -> ControllerConfig {
    ControllerConfig {
        quorum: QuorumConfig {
            dir: node.config.metadata_log_dir.clone(),
            node_id: node.config.node_id,
            cluster_id: Str::from(node.cluster_id.clone()),
            direct_io: node.config.ringlog.direct_io,
            snapshot_bytes: node.config.metadata_snapshot_bytes,
        },
        topics: node.config.topics.clone(),
        values: node.config.values.clone(),
    }
}
