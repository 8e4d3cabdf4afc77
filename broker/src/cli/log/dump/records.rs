//! Batches and their records.

use protocol::records::{ControlRecord, EndTxnMarker, Record, RecordBatch, TimestampType};
use serde_json::{Value, json};

use super::sink::{Line, Sink};
use crate::cli::error::CliError;
use crate::cli::output::text_or_hex;

pub(super) fn batch(position: u64, batch: &RecordBatch, sink: &mut Sink) -> Result<(), CliError> {
    let header = batch.header();
    let attributes = header.attributes;
    let codec = attributes.compression().map_or("unknown", |codec| codec.name());
    let clock = match attributes.timestamp_type() {
        TimestampType::CreateTime => "CreateTime",
        TimestampType::LogAppendTime => "LogAppendTime",
    };
    let of_producer = |number: i64| header.has_producer().then_some(number);
    let flag = |on: bool| on.then_some(true);
    sink.line(
        Line::new("batch")
            .with("position", position)
            .with("bytes", batch.total_bytes())
            .with("base_offset", header.base_offset)
            .with("last_offset", header.last_offset())
            .with("records", header.records_count)
            .with("leader_epoch", header.partition_leader_epoch)
            .with("compression", codec)
            .with("timestamp_type", clock)
            .with("base_timestamp", header.base_timestamp)
            .with("max_timestamp", header.max_timestamp)
            .with_some("producer_id", of_producer(header.producer_id))
            .with_some("producer_epoch", of_producer(i64::from(header.producer_epoch)))
            .with_some("base_sequence", of_producer(i64::from(header.base_sequence)))
            .with_some("transactional", flag(attributes.is_transactional()))
            .with_some("control", flag(attributes.is_control()))
            .with_some("delete_horizon", header.delete_horizon_ms())
            .with("crc", format!("{:08x}", header.crc)),
    )?;
    if sink.records {
        return records(position, batch, sink);
    }
    match batch.walk(u64::MAX, |_| ()) {
        Ok(_) => Ok(()),
        Err(why) => sink.damage(Some(position), why),
    }
}

fn records(position: u64, batch: &RecordBatch, sink: &mut Sink) -> Result<(), CliError> {
    let is_control = batch.header().attributes.is_control();
    for record in batch.records_within(u64::MAX) {
        match record {
            Ok(record) if is_control => sink.line(control(&record))?,
            Ok(record) => sink.line(data(&record))?,
            Err(why) => return sink.damage(Some(position), why),
        }
    }
    Ok(())
}

fn data(record: &Record) -> Line {
    let header = |header: &protocol::records::RecordHeader| {
        json!([text_or_hex(Some(&header.key)), text_or_hex(header.value.as_deref())])
    };
    let headers: Vec<Value> = record.headers.iter().map(header).collect();
    Line::new("record")
        .with("offset", record.offset)
        .with("timestamp", record.timestamp)
        .with("key", text_or_hex(record.key.as_deref()))
        .with("value", text_or_hex(record.value.as_deref()))
        .with_some("headers", (!headers.is_empty()).then_some(headers))
}

fn control(record: &Record) -> Line {
    let what = match ControlRecord::of(record) {
        Ok(ControlRecord::Abort) => "ABORT".to_owned(),
        Ok(ControlRecord::Commit) => "COMMIT".to_owned(),
        Ok(ControlRecord::Unknown(id)) => format!("type {id}"),
        Ok(other) => format!("{other:?}"),
        Err(why) => why.to_string(),
    };
    let is_end = matches!(ControlRecord::of(record), Ok(ControlRecord::Abort | ControlRecord::Commit));
    let marker = is_end.then(|| EndTxnMarker::parse(record.value.as_ref()).ok()).flatten();
    Line::new("control_record")
        .with("offset", record.offset)
        .with("timestamp", record.timestamp)
        .with("what", what)
        .with_some("coordinator_epoch", marker.map(|marker| marker.coordinator_epoch))
}
