//! The last offset of each key, in bounded memory.

use protocol::records::Record;
use siphasher::sip128::SipHasher24;

use crate::Offset;

/// Two halves of the key's hash, and its last offset and one more: 0 in a free slot.
type Slot = [u64; 3];

/// Memory of one key, in bytes.
pub(crate) const SLOT_BYTES: usize = size_of::<Slot>();

/// The last offset of each key of a part of a log: an open hash table that holds 24 bytes a key and not the keys.
///
/// Keys stand for themselves by a 128-bit hash, which is keyed anew for each map: two of a billion keys meet with a
/// chance below 10^-20, and nobody can choose keys that do.
#[derive(Debug)]
pub(crate) struct KeyMap {
    slots: Vec<Slot>,
    hash_key: [u8; 16],
    keys: usize,
    keys_max: usize,
}

/// The map holds as many keys as it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full;

impl KeyMap {
    /// A map in at most `bytes_max` bytes that is full when `load_factor` of its slots are taken, for `keys_wanted`
    /// keys at most. It always has room for one.
    ///
    /// Memory is touched as it fills.
    pub(crate) fn new(bytes_max: usize, load_factor: f64, keys_wanted: u64, hash_key: [u8; 16]) -> Self {
        let load_factor = load_factor.clamp(0.01, 0.99);
        let slots_wanted = ((keys_wanted as f64 / load_factor).ceil() as u64).saturating_add(2);
        let slots = (bytes_max / SLOT_BYTES).min(usize::try_from(slots_wanted).unwrap_or(usize::MAX)).max(2);
        let keys_max = ((slots as f64 * load_factor) as usize).clamp(1, slots - 1);
        Self { slots: vec![[0; 3]; slots], hash_key, keys: 0, keys_max }
    }

    /// The memory it takes when it is full, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.len() * SLOT_BYTES
    }

    /// How many keys it holds.
    pub(crate) fn len(&self) -> usize {
        self.keys
    }

    /// Notes that a record with `key` stands at `offset`. Of several the last offset counts.
    ///
    /// # Errors
    /// `Full`, for a key that isn't there: nothing was changed.
    pub(crate) fn put(&mut self, key: &[u8], offset: Offset) -> Result<(), Full> {
        let hash = self.hash(key);
        let at = self.find(hash);
        let is_new = self.slots[at][2] == 0;
        if is_new && self.keys == self.keys_max {
            return Err(Full);
        }
        self.keys += usize::from(is_new);
        let offset = offset.0 as u64 + 1;
        self.slots[at] = [hash[0], hash[1], offset.max(self.slots[at][2])];
        Ok(())
    }

    /// The last offset of `key`.
    pub(crate) fn get(&self, key: &[u8]) -> Option<Offset> {
        let [_, _, offset] = self.slots[self.find(self.hash(key))];
        (offset > 0).then(|| Offset((offset - 1) as i64))
    }

    /// Whether `record` is superseded by a later one with its key.
    pub(crate) fn supersedes(&self, record: &Record) -> bool {
        let last = record.key.as_deref().and_then(|key| self.get(key));
        last.is_some_and(|last| Offset(record.offset) < last)
    }

    fn hash(&self, key: &[u8]) -> [u64; 2] {
        let hash = SipHasher24::new_with_key(&self.hash_key).hash(key);
        [hash.h1, hash.h2]
    }

    /// The slot of the hash, or the free one where it would stand: there always is one.
    fn find(&self, hash: [u64; 2]) -> usize {
        let slots = self.slots.len();
        let mut at = ((u128::from(hash[0]) * slots as u128) >> 64) as usize;
        loop {
            let [first, second, offset] = self.slots[at];
            if offset == 0 || [first, second] == hash {
                return at;
            }
            at = if at + 1 == slots { 0 } else { at + 1 };
        }
    }
}

#[cfg(test)]
mod tests;
