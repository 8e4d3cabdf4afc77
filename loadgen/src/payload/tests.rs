//! Stamps and filler.

use super::*;
use crate::draw::Rng;
use crate::scenario::Filler;

#[test]
fn a_value_proves_what_it_is_and_any_change_shows() {
    for len in [STAMP_BYTES, STAMP_BYTES + 1, 100] {
        let stamp = Stamp { run: 1, producer: 2, slot: 3, sequence: u64::MAX - 4, time_ns: 5 };
        let mut value = vec![7; len];
        stamp.write(&mut value);
        assert_eq!((Stamp::is_whole(&value), Stamp::peek(&value)), (true, Some(stamp)));
        for at in 0..len {
            let mut changed = value.clone();
            changed[at] ^= 1;
            assert!(!Stamp::is_whole(&changed), "byte {at} of {len}");
        }
        assert!(!Stamp::is_whole(&value[..len - 1]));
    }
    assert_eq!(Stamp::peek(b"something else"), None);
    assert!(!Stamp::is_whole(b""));
}

#[test]
fn fillers_compress_as_they_say() {
    let compressed = |filler| {
        let mut bytes = vec![1; 100_000];
        fill(&mut bytes, filler, &mut Rng::new(1));
        let codec = protocol::records::Compression::Zstd;
        protocol::records::compress(codec, None, &bytes).unwrap().len()
    };
    assert!(compressed(Filler::Zeros) < 1000);
    assert!((40_000..60_000).contains(&compressed(Filler::Text)));
    assert!(compressed(Filler::Random) > 99_000);
}
