//! [`Journal`]: the state of one shard's journal.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::rc::{Rc, Weak};

use rt::Instant;
use rt::fs::{File, IoBuf};
use rt::sync::{Budget, Notify, Permit};

use super::config::JournalConfig;
use super::frame::FrameHeader;
use super::ring::{Ring, Room};
use crate::limits::{BLOCK_BYTES, FRAMES_IN_FLIGHT_MAX, JOURNAL_CHECKPOINT_PAUSE, PINNED_BYTES_MIN};
use crate::log::inner::LogInner;

/// A file of the journal.
#[derive(Debug)]
pub(crate) struct JournalFile {
    pub number: u32,
    pub file: File,
}

/// What the journal holds of one log.
#[derive(Debug)]
struct Journaled {
    log: Weak<LogInner>,
    /// The first frame with bytes that may not be in the segment and synced; `None` if all are.
    first: Option<u64>,
    /// The last frame.
    last: u64,
}

/// One shard's journal in one directory. Frames are written by whoever holds its lock.
#[derive(Debug)]
pub(crate) struct Journal {
    pub config: JournalConfig,
    pub id: u64,
    /// Of the start that it is of.
    pub start: u64,
    pub ring: RefCell<Ring<Rc<JournalFile>>>,
    /// Held while frames are written and synced: whole, or a part by each of the frames that are on their way together.
    lock: Budget,
    /// How many are on their way together.
    flying: Cell<usize>,
    /// Wakes when one of them has arrived.
    pub landed: Notify,
    /// Number of the next frame to be written.
    issued: Cell<u64>,
    /// Number of the first frame that isn't written whole: as long as one is on its way, it may be needed.
    next: Cell<u64>,
    /// Frames before this one aren't needed.
    floor: Cell<u64>,
    /// Whether there are frames that may not be durable.
    unsynced: Cell<bool>,
    /// A write or sync failed. No frame may follow: one behind a lost one would have a replay take the frames before it
    /// for freed.
    broken: Cell<bool>,
    /// Logs with frames that a replay would look at.
    logs: RefCell<BTreeMap<u64, Journaled>>,
    /// Bytes of all logs that are in the journal and not in a segment.
    pub pinned: Cell<usize>,
    /// As many may be.
    pinned_max: usize,
    /// Since when anything waits to be brought to its segment.
    waiting_since: Cell<Option<Instant>>,
    /// Frames were refused since the last checkpoint began.
    refused: Cell<bool>,
    /// When the next one may begin by itself.
    checkpoint_after: Cell<Option<Instant>>,
    pub checkpointing: Cell<bool>,
    /// Wakes when a log left the journal.
    pub left: Notify,
    /// Whether a file is being made.
    pub making: Cell<bool>,
    /// Wakes when a checkpoint or the making of a file has ended.
    pub work_ended: Notify,
    /// When to try again to make a file.
    pub make_after: Cell<Option<Instant>>,
    pub next_number: Cell<u32>,
    /// The directory is being closed: a log that is closed needs no floor frame.
    pub ending: Cell<bool>,
    /// Nothing is written any more.
    pub closed: Cell<bool>,
    /// See [`crate::Mutant::FramesOutOfOrder`].
    #[cfg(feature = "mutants")]
    pub out_of_order: Cell<bool>,
}

/// The right to write frames.
#[derive(Debug)]
pub(crate) struct Lock {
    _permit: Permit,
}

/// The right to write one frame beside others.
#[derive(Debug)]
pub(crate) struct Flight {
    journal: Rc<Journal>,
    _permit: Permit,
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.journal.flying.set(self.journal.flying.get() - 1);
        self.journal.landed.notify_waiters();
    }
}

/// A frame on its way.
#[derive(Debug)]
pub(crate) struct Issued {
    sequence: u64,
    file: Rc<JournalFile>,
    position: u64,
    buf: IoBuf,
    durable: bool,
}

/// A frame to be written.
#[derive(Debug)]
pub(crate) struct Draft {
    /// Its entries and payload, behind room for its header; then zeros up to a whole block.
    pub buf: IoBuf,
    /// Where the zeros begin.
    pub bytes: usize,
    pub entries: usize,
    /// Whether a sync would follow at once.
    pub durable: bool,
}

