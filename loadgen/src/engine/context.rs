//! What the tasks of a shard share.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::{Control, Plan, Stats};
use crate::link::Directory;

/// What the tasks of a shard share.
#[derive(Debug)]
pub(crate) struct ShardContext {
    pub(crate) plan: Arc<Plan>,
    pub(crate) control: Arc<Control>,
    pub(crate) directory: Rc<Directory>,
    /// Counted since the last tick.
    pub(crate) stats: RefCell<Stats>,
    /// When the load begins.
    pub(crate) start_ns: u64,
}
