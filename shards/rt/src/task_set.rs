//! A group of tasks that ends with its owner.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::mem;

use crate::task::{Task, spawn};

/// Finished tasks are looked for when this many were added, and then each time the set has doubled.
const REAP_MIN: usize = 64;

/// Owns tasks nobody awaits. Dropping it cancels them; [`TaskSet::cancel_all`] also waits until they are
/// gone.
///
/// Spawning costs an allocation, and in glommio a process-wide lock: for long-lived tasks, not one per request.
#[derive(Debug)]
pub struct TaskSet {
    tasks: RefCell<Vec<Task<()>>>,
    reap_at: Cell<usize>,
}

impl Default for TaskSet {
    fn default() -> TaskSet {
        TaskSet { tasks: RefCell::default(), reap_at: Cell::new(REAP_MIN) }
    }
}

impl TaskSet {
    /// An empty set.
    pub fn new() -> TaskSet {
        TaskSet::default()
    }

    /// Spawns a task of the set on the running task's shard.
    pub fn spawn<F: Future<Output = ()> + 'static>(&self, future: F) {
        if self.tasks.borrow().len() >= self.reap_at.get() {
            self.reap();
            self.reap_at.set((self.tasks.borrow().len() * 2).max(REAP_MIN));
        }
        let task = spawn(future);
        self.tasks.borrow_mut().push(task);
    }

    /// Forgets the finished ones.
    fn reap(&self) {
        // Outside of the borrow: dropping a task's output may run anything.
        let (running, finished): (Vec<_>, Vec<_>) =
            mem::take(&mut *self.tasks.borrow_mut()).into_iter().partition(|task| !task.is_finished());
        self.tasks.borrow_mut().extend(running);
        drop(finished);
    }

    /// How many tasks run.
    pub fn len(&self) -> usize {
        self.tasks.borrow().iter().filter(|task| !task.is_finished()).count()
    }

    /// True if none runs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Cancels all tasks and waits until their futures have been dropped; also those spawned meanwhile.
    pub async fn cancel_all(&self) {
        loop {
            let tasks = mem::take(&mut *self.tasks.borrow_mut());
            if tasks.is_empty() {
                return;
            }
            for task in tasks {
                task.cancel().await;
            }
        }
    }
}
