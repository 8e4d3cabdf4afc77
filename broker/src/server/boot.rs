//! A shard from its first step to its last.
//!
//! ```text
//!   shard 0: listeners, directory, controller ── Joint ──> every shard: its logs, its image
//!            all serve ── directory in use ── registration (leader epochs) ── accept
//!   stop:    no more connections ── logs closed ── directory closed ── exit 0
//! ```

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io::Write;
use std::net::{SocketAddr, ToSocketAddrs};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use protocol::messages::BrokerRegistrationRequest;
use protocol::messages::broker_registration_request::{Feature, Listener as RegisteredListener};
use protocol::types::{Str, Uuid};
use rt::net::Listener;
use rt::sync::Notify;
use rt::{ShardId, TaskSet, lane};
use shards::{Mesh, MeshPorts, Placement};
use storage::{ClosedDir, DirFacts, DirHome, HomeConfig, LogDir, LogDirConfig, Offsets};

use super::connection::Connections;
use super::fetch_session::FetchSessions;
use super::first::{self, FirstShard};
use super::groups::Coordinators;
use super::piece::{Answer, Piece};
use super::state::{ShardState, Topology};
use super::{metadata_changes, service};
use crate::config::BrokerConfig;
use crate::metadata::{
    Controller, ControllerConfig, ControllerReply, ControllerRequest, MetadataUpdate, QuorumConfig,
};

/// Metadata batches that may be on their way to a shard.
const UPDATES_MAX: usize = 1024;
/// Bytes of requests a shard may hold, unless configured.
const REQUEST_BYTES: usize = 256 << 20;
/// How often recovery points are written down.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(60);

/// What all shards get from shard 0 once the directory is taken.
#[derive(Debug, Clone)]
struct Joint {
    node: Arc<Topology>,
    facts: DirFacts,
}

/// One shard's ends of what was made before the shards.
#[derive(Debug)]
struct Ends {
    ports: MeshPorts<Piece, Answer>,
    updates: lane::Receiver<MetadataUpdate>,
    joint: lane::Receiver<Joint>,
    stop: lane::Receiver<()>,
    closed: lane::Sender<ClosedDir>,
}

/// Shard 0's ends of the same.
#[derive(Debug)]
struct FirstEnds {
    updates: Vec<lane::Sender<MetadataUpdate>>,
    joint: Vec<lane::Sender<Joint>>,
    stop: Vec<lane::Sender<()>>,
    closed: Vec<lane::Receiver<ClosedDir>>,
    signals: flume::Receiver<i32>,
}

/// What is handed to the shards' threads; each takes its part once.
#[derive(Debug)]
pub struct Wiring {
    config: BrokerConfig,
    shards: u16,
    ends: Vec<flume::Receiver<Ends>>,
    first: flume::Receiver<FirstEnds>,
}

impl Wiring {
    /// Lanes between the shards, and the signals that end the process.
    ///
    /// # Errors
    /// Signals can't be caught.
    pub fn new(config: BrokerConfig, shards: u16) -> std::io::Result<Wiring> {
        let (signals_out, signals) = flume::bounded(4);
        catch_signals(signals_out)?;
        let mut first = FirstEnds { updates: vec![], joint: vec![], stop: vec![], closed: vec![], signals };
        let ends = shards::mesh(shards).into_iter().map(|ports| {
            let (updates_out, updates) = lane::channel(UPDATES_MAX);
            let (joint_out, joint) = lane::channel(1);
            let (stop_out, stop) = lane::channel(1);
            let (closed, closed_in) = lane::channel(1);
            first.updates.push(updates_out);
            first.joint.push(joint_out);
            first.stop.push(stop_out);
            first.closed.push(closed_in);
            handed(Ends { ports, updates, joint, stop, closed })
        });
        let ends = ends.collect();
        Ok(Wiring { config, shards, ends, first: handed(first) })
    }
}

fn handed<T>(part: T) -> flume::Receiver<T> {
    let (sender, receiver) = flume::bounded(1);
    assert!(sender.send(part).is_ok(), "the receiver is here");
    receiver
}

