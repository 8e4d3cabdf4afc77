//! Bounds of the endpoint.

use std::time::Duration;

/// Connections served at a time; further ones wait in the kernel's queue.
pub const CONNECTIONS_MAX: usize = 64;
/// Request line and headers together, in bytes.
pub const HEAD_BYTES_MAX: usize = 8 << 10;
/// Headers of a request.
pub const HEADERS_MAX: usize = 64;
/// How long a request line with its headers may take to arrive.
pub const HEAD_WITHIN: Duration = Duration::from_secs(5);
/// How long shards may take to answer: well below the time after which one that stands still ends the process.
pub const SHARDS_WITHIN: Duration = Duration::from_secs(2);
/// How long a partition's way to another core may take until it is told that it isn't over: a disk's worst sync several times.
pub const MOVE_WITHIN: Duration = Duration::from_secs(8);
/// How long a connection lives, which carries one request.
pub const CONNECTION_WITHIN: Duration = Duration::from_secs(15);
/// Asks that may wait at a shard.
pub const ASKS_MAX: usize = 8;
/// Pause after accept failed, for want of descriptors say.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

const _: () = assert!(
    HEAD_WITHIN.as_millis() + 2 * SHARDS_WITHIN.as_millis() < CONNECTION_WITHIN.as_millis(),
    "an answer that waited for its turn and for the shards still leaves"
);
const _: () = assert!(
    HEAD_WITHIN.as_millis() + MOVE_WITHIN.as_millis() < CONNECTION_WITHIN.as_millis(),
    "so does that to a move"
);
