//! What can go wrong, by who notices.

use protocol::api::ApiKey;
use protocol::error::ErrorCode;
use protocol::messages::VersionRange;
use protocol::wire::{DecodeError, EncodeError};

/// Why a connection is over. Nothing more can be sent or received on it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ConnectionError {
    /// A request wasn't answered in time.
    #[error("no answer to {api} within its time")]
    TimedOut {
        /// The oldest request without an answer.
        api: ApiKey,
    },
    /// The peer closed the connection.
    #[error("the broker closed the connection{}", if *.unanswered > 0 { " before it answered" } else { "" })]
    Closed {
        /// How many requests had no answer.
        unanswered: usize,
    },
    /// A frame's size is negative or above the limit: the peer hardly speaks Kafka.
    #[error("a frame of {size} bytes was announced: is this a plaintext Kafka listener?")]
    FrameSize {
        /// The announced size.
        size: i32,
    },
    /// An answer to another request than the oldest.
    #[error("answer {got} came where {expected:?} was next")]
    Correlation {
        /// Correlation id that came.
        got: i32,
        /// The oldest unanswered one, if any.
        expected: Option<i32>,
    },
    /// An answer that can't be read.
    #[error("the answer can't be read: {0}")]
    Decode(#[from] DecodeError),
    /// The negotiation was refused.
    #[error("the broker refuses to tell its versions: {0}")]
    Refused(ErrorCode),
}

/// Why a request couldn't be sent; the connection stays as it was.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SendError {
    /// Versions aren't known yet.
    #[error("the connection isn't ready yet")]
    NotReady,
    /// Too many requests are without an answer.
    #[error("too many requests in flight")]
    Full,
    /// The connection is over.
    #[error("the connection is over")]
    Over,
    /// No version that both sides know.
    #[error("the broker {}", match .broker { Some(range) => format!("knows {} {}-{} only, this client doesn't", .api, range.min, range.max), None => format!("doesn't know {}", .api) })]
    Unsupported {
        /// The API.
        api: ApiKey,
        /// Versions the broker named.
        broker: Option<VersionRange>,
    },
    /// The request can't be written in this version.
    #[error("the request can't be written: {0}")]
    Encode(#[from] EncodeError),
}

/// What the blocking client reports.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No address of a list could be reached.
    #[error("no broker can be reached at {address}: {source}")]
    Connect {
        /// Host and port, or several.
        address: String,
        /// Why the last attempt failed.
        source: std::io::Error,
    },
    /// The socket failed later.
    #[error("the connection to {address} failed: {source}")]
    Io {
        /// Host and port.
        address: String,
        /// Why.
        source: std::io::Error,
    },
    /// The connection ended.
    #[error("connection to {address}: {source}")]
    Connection {
        /// Host and port.
        address: String,
        /// Why.
        source: ConnectionError,
    },
    /// A request couldn't be sent.
    #[error(transparent)]
    Send(#[from] SendError),
    /// The broker answered with an error.
    #[error("{what}: {}{}", .message.as_deref().unwrap_or_else(|| .code.message()), format_args!(" [{}]", .code.name()))]
    Broker {
        /// What was tried, with the name it was tried on.
        what: String,
        /// Kafka's code.
        code: ErrorCode,
        /// The broker's own words, if it sent some.
        message: Option<String>,
    },
    /// The metadata don't say where to go.
    #[error("{0}")]
    Unknown(String),
}

impl ClientError {
    /// An error that a broker answered, or nothing for code 0.
    ///
    /// # Errors
    /// `Broker`, if the code is one.
    pub fn check(code: i16, message: Option<&str>, what: impl FnOnce() -> String) -> Result<(), Self> {
        match ErrorCode::from_code(code) {
            ErrorCode::NONE => Ok(()),
            code => Err(Self::Broker { what: what(), code, message: message.map(str::to_owned) }),
        }
    }

    /// Whether the same may succeed a moment later: the way to the broker failed, or it said so itself.
    /// Whether the broker did what it was asked may be unknown then.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Connect { .. } | Self::Io { .. } | Self::Connection { .. } => true,
            Self::Broker { code, .. } => code.is_retriable(),
            Self::Send(_) | Self::Unknown(_) => false,
        }
    }

    /// The broker's code, if a broker answered one.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Broker { code, .. } => Some(*code),
            _ => None,
        }
    }
}
