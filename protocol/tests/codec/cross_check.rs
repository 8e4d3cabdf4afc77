//! The same bytes through the crate `kafka-protocol`, which is generated from Kafka 4.1's own schema files.
//!
//! It lacks what came later: those keys and versions are skipped, and counted so that the list can't grow unseen.

use bytes::{Bytes, BytesMut};
use kafka_protocol::messages::{ApiKey, RequestKind, ResponseKind};

use crate::generate::{Fill, bytes};
use crate::rng::Rng;
use crate::schema::{Kind, Message};
use crate::schemas;

/// Versions it lists for a key and has no messages for.
const LISTED_ONLY: [(i16, i16); 3] = [(8, 10), (9, 10), (22, 6)];

/// Decodes and encodes with the other crate; `None` when it doesn't know the version.
fn other(message: &Message, version: i16, bytes: &Bytes) -> Option<Result<Bytes, String>> {
    let key = ApiKey::try_from(message.key?).ok()?;
    let valid = key.valid_versions();
    if version < valid.min || version > valid.max || LISTED_ONLY.contains(&(message.key?, version)) {
        return None;
    }
    let mut input = bytes.clone();
    let mut out = BytesMut::new();
    let recoded = if message.kind == Kind::Request {
        RequestKind::decode(key, &mut input, version).and_then(|m| m.encode(&mut out, version))
    } else {
        ResponseKind::decode(key, &mut input, version).and_then(|m| m.encode(&mut out, version))
    };
    let left = input.len();
    Some(match recoded {
        Ok(()) if left == 0 => Ok(out.freeze()),
        Ok(()) => Err(format!("{left} bytes left")),
        Err(error) => Err(error.to_string()),
    })
}

#[test]
fn the_same_bytes_by_another_implementation() {
    let (mut checked, mut skipped) = (0, Vec::new());
    for message in schemas::api() {
        for version in message.valid.min..=message.valid.max {
            for seed in 0..6 {
                let fill = [Fill::Least, Fill::Most, Fill::Random][seed as usize % 3];
                let ours = Bytes::from(bytes(&message, version, fill, false, &mut Rng::new(seed)));
                match other(&message, version, &ours) {
                    None => skipped.push(format!("{} v{version}", message.name)),
                    Some(theirs) => {
                        assert_eq!(
                            theirs.as_ref(),
                            Ok(&ours),
                            "{} v{version} {fill:?} seed {seed}",
                            message.name
                        );
                        checked += 1;
                    }
                }
            }
        }
    }
    skipped.dedup();
    assert!(checked > 3_000, "{checked} checked");
    assert!(skipped.len() < 60, "{} skipped: {skipped:?}", skipped.len());
}

/// Embedded data and control records: the other crate has no enum over them.
fn other_record<T>(version: i16, bytes: &Bytes) -> Bytes
where
    T: kafka_protocol::protocol::Decodable + kafka_protocol::protocol::Encodable,
{
    let mut input = bytes.clone();
    let mut out = BytesMut::new();
    T::decode(&mut input, version).unwrap().encode(&mut out, version).unwrap();
    assert!(input.is_empty());
    out.freeze()
}

#[test]
fn the_same_bytes_of_embedded_records() {
    use kafka_protocol::messages as theirs;
    let mut checked = 0;
    for message in schemas::all() {
        let other = match message.name.as_str() {
            "ConsumerProtocolSubscription" => other_record::<theirs::ConsumerProtocolSubscription>,
            "ConsumerProtocolAssignment" => other_record::<theirs::ConsumerProtocolAssignment>,
            "EndTxnMarker" => other_record::<theirs::EndTxnMarker>,
            "LeaderChangeMessage" => other_record::<theirs::LeaderChangeMessage>,
            "SnapshotHeaderRecord" => other_record::<theirs::SnapshotHeaderRecord>,
            "SnapshotFooterRecord" => other_record::<theirs::SnapshotFooterRecord>,
            "KRaftVersionRecord" => other_record::<theirs::KRaftVersionRecord>,
            "VotersRecord" => other_record::<theirs::VotersRecord>,
            _ => continue,
        };
        for version in message.valid.min..=message.valid.max {
            for seed in 0..6 {
                let fill = [Fill::Least, Fill::Most, Fill::Random][seed as usize % 3];
                let mut ours = bytes(&message, version, fill, false, &mut Rng::new(seed));
                if message.root().fields[0].name == "Version" {
                    // The other crate takes the field for the version of what follows.
                    ours[..2].copy_from_slice(&version.to_be_bytes());
                }
                let ours = Bytes::from(ours);
                assert_eq!(other(version, &ours), ours, "{} v{version} seed {seed}", message.name);
            }
        }
        checked += 1;
    }
    assert_eq!(checked, 8);
}
