//! What travels between shards: the part of a request that one owner handles, and its answer. Plain data, moved.

use bytes::Bytes;
use protocol::error::ErrorCode;
use protocol::records::ValidBatch;
use rt::Instant;
use rt::net::Accepted;
use shards::{MeshPiece, PartitionKey};

use super::admin::{AdminAnswer, AdminPiece};
use super::core_move::{CorePiece, Handover, Unmoved};
use crate::group::{GroupReply, GroupRequest};
use crate::metadata::{ControllerReply, ControllerRequest};

/// A piece of a request, for the shard that owns what it speaks of.
#[derive(Debug)]
pub enum Piece {
    /// Produce to these partitions.
    Append(AppendPiece),
    /// What could be read of these partitions, without I/O.
    FetchPlan(Vec<FetchSpot>),
    /// Read these partitions, each within its share.
    FetchRead {
        /// What to read, in this order.
        shares: Vec<FetchShare>,
        /// All of them together, in bytes.
        bytes_max: usize,
    },
    /// Plan these partitions once they have enough to read together, or one of them has something else to tell, or the time is over.
    FetchWait {
        /// The partitions.
        spots: Vec<FetchSpot>,
        /// What is enough, in bytes.
        bytes_min: usize,
        /// When the time is over.
        until: Instant,
    },
    /// ListOffsets of one partition.
    ListOffset(OffsetQuestion),
    /// What an admin API asks.
    Admin(AdminPiece),
    /// Requests to the coordinator of one partition of `__consumer_offsets`, for the shard that owns it.
    Group {
        /// Partition of `__consumer_offsets`.
        partition: i32,
        /// What.
        requests: Vec<GroupRequest>,
    },
    /// To the controller, which lives on shard 0.
    Controller(ControllerRequest),
    /// Wait until the shard has applied the metadata up to this offset, and serves what it says.
    AwaitMetadata(i64),
    /// A producer id that nobody else ever gets; the block is held by shard 0.
    NextProducerId,
    /// A step of a partition's way to another core.
    Core(CorePiece),
    /// A log directory failed on another shard: it is offline on all.
    DirFailed {
        /// Its place in `log.dirs`.
        dir: usize,
        /// Why, in words.
        reason: String,
    },
    /// An accepted connection, which lives on the receiving shard from now on. The number is that of the listener.
    Connection(Accepted, usize),
}

impl MeshPiece for Piece {
    /// What waits for something that others do. An append never: its place in the log's order is taken.
    fn waits(&self) -> bool {
        match self {
            Piece::FetchWait { .. } | Piece::AwaitMetadata(_) => true,
            Piece::Group { requests, .. } => requests.iter().all(GroupRequest::waits_for_members),
            _ => false,
        }
    }
}

/// The answer to the piece of the same name.
#[derive(Debug)]
pub enum Answer {
    /// To `Append`, in the order of its batches.
    Append(Vec<AppendAnswer>),
    /// To `FetchPlan` and `FetchWait`, in the order of the spots.
    FetchPlan(Vec<FetchPlanned>),
    /// To `FetchRead`, in the order of the shares.
    FetchRead(Vec<FetchedPartition>),
    /// To `ListOffset`.
    ListOffset(OffsetAnswer),
    /// To `Admin`.
    Admin(AdminAnswer),
    /// To `Group`, in the order of the requests.
    Group(Vec<GroupReply>),
    /// To `Controller`.
    Controller(Box<ControllerReply>),
    /// To `NextProducerId`.
    ProducerId(Result<i64, ErrorCode>),
    /// To `Core`'s `Release`.
    Released(Result<Box<Handover>, Unmoved>),
    /// To other `Core`s, `AwaitMetadata`, `DirFailed` and `Connection`.
    Done,
    /// The shard has ended: the node is stopping.
    Gone,
}

/// The batches of a Produce that one owner appends.
#[derive(Debug)]
pub struct AppendPiece {
    /// One for each partition, each partition once.
    pub batches: Vec<(PartitionKey, ValidBatch)>,
    /// Size of the allocation the batches are slices of, in bytes: decides whether the tail copies them.
    pub allocation_bytes: usize,
    /// 0, 1 or -1.
    pub acks: i16,
    /// How long to wait for the high watermark, in ms.
    pub timeout_ms: i32,
    /// Offset of the metadata that the sender found the owner by.
    pub metadata_offset: i64,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppendAnswer {
    /// NONE, or why not.
    pub error: ErrorCode,
    /// Offset of the first record, -1 on error.
    pub base_offset: i64,
    /// The broker's time on the records, -1 if they keep the producer's; of a duplicate the largest time in the first copy.
    pub append_time_ms: i64,
    /// Where the log starts, -1 if unknown.
    pub log_start_offset: i64,
}

/// A partition in a fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchSpot {
    /// Which.
    pub key: PartitionKey,
    /// Offset to read from.
    pub offset: i64,
    /// The partition's own limit, in bytes.
    pub bytes_max: usize,
    /// The leader epoch the client believes in, -1 if it doesn't say.
    pub leader_epoch: i32,
    /// Epoch of the last record the client has, -1 if it doesn't say: tells whether its log diverged.
    pub last_fetched_epoch: i32,
}

/// What a partition has for a fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchPlanned {
    /// NONE, or why nothing can be read.
    pub error: ErrorCode,
    /// Readable from the offset on, up to the limit, in bytes; an estimate for what is in files only.
    pub bytes: usize,
    /// Where consumers may read to.
    pub high_watermark: i64,
    /// Where the log starts.
    pub log_start_offset: i64,
    /// Where the epoch the client last read ends here, if its log diverged: epoch and end offset.
    pub diverging: Option<(i32, i64)>,
}

impl FetchPlanned {
    /// Whether it has something to tell that ends the wait for records.
    pub fn is_news(&self) -> bool {
        self.error.is_error() || self.diverging.is_some()
    }
}

/// A partition with its share of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchShare {
    /// What to read.
    pub spot: FetchSpot,
    /// Whether a batch larger than the share is given all the same: the first partition must progress (KIP-74).
    pub min_one: bool,
}

/// Records of a partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedPartition {
    /// NONE, or why the read failed.
    pub error: ErrorCode,
    /// Whole batches.
    pub records: Vec<Bytes>,
    /// As of the read.
    pub high_watermark: i64,
    /// As of the read.
    pub log_start_offset: i64,
}

/// ListOffsets of one partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OffsetQuestion {
    /// Which.
    pub key: PartitionKey,
    /// A time in ms since 1970, or one of Kafka's negative values.
    pub timestamp: i64,
    /// The leader epoch the client believes in, -1 if it doesn't say.
    pub leader_epoch: i32,
}

/// Its answer; -1 where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OffsetAnswer {
    /// NONE, or why not.
    pub error: ErrorCode,
    /// Time of the record.
    pub timestamp: i64,
    /// Its offset.
    pub offset: i64,
    /// Epoch it was appended in.
    pub leader_epoch: i32,
}
