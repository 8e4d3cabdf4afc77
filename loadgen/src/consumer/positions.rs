//! Where a consumer stands.

use std::collections::BTreeMap;

use bytes::Bytes;
use protocol::records::HeaderScan;

/// The positions of one consumer's partitions, and how far behind they are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Positions {
    slots: BTreeMap<u32, Position>,
    /// Records behind, all slots together, as of their last answers.
    lag: u64,
    /// Slots that haven't reached their end.
    unfinished: usize,
}

#[derive(Debug, Clone, Copy)]
struct Position {
    offset: i64,
    /// As last told; -1 before.
    high_watermark: i64,
    /// Where to stop; `i64::MAX` for never.
    end: i64,
}

impl Position {
    fn lag(&self) -> u64 {
        self.high_watermark.saturating_sub(self.offset).max(0) as u64
    }

    fn is_finished(&self) -> bool {
        self.offset >= self.end
    }
}

impl Positions {
    /// Reads `slot` from `offset`, up to `end` if there is one.
    pub(crate) fn add(&mut self, slot: u32, offset: i64, end: Option<i64>) {
        let position = Position { offset, high_watermark: -1, end: end.unwrap_or(i64::MAX) };
        self.unfinished += usize::from(!position.is_finished());
        self.slots.insert(slot, position);
    }

    /// Slots and offsets still to be read.
    pub(crate) fn unread(&self) -> impl Iterator<Item = (u32, i64)> + '_ {
        let unread = self.slots.iter().filter(|(_, position)| !position.is_finished());
        unread.map(|(slot, position)| (*slot, position.offset))
    }

    /// All slots with their offsets.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, i64)> + '_ {
        self.slots.iter().map(|(slot, position)| (*slot, position.offset))
    }

    pub(crate) fn offset(&self, slot: u32) -> Option<i64> {
        self.slots.get(&slot).map(|position| position.offset)
    }

    pub(crate) fn lag(&self) -> u64 {
        self.lag
    }

    /// Whether every slot has reached its end.
    pub(crate) fn is_finished(&self) -> bool {
        self.unfinished == 0
    }

    /// An answer for `slot`: moves behind the whole batches of `records`, whose headers it looks at. False if they
    /// are no batches.
    pub(crate) fn answered(&mut self, slot: u32, high_watermark: i64, records: &Bytes) -> bool {
        let mut next = None;
        for header in HeaderScan::new(records) {
            match header {
                Ok((_, header)) => next = Some(header.next_offset()),
                Err(_) => return false,
            }
        }
        self.change(slot, |position| {
            position.high_watermark = high_watermark;
            position.offset = next.map_or(position.offset, |next| next.max(position.offset));
        });
        true
    }

    /// Goes elsewhere.
    pub(crate) fn seek(&mut self, slot: u32, offset: i64) {
        self.change(slot, |position| position.offset = offset);
    }

    fn change(&mut self, slot: u32, change: impl FnOnce(&mut Position)) {
        let Some(position) = self.slots.get_mut(&slot) else { return };
        let before = *position;
        change(position);
        self.lag = self.lag - before.lag() + position.lag();
        self.unfinished -= usize::from(!before.is_finished());
        self.unfinished += usize::from(!position.is_finished());
    }
}
