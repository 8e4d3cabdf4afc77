//! Limits of metadata.

/// Records that one request may make; they are committed together or not at all.
pub const RECORDS_PER_OPERATION_MAX: usize = 10_000;

/// Partitions that one ElectLeaders may name; without any it means all there are.
pub const ELECTIONS_PER_REQUEST_MAX: usize = 100_000;

/// Partitions that one AlterPartitionReassignments may name.
pub const REASSIGNMENTS_PER_REQUEST_MAX: usize = 100_000;

/// Bytes of records in one entry of the Raft log (Kafka's `internal.metadata.max.batch.size`).
pub const ENTRY_BYTES_MAX: usize = 8 << 20;

/// Requests that wait for their records to be committed; more wait outside.
pub const PROPOSALS_MAX: usize = 1_024;

/// Deleted topics that are remembered, so that what outlived them can be told from what is merely unknown: all those of one operation.
pub const REMOVED_TOPICS_MAX: usize = RECORDS_PER_OPERATION_MAX;

/// Producer ids in a block.
pub const PRODUCER_ID_BLOCK_LEN: i32 = 1_000;

/// Characters in a topic name.
pub const TOPIC_NAME_LEN_MAX: usize = 249;

/// The level of `metadata.version` that a new cluster gets (4.4-IV2).
pub const METADATA_VERSION: i16 = 33;

/// Space the Raft log's file grows by, in bytes: written over in place, so that a commit changes no file size.
pub const LOG_GROWTH_BYTES: u64 = 1 << 20;
/// Space of the metadata log that a stop leaves for the next start, in bytes: an election, and the registration of a broker with many listeners.
pub const LOG_START_BYTES: u64 = 64 << 10;

// An entry with its frame must fit into the frame's 32-bit length.
const _: () = assert!(ENTRY_BYTES_MAX < (u32::MAX / 2) as usize);
