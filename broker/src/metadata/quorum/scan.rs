//! Reading a log file back: which frames are sound, and where it ends.

use bytes::Bytes;
use raft::eraftpb::{Entry, HardState};
use rt::fs::BLOCK;

use super::frame::Frame;
use super::header::LogHeader;

/// What a log file holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Scanned {
    pub(super) hard_state: HardState,
    /// Without gaps; the first follows the file's start.
    pub(super) entries: Vec<Entry>,
    /// Where the next frame goes, in bytes.
    pub(super) end: u64,
    /// Its sequence number.
    pub(super) next_seq: u64,
    /// Whether anything but zeros lies behind the end: a flush that wasn't finished.
    pub(super) torn: bool,
}

/// Takes frames in sequence until one isn't sound. That one is a torn flush, which nobody was told of, if nothing sound
/// follows: flushes go one by one, each synced before the next. If something does, synced data was damaged.
///
/// # Errors
/// Damage before the end, told by its position.
pub(super) fn scan(file: &Bytes, header: &LogHeader) -> Result<Scanned, String> {
    let mut found = Scanned { end: BLOCK as u64, next_seq: header.first_seq, ..Default::default() };
    let mut at = BLOCK.min(file.len());
    while let Some((frame, seq, len)) = Frame::decode(&file.slice(at..), header.file_id) {
        if seq != found.next_seq {
            return Err(format!("frame {seq} is at byte {at}, where {} belongs", found.next_seq));
        }
        take_entries(&mut found.entries, frame.entries, header.start_index)
            .map_err(|why| format!("{why}, in frame {seq} at byte {at}"))?;
        found.hard_state = frame.hard_state;
        found.next_seq += 1;
        at += len;
    }
    let later = (at..file.len()).step_by(BLOCK).skip(1).find_map(|later| {
        Frame::decode(&file.slice(later..), header.file_id).map(|(_, seq, _)| (later, seq))
    });
    if let Some((later, seq)) = later {
        return Err(format!("no sound frame is at byte {at}, but frame {seq} at byte {later} is sound"));
    }
    found.torn = file[at..].iter().any(|byte| *byte != 0);
    found.end = at as u64;
    Ok(found)
}

/// Entries replace those of the same index and all after them, as Raft has it.
fn take_entries(log: &mut Vec<Entry>, new: Vec<Entry>, start: u64) -> Result<(), String> {
    for entry in new {
        let next = start + 1 + log.len() as u64;
        if entry.index <= start || entry.index > next {
            return Err(format!("entry {} doesn't follow entry {}", entry.index, next - 1));
        }
        log.truncate(usize::try_from(entry.index - start - 1).unwrap_or(usize::MAX));
        log.push(entry);
    }
    Ok(())
}
