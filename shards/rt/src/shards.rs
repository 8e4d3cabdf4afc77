//! Starting and ending the shards of a process.

use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

pub use crate::boot::BootError;
use crate::ids::ShardId;

/// What a shard's tasks, files and sockets run on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// glommio's executor and its three rings.
    Glommio,
    /// One ring a shard, of our own.
    #[default]
    Ring,
}

impl Engine {
    /// What the engines are called, the default first.
    pub const NAMES: [&str; 2] = ["ring", "glommio"];

    /// The engine of that name.
    pub fn named(name: &str) -> Option<Engine> {
        match name {
            "ring" => Some(Engine::Ring),
            "glommio" => Some(Engine::Glommio),
            _ => None,
        }
    }
}

/// How the shards run.
#[derive(Clone, Debug)]
pub struct ShardsConfig {
    /// One entry a shard: the core it is pinned to, if any. See [`crate::boot::plan_shards`].
    pub cores: Vec<Option<usize>>,
    /// The engine.
    pub engine: Engine,
    /// Memory a shard registers with each of glommio's rings, in bytes; 3 times that is locked. `None`: what the
    /// lock limit allows, see [`crate::boot::io_memory`].
    pub io_memory: Option<usize>,
    /// How long a shard with nothing to do looks for more before it sleeps: at most 50 us, or idle shards
    /// burn their cores.
    pub spin: Duration,
    /// Directories on which each shard tries direct I/O before it starts.
    pub data_dirs: Vec<PathBuf>,
}

/// Longest useful [`ShardsConfig::spin`].
pub const SPIN_MAX: Duration = Duration::from_micros(50);

impl ShardsConfig {
    /// Shards on these cores, without spinning.
    pub fn new(cores: Vec<Option<usize>>) -> ShardsConfig {
        ShardsConfig {
            cores,
            engine: Engine::default(),
            io_memory: None,
            spin: Duration::ZERO,
            data_dirs: Vec::new(),
        }
    }

    /// `shards` shards where the scheduler puts them: for tests and tools.
    pub fn unpinned(shards: usize) -> ShardsConfig {
        ShardsConfig::new(vec![None; shards])
    }
}

/// Runs `main` on one thread a shard, and returns when all have returned. No `main` starts before every shard
/// is up and its self-test has passed.
///
/// A panic in any task, and a shard that stands still for 5 seconds, end the process: a dead shard is never
/// left behind.
///
/// # Errors
/// [`BootError`]: then no `main` has run.
pub fn run<F, Fut>(config: ShardsConfig, main: F) -> Result<(), BootError>
where
    F: Fn(ShardId) -> Fut + Send + Sync + Clone + 'static,
    Fut: Future<Output = ()> + 'static,
{
    crate::real::process::run(config, main)
}
