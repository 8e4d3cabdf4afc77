//! Ends the process when a shard stands still.
//!
//! A shard that loops, blocks or lost a wake-up holds its partitions and answers nobody, while the node looks
//! alive. The watchdog is a plain thread. It counts its own ticks, not time: a process that is stopped and
//! continued misses none of them, as the watchdog was stopped too.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::bomb::die;
use crate::ids::ShardId;

/// One tick of the watchdog.
const TICK: Duration = Duration::from_secs(1);

/// Ticks a shard may miss.
const TICKS_MAX: u32 = 5;

/// How often a shard shows life: often enough that a tick never falls between two signs.
pub(crate) const BEAT: Duration = Duration::from_millis(400);

/// The signs of life of all shards.
#[derive(Debug)]
pub(crate) struct Pulse {
    shards: Vec<ShardPulse>,
}

#[derive(Debug, Default)]
struct ShardPulse {
    beats: AtomicU64,
    ended: AtomicBool,
}

impl Pulse {
    pub(crate) fn new(shards: usize) -> Arc<Pulse> {
        Arc::new(Pulse { shards: (0..shards).map(|_| ShardPulse::default()).collect() })
    }

    /// The shard lives.
    pub(crate) fn beat(&self, shard: ShardId) {
        self.shards[usize::from(shard.0)].beats.fetch_add(1, Ordering::Relaxed);
    }

    /// The shard has ended as it should.
    pub(crate) fn end(&self, shard: ShardId) {
        self.shards[usize::from(shard.0)].ended.store(true, Ordering::Relaxed);
    }
}

/// Watches until all shards have ended.
#[allow(clippy::disallowed_methods, reason = "a plain thread: it must not depend on what it watches")]
pub(crate) fn watch(pulse: &Pulse) {
    let mut seen: Vec<(u64, u32)> = vec![(0, 0); pulse.shards.len()];
    while !pulse.shards.iter().all(|shard| shard.ended.load(Ordering::Relaxed)) {
        std::thread::sleep(TICK);
        for (index, (shard, (beats, missed))) in pulse.shards.iter().zip(&mut seen).enumerate() {
            let now = shard.beats.load(Ordering::Relaxed);
            if now != *beats || shard.ended.load(Ordering::Relaxed) {
                (*beats, *missed) = (now, 0);
                continue;
            }
            *missed += 1;
            if *missed >= TICKS_MAX {
                die(&format!("shard {index} has stood still for {TICKS_MAX} ticks of {TICK:?}"));
            }
        }
    }
}