#[allow(clippy::disallowed_methods, reason = "signals are waited for by a plain thread")]
fn catch_signals(out: flume::Sender<i32>) -> std::io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGINT])?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            if out.send(signal).is_err() {
                return;
            }
        }
    })?;
    Ok(())
}

/// Ends the process at start: nothing is served yet, so nothing is lost.
fn give_up(code: i32, message: impl std::fmt::Display) -> ! {
    eprintln!("ringlog: {message}");
    std::process::exit(code)
}

/// A shard's whole life.
pub async fn run_shard(wiring: Arc<Wiring>, id: ShardId) {
    let Ok(mut ends) = wiring.ends[usize::from(id.0)].try_recv() else {
        unreachable!("each shard takes its ends once");
    };
    if id == ShardId(0) {
        let Ok(first) = wiring.first.try_recv() else {
            unreachable!("shard 0 takes its ends once");
        };
        run_first(&wiring, ends, first).await;
        return;
    }
    let Some(joint) = ends.joint.recv().await else { return };
    let Ends { ports, updates, mut stop, closed, .. } = ends;
    let shard = join(id, ports, updates, joint, None).await;
    stop.recv().await;
    leave(shard, closed).await;
}

async fn run_first(wiring: &Wiring, ends: Ends, mut first: FirstEnds) {
    let config = wiring.config.clone();
    let listeners = listen(&config).unwrap_or_else(|message| give_up(1, message));
    let home = HomeConfig { node_id: config.node_id, cluster_id: None };
    let (home, facts) = match DirHome::open(&config.log_dirs[0], home).await {
        Ok(opened) => opened,
        Err(error) => give_up(rt::boot::EX_CONFIG, error),
    };
    let node = topology(config, &listeners, &facts, wiring.shards);
    let controller =
        match Controller::start(controller_config(&node), std::mem::take(&mut first.updates)).await {
            Ok(controller) => controller,
            Err(error) => give_up(rt::boot::EX_CONFIG, format!("the metadata log: {error}")),
        };
    let joint = Joint { node: Arc::clone(&node), facts };
    for sender in &mut first.joint {
        // A shard that has ended has ended the process.
        let _ = sender.try_send(joint.clone());
    }
    let Ends { ports, updates, closed, .. } = ends;
    let shard = join(ShardId(0), ports, updates, joint, Some(FirstShard::new(controller))).await;
    let offset = shard.image.borrow().offset;
    first::await_everywhere(&shard, offset).await;
    if let Err(error) = home.begin_use().await {
        give_up(1, error);
    }
    register(&shard).await.unwrap_or_else(|message| give_up(1, message));

    let accepting = TaskSet::new();
    let addresses: Vec<SocketAddr> = listeners.iter().map(Listener::local_addr).collect();
    for (index, listener) in listeners.into_iter().enumerate() {
        accepting.spawn(accept(Rc::clone(&shard), listener, index));
    }
    announce(&addresses);
    let signal = first.signals.recv_async().await;
    tracing::info!(?signal, "stopping");
    accepting.cancel_all().await;
    stop_all(shard, closed, first, home).await;
}

/// The line that says that clients may come. Scripts wait for it.
fn announce(addresses: &[SocketAddr]) {
    let mut out = std::io::stdout().lock();
    for address in addresses {
        // Nobody listening to it is no reason not to serve.
        let _ = writeln!(out, "listening {address}");
    }
    let _ = out.flush();
}