/// How writing a frame ended.
#[derive(Debug)]
pub(crate) enum Put {
    /// It has this number.
    Written(u64),
    /// There is no room for it.
    Full,
}

impl Journal {
    /// A journal without files: they are made when there is something to write.
    pub(crate) fn new(config: JournalConfig, tail_bytes_max: usize, start: u64) -> Self {
        let half = usize::try_from(config.bytes / 2).unwrap_or(usize::MAX);
        Self {
            id: rt::random_u64(),
            start,
            ring: RefCell::new(Ring::new(config.file_bytes())),
            lock: Budget::new(FRAMES_IN_FLIGHT_MAX),
            flying: Cell::new(0),
            landed: Notify::new(),
            issued: Cell::new(1),
            next: Cell::new(1),
            floor: Cell::new(1),
            unsynced: Cell::new(false),
            broken: Cell::new(false),
            logs: RefCell::default(),
            pinned: Cell::new(0),
            // Tails share this memory: the rest is for batches that readers want.
            pinned_max: half.min((tail_bytes_max / 2).max(PINNED_BYTES_MIN)),
            waiting_since: Cell::new(None),
            refused: Cell::new(false),
            checkpoint_after: Cell::new(None),
            checkpointing: Cell::new(false),
            left: Notify::new(),
            making: Cell::new(false),
            work_ended: Notify::new(),
            make_after: Cell::new(None),
            next_number: Cell::new(0),
            ending: Cell::new(false),
            closed: Cell::new(false),
            #[cfg(feature = "mutants")]
            out_of_order: Cell::new(false),
            config,
        }
    }

    /// Whether there is one.
    pub(crate) fn is_on(&self) -> bool {
        self.config.bytes > 0 && !self.closed.get()
    }

    /// Whether a log's `pending` bytes go here, and not to their segment, beside `others` of the same flush.
    pub(crate) fn takes(&self, log: &LogInner, pending: usize, others: usize) -> bool {
        // A log without a topic's id couldn't be told from another of that number at a replay.
        self.is_on()
            && !log.topic_id.is_zero()
            && !log.is_future
            && pending < self.direct_bytes()
            && self.pinned.get() + others + pending <= self.pinned_max
            && self.has_files()
    }

    /// From how many bytes on a log is written directly: no entry is split over frames.
    pub(crate) fn direct_bytes(&self) -> usize {
        let whole = self.config.frame_bytes_max() - super::frame::frame_bytes(1, 0);
        self.config.direct_bytes.min(whole)
    }

    fn has_files(&self) -> bool {
        self.ring.borrow().count() > 1
    }

    /// Takes the right to write frames, once all that are on their way have arrived.
    pub(crate) async fn lock(&self) -> Lock {
        Lock { _permit: self.lock.take(FRAMES_IN_FLIGHT_MAX).await }
    }

    /// Takes the right to write one durable frame of so many bytes beside others. `None` where it can't be beside: then [`Self::lock`]
    /// tells more.
    ///
    /// All of them are in one file, where a replay ends at the first that was lost; each is durable by itself.
    pub(crate) fn fly(self: &Rc<Self>, bytes: usize) -> Option<Flight> {
        let padded = bytes.next_multiple_of(BLOCK_BYTES) as u64;
        self.ring.borrow_mut().reclaim(self.floor.get());
        let is_here = self.ring.borrow().room(padded, 1) == Room::Here;
        if !is_here || !self.is_durable() || self.broken.get() || bytes > self.config.frame_bytes_max() {
            return None;
        }
        let permit = self.lock.try_take(1)?;
        self.flying.set(self.flying.get() + 1);
        Some(Flight { journal: self.clone(), _permit: permit })
    }

    /// Whether as many frames are on their way as may be.
    pub(crate) fn is_flying_full(&self) -> bool {
        self.flying.get() >= FRAMES_IN_FLIGHT_MAX
    }

    /// Number of the next frame.
    pub(crate) fn next_sequence(&self) -> u64 {
        self.next.get()
    }

