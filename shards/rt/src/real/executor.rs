//! One shard's executor.

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use glommio::{LocalExecutor, LocalExecutorBuilder, Placement};

use super::current::{self, Shard};
use super::fs::probe;
use super::helpers::Helpers;
use super::task::{self, Body};
use super::timers::Timers;
use super::turn::Turns;
use super::watchdog::{self, Pulse};
use crate::ids::ShardId;
use crate::shards::BootError;

/// Memory of a shard that just ended is unlocked a little later: one retry after this.
const RETRY_AFTER: Duration = Duration::from_millis(300);

/// What a shard's thread is started with.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) id: ShardId,
    pub(crate) core: Option<usize>,
    pub(crate) io_memory: usize,
    pub(crate) spin: Duration,
    pub(crate) data_dirs: Vec<PathBuf>,
    pub(crate) helpers: Arc<Helpers>,
    pub(crate) pulse: Arc<Pulse>,
}

/// Makes this thread's executor.
pub(crate) fn make(setup: &Setup) -> Result<LocalExecutor, BootError> {
    if let Some(core) = setup.core {
        pin(core).map_err(|error| BootError::Core { core, error })?;
    }
    build(setup).or_else(|_| {
        #[allow(clippy::disallowed_methods, reason = "before the executor exists")]
        std::thread::sleep(RETRY_AFTER);
        build(setup).map_err(|error| BootError::Executor { shard: setup.id, error: error.into() })
    })
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
pub(crate) fn run<F>(executor: &LocalExecutor, setup: Setup, ready: F)
where
    F: AsyncFnOnce(Result<(), BootError>),
{
    executor.run(async move {
        let shard = Rc::new(Shard {
            id: setup.id,
            timers: Timers::default(),
            turns: Turns::new(),
            helpers: setup.helpers.clone(),
            probed_devices: Default::default(),
        });
        current::set(Some(shard.clone()));
        Body::main(life(shard.clone(), setup, ready), shard).await;
        current::set(None);
    });
}

async fn life<F>(shard: Rc<Shard>, setup: Setup, ready: F)
where
    F: AsyncFnOnce(Result<(), BootError>),
{
    let timers = task::spawn({
        let shard = shard.clone();
        async move { shard.timers.drive().await }
    });
    let heart = task::spawn(beat(setup.id, setup.pulse.clone()));
    ready(self_test(&shard, &setup.data_dirs).await).await;
    heart.cancel().await;
    timers.cancel().await;
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
    shard.turns.open().await.map_err(|error| BootError::Executor { shard: shard.id, error })?;
    for dir in data_dirs {
        probe::directory(dir).await.map_err(|error| BootError::DataDir { dir: dir.clone(), error })?;
    }
    Ok(())
}