async fn stop_all(
    shard: Rc<ShardState>,
    closed: lane::Sender<ClosedDir>,
    mut first: FirstEnds,
    home: DirHome,
) {
    for sender in first.stop.iter_mut().skip(1) {
        let _ = sender.try_send(());
    }
    let broker_epoch = shard.first.as_ref().map_or(-1, |first| first.broker_epoch.get());
    let controller = shard.first.as_ref().map(|first| first.controller.clone());
    leave(shard, closed).await;
    let closed = join_all(first.closed.iter_mut().map(|receiver| receiver.recv())).await;
    if let Some(controller) = controller {
        controller.stop().await;
    }
    let whole = closed.iter().all(Option::is_some);
    let closed: Vec<ClosedDir> = closed.into_iter().flatten().collect();
    if !whole {
        tracing::error!("a shard didn't close its logs");
        return;
    }
    // The ISR is this node alone: all that was closed is committed.
    let marks: Offsets = closed
        .iter()
        .flat_map(|dir| dir.logs.iter().map(|(partition, at)| (partition.clone(), at.end)))
        .collect();
    if let Err(error) = home.close(&closed, &marks, broker_epoch).await {
        tracing::error!(%error, "the log directory wasn't closed cleanly");
    }
}

fn listen(config: &BrokerConfig) -> Result<Vec<Listener>, String> {
    let bind = |listener: &crate::config::listener::Listener| {
        let host = if listener.host.is_empty() { "0.0.0.0" } else { &listener.host };
        let shown = format!("{host}:{}", listener.port);
        let mut addresses = (host, listener.port)
            .to_socket_addrs()
            .map_err(|error| format!("can't listen on {shown}: {error}"))?;
        let address = addresses.next().ok_or_else(|| format!("can't listen on {shown}: no such host"))?;
        Listener::bind(address).map_err(|error| format!("can't listen on {shown}: {error}"))
    };
    config.listeners.iter().map(bind).collect()
}

