//! Transactions and idempotent producers.

use super::keys;
use super::reason::*;
use super::rules::*;
use crate::config::key::ConfigKey;

pub(super) static KEYS: &[ConfigKey] = keys! {
    "transaction.state.log.num.partitions" Int = "50", min(1), ReadOnly, TRANSACTIONS,
        "Partitions of __transaction_state.";
    "transaction.state.log.replication.factor" Short = "3", min(1), ReadOnly, TRANSACTIONS,
        "Replicas of __transaction_state.";
    "transaction.state.log.min.isr" Int = "2", min(1), ReadOnly, TRANSACTIONS, "In-sync replicas of __transaction_state that a write needs.";
    "transaction.state.log.segment.bytes" Int = "104857600", min(1), ReadOnly, TRANSACTIONS,
        "Segment size of __transaction_state, in bytes.";
    "transaction.state.log.load.buffer.size" Int = "5242880", min(1), ReadOnly, TRANSACTIONS,
        "Bytes read at a time on load.";
    "transactional.id.expiration.ms" Int = "604800000", min(1), ReadOnly, TRANSACTIONS,
        "An idle transactional id is forgotten after this long, in ms.";
    "transaction.max.timeout.ms" Int = "900000", min(1), ReadOnly, TRANSACTIONS,
        "Longest transaction timeout a producer may ask for, in ms.";
    "transaction.abort.timed.out.transaction.cleanup.interval.ms" Int = "10000", min(1), ReadOnly, TRANSACTIONS,
        "Time between two looks for transactions that timed out, in ms.";
    "transaction.remove.expired.transaction.cleanup.interval.ms" Int = "3600000", min(1), ReadOnly, TRANSACTIONS,
        "Time between two looks for expired transactional ids, in ms.";
    "transaction.partition.verification.enable" Boolean = "true", ANY, ClusterWide, TRANSACTIONS,
        "Whether leaders ask the coordinator before they append to a transaction (KIP-890).";
    "transaction.two.phase.commit.enable" Boolean = "false", ANY, ReadOnly, TRANSACTIONS,
        "Whether producers may hold prepared transactions (KIP-939).";
    "producer.id.expiration.ms" Int = "86400000", min(1), ClusterWide, ACTS,
        "A partition forgets a producer idle for this long, in ms.";
    "producer.id.expiration.check.interval.ms" Int = "600000", min(1), ReadOnly, ACTS,
        "Time between two looks for idle producers, in ms.";
    "add.partitions.to.txn.retry.backoff.ms" Int = "20", min(1), ReadOnly, TRANSACTIONS,
        "Time between two tries of a broker to add partitions, in ms.";
    "add.partitions.to.txn.retry.backoff.max.ms" Int = "100", min(0), ReadOnly, TRANSACTIONS,
        "How long a broker goes on trying, in ms.";
};
