//! Control records: a transaction's end, a quorum's changes (KIP-98, KIP-595, KIP-630, KIP-853).

use bytes::Bytes;

use super::{Record, RecordsError};

/// What the key of a control record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlRecord {
    /// The producer's transaction was aborted.
    Abort,
    /// The producer's transaction was committed.
    Commit,
    /// A quorum has a new leader.
    LeaderChange,
    /// A snapshot starts.
    SnapshotHeader,
    /// A snapshot ends.
    SnapshotFooter,
    /// The quorum's protocol version.
    KraftVersion,
    /// The quorum's voters.
    KraftVoters,
    /// A later Kafka's, to be ignored.
    Unknown(i16),
}

impl ControlRecord {
    /// Reads a control record's key: version and type.
    ///
    /// # Errors
    /// `Inconsistent` for a missing or short key.
    pub fn of(record: &Record) -> Result<Self, RecordsError> {
        let key = record.key.as_deref().and_then(|key| key.first_chunk::<4>());
        let Some(&[_, _, high, low]) = key else {
            return Err(RecordsError::Inconsistent("a control record's key is too short"));
        };
        Ok(Self::from_id(i16::from_be_bytes([high, low])))
    }

    fn from_id(id: i16) -> Self {
        match id {
            0 => Self::Abort,
            1 => Self::Commit,
            2 => Self::LeaderChange,
            3 => Self::SnapshotHeader,
            4 => Self::SnapshotFooter,
            5 => Self::KraftVersion,
            6 => Self::KraftVoters,
            other => Self::Unknown(other),
        }
    }

    /// The type's number.
    pub fn id(self) -> i16 {
        match self {
            Self::Abort => 0,
            Self::Commit => 1,
            Self::LeaderChange => 2,
            Self::SnapshotHeader => 3,
            Self::SnapshotFooter => 4,
            Self::KraftVersion => 5,
            Self::KraftVoters => 6,
            Self::Unknown(id) => id,
        }
    }

    /// The key's bytes: version 0 and the type.
    pub fn key(self) -> [u8; 4] {
        let [high, low] = self.id().to_be_bytes();
        [0, 0, high, low]
    }
}

/// The value of an ABORT or COMMIT record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndTxnMarker {
    /// Epoch of the transaction coordinator that wrote it, by which a partition fences older ones.
    pub coordinator_epoch: i32,
}

impl EndTxnMarker {
    /// Reads a marker's value; later versions may have more fields.
    ///
    /// # Errors
    /// `Inconsistent` for a missing or short value.
    pub fn parse(value: Option<&Bytes>) -> Result<Self, RecordsError> {
        let Some(&[_, _, a, b, c, d]) = value.and_then(|value| value.first_chunk::<6>()) else {
            return Err(RecordsError::Inconsistent("a transaction marker's value is too short"));
        };
        Ok(Self { coordinator_epoch: i32::from_be_bytes([a, b, c, d]) })
    }

    /// The value's bytes: version 0 and the epoch.
    pub fn value(self) -> [u8; 6] {
        let [a, b, c, d] = self.coordinator_epoch.to_be_bytes();
        [0, 0, a, b, c, d]
    }
}
