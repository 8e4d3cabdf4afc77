//! [`MemoryPlan`]: what a shard's memory is for.
//!
//! ```text
//!   a shard's share of ringlog.memory.max.bytes, 512 MiB without it
//!   |  1/4 small requests  |  1/4 large requests  |  1/4 responses  | 1/16 | 1/8 tails | 1/16 |
//!                                                                    unwritten          catch-up
//! ```
//!
//! A request counts its bytes, the buffer they keep, and its arrays once it is decoded. What isn't counted here is small beside it, and bounded
//! by other limits: the buffers of connections that wait, indexes, producers, metadata.

/// Largest request that is counted as small, in bytes: the default `max.message.bytes` and some.
pub const SMALL_REQUEST_BYTES_MAX: usize = 2 << 20;
/// A shard's memory unless `ringlog.memory.max.bytes` says otherwise.
const SHARD_BYTES: u64 = 512 << 20;
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
    /// A shard's part of `total_bytes`, which is for all `shards` of the node.
    pub fn of_shard(total_bytes: Option<u64>, shards: u16) -> MemoryPlan {
        let bytes = total_bytes.map_or(SHARD_BYTES, |total| total / u64::from(shards.max(1)));
        let bytes = usize::try_from(bytes.max(SHARD_BYTES_MIN)).unwrap_or(usize::MAX);
        MemoryPlan {
            small_request_bytes: bytes / 4,
            large_request_bytes: bytes / 4,
            response_bytes: bytes / 4,
            answer_bytes_max: bytes / 4 / ANSWER_SHARE,
            unplaced_bytes: bytes / 16,
            tail_bytes: bytes / 8,
            cache_bytes: bytes / 16,
        }
    }
}

#[cfg(test)]
mod tests;
