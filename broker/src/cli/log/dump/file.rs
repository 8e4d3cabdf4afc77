//! One file, by what its name says.

use std::fmt::Display;

use storage::inspect::{FileKind, file_kind};

use super::super::batches::{Batches, Found};
use super::super::input::{Entry, text, whole};
use super::sink::{Line, Sink};
use super::{indexes, journal, records, texts};
use crate::cli::error::CliError;

pub(super) fn dump(entry: &Entry, sink: &mut Sink) -> Result<(), CliError> {
    sink.begin(entry)?;
    let path = &entry.path;
    match file_kind(&entry.name) {
        FileKind::Log(_) | FileKind::Swap(_) | FileKind::MetadataSnapshot => {
            batches(Batches::open(path)?, sink)
        }
        FileKind::OffsetIndex(base) => indexes::offsets(base, &whole(path)?, sink),
        FileKind::TimeIndex(base) => indexes::times(base, &whole(path)?, sink),
        FileKind::TxnIndex(_) => indexes::aborted(&whole(path)?, sink),
        FileKind::Snapshot(_) => indexes::producers(whole(path)?, sink),
        FileKind::Checkpoint => texts::checkpoint(&whole(path)?, sink),
        FileKind::Journal { .. } | FileKind::Kept | FileKind::Foreign => journal::dump(&whole(path)?, sink),
        FileKind::Start => texts::start(&whole(path)?, sink),
        FileKind::Epochs => with_text(entry, sink, texts::epochs),
        FileKind::PartitionMetadata => with_text(entry, sink, texts::partition_metadata),
        FileKind::Offsets => with_text(entry, sink, texts::offsets),
        FileKind::MetaProperties => with_text(entry, sink, texts::meta_properties),
        FileKind::Unrecovered => with_text(entry, sink, texts::unrecovered),
        FileKind::CleanMarker | FileKind::Adopting => with_text(entry, sink, texts::plain),
        FileKind::Lock => Ok(()),
        FileKind::Leftover => sink.line(Line::new("leftover").with("what", "the next start removes it")),
        FileKind::Damaged => sink.line(Line::new("aside").with("what", "a repair moved it aside")),
        FileKind::Other => sink.damage(None, "it isn't a file of a log directory"),
    }
}

fn with_text(
    entry: &Entry,
    sink: &mut Sink,
    dump: impl FnOnce(&str, &mut Sink) -> Result<(), CliError>,
) -> Result<(), CliError> {
    match text(&entry.path)? {
        Ok(text) => dump(&text, sink),
        Err(why) => sink.damage(None, why),
    }
}

/// What was read, or the damage that kept it from being.
pub(super) fn or_damage<T>(
    read: Result<T, impl Display>,
    sink: &mut Sink,
    dump: impl FnOnce(T, &mut Sink) -> Result<(), CliError>,
) -> Result<(), CliError> {
    match read {
        Ok(found) => dump(found, sink),
        Err(why) => sink.damage(None, why),
    }
}

fn batches(batches: Batches, sink: &mut Sink) -> Result<(), CliError> {
    for (position, found) in batches {
        match found {
            Found::Batch(batch) => records::batch(position, &batch, sink)?,
            Found::Damaged(why) => sink.damage(Some(position), why)?,
            Found::Garbage(why) => sink.damage(Some(position), format!("no batch: {why}"))?,
            Found::Torn { need, have } => {
                sink.damage(Some(position), format!("a batch of {need} bytes ends after {have}"))?;
            }
            Found::Zeros(bytes) => {
                sink.line(Line::new("zeros").with("position", position).with("bytes", bytes))?;
            }
        }
    }
    Ok(())
}
