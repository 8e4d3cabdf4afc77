//! [`Quorum`]: what the controller holds.

use std::cell::{Cell, Ref, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use bytes::Bytes;
use protocol::internal::MetadataRecord;
use rt::lane;
use rt::oneshot;
use rt::sync::Notify;

use super::batch;
use super::config::{MetadataUpdate, QuorumConfig};
use super::driver::Driver;
use super::error::QuorumError;
use super::open::open;
use crate::metadata::image::Image;

/// Something to be done in turn: data to commit, or, without any, only to be told when what came before is.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) data: Option<Bytes>,
    /// What is told besides.
    pub(super) aside: Option<MetadataUpdate>,
    pub(super) done: oneshot::Sender<Result<(), QuorumError>>,
}

/// What handle and driver share; both live on shard 0.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) queue: RefCell<VecDeque<Pending>>,
    pub(super) wake: Notify,
    pub(super) image: RefCell<Image>,
    /// How often queued records were refused: what was decided on top of them is void then.
    pub(super) refusals: Cell<u64>,
    pub(super) stopping: Cell<bool>,
    /// Why the quorum takes nothing any more.
    pub(super) ended: RefCell<Option<QuorumError>>,
    pub(super) end: Notify,
}

/// The metadata quorum, on shard 0. Clones are handles to the same one.
#[derive(Debug, Clone)]
pub struct Quorum {
    shared: Rc<Shared>,
    task: Rc<RefCell<Option<rt::Task<()>>>>,
}

/// Records on their way; resolves once they are committed, applied and told to all subscribers.
#[derive(Debug)]
pub(crate) struct Proposal(oneshot::Receiver<Result<(), QuorumError>>);

impl Quorum {
    /// Recovers from the files, becomes the leader, and applies what is committed. Each subscriber then gets the image,
    /// and after it every batch.
    ///
    /// # Errors
    /// Files that are refused or damaged, and what the disk says.
    pub async fn open(
        config: &QuorumConfig,
        subscribers: Vec<lane::Sender<MetadataUpdate>>,
    ) -> Result<Self, QuorumError> {
        let opened = open(config).await?;
        let shared = Rc::new(Shared {
            queue: RefCell::default(),
            wake: Notify::new(),
            image: RefCell::new(opened.image.clone()),
            refusals: Cell::new(0),
            stopping: Cell::new(false),
            ended: RefCell::default(),
            end: Notify::new(),
        });
        let driver = Driver::elect(shared.clone(), config, opened, subscribers).await?;
        let task = Rc::new(RefCell::new(Some(rt::spawn(driver.run()))));
        Ok(Self { shared, task })
    }

    /// The committed metadata. Don't hold it across an await.
    pub fn image(&self) -> Ref<'_, Image> {
        self.shared.image.borrow()
    }

    /// Records as one entry: committed together or not at all.
    ///
    /// # Errors
    /// They can't be written, or are too large; nothing happened.
    pub(crate) fn encode(records: &[MetadataRecord]) -> Result<Bytes, QuorumError> {
        batch::encode(records)
    }

    /// Queues an entry behind all earlier ones. With `None`, only waits for those.
    pub(crate) fn propose(&self, data: Option<Bytes>) -> Proposal {
        self.queue(data, None)
    }

    /// Tells all subscribers something that isn't of the metadata, at the same place among the entries. Nothing refuses that.
    pub(crate) fn tell_aside(&self, update: MetadataUpdate) -> Proposal {
        self.queue(None, Some(update))
    }

    fn queue(&self, data: Option<Bytes>, aside: Option<MetadataUpdate>) -> Proposal {
        let (done, receiver) = oneshot::channel();
        match &*self.shared.ended.borrow() {
            // The receiver is at hand: it can't be gone.
            Some(error) => drop(done.send(Err(error.clone()))),
            None => self.shared.queue.borrow_mut().push_back(Pending { data, aside, done }),
        }
        self.shared.wake.notify_waiters();
        Proposal(receiver)
    }

    /// How often queued entries were refused. Whoever decides ahead of commit starts over from [`Quorum::image`] when it
    /// changes.
    pub(crate) fn refusals(&self) -> u64 {
        self.shared.refusals.get()
    }

    /// Commits what is queued, then closes the files. Idempotent.
    pub async fn stop(&self) {
        self.shared.stopping.set(true);
        self.shared.wake.notify_waiters();
        let task = self.task.borrow_mut().take();
        if let Some(task) = task {
            task.await;
        }
    }

    /// Waits until the quorum takes nothing any more, and says why.
    pub async fn ended(&self) -> QuorumError {
        loop {
            let end = self.shared.end.notified();
            if let Some(error) = self.shared.ended.borrow().clone() {
                return error;
            }
            end.await;
        }
    }
}

impl Proposal {
    /// Waits.
    ///
    /// # Errors
    /// The entry was refused, or it is unknown whether it was committed.
    pub(crate) async fn committed(self) -> Result<(), QuorumError> {
        self.0.recv().await.unwrap_or(Err(QuorumError::Stopped))
    }
}
