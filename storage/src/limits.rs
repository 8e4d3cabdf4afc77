//! Every bound of the crate, with its unit, and the reasoning between them checked when compiling.

use std::time::Duration;

/// Direct I/O alignment, in bytes: positions, lengths and addresses.
pub const BLOCK_BYTES: usize = 4096;
/// Largest single device write, in bytes. Larger requests can hang some devices, and 1 MiB saturates one at
/// queue depth 2.
pub const WRITE_BYTES_MAX: usize = 1 << 20;
/// Bytes a catch-up read takes from a segment at once, aligned in the file to the same size.
pub const PIECE_BYTES: usize = 256 << 10;
/// Partitions whose tails one group flush writes at the same time; and as many whose journaled bytes go to their segments meanwhile.
pub const FLUSH_WRITES_MAX: usize = 16;
/// From this many segments to sync on, one `syncfs` is cheaper than an `fdatasync` each (11-15 ms against
/// 230-1,250 ms for 1,000).
pub const SYNCS_BEFORE_SYNCFS: usize = 32;
/// Logs of a flush from which on they go to the journal though none of them wants a sync: one write instead of so
/// many is worth that the bytes are written twice. With fewer it costs more of the device than it saves of the core.
pub const UNSYNCED_JOURNAL_LOGS_MIN: usize = 16;