    /// Writes a frame. Leaves `spare` files free.
    ///
    /// # Errors
    /// Of the device: the journal can't be used any more then.
    pub(crate) async fn put(&self, lock: &Lock, draft: Draft, spare: usize) -> io::Result<Put> {
        if !self.make_room(lock, draft.buf.len() as u64, spare).await? {
            self.refused.set(true);
            return Ok(Put::Full);
        }
        match self.issue(draft) {
            None => Ok(Put::Full),
            Some(issued) => self.write(issued).await.map(Put::Written),
        }
    }

    /// Gives a frame its number and its place, which there is room for.
    pub(crate) fn issue(&self, draft: Draft) -> Option<Issued> {
        let Draft { mut buf, bytes, entries, durable } = draft;
        let sequence = self.issued.get();
        let (file, position, lap) = {
            let ring = self.ring.borrow();
            let (file, position) = ring.current()?;
            (file.clone(), position, ring.lap())
        };
        let header = FrameHeader {
            journal: self.id,
            lap,
            sequence,
            floor: self.floor.get(),
            entries: entries as u32,
            bytes: bytes as u32,
        };
        header.seal(&mut buf);
        // One operation instead of two; behind frames that aren't durable it wouldn't make those so.
        let durable = durable && self.is_durable();
        self.unsynced.set(!durable);
        self.issued.set(sequence + 1);
        self.ring.borrow_mut().advance(buf.len() as u64, sequence);
        Some(Issued { sequence, file, position, buf, durable })
    }

    /// Writes a frame. It counts, and its number is given, once all before it do: behind a lost one it would be lost too.
    ///
    /// # Errors
    /// Of the device, also with a frame before it: the journal can't be used any more then.
    pub(crate) async fn write(&self, issued: Issued) -> io::Result<u64> {
        let Issued { sequence, file, position, buf, durable } = issued;
        let (written, _) = match durable {
            true => file.file.write_durable_at(position, buf).await,
            false => file.file.write_at(position, buf).await,
        };
        if written.is_err() {
            self.broken.set(true);
        }
        #[cfg(feature = "mutants")]
        if self.out_of_order.get() {
            self.next.set(sequence);
        }
        while self.next.get() != sequence && !self.broken.get() {
            self.landed.notified().await;
        }
        if !self.broken.get() {
            self.next.set(sequence + 1);
        }
        self.landed.notify_waiters();
        written?;
        match self.broken.get() {
            true => Err(io::Error::other("the journal failed before")),
            false => Ok(sequence),
        }
    }

    /// Begins the next file if the current one has no room for so many bytes. False if there is none.
    async fn make_room(&self, lock: &Lock, bytes: u64, spare: usize) -> io::Result<bool> {
        if self.broken.get() {
            return Err(io::Error::other("the journal failed before"));
        }
        self.ring.borrow_mut().reclaim(self.floor.get());
        let room = self.ring.borrow().room(bytes, spare);
        match room {
            Room::Here => Ok(true),
            Room::Full => Ok(false),
            Room::Next => {
                // A replay takes a broken link to an older file for a sign that it was freed.
                self.sync(lock).await?;
                self.ring.borrow_mut().begin_next();
                Ok(true)
            }
        }
    }

    /// Whether all frames are durable already.
    pub(crate) fn is_durable(&self) -> bool {
        !self.unsynced.get()
    }

    /// Makes all frames durable.
    ///
    /// # Errors
    /// Of the device: the journal can't be used any more then.
    pub(crate) async fn sync(&self, _lock: &Lock) -> io::Result<()> {
        if self.broken.get() {
            return Err(io::Error::other("the journal failed before"));
        }
        if self.is_durable() {
            return Ok(());
        }
        let current = self.ring.borrow().current().map(|(file, _)| file.clone());
        if let Some(current) = current {
            let synced = current.file.sync_data().await;
            self.broken.set(synced.is_err());
            synced?;
        }
        self.unsynced.set(false);
        Ok(())
    }

    /// Frame `sequence` has bytes of the log.
    pub(crate) fn note(&self, log: &Rc<LogInner>, sequence: u64) {
        let mut logs = self.logs.borrow_mut();
        let journaled = logs.entry(log.id).or_insert_with(|| Journaled {
            log: Rc::downgrade(log),
            first: None,
            last: sequence,
        });
        journaled.first.get_or_insert(sequence);
        journaled.last = sequence;
        if self.waiting_since.get().is_none() {
            self.waiting_since.set(Some(rt::now()));
        }
    }

