//! What the files of a log directory say, for tools that read the directory of a stopped broker: bytes in, facts out, no
//! I/O. Of Kafka's files what Kafka wrote is read too. For tools that mend such a directory, or make one, the way back:
//! facts in, bytes out.
//!
//! Unlike what opens logs, nothing here drops what contradicts itself: who looks for damage wants to see it.

mod index;
mod journal;
mod name;
mod rebuild;
mod text;

pub use crate::segment::txn_index::{AbortedTxn, decode as txn_index};
pub use index::{IndexEntries, OffsetEntry, TimeEntry, offset_index, time_index};
pub use journal::{JournalEntry, JournalFile, JournalFrame, journal};
pub use name::{
    DirKind, FileKind, damaged_file_name, damaged_part_name, dir_kind, dir_name, file_kind, file_name,
};
pub use rebuild::SegmentIndexes;
pub use text::{
    Checkpoint, checkpoint, checkpoint_file, clean_marker_text, cleaned, cleaned_file, epochs, offsets,
    offsets_text, partition_metadata, start, unrecovered,
};

#[cfg(test)]
mod tests;
