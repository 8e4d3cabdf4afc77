//! What the files of a log directory say, for tools that read the directory of a stopped broker: bytes in, facts out, no
//! I/O. Of Kafka's files what Kafka wrote is read too.
//!
//! Unlike what opens logs, nothing here drops what contradicts itself: who looks for damage wants to see it.

mod index;
mod journal;
mod name;
mod text;
mod txn;

pub use index::{IndexEntries, OffsetEntry, TimeEntry, offset_index, time_index};
pub use journal::{JournalEntry, JournalFile, JournalFrame, journal};
pub use name::{DirKind, FileKind, dir_kind, file_kind};
pub use text::{Checkpoint, checkpoint, epochs, offsets, partition_metadata, start, unrecovered};
pub use txn::{AbortedTxn, txn_index};

#[cfg(test)]
mod tests;
