//! A shard joins the node: it opens its logs and begins to serve pieces.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use rt::sync::{Budget, Notify};
use rt::{ShardId, TaskSet, lane};
use shards::{Mesh, MeshPorts};
use storage::{JournalConfig, LogDirConfig};

use super::compacting;
use super::connections::Connections;
use super::core_move::{self, Held};
use super::failure::{Failure, Failures};
use super::fetch_session::FetchSessions;
use super::first::FirstShard;
use super::groups::Coordinators;
use super::log_dirs::{self, LogDirs};
use super::memory::MemoryPlan;
use super::moving::Moves;
use super::piece::{Answer, Piece};
use super::state::ShardState;
use super::wiring::Joint;
use super::{housekeeping, metadata_changes, service};
use crate::metadata::MetadataUpdate;

/// How often recovery points are written down.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(60);

/// Opens the shard's logs and begins to serve pieces. Its tasks tell `failures` when the node can't go on.
///
/// # Errors
/// The directories can't be used, or there is no metadata.
pub(super) async fn join(
    id: ShardId,
    ports: MeshPorts<Piece, Answer>,
    mut updates: lane::Receiver<MetadataUpdate>,
    joint: Joint,
    first: Option<FirstShard>,
    failures: Rc<Failures>,
) -> Result<Rc<ShardState>, Failure> {
    let Joint { node, dirs, placement } = joint;
    // The directories share what a shard has for its logs.
    let share = dirs.facts.iter().flatten().count().max(1);
    let memory = MemoryPlan::of_shard(&node.config.ringlog, node.shards);
    let dir_config = LogDirConfig {
        direct_io: node.config.ringlog.direct_io,
        unplaced_bytes_max: memory.unplaced_bytes / share,
        tail_bytes_max: memory.tail_bytes / share,
        cache_bytes_max: memory.cache_bytes / share,
        journal: JournalConfig {
            shard: id.0,
            bytes: node.config.ringlog.journal_bytes,
            direct_bytes: node.config.ringlog.journal_direct_bytes,
            age_max: node.config.ringlog.journal_age_max,
        },
        full_percent: node.config.ringlog.disk_full_percent,
        free_bytes_enough: node.config.ringlog.disk_enough_bytes,
        ballast_bytes: node.config.ringlog.disk_ballast_bytes,
        keeps_ballast: first.is_some(),
        ..LogDirConfig::default()
    };
    let (paths, metadata_dir) = (&node.config.log_dirs, &node.config.metadata_log_dir);
    let log_dirs = LogDirs::open(paths, metadata_dir, dirs, &dir_config).await?;
    let image = match updates.recv().await {
        Some(MetadataUpdate::Image(image)) => *image,
        Some(MetadataUpdate::Delta(_) | MetadataUpdate::Settled(..)) => unreachable!("the image comes first"),
        None => return Err(Failure::fatal("the metadata quorum ended")),
    };
    let shards = node.shards;
    let placement = RefCell::new(placement.placement(shards, &image));
    let sessions_max = (node.config.network.fetch_sessions_max / usize::from(shards)).max(1);
    let coordinators = Coordinators::new(node.config.groups.clone());
    let values = Rc::new(node.config.values.clone());
    let shard = Rc::new(ShardState {
        id,
        node,
        values: RefCell::new(values),
        served_offset: Cell::new(-1),
        served_moved: Notify::new(),
        image: RefCell::new(image),
        placement,
        held: Held::default(),
        metadata_turn: Budget::new(1),
        partitions: RefCell::new(BTreeMap::new()),
        topic_configs: RefCell::new(BTreeMap::new()),
        log_dirs,
        mesh: Mesh::new(ports),
        coordinators,
        first,
        fetch_sessions: FetchSessions::new(sessions_max),
        network: Connections::new(&memory),
        failures,
        metrics: Rc::default(),
        moves: Moves::default(),
        tasks: TaskSet::new(),
    });
    let served = Rc::clone(&shard);
    shard.mesh.serve(&shard.tasks, move |piece| service::handle(Rc::clone(&served), piece));
    metadata_changes::lead_all(&shard).await;
    let offset = shard.image.borrow().offset;
    shard.set_served(offset);
    shard.tasks.spawn(follow_metadata(Rc::clone(&shard), updates));
    log_dirs::watch(&shard);
    shard.tasks.spawn(keep_checkpoints(Rc::clone(&shard)));
    shard.tasks.spawn(expire_producers(Rc::clone(&shard)));
    shard.tasks.spawn(housekeeping::keep(Rc::clone(&shard)));
    shard.tasks.spawn(compacting::run(Rc::clone(&shard)));
    Ok(shard)
}

async fn follow_metadata(shard: Rc<ShardState>, mut updates: lane::Receiver<MetadataUpdate>) {
    while let Some(update) = updates.recv().await {
        match update {
            MetadataUpdate::Delta(delta) => {
                let offset = delta.last_offset();
                metadata_changes::apply(&shard, delta).await;
                shard.set_served(offset);
            }
            MetadataUpdate::Settled(key, owner) => core_move::settle(&shard, key, owner).await,
            MetadataUpdate::Image(_) => unreachable!("it comes once"),
        }
    }
}

async fn keep_checkpoints(shard: Rc<ShardState>) {
    loop {
        rt::sleep(CHECKPOINT_EVERY).await;
        for dir in shard.log_dirs.online() {
            if let Err(error) = dir.checkpoint().await {
                tracing::warn!(%error, "recovery points weren't written");
            }
        }
    }
}

/// Forgets idle producers, every so often (`producer.id.expiration.check.interval.ms`).
async fn expire_producers(shard: Rc<ShardState>) {
    let interval_ms = shard.node.config.producer_id_expiration_check_interval_ms;
    let interval = Duration::from_millis(u64::from(interval_ms.unsigned_abs()));
    loop {
        rt::sleep(interval).await;
        let now_ms = rt::unix_ms();
        for log in shard.log_dirs.logs() {
            log.expire_producers(now_ms);
            rt::yield_point().await;
        }
    }
}
