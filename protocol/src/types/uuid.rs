//! Topic ids, directory ids, incarnation ids.

use std::fmt;
use std::str::FromStr;

/// 128 bits, printed as Kafka prints them: URL-safe base64 without padding, 22 characters.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid(pub [u8; 16]);

/// Text that is no [`Uuid`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a Kafka UUID of 22 base64 characters: {0:?}")]
pub struct ParseUuidError(String);

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const TEXT_LEN: usize = 22;

impl Uuid {
    /// All bits zero: no id.
    pub const ZERO: Self = Self([0; 16]);

    /// Makes a random (version 4) id of random bits; Kafka's ids have these version and variant bits too.
    pub const fn from_random(mut bytes: [u8; 16]) -> Self {
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        Self(bytes)
    }

    /// Whether this is [`Self::ZERO`].
    pub fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = u128::from_be_bytes(self.0);
        let mut text = String::with_capacity(TEXT_LEN);
        for i in 1..=21 {
            text.push(char::from(ALPHABET[(bits >> (128 - 6 * i)) as usize & 63]));
        }
        // The last character holds the two bits that are left.
        text.push(char::from(ALPHABET[(bits as usize & 3) << 4]));
        f.pad(&text)
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Uuid {
    type Err = ParseUuidError;

    fn from_str(text: &str) -> Result<Self, ParseUuidError> {
        let bad = || ParseUuidError(text.chars().take(64).collect());
        if text.len() != TEXT_LEN {
            return Err(bad());
        }
        let mut bits = 0u128;
        for (i, c) in text.bytes().enumerate() {
            let value = ALPHABET.iter().position(|a| *a == c).ok_or_else(bad)? as u128;
            bits = if i < TEXT_LEN - 1 { bits << 6 | value } else { bits << 2 | value >> 4 };
        }
        Ok(Self(bits.to_be_bytes()))
    }
}
