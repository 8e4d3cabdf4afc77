//! Indexes and producer snapshots, whatever they say.

use bytes::Bytes;
use storage::Offset;
use storage::inspect::{IndexEntries, offset_index, time_index, txn_index};
use storage::producer::snapshot;

use super::file::or_damage;
use super::sink::{Line, Sink};
use crate::cli::error::CliError;

pub(super) fn offsets(base: Offset, file: &[u8], sink: &mut Sink) -> Result<(), CliError> {
    let found = offset_index(base, file);
    for entry in &found.entries {
        sink.line(Line::new("entry").with("offset", entry.offset.0).with("position", entry.position.0))?;
    }
    rest(&found, sink)
}

pub(super) fn times(base: Offset, file: &[u8], sink: &mut Sink) -> Result<(), CliError> {
    let found = time_index(base, file);
    for entry in &found.entries {
        sink.line(Line::new("entry").with("timestamp", entry.timestamp_ms).with("offset", entry.offset.0))?;
    }
    rest(&found, sink)
}

fn rest<T>(found: &IndexEntries<T>, sink: &mut Sink) -> Result<(), CliError> {
    if found.unused_bytes > 0 {
        sink.line(Line::new("unused").with("bytes", found.unused_bytes))?;
    }
    if found.odd_bytes > 0 {
        sink.damage(None, format!("{} bytes behind the last whole entry", found.odd_bytes))?;
    }
    Ok(())
}

pub(super) fn aborted(file: &[u8], sink: &mut Sink) -> Result<(), CliError> {
    or_damage(txn_index(file), sink, |entries, sink| {
        entries.into_iter().try_for_each(|entry| {
            sink.line(
                Line::new("aborted")
                    .with("producer_id", entry.producer_id)
                    .with("first_offset", entry.first_offset.0)
                    .with("last_offset", entry.last_offset.0)
                    .with("last_stable_offset", entry.last_stable_offset.0),
            )
        })
    })
}

pub(super) fn producers(file: Vec<u8>, sink: &mut Sink) -> Result<(), CliError> {
    or_damage(snapshot::decode(Bytes::from(file)), sink, |state, sink| {
        state.entries().iter().try_for_each(|(id, entry)| {
            let last = entry.batches.back();
            sink.line(
                Line::new("producer")
                    .with("producer_id", *id)
                    .with("producer_epoch", entry.epoch)
                    .with("last_sequence", last.map_or(-1, |batch| batch.last_sequence))
                    .with("last_offset", last.map_or(-1, |batch| batch.last_offset.0))
                    .with("batches", entry.batches.len())
                    .with("last_timestamp", entry.last_timestamp_ms)
                    .with("coordinator_epoch", entry.coordinator_epoch)
                    .with_some("open_transaction_from", entry.txn_first_offset.map(|offset| offset.0)),
            )
        })
    })
}
