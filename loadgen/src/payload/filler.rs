//! What values are filled with.

use crate::draw::Rng;
use crate::scenario::Filler;

/// Fills `bytes`.
pub(crate) fn fill(bytes: &mut [u8], filler: Filler, rng: &mut Rng) {
    match filler {
        Filler::Zeros => bytes.fill(0),
        // 16 letters of 8 bits each: about half.
        Filler::Text => bytes.iter_mut().for_each(|byte| *byte = b'a' + (rng.next() >> 60) as u8),
        Filler::Random => bytes.iter_mut().for_each(|byte| *byte = (rng.next() >> 56) as u8),
    }
}
