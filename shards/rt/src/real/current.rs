//! The running shard of this thread.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::helpers::Helpers;
use super::timers::Timers;
use super::turn::Turns;
use crate::ids::ShardId;

/// What belongs to one shard. It lives as long as its executor runs.
pub(crate) struct Shard {
    pub(crate) id: ShardId,
    pub(crate) timers: Timers,
    pub(crate) turns: Turns,
    pub(crate) helpers: Arc<Helpers>,
    /// Devices on which glommio's IOPOLL question has been settled, see [`super::fs::probe`].
    pub(crate) probed_devices: RefCell<Vec<u64>>,
}

thread_local! {
    static CURRENT: RefCell<Option<Rc<Shard>>> = const { RefCell::new(None) };
}

/// Makes `shard` this thread's; `None` when it ends.
pub(crate) fn set(shard: Option<Rc<Shard>>) {
    let previous = CURRENT.with(|current| std::mem::replace(&mut *current.borrow_mut(), shard));
    drop(previous);
}

/// This thread's shard.
pub(crate) fn get() -> Option<Rc<Shard>> {
    CURRENT.with(|current| current.borrow().clone())
}

/// As [`get`], for calls that only make sense inside.
pub(crate) fn expect(call: &str) -> Rc<Shard> {
    get().unwrap_or_else(|| panic!("{call} was called outside of a shard"))
}

/// True on a real shard.
pub(crate) fn is_here() -> bool {
    CURRENT.with(|current| current.borrow().is_some())
}
