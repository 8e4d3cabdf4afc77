//! Keys of `__consumer_offsets`: a 16-bit type, then the key of that type.

use bytes::Bytes;

use super::{GroupMetadataKey, OffsetCommitKey};
use crate::messages::Message;
use crate::wire::{DecodeError, EncodeError, Reader, Writer};

/// Type of [`OffsetCommitKey`].
pub const KEY_OFFSET_COMMIT: i16 = 1;
/// Type of [`GroupMetadataKey`].
pub const KEY_GROUP_METADATA: i16 = 2;

/// What a record of `__consumer_offsets` is about. Its value is read with
/// [`super::decode_versioned`] as the value of the same name; no value means deleted.
#[derive(Debug, Clone, PartialEq)]
pub enum CoordinatorKey {
    /// A committed offset.
    OffsetCommit(OffsetCommitKey),
    /// A classic group.
    GroupMetadata(GroupMetadataKey),
    /// A type of another version of Kafka or Ringlog: to be skipped, not an error.
    Unknown {
        /// The type.
        key_type: i16,
        /// What follows it.
        rest: Bytes,
    },
}

impl CoordinatorKey {
    /// Reads a whole record key.
    ///
    /// # Errors
    /// A known type whose key is damaged, or fewer than two bytes.
    pub fn decode(bytes: &Bytes) -> Result<Self, DecodeError> {
        let mut r = Reader::new(bytes.clone());
        let key = match r.i16()? {
            KEY_OFFSET_COMMIT => Self::OffsetCommit(OffsetCommitKey::decode(&mut r, 0)?),
            KEY_GROUP_METADATA => Self::GroupMetadata(GroupMetadataKey::decode(&mut r, 0)?),
            key_type => Self::Unknown { key_type, rest: r.take_rest() },
        };
        r.finish()?;
        Ok(key)
    }

    /// The key as it stands in a record.
    ///
    /// # Errors
    /// A name is too long.
    pub fn encode(&self) -> Result<Bytes, EncodeError> {
        let mut w = Writer::new();
        match self {
            Self::OffsetCommit(key) => {
                w.put_i16(KEY_OFFSET_COMMIT);
                key.encode(&mut w, 0)?;
            }
            Self::GroupMetadata(key) => {
                w.put_i16(KEY_GROUP_METADATA);
                key.encode(&mut w, 0)?;
            }
            Self::Unknown { key_type, rest } => {
                w.put_i16(*key_type);
                w.put_slice(rest);
            }
        }
        Ok(w.into_bytes())
    }
}
