//! One partition's files, into our directory.

use std::fmt;
use std::path::Path;

use storage::Offset;
use storage::inspect::{FileKind, file_kind};

use super::super::change;
use super::super::input::list;
use super::AdoptArgs;
use super::found::Taken;
use crate::cli::error::CliError;

/// How files come over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// Directories change their place.
    Move,
    /// Closed segments, to which nobody appends any more, get a second name; all else is copied.
    Link,
    /// All is copied.
    Copy,
}

impl How {
    pub(super) const ALL: [Self; 3] = [Self::Move, Self::Link, Self::Copy];

    pub(super) fn of(args: &AdoptArgs) -> Self {
        match (args.moves, args.link) {
            (true, _) => Self::Move,
            (_, true) => Self::Link,
            _ => Self::Copy,
        }
    }
}

/// As the option for it.
impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Move => "--move",
            Self::Link => "--link",
            Self::Copy => "neither --move nor --link",
        })
    }
}

/// Brings a partition to `to`, which isn't there yet. Cut short, it leaves `beside`, or nothing.
pub(super) fn bring(taken: &Taken, how: How, beside: &Path, to: &Path) -> Result<(), CliError> {
    if how == How::Move {
        return change::rename(&taken.dir, to);
    }
    if change::exists(beside) {
        change::remove_dir(beside)?;
    }
    change::make_dir(beside)?;
    for entry in list(&taken.dir)?.iter().filter(|entry| !entry.is_dir) {
        let kind = file_kind(&entry.name);
        if kind == FileKind::Leftover {
            continue;
        }
        let target = beside.join(&entry.name);
        if how == How::Link && is_closed(kind, &taken.segments) && change::link(&entry.path, &target)? {
            continue;
        }
        change::copy(&entry.path, &target)?;
    }
    change::sync_dir(beside)?;
    change::rename(beside, to)
}

/// Whether it is a segment behind which there is another.
fn is_closed(kind: FileKind, segments: &[Offset]) -> bool {
    matches!(kind, FileKind::Log(base) if segments.last().is_some_and(|last| base < *last))
}