fn topology(config: BrokerConfig, listeners: &[Listener], facts: &DirFacts, shards: u16) -> Arc<Topology> {
    let advertised = config.advertised_listeners.iter().zip(listeners).map(|(advertised, listener)| {
        let port = if advertised.port == 0 { listener.local_addr().port() } else { advertised.port };
        (advertised.host.clone(), port)
    });
    let advertised = advertised.collect();
    Arc::new(Topology { config, advertised, cluster_id: facts.cluster_id.clone(), shards })
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

/// Opens the shard's logs and begins to serve pieces.
async fn join(
    id: ShardId,
    ports: MeshPorts<Piece, Answer>,
    mut updates: lane::Receiver<MetadataUpdate>,
    joint: Joint,
    first: Option<FirstShard>,
) -> Rc<ShardState> {
    let Joint { node, facts } = joint;
    let dir_config = LogDirConfig { direct_io: node.config.ringlog.direct_io, ..LogDirConfig::default() };
    let log_dir = match LogDir::open(&node.config.log_dirs[0], facts, dir_config).await {
        Ok(log_dir) => log_dir,
        Err(error) => give_up(1, error),
    };
    let image = match updates.recv().await {
        Some(MetadataUpdate::Image(image)) => *image,
        Some(MetadataUpdate::Delta(_)) => unreachable!("the image comes first"),
        None => give_up(1, "the metadata quorum ended"),
    };
    let shards = node.shards;
    let sessions_max = (node.config.network.fetch_sessions_max / usize::from(shards)).max(1);
    let request_bytes =
        node.config.ringlog.memory_max_bytes.map_or(REQUEST_BYTES, |bytes| {
            usize::try_from(bytes / u64::from(shards)).unwrap_or(REQUEST_BYTES)
        });
    let coordinators = Coordinators::new(&node.config.groups);
    let shard = Rc::new(ShardState {
        id,
        node,
        served_offset: Cell::new(-1),
        served_moved: Notify::new(),
        image: RefCell::new(image),
        placement: RefCell::new(Placement::new(shards)),
        partitions: RefCell::new(BTreeMap::new()),
        topic_configs: RefCell::new(BTreeMap::new()),
        log_dir,
        mesh: Mesh::new(ports),
        coordinators,
        first,
        fetch_sessions: FetchSessions::new(sessions_max),
        network: Connections::new(request_bytes),
        connections: Cell::new(0),
        tasks: TaskSet::new(),
    });
    let served = Rc::clone(&shard);
    shard.mesh.serve(&shard.tasks, move |piece| service::handle(Rc::clone(&served), piece));
    metadata_changes::lead_all(&shard).await;
    let offset = shard.image.borrow().offset;
    shard.set_served(offset);
    shard.tasks.spawn(follow_metadata(Rc::clone(&shard), updates));
    shard.tasks.spawn(watch_dir(Rc::clone(&shard)));
    shard.tasks.spawn(keep_checkpoints(Rc::clone(&shard)));
    shard
}

async fn follow_metadata(shard: Rc<ShardState>, mut updates: lane::Receiver<MetadataUpdate>) {
    while let Some(update) = updates.recv().await {
        if let MetadataUpdate::Delta(delta) = update {
            let offset = delta.last_offset();
            metadata_changes::apply(&shard, delta).await;
            shard.set_served(offset);
        }
    }
}

/// The only log directory failing ends the process: nothing can be served, and what is in memory can't be saved.
async fn watch_dir(shard: Rc<ShardState>) {
    let reason = shard.log_dir.failed().await;
    tracing::error!(reason, "the log directory failed");
    give_up(1, format!("the log directory failed: {reason}"));
}

async fn keep_checkpoints(shard: Rc<ShardState>) {
    loop {
        rt::sleep(CHECKPOINT_EVERY).await;
        if let Err(error) = shard.log_dir.checkpoint().await {
            tracing::warn!(%error, "recovery points weren't written");
        }
        let now_ms = rt::unix_ms();
        for log in shard.log_dir.logs() {
            log.expire_producers(now_ms);
            rt::yield_point().await;
        }
    }
}

async fn register(shard: &Rc<ShardState>) -> Result<(), String> {
    let node = &shard.node;
    let listeners = node.config.advertised_listeners.iter().zip(&node.advertised);
    let listeners = listeners.map(|(listener, (host, port))| RegisteredListener {
        name: Str::from(listener.name.clone()),
        host: Str::from(host.clone()),
        port: *port,
        security_protocol: 0,
        ..Default::default()
    });
    let feature = Feature {
        name: Str::from_static("metadata.version"),
        min_supported_version: crate::metadata::limits::METADATA_VERSION,
        max_supported_version: crate::metadata::limits::METADATA_VERSION,
        ..Default::default()
    };
    let request = BrokerRegistrationRequest {
        broker_id: node.config.node_id,
        cluster_id: Str::from(node.cluster_id.clone()),
        incarnation_id: Uuid::from_random(rt::random_bytes()),
        listeners: listeners.collect(),
        features: vec![feature],
        rack: node.config.rack.clone().map(Str::from),
        log_dirs: vec![shard.log_dir.directory_id()],
        ..Default::default()
    };
    match first::control(shard, ControllerRequest::RegisterBroker(request)).await {
        ControllerReply::RegisterBroker(reply) if reply.error_code == 0 => {
            if let Some(first) = &shard.first {
                first.broker_epoch.set(reply.broker_epoch);
            }
            Ok(())
        }
        reply => Err(format!("the broker can't register: {reply:?}")),
    }
}

/// Accepts, and hands each connection to a shard in turn.
async fn accept(shard: Rc<ShardState>, listener: Listener, index: usize) {
    let mut next = 0;
    loop {
        match listener.accept().await {
            Ok(accepted) => {
                let peer = ShardId(next);
                next = (next + 1) % shard.node.shards;
                shard.call(peer, Piece::Connection(accepted, index)).await;
            }
            Err(error) => tracing::warn!(%error, "accept failed"),
        }
    }
}

/// Ends a shard: connections and tasks first, then its logs are closed.
async fn leave(shard: Rc<ShardState>, mut closed: lane::Sender<ClosedDir>) {
    shard.network.close().await;
    shard.coordinators.stop().await;
    shard.partitions.borrow_mut().clear();
    shard.tasks.cancel_all().await;
    let dir = shard.log_dir.close().await;
    let _ = closed.try_send(dir);
}
