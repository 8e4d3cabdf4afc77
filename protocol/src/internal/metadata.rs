//! Records of the metadata log (KIP-631): frame version, type and version as unsigned varints, then the record.

use bytes::Bytes;

use super::{
    BrokerRegistrationChangeRecord, ConfigRecord, FeatureLevelRecord, FenceBrokerRecord, NoOpRecord,
    PartitionChangeRecord, PartitionRecord, ProducerIdsRecord, RegisterBrokerRecord, RemoveTopicRecord,
    TopicRecord, UnfenceBrokerRecord, UnregisterBrokerRecord,
};
use crate::messages::{Message, VersionRange};
use crate::wire::{DecodeError, EncodeError, Reader, Writer};

/// The only frame version there is.
pub const METADATA_FRAME_VERSION: u32 = 1;

macro_rules! metadata_records {
    ($($(#[$doc:meta])* $name:ident($record:ident) = $key:literal,)*) => {
        /// One change of the cluster's metadata.
        #[derive(Debug, Clone, PartialEq)]
        pub enum MetadataRecord {
            $($(#[$doc])* $name($record),)*
        }

        impl MetadataRecord {
            /// Type of the record in its frame.
            pub fn key(&self) -> u32 {
                match self { $(Self::$name(_) => $key,)* }
            }

            /// Versions the record can be written in.
            pub fn versions(&self) -> VersionRange {
                match self { $(Self::$name(_) => $record::VERSIONS,)* }
            }

            fn read(key: u32, version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
                match key {
                    $($key => $record::decode(r, version).map(Self::$name),)*
                    value => Err(DecodeError::Unknown { what: "metadata record", value }),
                }
            }

            fn write(&self, w: &mut Writer, version: i16) -> Result<(), EncodeError> {
                match self { $(Self::$name(record) => record.encode(w, version),)* }
            }
        }

        $(impl From<$record> for MetadataRecord {
            fn from(record: $record) -> Self {
                Self::$name(record)
            }
        })*
    };
}

metadata_records! {
    /// A broker registered.
    RegisterBroker(RegisterBrokerRecord) = 0,
    /// A registration was removed.
    UnregisterBroker(UnregisterBrokerRecord) = 1,
    /// A topic was created.
    Topic(TopicRecord) = 2,
    /// A partition was created.
    Partition(PartitionRecord) = 3,
    /// A config was set or removed.
    Config(ConfigRecord) = 4,
    /// A partition changed.
    PartitionChange(PartitionChangeRecord) = 5,
    /// A broker was fenced.
    FenceBroker(FenceBrokerRecord) = 7,
    /// A broker was unfenced.
    UnfenceBroker(UnfenceBrokerRecord) = 8,
    /// A topic was deleted.
    RemoveTopic(RemoveTopicRecord) = 9,
    /// A feature was finalised.
    FeatureLevel(FeatureLevelRecord) = 12,
    /// A block of producer ids was handed out.
    ProducerIds(ProducerIdsRecord) = 15,
    /// A registration changed.
    BrokerRegistrationChange(BrokerRegistrationChangeRecord) = 17,
    /// Nothing.
    NoOp(NoOpRecord) = 20,
}

impl MetadataRecord {
    /// Reads a whole record value; the version it was written in comes along.
    ///
    /// # Errors
    /// An unknown frame version, type or version (written by a newer Kafka or Ringlog), a damaged record, or
    /// bytes left over.
    pub fn decode(bytes: &Bytes) -> Result<(Self, i16), DecodeError> {
        let mut r = Reader::new(bytes.clone());
        let frame = r.uvarint()?;
        if frame != METADATA_FRAME_VERSION {
            return Err(DecodeError::Unknown { what: "metadata frame version", value: frame });
        }
        let key = r.uvarint()?;
        let version = r.uvarint()?;
        let version = i16::try_from(version)
            .map_err(|_| DecodeError::Unknown { what: "metadata record version", value: version })?;
        let record = Self::read(key, version, &mut r)?;
        r.finish()?;
        Ok((record, version))
    }

    /// The record value, in the newest version of its record.
    ///
    /// # Errors
    /// A name is too long, or a null stands where there can be none.
    pub fn encode(&self) -> Result<Bytes, EncodeError> {
        self.encode_version(self.versions().max)
    }

    /// The record value in an older version, for a cluster whose metadata.version asks for it.
    ///
    /// # Errors
    /// The version doesn't exist, or has no encoding for a field that is set.
    pub fn encode_version(&self, version: i16) -> Result<Bytes, EncodeError> {
        let mut w = Writer::new();
        w.put_uvarint(METADATA_FRAME_VERSION);
        w.put_uvarint(self.key());
        w.put_uvarint(version.max(0) as u32);
        self.write(&mut w, version)?;
        Ok(w.into_bytes())
    }
}
