//! Records of `__consumer_offsets`, in Kafka's formats: offset key v1 with value v4, group metadata key v2 with value v3, so that Kafka's own
//! tools and Burrow read them.

use bytes::Bytes;
use protocol::internal::{
    CoordinatorKey, GroupMetadataKey, GroupMetadataValue, OffsetCommitKey, OffsetCommitValue,
    encode_versioned,
};
use protocol::types::Str;
use protocol::wire::EncodeError;

/// Version of the group metadata values that are written; 4 is the same in flexible form, which older readers can't read.
const GROUP_METADATA_VALUE_VERSION: i16 = 3;
/// Version of offset values: with the topic id.
const OFFSET_VALUE_VERSION: i16 = 4;
/// Version of offset values with an expiry of their own, which only it can say.
const OFFSET_VALUE_WITH_EXPIRY_VERSION: i16 = 1;

/// A key and its new value, encoded; no value deletes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The coordinator key, with its type.
    pub key: Bytes,
    /// The value behind its version.
    pub value: Option<Bytes>,
}

impl Record {
    /// A classic group's state.
    ///
    /// # Errors
    /// A name or a member's data is too long to be written.
    pub fn group(group: &Str, value: &GroupMetadataValue) -> Result<Self, EncodeError> {
        Ok(Self {
            key: group_key(group).encode()?,
            value: Some(encode_versioned(value, GROUP_METADATA_VALUE_VERSION)?),
        })
    }

    /// The end of a classic group.
    ///
    /// # Errors
    /// The name is too long.
    pub fn group_tombstone(group: &Str) -> Result<Self, EncodeError> {
        Ok(Self { key: group_key(group).encode()?, value: None })
    }

    /// A committed offset.
    ///
    /// # Errors
    /// A name or the metadata is too long.
    pub fn offset(
        group: &Str,
        topic: &Str,
        partition: i32,
        value: &OffsetCommitValue,
    ) -> Result<Self, EncodeError> {
        let version =
            if value.expire_timestamp < 0 { OFFSET_VALUE_VERSION } else { OFFSET_VALUE_WITH_EXPIRY_VERSION };
        Ok(Self {
            key: offset_key(group, topic, partition).encode()?,
            value: Some(encode_versioned(value, version)?),
        })
    }

    /// The end of a committed offset.
    ///
    /// # Errors
    /// A name is too long.
    pub fn offset_tombstone(group: &Str, topic: &Str, partition: i32) -> Result<Self, EncodeError> {
        Ok(Self { key: offset_key(group, topic, partition).encode()?, value: None })
    }

    /// Its length, about as it stands in a batch, in bytes.
    pub fn len_bytes(&self) -> usize {
        /// Lengths, deltas and attributes of a record in a batch, at most.
        const FRAME_BYTES: usize = 24;
        self.key.len() + self.value.as_ref().map_or(0, Bytes::len) + FRAME_BYTES
    }
}

fn group_key(group: &Str) -> CoordinatorKey {
    CoordinatorKey::GroupMetadata(GroupMetadataKey { group: group.clone() })
}

fn offset_key(group: &Str, topic: &Str, partition: i32) -> CoordinatorKey {
    CoordinatorKey::OffsetCommit(OffsetCommitKey { group: group.clone(), topic: topic.clone(), partition })
}
