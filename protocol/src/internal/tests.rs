//! Framing of coordinator keys, versioned values and metadata records.

use bytes::Bytes;

use super::*;
use crate::types::Uuid;
use crate::wire::DecodeError;

#[test]
fn offset_key_is_kafkas_bytes() {
    let key = OffsetCommitKey { group: "g".into(), topic: "t1".into(), partition: 3 };
    let bytes = CoordinatorKey::OffsetCommit(key.clone()).encode().unwrap();
    assert_eq!(&bytes[..], b"\0\x01\0\x01g\0\x02t1\0\0\0\x03");
    assert_eq!(CoordinatorKey::decode(&bytes), Ok(CoordinatorKey::OffsetCommit(key)));
}

#[test]
fn group_key_is_kafkas_bytes() {
    let key = CoordinatorKey::GroupMetadata(GroupMetadataKey { group: "bill".into() });
    let bytes = key.encode().unwrap();
    assert_eq!(&bytes[..], b"\0\x02\0\x04bill");
    assert_eq!(CoordinatorKey::decode(&bytes), Ok(key));
}

#[test]
fn unknown_key_types_are_told_and_kept() {
    let bytes = Bytes::from_static(b"\0\x03\0\x01g");
    let key = CoordinatorKey::decode(&bytes).unwrap();
    assert_eq!(key, CoordinatorKey::Unknown { key_type: 3, rest: Bytes::from_static(b"\0\x01g") });
    assert_eq!(key.encode().unwrap(), bytes);
    assert!(CoordinatorKey::decode(&Bytes::from_static(b"\0")).is_err());
}

#[test]
fn offset_value_has_its_version_before_it_and_the_topic_id_in_a_tag() {
    let value = OffsetCommitValue {
        offset: 7,
        leader_epoch: 2,
        metadata: "m".into(),
        commit_timestamp: 9,
        topic_id: Uuid([1; 16]),
        ..Default::default()
    };
    let bytes = encode_versioned(&value, 4).unwrap();
    let mut expected = b"\0\x04\0\0\0\0\0\0\0\x07\0\0\0\x02\x02m\0\0\0\0\0\0\0\x09\x01\0\x10".to_vec();
    expected.extend([1; 16]);
    assert_eq!(bytes, expected);
    assert_eq!(decode_versioned(&bytes), Ok((4, value)));
}

#[test]
fn a_newer_subscription_is_read_as_the_newest_known() {
    let known = ConsumerProtocolSubscription { topics: vec!["t".into()], ..Default::default() };
    let mut bytes = encode_versioned(&known, 3).unwrap().to_vec();
    bytes[1] = 9;
    bytes.extend(b"more");
    let bytes = Bytes::from(bytes);
    assert_eq!(decode_versioned_lenient(&bytes), Ok((9, known)));
    assert!(decode_versioned::<ConsumerProtocolSubscription>(&bytes).is_err());
}

#[test]
fn control_records_of_the_metadata_log_carry_their_version_as_a_field() {
    let message = LeaderChangeMessage { version: 1, leader_id: 5, ..Default::default() };
    let bytes = encode_plain(&message, 1).unwrap();
    assert_eq!(decode_self_versioned(&bytes), Ok((1, message)));
}

#[test]
fn metadata_records_are_framed_as_in_kraft() {
    let record =
        MetadataRecord::from(TopicRecord { name: "t".into(), topic_id: Uuid([2; 16]), ..Default::default() });
    let bytes = record.encode().unwrap();
    assert_eq!(&bytes[..5], b"\x01\x02\0\x02t");
    assert_eq!(MetadataRecord::decode(&bytes), Ok((record, 0)));
}

#[test]
fn metadata_records_nobody_knows_are_refused() {
    let decode = |bytes: &'static [u8]| MetadataRecord::decode(&Bytes::from_static(bytes)).unwrap_err();
    assert_eq!(decode(b"\x02\x02\0"), DecodeError::Unknown { what: "metadata frame version", value: 2 });
    assert_eq!(decode(b"\x01\x63\0"), DecodeError::Unknown { what: "metadata record", value: 0x63 });
    assert!(matches!(decode(b"\x01\x14\x01\0"), DecodeError::Version { .. }));
    assert_eq!(decode(b"\x01\x14\0\0\0"), DecodeError::Trailing { at: 4, left: 1 });
}

#[test]
fn a_change_leaves_out_what_it_doesnt_change() {
    let change = PartitionChangeRecord { partition_id: 1, leader: 4, ..Default::default() };
    assert_eq!(change.isr, None);
    let bytes = MetadataRecord::from(change).encode_version(0).unwrap();
    // Frame, partition, topic id, one tag: leader.
    assert_eq!(bytes.len(), 3 + 4 + 16 + 1 + 2 + 4);
}
