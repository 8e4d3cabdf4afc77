//! Bounds of the group coordinator.

/// Groups that one coordinator (one partition of `__consumer_offsets`) holds; a new one beyond gets COORDINATOR_NOT_AVAILABLE.
pub const GROUPS_MAX: usize = 1_000_000;
/// Members of a group that were given an id and haven't joined with it yet; beyond, GROUP_MAX_SIZE_REACHED. Kafka has no such bound, but each is
/// held for its whole session timeout (up to 30 min) for the price of one small request.
pub const PENDING_MEMBERS_MAX: usize = 10_000;
/// Protocols a member may offer; clients offer one to three.
pub const PROTOCOLS_PER_MEMBER_MAX: usize = 64;
/// How long a join phase in which nobody waits is held open at least for static members to rejoin, in ms, whatever rebalance timeout they ask for.
pub const REJOIN_WAIT_MS_MIN: i32 = 1_000;
/// Bytes of records that one decision of the broker itself (expiry, deleted topics) appends at most, so that its batch stays below
/// any sane `max.message.bytes`; the rest follows in the next step.
pub const CLEANUP_RECORDS_BYTES_MAX: usize = 256 * 1024;
/// Offsets that one step of the retention check looks at (some ms of work); it goes on after a pause.
pub const RETENTION_OFFSETS_PER_STEP: usize = 10_000;
/// Bytes read from the log at a time while loading (`offsets.load.buffer.size`).
pub const LOAD_READ_BYTES: usize = 5 * 1024 * 1024;
/// Requests that may wait for a coordinator's answer; beyond, COORDINATOR_NOT_AVAILABLE. Each connection waits for few, so this is a backstop.
pub const WAITERS_MAX: usize = 100_000;
/// Timers that fire in one go before other work gets its turn: some ms of work.
pub const TIMERS_PER_TURN_MAX: usize = 1_000;
/// What a coordinator may be told (deleted topics) while it loads; more is left out, and those offsets stay until they expire.
pub const TOLD_MAX: usize = 100_000;

const _: () = assert!(CLEANUP_RECORDS_BYTES_MAX < LOAD_READ_BYTES);
