//! Bytes made from the schema decode whole and encode to the same bytes, for every message and version.

use bytes::Bytes;
use protocol::wire::EncodeError;

use crate::dispatch::{encode_default, recode};
use crate::generate::{Fill, bytes};
use crate::rng::Rng;
use crate::schema::Message;
use crate::schemas;

const RANDOM_ROUNDS: u64 = 12;

fn check(message: &Message, version: i16, fill: Fill, unknown: bool, seed: u64) {
    let case = format!("{} v{version} {fill:?} unknown tags {unknown} seed {seed}", message.name);
    let bytes = Bytes::from(bytes(message, version, fill, unknown, &mut Rng::new(seed)));
    let recoded = recode(message, version, &bytes).unwrap_or_else(|e| panic!("{case}: {e}\n{bytes:x?}"));
    assert_eq!(recoded.left, 0, "{case}: bytes left\n{}", recoded.value);
    assert_eq!(recoded.bytes.as_ref(), Ok(&bytes), "{case}\n{}", recoded.value);
}

#[test]
fn every_message_at_every_version() {
    let mut cases = 0u32;
    for message in schemas::all() {
        for version in message.valid.min..=message.valid.max {
            check(&message, version, Fill::Least, false, 0);
            check(&message, version, Fill::Most, false, 1);
            for seed in 0..RANDOM_ROUNDS {
                check(&message, version, Fill::Random, seed % 2 == 0, seed);
            }
            cases += 1;
        }
    }
    // The schema files have not gone missing.
    assert!(cases > 500, "{cases}");
}

#[test]
fn a_message_cut_short_is_an_error_at_every_byte() {
    for message in schemas::all() {
        let bytes = Bytes::from(bytes(&message, message.valid.max, Fill::Most, false, &mut Rng::new(3)));
        for len in 0..bytes.len() {
            assert!(
                recode(&message, message.valid.max, &bytes.slice(..len)).is_err(),
                "{} at {len}",
                message.name
            );
        }
    }
}

#[test]
fn bytes_behind_a_message_stay_in_the_reader() {
    for message in schemas::all() {
        let mut bytes = bytes(&message, message.valid.min, Fill::Random, false, &mut Rng::new(5));
        bytes.extend([1, 2, 3]);
        assert_eq!(recode(&message, message.valid.min, &bytes.into()).unwrap().left, 3, "{}", message.name);
    }
}

#[test]
fn defaults_have_an_encoding_and_are_the_schemas() {
    for message in schemas::all() {
        for version in message.valid.min..=message.valid.max {
            let bytes = match encode_default(&message, version) {
                Ok(bytes) => bytes,
                // Null by default, where this version has no null.
                Err(EncodeError::Null { .. }) => continue,
                Err(error) => panic!("{} v{version}: {error}", message.name),
            };
            let recoded = recode(&message, version, &bytes).unwrap();
            assert_eq!((recoded.left, recoded.bytes), (0, Ok(bytes)), "{} v{version}", message.name);
        }
    }
}

#[test]
fn versions_outside_the_range_are_refused() {
    for message in schemas::all() {
        for version in [i16::MIN, -1, message.valid.min - 1, message.valid.max + 1, i16::MAX] {
            assert!(recode(&message, version, &Bytes::from_static(&[0; 64])).is_err(), "{}", message.name);
            assert!(encode_default(&message, version).is_err(), "{}", message.name);
        }
    }
}
