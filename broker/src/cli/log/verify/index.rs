//! Indexes against the batches they point at. Each is gone along with the segment, one entry after another.

use std::path::PathBuf;

use protocol::records::BatchHeader;
use storage::inspect::{IndexEntries, OffsetEntry, TimeEntry, offset_index, time_index};
use storage::{FilePos, Offset};

use super::super::input::{Entry, whole};
use super::Findings;
use crate::cli::error::CliError;

/// Entries still to come of one index; nothing more is said of an index once something is wrong with it, as everything
/// behind may be too.
#[derive(Debug)]
struct Cursor<T> {
    path: PathBuf,
    rest: std::vec::IntoIter<T>,
}

impl<T: Copy> Cursor<T> {
    fn open(
        entry: Option<&Entry>,
        read: impl FnOnce(&[u8]) -> IndexEntries<T>,
        findings: &mut Findings,
    ) -> Result<Self, CliError> {
        let Some(entry) = entry else {
            return Ok(Self { path: PathBuf::new(), rest: Vec::new().into_iter() });
        };
        let found = read(&whole(&entry.path)?);
        if found.odd_bytes > 0 {
            findings.fault(
                &entry.path,
                None,
                format!("{} bytes behind the last whole entry", found.odd_bytes),
            );
        }
        Ok(Self { path: entry.path.clone(), rest: found.entries.into_iter() })
    }

    fn peek(&self) -> Option<T> {
        self.rest.as_slice().first().copied()
    }

    /// Passes over an entry.
    fn skip(&mut self) {
        self.rest.next();
    }

    /// Tells what is wrong, and lets the rest be.
    fn give_up(&mut self, findings: &mut Findings, what: String) {
        findings.fault(&self.path, None, what);
        self.rest = Vec::new().into_iter();
    }
}

/// The offset index: each entry names a batch's start, and an offset not before it.
#[derive(Debug)]
pub(super) struct OffsetCursor(Cursor<OffsetEntry>);

impl OffsetCursor {
    pub(super) fn open(
        base: Offset,
        entry: Option<&Entry>,
        log_bytes: u64,
        findings: &mut Findings,
    ) -> Result<Self, CliError> {
        let mut cursor = Cursor::open(entry, |file| offset_index(base, file), findings)?;
        let disordered = cursor
            .rest
            .as_slice()
            .windows(2)
            .find(|pair| pair[0].offset >= pair[1].offset || pair[0].position >= pair[1].position);
        if let Some([before, after]) = disordered {
            let what = format!(
                "offset {} at {} comes after offset {} at {}",
                after.offset, after.position, before.offset, before.position
            );
            cursor.give_up(findings, what);
        }
        if let Some(beyond) = cursor.rest.as_slice().iter().find(|entry| entry.position.0 >= log_bytes) {
            let what = format!("position {} is beyond the segment's {log_bytes} bytes", beyond.position);
            cursor.give_up(findings, what);
        }
        Ok(Self(cursor))
    }

    pub(super) fn pass(&mut self, position: u64, header: &BatchHeader, findings: &mut Findings) {
        let Some(entry) = self.0.peek().filter(|entry| entry.position <= FilePos(position)) else { return };
        if entry.position < FilePos(position) {
            self.0.give_up(findings, format!("position {} isn't the start of a batch", entry.position));
        } else if entry.offset.0 < header.base_offset {
            let base = header.base_offset;
            self.0.give_up(
                findings,
                format!("offset {} is said to be at {position}, where {base} is", entry.offset),
            );
        } else {
            self.0.skip();
        }
    }

    pub(super) fn end(&mut self, findings: &mut Findings) {
        if let Some(entry) = self.0.peek() {
            self.0.give_up(findings, format!("position {} isn't the start of a batch", entry.position));
        }
    }
}

/// The time index: each entry names the largest timestamp up to its offset.
#[derive(Debug)]
pub(super) struct TimeCursor {
    cursor: Cursor<TimeEntry>,
    /// The largest timestamp so far, in ms since 1970.
    largest_ms: i64,
}

impl TimeCursor {
    pub(super) fn open(
        base: Offset,
        entry: Option<&Entry>,
        findings: &mut Findings,
    ) -> Result<Self, CliError> {
        let mut cursor = Cursor::open(entry, |file| time_index(base, file), findings)?;
        let disordered = cursor
            .rest
            .as_slice()
            .windows(2)
            .find(|pair| pair[0].timestamp_ms >= pair[1].timestamp_ms || pair[0].offset > pair[1].offset);
        if let Some([before, after]) = disordered {
            let what = format!(
                "time {} at offset {} comes after time {} at offset {}",
                after.timestamp_ms, after.offset, before.timestamp_ms, before.offset
            );
            cursor.give_up(findings, what);
        }
        Ok(Self { cursor, largest_ms: -1 })
    }

    pub(super) fn pass(&mut self, header: &BatchHeader, findings: &mut Findings) {
        // Entries about what lies before this batch: gone by now, or damaged.
        self.before(Offset(header.base_offset), findings);
        self.largest_ms = self.largest_ms.max(header.max_timestamp);
        self.before(Offset(header.next_offset()), findings);
    }

    /// Checks the entries about offsets below `end`, when all batches below it have been seen.
    fn before(&mut self, end: Offset, findings: &mut Findings) {
        while let Some(entry) = self.cursor.peek().filter(|entry| entry.offset < end) {
            if entry.timestamp_ms != self.largest_ms {
                let (offset, said, is) = (entry.offset, entry.timestamp_ms, self.largest_ms);
                self.cursor.give_up(
                    findings,
                    format!("up to offset {offset} the largest time is said to be {said}, but it is {is}"),
                );
                return;
            }
            self.cursor.skip();
        }
    }

    pub(super) fn end(&mut self, end: Offset, findings: &mut Findings) {
        self.before(end, findings);
        if let Some(entry) = self.cursor.peek() {
            self.cursor
                .give_up(findings, format!("offset {} is behind the segment's end at {end}", entry.offset));
        }
    }
}
