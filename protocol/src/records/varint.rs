//! The zigzag varints of records (as Protocol Buffers' sint32 and sint64).

/// Bytes that a 64-bit varint takes at most.
pub(crate) const VARLONG_BYTES_MAX: usize = 10;

/// Appends `value`.
pub(crate) fn put(out: &mut Vec<u8>, value: i64) {
    let mut rest = ((value << 1) ^ (value >> 63)) as u64;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// How many bytes [`put`] writes for `value`.
pub(crate) fn len(value: i64) -> usize {
    let bits = 64 - (((value << 1) ^ (value >> 63)) as u64 | 1).leading_zeros() as usize;
    bits.div_ceil(7)
}

/// Reads a varint at the front: its value and how many bytes it took. `None` if it doesn't end within `bytes`
/// or is too long.
#[inline(always)]
pub(crate) fn get(bytes: &[u8]) -> Option<(i64, usize)> {
    // Up to three bytes, which lengths and deltas of sane batches take, by branches that predict well: their
    // results don't wait for each other, as those of a loop would.
    let first = u64::from(*bytes.first()?);
    if first < 0x80 {
        return Some((unzigzag(first), 1));
    }
    let second = u64::from(*bytes.get(1)?);
    if second < 0x80 {
        return Some((unzigzag(first & 0x7f | second << 7), 2));
    }
    let third = u64::from(*bytes.get(2)?);
    if third < 0x80 {
        return Some((unzigzag(first & 0x7f | (second & 0x7f) << 7 | third << 14), 3));
    }
    get_long(bytes)
}

#[cold]
fn get_long(bytes: &[u8]) -> Option<(i64, usize)> {
    let mut value = 0_u64;
    for (i, &byte) in bytes.iter().take(VARLONG_BYTES_MAX).enumerate() {
        if i == VARLONG_BYTES_MAX - 1 && byte > 1 {
            return None; // more than 64 bits
        }
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte < 0x80 {
            return Some((unzigzag(value), i + 1));
        }
    }
    None
}

#[inline]
pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}
