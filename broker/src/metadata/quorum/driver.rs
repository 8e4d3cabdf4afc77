//! The quorum's task: it alone writes the files, moves the machine and changes the image.

use std::collections::VecDeque;
use std::rc::Rc;

use rt::lane;

use super::batch;
use super::config::{MetadataUpdate, QuorumConfig};
use super::error::QuorumError;
use super::files::{LogFile, SNAPSHOT_NAME};
use super::frame::{Frame, frame_bytes};
use super::handle::{Pending, Shared};
use super::machine::{Committed, Machine};
use super::open::Opened;
use super::snapshot;
use crate::metadata::image::{Delta, Image};
use crate::metadata::limits::ENTRY_BYTES_MAX;

/// An entry that was given to the machine.
#[derive(Debug)]
struct InFlight {
    index: u64,
    term: u64,
    pending: Pending,
}

/// One flush at a time: all that is queued when it starts goes with it, all that comes meanwhile with the next.
#[derive(Debug)]
pub(super) struct Driver {
    shared: Rc<Shared>,
    config: QuorumConfig,
    log: LogFile,
    machine: Machine,
    /// Index and term of the last entry that was applied.
    applied: (u64, u64),
    /// Term and vote on disk.
    voted: (u64, u64),
    in_flight: VecDeque<InFlight>,
    subscribers: Vec<lane::Sender<MetadataUpdate>>,
    /// Bytes of the log at which the next snapshot is tried.
    snapshot_at: u64,
}

impl Driver {
    /// Becomes the leader, which commits all that the log holds, and hands out the image.
    pub(super) async fn elect(
        shared: Rc<Shared>,
        config: &QuorumConfig,
        opened: Opened,
        subscribers: Vec<lane::Sender<MetadataUpdate>>,
    ) -> Result<Self, QuorumError> {
        let Opened { log, machine, applied, .. } = opened;
        let hard_state = machine.hard_state();
        let mut driver = Self {
            shared,
            config: config.clone(),
            log,
            machine,
            applied,
            voted: (hard_state.term, hard_state.vote),
            in_flight: VecDeque::new(),
            subscribers: Vec::new(),
            snapshot_at: config.snapshot_bytes,
        };
        driver.log.reserve(frame_bytes(0, 0)).await?;
        driver.machine.campaign()?;
        driver.flush().await?;
        driver.subscribers = subscribers;
        let image = driver.image();
        driver.tell(&MetadataUpdate::Image(Box::new(image))).await;
        Ok(driver)
    }

    /// Serves the queue until the quorum is stopped or its disk fails.
    pub(super) async fn run(mut self) {
        let end = loop {
            let wake = self.shared.wake.notified();
            let batch = self.take_queued();
            if batch.is_empty() {
                if self.shared.stopping.get() {
                    break QuorumError::Stopped;
                }
                wake.await;
                continue;
            }
            drop(wake);
            if let Err(error) = self.round(batch).await {
                tracing::error!(%error, "metadata quorum: the log failed");
                break error;
            }
        };
        self.finish(end).await;
    }

    fn take_queued(&self) -> Vec<Pending> {
        let mut queue = self.shared.queue.borrow_mut();
        let mut batch = Vec::new();
        let mut bytes = 0;
        while let Some(next) = queue.pop_front() {
            let len = next.data.as_ref().map_or(0, bytes::Bytes::len);
            if !batch.is_empty() && bytes + len > ENTRY_BYTES_MAX {
                queue.push_front(next);
                break;
            }
            bytes += len;
            batch.push(next);
        }
        batch
    }

    async fn round(&mut self, mut batch: Vec<Pending>) -> Result<(), QuorumError> {
        // The place among the entries is the same for all subscribers, whatever becomes of the batch.
        for aside in batch.iter_mut().filter_map(|pending| pending.aside.take()) {
            self.tell(&aside).await;
        }
        match self.reserve(&batch).await {
            Ok(()) => {}
            Err(QuorumError::DiskFull) => {
                self.refuse(batch, &QuorumError::DiskFull);
                return Ok(());
            }
            Err(error) => {
                self.in_flight.extend(batch.into_iter().map(|pending| InFlight {
                    index: 0,
                    term: 0,
                    pending,
                }));
                return Err(error);
            }
        }
        let mut barriers = Vec::new();
        for mut pending in batch {
            let Some(data) = pending.data.take() else {
                barriers.push(pending);
                continue;
            };
            let (index, term) = self.machine.propose(data)?;
            self.in_flight.push_back(InFlight { index, term, pending });
        }
        self.flush().await?;
        for pending in barriers {
            answer(pending, Ok(()));
        }
        if self.log.bytes() >= self.snapshot_at {
            self.snapshot().await?;
        }
        Ok(())
    }

