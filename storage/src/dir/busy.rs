//! Names that an operation is under way on.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use rt::sync::Notify;

use crate::TopicPartition;

/// Partitions that are being opened, made or put away: until that is over nothing else may begin with the
/// directory of that name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Busy(Rc<Names>);

#[derive(Debug, Default)]
struct Names {
    names: RefCell<BTreeSet<TopicPartition>>,
    ended: Notify,
}

/// One of them; dropping it ends that.
#[derive(Debug)]
pub(crate) struct BusyName {
    names: Busy,
    name: TopicPartition,
}

impl Busy {
    /// `None` if something is under way on it.
    pub(crate) fn begin(&self, name: &TopicPartition) -> Option<BusyName> {
        let is_new = self.0.names.borrow_mut().insert(name.clone());
        is_new.then(|| BusyName { names: self.clone(), name: name.clone() })
    }

    /// Waits until nothing is under way.
    pub(crate) async fn over(&self) {
        while !self.0.names.borrow().is_empty() {
            self.0.ended.notified().await;
        }
    }
}

impl Drop for BusyName {
    fn drop(&mut self) {
        self.names.0.names.borrow_mut().remove(&self.name);
        self.names.0.ended.notify_waiters();
    }
}
