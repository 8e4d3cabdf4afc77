//! The metadata quorum.

use super::keys;
use super::reason::*;
use super::rules::*;
use crate::config::key::ConfigKey;

pub(super) static KEYS: &[ConfigKey] = keys! {
    "controller.quorum.voters" List = "", ANY, ReadOnly, QUORUM, "Voters of a static quorum, ID@HOST:PORT,...";
    "controller.quorum.bootstrap.servers" List = "", ANY, ReadOnly, QUORUM, "Addresses where a quorum is found.";
    "controller.quorum.election.timeout.ms" Int = "1000", ANY, ReadOnly, QUORUM, "Election timeout, in ms.";
    "controller.quorum.fetch.timeout.ms" Int = "2000", ANY, ReadOnly, QUORUM,
        "A voter without its leader for this long stands for election, in ms.";
    "controller.quorum.election.backoff.max.ms" Int = "1000", ANY, ReadOnly, QUORUM,
        "Longest wait between two elections, in ms.";
    "controller.quorum.append.linger.ms" Int = "25", min(0), ReadOnly, LINGER,
        "How long the leader gathers records for a batch, in ms.";
    "controller.quorum.request.timeout.ms" Int = "2000", ANY, ReadOnly, QUORUM, "Timeout of quorum requests, in ms.";
    "controller.quorum.retry.backoff.ms" Int = "20", ANY, ReadOnly, QUORUM, "Time between two tries, in ms.";
    "controller.quorum.auto.join.enable" Boolean = "false", ANY, ReadOnly, QUORUM,
        "Whether a new controller joins the voters by itself.";
    "controller.quorum.fetch.max.bytes" Int = "1048576", min(1), ReadOnly, QUORUM, "Bytes of one fetch.";
    "controller.quorum.fetch.snapshot.max.bytes" Int = "1048576", min(1), ReadOnly, QUORUM,
        "Bytes of one piece of a snapshot.";
    "controller.socket.timeout.ms" Int = "30000", ANY, ReadOnly, QUORUM, "Timeout of requests to the controller, in ms.";
    "metadata.log.dir" String, ANY, ReadOnly, ACTS, "Where the metadata log lies; the first log directory if unset.";
    "metadata.log.segment.bytes" Int = "1073741824", min(12), ReadOnly, METADATA_LOG,
        "Segment size of the metadata log, in bytes.";
    "metadata.log.segment.ms" Long = "604800000", ANY, ReadOnly, METADATA_LOG, "Age at which a segment is closed, in ms.";
    "metadata.log.max.record.bytes.between.snapshots" Long = "20971520", min(1), ReadOnly, ACTS,
        "Bytes of new records after which a snapshot is written and the log cut.";
    "metadata.log.max.snapshot.interval.ms" Long = "3600000", min(0), ReadOnly, METADATA_LOG,
        "Time after which a snapshot is written, in ms; 0 for never.";
    "metadata.max.retention.bytes" Long = "104857600", ANY, ReadOnly, METADATA_LOG,
        "Bytes of log and snapshots kept.";
    "metadata.max.retention.ms" Long = "604800000", ANY, ReadOnly, METADATA_LOG,
        "How long log and snapshots of the metadata are kept, in ms.";
    "metadata.max.idle.interval.ms" Int = "500", min(0), ReadOnly, METADATA_LOG,
        "Time between two no-op records of an idle controller, in ms.";
    "internal.metadata.max.batch.size.in.bytes" Int = "8388608", min(1), ReadOnly, METADATA_LOG,
        "Largest batch of metadata records, in bytes.";
};