    /// Space for what the batch writes: nothing if it only waits for what was decided before, which a full disk must not refuse.
    async fn reserve(&mut self, batch: &[Pending]) -> Result<(), QuorumError> {
        let data = batch.iter().filter_map(|pending| pending.data.as_ref());
        let (count, bytes) = (data.clone().count(), data.map(bytes::Bytes::len).sum());
        if count == 0 { Ok(()) } else { self.log.reserve(frame_bytes(count, bytes)).await }
    }

    /// Nothing of the batch was given to the machine. What is queued behind it was decided on top of it.
    fn refuse(&self, batch: Vec<Pending>, error: &QuorumError) {
        self.shared.refusals.set(self.shared.refusals.get() + 1);
        let behind = std::mem::take(&mut *self.shared.queue.borrow_mut());
        for pending in batch.into_iter().chain(behind) {
            answer(pending, Err(error.clone()));
        }
    }

    /// Persists what the machine has, and applies what it commits.
    async fn flush(&mut self) -> Result<(), QuorumError> {
        while let Some(frame) = self.machine.flush() {
            let voted = (frame.hard_state.term, frame.hard_state.vote);
            // A commit index alone isn't worth a sync: the next leader finds it again.
            if !frame.entries.is_empty() || voted != self.voted {
                self.log.append(&frame).await?;
                self.voted = voted;
            }
            for committed in self.machine.persisted() {
                self.apply(committed).await?;
                // A long log at a start, or a restart's bump of many epochs, must not hold up the shard.
                rt::yield_point().await;
            }
        }
        Ok(())
    }

    async fn apply(&mut self, committed: Committed) -> Result<(), QuorumError> {
        let Committed { index, term, data } = committed;
        if !data.is_empty() {
            let records = batch::decode(data)?.into();
            let base_offset = self.shared.image.borrow().offset + 1;
            let epoch = i32::try_from(term).unwrap_or(i32::MAX);
            let delta = Delta { base_offset, epoch, records };
            self.shared.image.borrow_mut().apply_delta(&delta)?;
            self.tell(&MetadataUpdate::Delta(delta)).await;
        }
        self.applied = (index, term);
        while self.in_flight.front().is_some_and(|first| first.index <= index)
            && let Some(first) = self.in_flight.pop_front()
        {
            let ours = (first.index, first.term) == (index, term);
            answer(first.pending, if ours { Ok(()) } else { Err(QuorumError::Stopped) });
        }
        Ok(())
    }

    /// Waits for a subscriber that is behind; one that is gone is left out from then on.
    async fn tell(&mut self, update: &MetadataUpdate) {
        let mut gone = Vec::new();
        for (i, subscriber) in self.subscribers.iter_mut().enumerate() {
            if subscriber.send(update.clone()).await.is_err() {
                gone.push(i);
            }
        }
        for i in gone.into_iter().rev() {
            self.subscribers.remove(i);
        }
    }

    /// Writes the image to the snapshot file, then starts the log anew behind it. A crash between the two is harmless:
    /// entries that the snapshot holds are skipped.
    async fn snapshot(&mut self) -> Result<(), QuorumError> {
        let (index, term) = self.applied;
        let image = self.image();
        let file = snapshot::encode(self.config.raft_id(), index, term, &image).await?;
        let path = self.config.dir.join(SNAPSHOT_NAME);
        let bytes = file.len();
        match rt::fs::write_atomic(&path, file).await {
            Err(error) if super::files::is_full(&error) => return self.put_snapshot_off(),
            result => result.map_err(|error| QuorumError::io(&path, &error))?,
        }
        let mut hard_state = self.machine.hard_state();
        hard_state.commit = index;
        let frame = Frame { hard_state, entries: Vec::new() };
        match self.log.restart(index, term, &frame, rt::random_u64()).await {
            Err(QuorumError::DiskFull) => return self.put_snapshot_off(),
            result => result?,
        }
        self.snapshot_at = self.config.snapshot_bytes;
        tracing::info!(offset = image.offset, bytes, "metadata snapshot written");
        Ok(())
    }

    /// The log goes on; another try when it has grown as much again.
    fn put_snapshot_off(&mut self) -> Result<(), QuorumError> {
        tracing::warn!("no space for a metadata snapshot");
        self.snapshot_at = self.log.bytes() + self.config.snapshot_bytes;
        Ok(())
    }

    fn image(&self) -> Image {
        self.shared.image.borrow().clone()
    }

    async fn finish(self, end: QuorumError) {
        let clean = matches!(end, QuorumError::Stopped);
        *self.shared.ended.borrow_mut() = Some(end.clone());
        let queued = std::mem::take(&mut *self.shared.queue.borrow_mut());
        for pending in self.in_flight.into_iter().map(|one| one.pending).chain(queued) {
            answer(pending, Err(end.clone()));
        }
        if clean && let Err(error) = self.log.close().await {
            tracing::warn!(%error, "metadata log: not closed cleanly");
        }
        self.shared.end.notify_waiters();
    }
}

/// Whoever asked may be gone.
fn answer(pending: Pending, result: Result<(), QuorumError>) {
    drop(pending.done.send(result));
}
