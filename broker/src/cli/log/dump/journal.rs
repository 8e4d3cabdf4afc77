//! Frames of a journal.

use storage::inspect::{self, JournalEntry, JournalFrame};

use super::file::or_damage;
use super::sink::{Line, Sink};
use crate::cli::error::CliError;

pub(super) fn dump(file: &[u8], sink: &mut Sink) -> Result<(), CliError> {
    or_damage(inspect::journal(file), sink, |found, sink| {
        let Some(found) = found else {
            return sink.line(Line::new("journal").with("what", "never used"));
        };
        let id = format!("{:016x}", found.journal);
        let head =
            Line::new("journal").with("shard", found.shard).with("number", found.number).with("id", id);
        let head = head.with("start", format!("{:016x}", found.start));
        sink.line(head.with("frames", found.frames.len()))?;
        found.frames.iter().try_for_each(|found| frame(found, sink))
    })
}

fn frame(frame: &JournalFrame, sink: &mut Sink) -> Result<(), CliError> {
    sink.line(
        Line::new("frame")
            .with("position", frame.position)
            .with("bytes", frame.bytes)
            .with("sequence", frame.sequence)
            .with("lap", frame.lap)
            .with("floor", frame.floor)
            .with("entries", frame.entries.len()),
    )?;
    frame.entries.iter().try_for_each(|entry| sink.line(line(entry)))
}

fn line(entry: &JournalEntry) -> Line {
    let line = Line::new(if entry.is_floor { "floor" } else { "data" })
        .with("topic_id", entry.topic_id.to_string())
        .with("partition", entry.partition);
    if entry.is_floor {
        return line;
    }
    line.with("leader_epoch", entry.leader_epoch.0)
        .with("base_offset", entry.base.0)
        .with("segment", entry.segment.0)
        .with("segment_position", entry.position.0)
        .with("bytes", entry.bytes)
}
