//! Checkpoints and identities.

use storage::MetaProperties;
use storage::inspect;

use super::file::or_damage;
use super::sink::{Line, Sink};
use crate::cli::error::CliError;

pub(super) fn checkpoint(file: &[u8], sink: &mut Sink) -> Result<(), CliError> {
    or_damage(inspect::checkpoint(file), sink, |found, sink| {
        sink.line(
            Line::new("checkpoint")
                .with("start_offset", found.start.0)
                .with("recovery_point", found.recovery_point.0),
        )
    })
}

pub(super) fn epochs(text: &str, sink: &mut Sink) -> Result<(), CliError> {
    or_damage(inspect::epochs(text), sink, |entries, sink| {
        entries.into_iter().try_for_each(|(epoch, start)| {
            sink.line(Line::new("epoch").with("leader_epoch", epoch.0).with("start_offset", start.0))
        })
    })
}

pub(super) fn partition_metadata(text: &str, sink: &mut Sink) -> Result<(), CliError> {
    or_damage(inspect::partition_metadata(text), sink, |id, sink| {
        sink.line(Line::new("topic").with("topic_id", id.to_string()))
    })
}

pub(super) fn offsets(text: &str, sink: &mut Sink) -> Result<(), CliError> {
    or_damage(inspect::offsets(text), sink, |offsets, sink| {
        offsets.into_iter().try_for_each(|(of, offset)| {
            let line = Line::new("offset").with("topic", of.topic).with("partition", of.partition);
            sink.line(line.with("offset", offset.0))
        })
    })
}

pub(super) fn meta_properties(text: &str, sink: &mut Sink) -> Result<(), CliError> {
    or_damage(MetaProperties::parse(text), sink, |found, sink| {
        sink.line(
            Line::new("directory")
                .with("node_id", found.node_id)
                .with("cluster_id", found.cluster_id)
                .with("directory_id", found.directory_id.to_string()),
        )
    })
}

pub(super) fn start(file: &[u8], sink: &mut Sink) -> Result<(), CliError> {
    or_damage(inspect::start(file), sink, |id, sink| {
        sink.line(Line::new("start").with("id", format!("{id:016x}")))
    })
}

pub(super) fn unrecovered(text: &str, sink: &mut Sink) -> Result<(), CliError> {
    or_damage(inspect::unrecovered(text), sink, |partitions, sink| {
        partitions.into_iter().try_for_each(|of| {
            sink.line(Line::new("unrecovered").with("topic", of.topic).with("partition", of.partition))
        })
    })
}

pub(super) fn plain(text: &str, sink: &mut Sink) -> Result<(), CliError> {
    text.lines().try_for_each(|line| sink.line(Line::new("line").with("text", line)))
}
