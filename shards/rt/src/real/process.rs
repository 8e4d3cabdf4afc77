//! The threads of the process: shards, helpers, watchdog.

use std::future::Future;
use std::thread::{Builder, JoinHandle};

use super::bomb::{self, Bomb};
use super::executor::{self, Setup};
use super::helpers::Helpers;
use super::watchdog::{self, Pulse};
use crate::boot::{self, BootError};
use crate::ids::ShardId;
use crate::shards::{Engine, SPIN_MAX, ShardsConfig};

/// What a shard's thread and the starting thread tell each other.
struct Gate {
    ready: flume::Sender<Result<(), BootError>>,
    go: flume::Receiver<()>,
}

/// See [`crate::run`].
pub(crate) fn run<F, Fut>(config: ShardsConfig, main: F) -> Result<(), BootError>
where
    F: Fn(ShardId) -> Fut + Send + Sync + Clone + 'static,
    Fut: Future<Output = ()> + 'static,
{
    let count = u16::try_from(config.cores.len()).ok().filter(|count| *count > 0);
    let count = count.ok_or(BootError::ShardCount(config.cores.len()))?;
    bomb::remember_panics();
    if config.engine == Engine::Ring {
        // Whether they are counted here, the first ring tells.
        let _ = boot::memlock::allow_rings(usize::from(count));
    }
    // First what would panic inside glommio.
    boot::uring::probe(config.engine)?;
    // Only glommio registers memory with its rings.
    let io_memory = match (config.engine, config.io_memory) {
        (Engine::Ring, _) => 0,
        (Engine::Glommio, Some(bytes)) => bytes,
        (Engine::Glommio, None) => boot::io_memory(usize::from(count))?,
    };
    let helpers = Helpers::start().map_err(BootError::Thread)?;
    let pulse = Pulse::new(usize::from(count));
    let (ready, readies) = flume::bounded(usize::from(count));
    let (go, gone) = flume::bounded(usize::from(count));
    let mut threads = Vec::new();
    for index in 0..count {
        let setup = Setup {
            id: ShardId(index),
            core: config.cores[usize::from(index)],
            engine: config.engine,
            io_memory,
            spin: config.spin.min(SPIN_MAX),
            data_dirs: config.data_dirs.clone(),
            helpers: helpers.clone(),
            pulse: pulse.clone(),
        };
        let gate = Gate { ready: ready.clone(), go: gone.clone() };
        threads.push(start(setup, gate, main.clone())?);
    }
    drop(ready);
    let booted = readies.iter().take(usize::from(count)).collect::<Result<Vec<()>, BootError>>();
    if booted.is_ok() {
        let watched = pulse.clone();
        Builder::new()
            .name("watchdog".to_owned())
            .spawn(move || watchdog::watch(&watched))
            .map_err(BootError::Thread)?;
        for _ in 0..count {
            // A shard that is gone already has ended the process.
            let _ = go.send(());
        }
    }
    // Without a go, shards end.
    drop(go);
    join(threads);
    booted.map(drop)
}

fn start<F, Fut>(setup: Setup, gate: Gate, main: F) -> Result<JoinHandle<()>, BootError>
where
    F: Fn(ShardId) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + 'static,
{
    let id = setup.id;
    let body = move || {
        let _bomb = Bomb("a shard");
        let executor = match executor::make(&setup) {
            Ok(executor) => executor,
            Err(error) => {
                let _ = gate.ready.send(Err(error));
                return;
            }
        };
        executor::run(&executor, setup, async move |tested| {
            // The starting thread listens until it has heard every shard or an error.
            let _ = gate.ready.send(tested);
            if gate.go.recv_async().await.is_ok() {
                main(id).await;
            }
        });
    };
    Builder::new().name(format!("shard-{id}")).spawn(body).map_err(BootError::Thread)
}

fn join(threads: Vec<JoinHandle<()>>) {
    for thread in threads {
        if thread.join().is_err() {
            bomb::die("a shard's thread panicked");
        }
    }
}
