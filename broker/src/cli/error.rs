//! What a command reports when it fails, and what to do about it.

use std::io;
use std::process::ExitCode;

use client::{ClientError, SendError};
use protocol::error::ErrorCode;
use protocol::records::RecordsError;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum CliError {
    /// The cluster, or the way to it.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// Options that don't fit together or the cluster.
    #[error("{0}")]
    Usage(String),
    /// What was asked for can't be done as things are; the text says what to do.
    #[error("{0}")]
    Refused(String),
    /// Standard input or output.
    #[error("standard input or output: {0}")]
    Io(#[from] io::Error),
    /// Records that can't be read or written.
    #[error("{0}")]
    Records(#[from] RecordsError),
}

impl CliError {
    pub(super) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            _ => ExitCode::FAILURE,
        }
    }

    pub(super) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Io(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// The next step for whoever reads the error, where there is one.
    pub(super) fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Client(ClientError::Connect { .. }) => {
                Some("Is a broker running there? Name another with --bootstrap-server HOST:PORT.")
            }
            Self::Client(ClientError::Connection { .. }) => {
                Some("Is it a plaintext Kafka listener? TLS and SASL aren't supported by this command yet.")
            }
            Self::Client(ClientError::Send(SendError::Unsupported { .. })) => {
                Some("The broker is too old or too new for this command.")
            }
            Self::Client(error) => hint_of(error.code()?),
            _ => None,
        }
    }
}

fn hint_of(code: ErrorCode) -> Option<&'static str> {
    Some(match code {
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION => {
            "See `ringlog topic list`, or create it with `ringlog topic create NAME`."
        }
        ErrorCode::TOPIC_ALREADY_EXISTS => "With --if-not-exists that is no error.",
        ErrorCode::INVALID_TOPIC_EXCEPTION => "A name has up to 249 of: letters, digits, '.', '_', '-'.",
        ErrorCode::INVALID_REPLICATION_FACTOR => {
            "There can be no more replicas than live brokers: see --replication-factor."
        }
        ErrorCode::MESSAGE_TOO_LARGE => "Raise the topic's max.message.bytes, or send smaller records.",
        ErrorCode::NOT_ENOUGH_REPLICAS | ErrorCode::NOT_ENOUGH_REPLICAS_AFTER_APPEND => {
            "Too few replicas are in sync: see `ringlog topic describe NAME`."
        }
        ErrorCode::LEADER_NOT_AVAILABLE => {
            "The partition has no leader now: see `ringlog topic describe NAME`."
        }
        ErrorCode::UNKNOWN_MEMBER_ID | ErrorCode::ILLEGAL_GENERATION => {
            "The group has live members: stop them first, or use another group."
        }
        ErrorCode::NON_EMPTY_GROUP => "Stop the group's members first: see `ringlog group describe GROUP`.",
        ErrorCode::GROUP_SUBSCRIBED_TO_TOPIC => {
            "A member reads the topic: stop the group's members, or have them subscribe to other topics."
        }
        ErrorCode::GROUP_ID_NOT_FOUND => "See `ringlog group list`.",
        ErrorCode::TOPIC_AUTHORIZATION_FAILED
        | ErrorCode::GROUP_AUTHORIZATION_FAILED
        | ErrorCode::CLUSTER_AUTHORIZATION_FAILED => "An ACL is missing for this user.",
        _ => return None,
    })
}
