//! Why names have no effect: clauses to follow "has no effect: ".

use crate::config::key::Effect;

const fn inert(reason: &'static str) -> Effect {
    Effect::Inert { reason }
}

pub(super) const ACTS: Effect = Effect::Acts;
pub(super) const THREADS: Effect =
    inert("one thread per core does all work, there are no thread pools to size");
pub(super) const REPLICATION: Effect = inert("there is no replication between brokers yet");
pub(super) const QUORUM: Effect = inert("the metadata quorum is this node alone so far");
pub(super) const SECURITY: Effect =
    inert("there is no authentication and authorization yet, every client may do everything");
pub(super) const TLS: Effect = inert("there is no TLS yet");
pub(super) const CLEANER_BUFFER: Effect = inert("compaction reads and writes in pieces of a set size");
pub(super) const TRANSACTIONS: Effect = inert("there are no transactions yet");
pub(super) const NEW_GROUPS: Effect = inert("only classic consumer groups exist so far");
pub(super) const SHARE: Effect = inert("there are no share groups yet");
pub(super) const STREAMS: Effect = inert("there are no streams groups yet");
pub(super) const TIERED: Effect = inert("there is no tiered storage yet");
pub(super) const QUOTAS: Effect = inert("there are no quotas yet");
pub(super) const METRICS: Effect = inert("there are no JMX metrics, and no sampling windows to set");
pub(super) const JAVA: Effect = inert("Java classes can't be loaded");
pub(super) const BUFFERS: Effect = inert("the kernel sizes socket buffers by itself");
pub(super) const PURGATORY: Effect =
    inert("waiting requests are dropped when they end, nothing is left to purge");
pub(super) const QUEUES: Effect =
    inert("requests wait in their connections, bounded by the shards' memory budgets");
pub(super) const CONNECTIONS: Effect = inert("connections aren't limited by number yet");
pub(super) const STORAGE: Effect = inert("the log's own checkpoints and recovery don't need it");
pub(super) const CORDONED: Effect = inert("no directory can be closed to new partitions yet");
pub(super) const DIR_FAILURE: Effect =
    inert("the controller is in the same process, and is told of a failed directory at once");
pub(super) const ROLES: Effect = inert("a node is broker and controller at once so far");
pub(super) const DECOMPRESSION: Effect =
    inert("batches are decompressed in pieces of a bounded size, and never held whole");
pub(super) const UNSTABLE: Effect = inert("nothing unstable is built");
pub(super) const PREFERRED: Effect = inert("with one broker, leaders are where they should be");
pub(super) const BACKLOG: Effect = inert("the listener's backlog is fixed");
pub(super) const TELEMETRY: Effect = inert("there is no receiver of client metrics");
pub(super) const OFFSETS_CODEC: Effect = inert("the coordinator writes its records uncompressed");
pub(super) const LOADING: Effect = inert("logs are read in pieces of a size of their own");
pub(super) const LINGER: Effect =
    inert("what arrives while the log is being flushed leaves with the next flush");
pub(super) const METADATA_LOG: Effect =
    inert("the metadata log is one file, replaced by a snapshot when it has grown by a set size");
