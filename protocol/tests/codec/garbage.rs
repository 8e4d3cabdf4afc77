//! No bytes make a decoder panic, and what it does accept it can write.

use bytes::Bytes;

use crate::dispatch::recode;
use crate::generate::{Fill, bytes};
use crate::rng::Rng;
use crate::schemas;

#[test]
fn damaged_messages() {
    let mut rng = Rng::new(11);
    for message in schemas::all() {
        for version in message.valid.min..=message.valid.max {
            let whole = bytes(&message, version, Fill::Random, true, &mut rng);
            for _ in 0..20 {
                let mut damaged = whole.clone();
                for _ in 0..=rng.below(3) {
                    if damaged.is_empty() {
                        break;
                    }
                    let at = rng.below(damaged.len() as u64) as usize;
                    match rng.below(4) {
                        0 => damaged[at] = rng.next() as u8,
                        1 => damaged[at] = [0xff, 0x80, 0x7f, 0][rng.below(4) as usize],
                        2 => damaged.insert(at, rng.next() as u8),
                        _ => drop(damaged.remove(at)),
                    }
                }
                // Inside, what decodes is encoded and decoded to the same value.
                let _ = recode(&message, version, &damaged.into());
            }
        }
    }
}

#[test]
fn noise() {
    let mut rng = Rng::new(12);
    for message in schemas::all() {
        for _ in 0..50 {
            let version =
                message.valid.min + rng.below((message.valid.max - message.valid.min + 1) as u64) as i16;
            let len = rng.below(120);
            let noise: Vec<u8> =
                (0..len).map(|_| if rng.one_in(2) { rng.below(3) } else { rng.next() } as u8).collect();
            let _ = recode(&message, version, &Bytes::from(noise));
        }
    }
}
