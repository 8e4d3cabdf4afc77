//! Which offset each partition gets.

use std::collections::BTreeMap;

use protocol::error::ErrorCode;

use super::target::Target;
use super::{ResetArgs, scope};
use crate::cli::error::CliError;
use crate::cli::offsets::{EARLIEST, LATEST, Place, at_timestamp, committed};
use crate::cli::session::{Session, at_coordinator};

/// What is to become of one group's offsets.
pub(super) struct GroupPlan {
    pub(super) group: String,
    pub(super) changes: BTreeMap<Place, Change>,
    /// Offsets that the coordinator didn't take, while it took others.
    pub(super) refused: BTreeMap<Place, ErrorCode>,
}

/// What is to become of one partition's offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Change {
    /// What is committed now.
    pub(crate) current: Option<i64>,
    pub(crate) range: Range,
    pub(crate) next: i64,
    /// Where `next` isn't simply what was asked for.
    pub(crate) note: Option<Note>,
}

/// The offsets a partition has: from its first record to behind its last one that consumers may read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) start: i64,
    pub(crate) end: i64,
}

/// Why an offset isn't simply what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Note {
    /// The offset asked for lies before the partition's start.
    BelowStart(i64),
    /// It lies behind the end.
    AboveEnd(i64),
    /// No record is that young.
    NothingSoYoung,
    /// The group has committed nothing here.
    NothingCommitted,
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BelowStart(offset) => write!(f, "{offset} is below the start"),
            Self::AboveEnd(offset) => write!(f, "{offset} is above the end"),
            Self::NothingSoYoung => f.write_str("no record is so young"),
            Self::NothingCommitted => f.write_str("nothing was committed"),
        }
    }
}

impl GroupPlan {
    /// Why not all of it was done, if so.
    pub(super) fn failure(&self) -> Option<CliError> {
        let (refused, all) = (self.refused.len(), self.changes.len());
        let group = &self.group;
        (refused > 0).then(|| {
            CliError::Refused(format!(
                "{refused} of {all} offsets of group {group} were refused, the others are committed"
            ))
        })
    }

    /// The offsets to commit.
    pub(super) fn offsets(&self) -> BTreeMap<Place, i64> {
        self.changes.iter().map(|(place, change)| (place.clone(), change.next)).collect()
    }
}

/// Asks for all that is needed and decides.
pub(super) fn plan_of(
    session: &mut Session,
    group: &str,
    args: &ResetArgs,
    target: &Target,
) -> Result<GroupPlan, CliError> {
    let committed = at_coordinator(session, group, |session| committed(session, group))?;
    let places = scope::places(session, group, args, target, &committed)?;
    if places.is_empty() {
        return Err(CliError::Refused(format!("group {group} has no committed offsets to reset")));
    }
    let mut changes = BTreeMap::new();
    for place in places {
        let (topic, partition) = (place.0.as_str(), place.1);
        let range = Range {
            start: at_timestamp(session, topic, partition, EARLIEST)?,
            end: at_timestamp(session, topic, partition, LATEST)?,
        };
        let current = committed.get(&place).copied();
        let at_time = match target {
            Target::Time(ms) => Some(at_timestamp(session, topic, partition, *ms)?).filter(|at| *at >= 0),
            _ => None,
        };
        let of_file = match target {
            Target::File(rows) => rows.of(group).get(&place).copied(),
            _ => None,
        };
        let decided = next_offset(target, range, current, at_time, of_file);
        let (next, note) = decided.ok_or_else(|| {
            CliError::Refused(format!("group {group} has committed nothing for {topic}-{partition} to shift from: name its other partitions by --topic {topic}:0,1,.."))
        })?;
        changes.insert(place, Change { current, range, next, note });
    }
    Ok(GroupPlan { group: group.to_owned(), changes, refused: BTreeMap::new() })
}

/// The offset to set, always in the partition's range, and what is to be said about it; none if there is nothing to
/// shift from.
pub(crate) fn next_offset(
    target: &Target,
    range: Range,
    current: Option<i64>,
    at_time: Option<i64>,
    of_file: Option<i64>,
) -> Option<(i64, Option<Note>)> {
    let or_end = |found: Option<i64>, note| match found {
        Some(offset) => within(range, offset),
        None => (range.end, Some(note)),
    };
    Some(match target {
        Target::Earliest => (range.start, None),
        Target::Latest => (range.end, None),
        Target::Offset(offset) => within(range, *offset),
        Target::ShiftBy(count) => within(range, current?.saturating_add(*count)),
        Target::Current => or_end(current, Note::NothingCommitted),
        Target::Time(_) => or_end(at_time, Note::NothingSoYoung),
        Target::File(_) => within(range, of_file?),
    })
}

fn within(range: Range, offset: i64) -> (i64, Option<Note>) {
    if offset > range.end {
        (range.end, Some(Note::AboveEnd(offset)))
    } else if offset < range.start {
        (range.start, Some(Note::BelowStart(offset)))
    } else {
        (offset, None)
    }
}
