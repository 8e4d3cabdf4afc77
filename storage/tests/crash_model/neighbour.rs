//! A second log, always in sync mode: the two share the journal and compete for memory. It is deleted and made anew
//! under the same topic id.

use std::cell::RefCell;
use std::rc::Rc;

use protocol::types::Uuid;
use storage::{Log, LogConfig, LogDir, Offset, TopicPartition};

use super::{batch, common, random, read_all, tag_of};

/// What the neighbour must hold.
#[derive(Debug, Default)]
pub(super) struct Model {
    /// How often it was made. Its batches have tags of their life: a million each.
    life: u64,
    /// A deletion was begun and not answered.
    unsure: bool,
    synced: i64,
}

/// The log in use.
pub(super) struct Neighbour {
    log: RefCell<Log>,
    model: Rc<RefCell<super::Model>>,
}

fn of() -> TopicPartition {
    TopicPartition::new("neighbour", 0)
}

async fn ensure(dir: &LogDir) -> Log {
    dir.ensure_log(of(), Uuid([9; 16]), LogConfig::default()).await.unwrap()
}

impl Neighbour {
    /// Opens it, and checks what a crash left.
    pub(super) async fn open(dir: &LogDir, model: Rc<RefCell<super::Model>>) -> Neighbour {
        let log = ensure(dir).await;
        assert!(!log.is_offline(), "{:?}", log.status());
        let tags: Vec<u64> = read_all(&log, Offset(0), 9_000).await.iter().map(tag_of).collect();
        {
            let mut model = model.borrow_mut();
            let model = &mut model.neighbour;
            let deleted = model.unsure && tags.is_empty();
            assert!(deleted || tags.len() as i64 >= model.synced, "{tags:?} of {model:?}");
            let life = model.life * 1_000_000;
            let expected: Vec<u64> = (life..life + tags.len() as u64).collect();
            assert_eq!(tags, expected, "{model:?}");
            (model.synced, model.unsure) = (tags.len() as i64, false);
        }
        Neighbour { log: RefCell::new(log), model }
    }

    pub(super) async fn append(&self) {
        let log = self.log.borrow().clone();
        let life = self.model.borrow().neighbour.life;
        let tag = life * 1_000_000 + log.end_offset().0 as u64;
        let bytes = [100, 800, 5_000][random(3) as usize];
        let at = common::append(&log, batch(tag, 1, bytes, 5), 0).await;
        if random(2) == 0 && log.wait_synced(at.plus(1)).await.is_ok() {
            self.model.borrow_mut().neighbour.synced = at.0 + 1;
        }
    }

    /// Deletes it and makes it again.
    pub(super) async fn remake(&self, dir: &LogDir) {
        self.model.borrow_mut().neighbour.unsure = true;
        dir.delete_log(&of()).await.unwrap();
        {
            let mut model = self.model.borrow_mut();
            model.neighbour = Model { life: model.neighbour.life + 1, unsure: false, synced: 0 };
        }
        let log = ensure(dir).await;
        assert_eq!(log.end_offset(), Offset(0), "a new log is empty");
        *self.log.borrow_mut() = log;
    }
}