    /// Forgets a log: all its frames are void, or in its segments and synced. False if it has none.
    pub(crate) fn forget(&self, log: u64) -> bool {
        let had_frames = self.logs.borrow_mut().remove(&log).is_some();
        self.left.notify_waiters();
        had_frames
    }

    /// Whether there are frames of the log that a replay would look at.
    pub(crate) fn has_frames_of(&self, log: u64) -> bool {
        self.logs.borrow().contains_key(&log)
    }

    /// Whether bytes of the log may be durable here only.
    pub(crate) fn is_needed_by(&self, log: u64) -> bool {
        self.logs.borrow().get(&log).is_some_and(|journaled| journaled.first.is_some())
    }

    /// Nothing of the log is needed any more, though it may come back until its floor frame is written.
    pub(crate) fn give_up(&self, log: u64) {
        if let Some(journaled) = self.logs.borrow_mut().get_mut(&log) {
            journaled.first = None;
        }
    }

    /// The logs with bytes in frames before `upto` that may not be in their segments and synced.
    pub(crate) fn waiting(&self, upto: u64) -> Vec<Rc<LogInner>> {
        let logs = self.logs.borrow();
        let waiting = logs.values().filter(|journaled| journaled.first.is_some_and(|first| first < upto));
        waiting.filter_map(|journaled| journaled.log.upgrade()).collect()
    }

    /// What the log has in frames before `upto` is in its segment and synced.
    pub(crate) fn settle(&self, log: u64, upto: u64) {
        if let Some(journaled) = self.logs.borrow_mut().get_mut(&log) {
            journaled.first = (journaled.last >= upto).then_some(upto);
        }
    }

    /// Moves the floor as far as what waits allows, for frames and files from now on. Gives it.
    pub(crate) fn raise_floor(&self) -> u64 {
        let floor = self.lowest_needed();
        self.floor.set(self.floor.get().max(floor));
        let waits = self.logs.borrow().values().any(|journaled| journaled.first.is_some());
        self.waiting_since.set(waits.then(rt::now));
        self.ring.borrow_mut().reclaim(self.floor.get());
        self.floor.get()
    }

    fn lowest_needed(&self) -> u64 {
        let logs = self.logs.borrow();
        logs.values().filter_map(|journaled| journaled.first).min().unwrap_or(self.next.get())
    }

    /// A frame with that floor is on the medium: logs without frames behind it are as if they had none.
    pub(crate) fn floor_is_durable(&self, floor: u64) {
        self.logs.borrow_mut().retain(|_, journaled| journaled.last >= floor);
    }

    /// When all that waits must be brought to the segments, for its age.
    pub(crate) fn due_at(&self) -> Option<Instant> {
        let due = self.waiting_since.get()? + self.config.age_max;
        Some(self.checkpoint_after.get().map_or(due, |after| due.max(after)))
    }

    /// Whether it is time for a checkpoint.
    pub(crate) fn wants_checkpoint(&self) -> bool {
        if !self.is_on() || self.checkpointing.get() || self.waiting_since.get().is_none() {
            return false;
        }
        if self.checkpoint_after.get().is_some_and(|after| rt::now() < after) {
            return false;
        }
        self.refused.get()
            || self.ring.borrow().used_bytes() >= self.config.bytes / 2
            || self.pinned.get() >= self.pinned_max / 2
            || self.due_at().is_some_and(|due| due <= rt::now())
    }

    /// A checkpoint begins. False if one is under way.
    pub(crate) fn begin_checkpoint(&self) -> bool {
        let begins = !self.checkpointing.replace(true);
        if begins {
            self.refused.set(false);
        }
        begins
    }

    /// A checkpoint brought the floor up to `floor`, of the frames before `upto` that it was to free. What held it back is there still:
    /// the next one waits a while.
    pub(crate) fn checkpointed(&self, floor: u64, upto: u64) {
        let after = (floor < upto).then(|| rt::now() + JOURNAL_CHECKPOINT_PAUSE);
        self.checkpoint_after.set(after);
    }

    /// Waits for the checkpoint under way, if there is one.
    pub(crate) async fn checkpoint_over(&self) {
        while self.checkpointing.get() {
            self.work_ended.notified().await;
        }
    }
}