/// How many frames of a journal may be on their way to the device. With one, a batch that comes just after a frame has left waits for
/// all of it before its own frame begins.
pub const FRAMES_IN_FLIGHT_MAX: usize = 2;
/// Files of a shard's journal.
pub const JOURNAL_FILES_MAX: u32 = 8;
/// Smallest journal file, in bytes: its header and three blocks of frames.
pub const JOURNAL_FILE_BYTES_MIN: u64 = 16 << 10;
/// Largest journal of a shard, in bytes: its start must be read within seconds.
pub const JOURNAL_BYTES_MAX: u64 = 4 << 30;
/// Bytes zeroed at once when a journal file is made.
pub const JOURNAL_ZEROES_BYTES: usize = 256 << 10;
/// A journal file is made only while the disk has room for so many more.
pub const JOURNAL_SPARE_FILES: u64 = 8;
/// How long the journal's files aren't made larger after that failed.
pub const JOURNAL_RETRY_AFTER: Duration = Duration::from_secs(30);
/// How long after a checkpoint that couldn't free all there was the next one begins at the earliest, unless a floor frame needs it.
pub const JOURNAL_CHECKPOINT_PAUSE: Duration = Duration::from_secs(1);
/// Bytes that may be in the journal only, before all logs' are brought to their segments, however little memory tails
/// may take.
pub const PINNED_BYTES_MIN: usize = 256 << 10;
/// First space given to a partition that gets its first record, in bytes.
pub const PRESET_BYTES_MIN: u64 = 64 << 10;
/// Largest step by which a segment's preset space grows, in bytes.
pub const PRESET_BYTES_MAX: u64 = 32 << 20;
/// Batches smaller than this are served joined in one buffer, in bytes: a copy is cheaper than another
/// element of a `writev`.
pub const JOIN_BYTES_MAX: usize = 4 << 10;
/// What a batch held in memory takes beside its bytes: its entry, twice for the room that a growing queue keeps, and
/// the allocator's and the buffer's own words. A batch of one small record is less than this.
pub const TAIL_BATCH_OVERHEAD_BYTES: usize = 320;
/// Part of its receive frame that a batch must fill for its slice to be kept instead of a copy: one of this
/// many.
pub const FRAME_SHARE_MIN: usize = 4;
/// A frame's size where the caller doesn't tell, in bytes.
pub const FRAME_BYTES_ASSUMED: usize = 1 << 20;
/// Batches remembered per producer to recognise duplicates, as Kafka's clients count on (max.in.flight <= 5).
pub const PRODUCER_BATCHES_MAX: usize = 5;
/// Producers remembered per partition. Beyond it the longest idle tenth is forgotten, as if expired.
pub const PRODUCERS_MAX: usize = 100_000;
/// Entries a leader-epoch checkpoint may hold.
pub const EPOCHS_MAX: usize = 100_000;
/// Largest text checkpoint file read, in bytes.
pub const TEXT_FILE_BYTES_MAX: u64 = 256 << 20;
/// Longest cluster id, in bytes: it stands in the one-block headers of metadata files. Kafka's have 22.
pub const CLUSTER_ID_BYTES_MAX: usize = 256;
/// Largest `ringlog-checkpoint` read, in bytes: a later release may write more into it.
pub const CHECKPOINT_BYTES_MAX: u64 = 4096;
/// Largest index file of a segment read, in bytes: `segment.index.bytes` is an i32.
pub const INDEX_FILE_BYTES_MAX: u64 = 1 << 31;
/// Largest producer snapshot read, in bytes.
pub const SNAPSHOT_BYTES_MAX: u64 = 64 << 20;
/// A `flush.ms` of more than this is none: a century, which can't overflow a clock.
pub const FLUSH_AFTER_MAX: Duration = Duration::from_secs(100 * 365 * 86_400);
/// A `message.timestamp.after.max.ms` of more than this, a century, is no bound.
pub const TIMESTAMP_AHEAD_MAX_MS: u64 = 100 * 365 * 86_400_000;
/// Pause between the removals of two segments' files: giving much back to a file system at once holds up what others
/// write there.
pub const REMOVAL_PAUSE: Duration = Duration::from_millis(20);
/// How long a segment waits for its name after a full disk refused it.
pub const NAME_RETRY_AFTER: Duration = Duration::from_millis(500);
/// How often the disk's free space is looked at.
pub const ROOM_CHECK_EVERY: Duration = Duration::from_secs(1);
/// So far below the percentage at which writes are refused a disk must be before they are taken again, in percent.
pub const DISK_RESUME_PERCENT: u64 = 1;
/// A disk that was full needs this part more than what is enough, so that it isn't full again at once.
pub const DISK_ENOUGH_MORE: u64 = 16;
/// With less than this free, in bytes, a disk has nothing: the ballast is given up.
pub const ROOM_NONE_BYTES: u64 = 1 << 20;
/// So many looks in a row must find nothing free before the ballast is given up.
pub const ROOM_NONE_LOOKS: u32 = 3;
/// Small files of closed segments remembered, per log, while a full disk keeps them from being written.
pub const UNFINISHED_MAX: usize = 8;
/// Logs asked in vain, per append, to give up memory when all tails together hold too much.
pub const EVICT_TRIES_MAX: usize = 16;
/// Partitions opened at the same time when a directory is opened.
pub const OPENS_MAX: usize = 16;
/// Read handles of segments kept open per shard.
pub const HANDLES_MAX: usize = 256;
/// Remembered ends of recent catch-up reads per partition, so that a sequential reader isn't looked up again.
pub const READ_HINTS_MAX: usize = 8;
/// Segments that one read goes through while they hold batches without records only.
pub const EMPTY_PARTS_MAX: usize = 64;
/// Bytes of loaded indexes of closed segments kept per shard.
pub const INDEX_BYTES_MAX: usize = 16 << 20;
/// Aborted transactions that a compaction pass knows at the same time: a pass ends where there are more.
pub const ABORTED_MAX: usize = 1 << 20;
/// Largest index of aborted transactions that compaction reads, in bytes: of as many transactions.
pub const TXN_INDEX_BYTES_MAX: u64 = 34 * ABORTED_MAX as u64;
/// Bytes that compaction writes to the device at once.
pub const CLEANED_WRITE_BYTES: usize = 256 << 10;
/// Records of one batch that compaction looks at before other tasks of the shard may run.
pub const RECORDS_PER_STEP: usize = 64;
/// A batch with more bytes than this is compressed on a helper thread when it is compacted.
pub const COMPRESS_INLINE_BYTES_MAX: usize = 64 << 10;
/// A group of segments is compacted only while the disk has room for so much of its total beside what the group takes:
/// one of this many parts.
pub const COMPACTION_SPARE_SHARE: u64 = 50;
/// But no more than this, in bytes: of a large disk a share is more than any topic appends during a group.
pub const COMPACTION_SPARE_BYTES_MAX: u64 = 1 << 30;
/// How long a log is left out whose pass a file ended that couldn't be opened, read or written: a pass reads much before it
/// meets what may stay so.
pub const COMPACTION_RETRY_AFTER: Duration = Duration::from_secs(60);
/// How long, and how often, a full disk is waited for when compacted segments get their names.
pub const RENAME_RETRY_AFTER: Duration = Duration::from_millis(100);
/// See [`RENAME_RETRY_AFTER`].
pub const RENAME_TRIES_MAX: u32 = 100;
/// Decompressed bytes that a lookup inside one batch may produce.
pub const LOOKUP_BYTES_MAX: u64 = 128 << 20;

const _: () = assert!(WRITE_BYTES_MAX.is_multiple_of(BLOCK_BYTES) && PIECE_BYTES.is_multiple_of(BLOCK_BYTES));
const _: () = assert!(JOURNAL_FILE_BYTES_MIN.is_multiple_of(BLOCK_BYTES as u64));
const _: () = assert!(PIECE_BYTES <= WRITE_BYTES_MAX, "a read stays under the device's limit as well");
const _: () =
    assert!(CLEANED_WRITE_BYTES.is_multiple_of(BLOCK_BYTES) && CLEANED_WRITE_BYTES <= WRITE_BYTES_MAX);
const _: () = assert!(
    PRESET_BYTES_MIN.is_multiple_of(BLOCK_BYTES as u64) && PRESET_BYTES_MAX.is_multiple_of(PRESET_BYTES_MIN)
);
