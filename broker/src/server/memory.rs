//! [`MemoryPlan`]: what a shard's memory is for.
//!
//! ```text
//!   a shard's share of ringlog.memory.max.bytes, 512 MiB without it
//!   |  1/4 small requests  |  1/4 large requests  |  1/4 responses  |  1/8 unwritten  |  the rest: see below  |
//!   a shard's share of ringlog.cache.max.bytes
//!   |  7/8 tails, the latest records  |  1/8 catch-up  |
//! ```
//!
//! A request counts its bytes, the buffer they keep, and its arrays, which are decoded as far as there is memory for them; one that waits for
//! others gives back what it doesn't keep. What isn't counted here is small beside it, and bounded by other limits: the buffers of connections
//! that wait, indexes, producers, metadata.

use crate::config::broker::RinglogConfig;

/// Largest request that is counted as small, in bytes: the default `max.message.bytes` and some.
pub const SMALL_REQUEST_BYTES_MAX: usize = 2 << 20;
/// A shard's memory unless `ringlog.memory.max.bytes` says otherwise.
const SHARD_BYTES: u64 = 512 << 20;
/// A shard's cache where neither the config nor the host tells.
const SHARD_CACHE_BYTES: u64 = 64 << 20;
/// A shard's cache is no smaller than this: a reader holds several pieces at once.
const SHARD_CACHE_BYTES_MIN: u64 = 8 << 20;
/// Part of the cache that holds pieces of segments, which catch-up readers read once: one of this many.
const CATCH_UP_SHARE: usize = 8;
/// A shard gets no less than this, however little the config says: with less, nothing would move.
const SHARD_BYTES_MIN: u64 = 32 << 20;
/// Part of the memory for responses that one answer's records may take: one of this many. So that no client has it all.
const ANSWER_SHARE: usize = 4;

const _: () =
    assert!(SHARD_BYTES_MIN / 4 >= 2 * SMALL_REQUEST_BYTES_MAX as u64, "two small requests always fit");

/// Memory of one shard by what it is for, all in bytes. Each is a budget of its own, so that none takes another's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryPlan {
    /// Requests of up to [`SMALL_REQUEST_BYTES_MAX`] that were announced and aren't answered yet. Apart from the large ones, so that peers who
    /// announce large requests and don't send them hold up neither heartbeats nor small batches.
    pub small_request_bytes: usize,
    /// Larger requests. One that is larger than all of it is admitted alone.
    pub large_request_bytes: usize,
    /// Answers that aren't sent yet: a Fetch waits for its part before it reads records, all others are only counted.
    pub response_bytes: usize,
    /// Records of one Fetch answer, at most.
    pub answer_bytes_max: usize,
    /// Batches that wait to be written, all logs together; beyond it appends wait.
    pub unplaced_bytes: usize,
    /// Batches kept for tail readers.
    pub tail_bytes: usize,
    /// Pieces of segments kept for catch-up readers.
    pub cache_bytes: usize,
}

impl MemoryPlan {
    /// A shard's part of what the config gives to all `shards` of the node.
    pub fn of_shard(config: &RinglogConfig, shards: u16) -> MemoryPlan {
        let share = |total: Option<u64>, default: u64, min: u64| {
            let bytes = total.map_or(default, |total| total / u64::from(shards.max(1)));
            usize::try_from(bytes.max(min)).unwrap_or(usize::MAX)
        };
        let bytes = share(config.memory_max_bytes, SHARD_BYTES, SHARD_BYTES_MIN);
        let cache = share(config.cache_max_bytes, SHARD_CACHE_BYTES, SHARD_CACHE_BYTES_MIN);
        MemoryPlan {
            small_request_bytes: bytes / 4,
            large_request_bytes: bytes / 4,
            response_bytes: bytes / 4,
            answer_bytes_max: bytes / 4 / ANSWER_SHARE,
            unplaced_bytes: bytes / 8,
            tail_bytes: cache - cache / CATCH_UP_SHARE,
            cache_bytes: cache / CATCH_UP_SHARE,
        }
    }
}

#[cfg(test)]
mod tests;
