//! One shard's executor.

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use glommio::{LocalExecutor, LocalExecutorBuilder, Placement};

use super::current::{self, Shard};
use super::fs::probe;
use super::helpers::Helpers;
use super::ring;
use super::task::{self, Body};
use super::timers::Timers;
use super::turn::Turns;
use super::watchdog::{self, Pulse};
use crate::boot::uring;
use crate::ids::ShardId;
use crate::shards::{BootError, Engine};

/// Memory of a shard that just ended is unlocked a little later: one retry after this.
const RETRY_AFTER: Duration = Duration::from_millis(300);

/// What a shard's thread is started with.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) id: ShardId,
    pub(crate) core: Option<usize>,
    pub(crate) engine: Engine,
    pub(crate) io_memory: usize,
    pub(crate) spin: Duration,
    pub(crate) data_dirs: Vec<PathBuf>,
    pub(crate) helpers: Arc<Helpers>,
    pub(crate) pulse: Arc<Pulse>,
}

/// A shard's engine.
pub(crate) enum Executor {
    Glommio(LocalExecutor),
    Ring(ring::Executor),
}

/// Makes this thread's executor.
pub(crate) fn make(setup: &Setup) -> Result<Executor, BootError> {
    if let Some(core) = setup.core {
        pin(core).map_err(|error| BootError::Core { core, error })?;
    }
    if setup.engine == Engine::Ring {
        let made = ring::Executor::make(setup.spin);
        return made.map(Executor::Ring).map_err(|error| uring::refused("a shard's ring", &error));
    }
    let made = build(setup).or_else(|_| {
        #[allow(clippy::disallowed_methods, reason = "before the executor exists")]
        std::thread::sleep(RETRY_AFTER);
        build(setup).map_err(|error| BootError::Executor { shard: setup.id, error: error.into() })
    })?;
    Ok(Executor::Glommio(made))
}

// No `preempt_timer`, no task queue of our own: with either, glommio loses wake-ups.
fn build(setup: &Setup) -> Result<LocalExecutor, glommio::GlommioError<()>> {
    LocalExecutorBuilder::new(Placement::Unbound)
        .name(&format!("shard-{}", setup.id))
        .io_memory(setup.io_memory)
        .spin_before_park(setup.spin)
        .make()
}

/// By hand: glommio's placement asks the topology of the whole machine, also where a container shows only
/// part of it.
fn pin(core: usize) -> Result<(), std::io::Error> {
    let mut set = rustix::thread::CpuSet::new();
    if core >= rustix::thread::CpuSet::MAX_CPU {
        return Err(std::io::ErrorKind::InvalidInput.into());
    }
    set.set(core);
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}

/// Runs a shard: first what it needs itself, then `ready`, then `main`. Returns when `main` has.
pub(crate) fn run<F>(executor: &Executor, setup: Setup, ready: F)
where
    F: AsyncFnOnce(Result<(), BootError>) + 'static,
{
    let reactor = match executor {
        Executor::Glommio(_) => None,
        Executor::Ring(executor) => Some(executor.reactor()),
    };
    let shard = Rc::new(Shard {
        id: setup.id,
        timers: Timers::default(),
        turns: Turns::new(),
        helpers: setup.helpers.clone(),
        ring: reactor,
        probed_devices: Default::default(),
    });
    current::set(Some(shard.clone()));
    let main = Body::main(life(shard.clone(), setup, ready), shard.clone());
    match executor {
        Executor::Glommio(executor) => executor.run(main),
        Executor::Ring(executor) => executor.run(&shard, main),
    }
    current::set(None);
}

async fn life<F>(shard: Rc<Shard>, setup: Setup, ready: F)
where
    F: AsyncFnOnce(Result<(), BootError>) + 'static,
{
    // The ring engine's run loop drives them itself.
    let timers = shard.ring.is_none().then(|| {
        let shard = shard.clone();
        task::spawn(async move { shard.timers.drive().await })
    });
    let heart = task::spawn(beat(setup.id, setup.pulse.clone()));
    ready(self_test(&shard, &setup.data_dirs).await).await;
    heart.cancel().await;
    if let Some(timers) = timers {
        timers.cancel().await;
    }
    setup.pulse.end(setup.id);
}

async fn beat(shard: ShardId, pulse: Arc<Pulse>) {
    loop {
        pulse.beat(shard);
        crate::time::sleep(watchdog::BEAT).await;
    }
}

/// Direct I/O through this shard's own rings, once per data directory.
async fn self_test(shard: &Shard, data_dirs: &[PathBuf]) -> Result<(), BootError> {
    if shard.ring.is_none() {
        shard.turns.open().await.map_err(|error| BootError::Executor { shard: shard.id, error })?;
    }
    for dir in data_dirs {
        probe::directory(dir).await.map_err(|error| BootError::DataDir { dir: dir.clone(), error })?;
    }
    Ok(())
}
