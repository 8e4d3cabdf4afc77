//! Which batches of an answer belong to aborted transactions (KIP-98).

use std::collections::BTreeSet;

use protocol::messages::fetch_response::AbortedTransaction;
use protocol::records::BatchHeader;

/// The aborted transactions that an answer to a read of what is committed names. To be asked about each batch, in order.
#[derive(Debug, Default)]
pub(super) struct Aborted {
    /// First offset and producer of those that haven't begun; the next one is last.
    waiting: Vec<(i64, i64)>,
    /// Producers within one.
    open: BTreeSet<i64>,
}

impl Aborted {
    pub(super) fn new(named: &[AbortedTransaction]) -> Self {
        let mut waiting: Vec<(i64, i64)> =
            named.iter().map(|aborted| (aborted.first_offset, aborted.producer_id)).collect();
        waiting.sort_unstable_by(|one, other| other.cmp(one));
        Self { waiting, open: BTreeSet::new() }
    }

    /// Whether a batch was aborted.
    pub(super) fn holds(&mut self, header: &BatchHeader) -> bool {
        let last = header.base_offset + i64::from(header.last_offset_delta);
        while let Some((_, producer)) = self.waiting.pop_if(|(first, _)| *first <= last) {
            self.open.insert(producer);
        }
        if header.attributes.is_control() {
            // Its marker: whatever the producer sends afterwards is of another one.
            self.open.remove(&header.producer_id);
            return false;
        }
        header.attributes.is_transactional() && self.open.contains(&header.producer_id)
    }
}
