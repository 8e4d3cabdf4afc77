//! Kafka's metadata log: the newest snapshot, and the log from there on.

use std::path::Path;

use protocol::records::RecordBatch;
use storage::Offset;
use storage::inspect::{FileKind, file_kind};

use super::super::batches::{Batches, Found};
use super::super::input::list;
use super::source::refused;
use crate::cli::error::CliError;
use crate::metadata::kafka::KafkaMetadata;

/// Reads the log in this directory.
///
/// # Errors
/// `Refused`: it is damaged, lacks its beginning, or is of a later Kafka.
pub(super) fn read(dir: &Path) -> Result<KafkaMetadata, CliError> {
    let (mut snapshots, mut segments) = (Vec::new(), Vec::new());
    for entry in list(dir)?.into_iter().filter(|entry| !entry.is_dir) {
        match file_kind(&entry.name) {
            FileKind::MetadataSnapshot => snapshots.push((upto(&entry.name), entry.path)),
            FileKind::Log(base) => segments.push((base, entry.path)),
            _ => {}
        }
    }
    segments.sort();
    let mut metadata = KafkaMetadata::default();
    let mut next = Offset::ZERO;
    if let Some((upto, newest)) = snapshots.into_iter().max() {
        each_record(&newest, Offset::ZERO, &mut metadata)?;
        next = upto;
    }
    // Of a segment the last that begins before it may hold the first offset wanted.
    let at = segments.partition_point(|(base, _)| *base <= next).saturating_sub(1);
    if segments.get(at).is_some_and(|(base, _)| *base > next) {
        let why = format!("it begins behind offset {next}, up to where the newest snapshot goes");
        return Err(refused(dir, &why));
    }
    segments[at..].iter().try_for_each(|(_, path)| each_record(path, next, &mut metadata))?;
    if metadata.version == 0 {
        return Err(refused(dir, "it holds no metadata of a cluster"));
    }
    Ok(metadata)
}

/// The first offset that a snapshot doesn't hold, by its name.
fn upto(name: &str) -> Offset {
    Offset(name.split('-').next().and_then(|digits| digits.parse().ok()).unwrap_or_default())
}

fn each_record(path: &Path, from: Offset, metadata: &mut KafkaMetadata) -> Result<(), CliError> {
    for (position, found) in Batches::open(path)? {
        let damaged = |why: String| refused(path, &format!("damaged at {position}: {why}"));
        match found {
            Found::Batch(batch) => take(path, &batch, from, metadata)?,
            Found::Zeros(_) => return Ok(()),
            Found::Damaged(why) => return Err(damaged(why.to_string())),
            Found::Garbage(why) => return Err(damaged(why)),
            Found::Torn { need, have } => {
                return Err(damaged(format!("a batch of {need} bytes ends after {have}")));
            }
        }
    }
    Ok(())
}

/// Control batches are the quorum's own.
fn take(
    path: &Path,
    batch: &RecordBatch,
    from: Offset,
    metadata: &mut KafkaMetadata,
) -> Result<(), CliError> {
    if batch.header().attributes.is_control() {
        return Ok(());
    }
    for record in batch.records_within(u64::MAX) {
        let record = record?;
        if record.offset < from.0 {
            continue;
        }
        let value = record.value.unwrap_or_default();
        let applied = metadata.apply(&value);
        applied.map_err(|error| refused(path, &format!("at offset {}: {error}", record.offset)))?;
    }
    Ok(())
}
