//! Names that an operation is under way on.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use crate::TopicPartition;

/// Partitions that are being opened, made or put away: until that is over nothing else may begin with the
/// directory of that name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Busy(Rc<RefCell<BTreeSet<TopicPartition>>>);

/// One of them; dropping it ends that.
#[derive(Debug)]
pub(crate) struct BusyName {
    names: Busy,
    name: TopicPartition,
}

impl Busy {
    /// `None` if something is under way on it.
    pub(crate) fn begin(&self, name: &TopicPartition) -> Option<BusyName> {
        let is_new = self.0.borrow_mut().insert(name.clone());
        is_new.then(|| BusyName { names: self.clone(), name: name.clone() })
    }
}

impl Drop for BusyName {
    fn drop(&mut self) {
        self.names.0.borrow_mut().remove(&self.name);
    }
}
