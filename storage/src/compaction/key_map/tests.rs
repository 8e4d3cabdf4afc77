use std::collections::BTreeMap;

use super::{Full, KeyMap, SLOT_BYTES};
use crate::Offset;

#[test]
fn the_last_offset_of_a_key_counts_whatever_order_it_comes_in() {
    let mut map = KeyMap::new(1 << 20, 0.9, 100, [1; 16]);
    map.put(b"a", Offset(3)).unwrap();
    map.put(b"", Offset(4)).unwrap();
    map.put(b"a", Offset(9)).unwrap();
    map.put(b"a", Offset(5)).unwrap();
    assert_eq!(
        (map.get(b"a"), map.get(b""), map.get(b"b"), map.len()),
        (Some(Offset(9)), Some(Offset(4)), None, 2)
    );
}

#[test]
fn a_full_map_refuses_new_keys_and_takes_offsets_of_known_ones() {
    let mut map = KeyMap::new(10 * SLOT_BYTES, 0.5, 1_000, [2; 16]);
    for key in 0..5u8 {
        assert_eq!(map.put(&[key], Offset(i64::from(key))), Ok(()));
    }
    assert_eq!(map.put(&[9], Offset(50)), Err(Full));
    assert_eq!(map.put(&[3], Offset(60)), Ok(()));
    assert_eq!((map.get(&[3]), map.get(&[9]), map.len()), (Some(Offset(60)), None, 5));
}

#[test]
fn there_is_room_for_one_key_in_no_memory_and_never_more_than_wanted() {
    let mut map = KeyMap::new(0, 0.0, 1_000_000, [3; 16]);
    assert_eq!(map.put(b"only", Offset(0)), Ok(()));
    assert_eq!(map.put(b"second", Offset(1)), Err(Full));
    assert_eq!((map.get(b"only"), map.get(b"second")), (Some(Offset(0)), None));
    let small = KeyMap::new(1 << 30, 0.9, 10, [3; 16]);
    assert!(small.slots.len() < 20 && small.keys_max >= 10, "{} for {}", small.slots.len(), small.keys_max);
}

#[test]
fn it_agrees_with_an_ordered_map_at_any_load() {
    for load in [0.3, 0.9, 2.0] {
        let mut map = KeyMap::new(2_000 * SLOT_BYTES, load, u64::MAX, [4; 16]);
        let mut known = BTreeMap::new();
        let mut refused = 0;
        for at in 0..10_000u32 {
            let key = (at.wrapping_mul(2_654_435_761) % 3_000).to_be_bytes();
            match map.put(&key, Offset(i64::from(at))) {
                Ok(()) => drop(known.insert(key, Offset(i64::from(at)))),
                Err(Full) => refused += 1,
            }
        }
        assert!(refused > 0 && known.len() == map.len(), "load {load}");
        for key in (0..3_000u32).map(u32::to_be_bytes) {
            assert_eq!(map.get(&key), known.get(&key).copied(), "load {load}");
        }
    }
}
