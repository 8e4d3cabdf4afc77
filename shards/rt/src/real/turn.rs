//! When a shard must look at its rings: after 200 us or 256 KiB of work.
//!
//! The ring engine's run loop stops after that much work by itself; a task that passes a yield point gives it the chance.
//!
//! glommio polls its rings only when no task is ready, or after its own 100 ms. Connections that always have
//! more to do would starve the others for that long, and a plain yield doesn't help: it polls no ring. So
//! tasks pass a yield point, and after 200 us or 256 KiB of work since the rings were last seen to be polled
//! they wait for a read of one cached byte to go through a ring (glommio offers no no-op outside of its
//! benchmarks). All that reach a yield point meanwhile wait for the same one, so the shard has nothing to run
//! and polls.

use std::cell::{Cell, OnceCell};
use std::time::Duration;

use glommio::io::BufferedFile;

use super::relay::relay;
use super::time::now_ns;
use crate::sync::Notify;

/// Work between two polls of the rings.
const RUN_MAX: Duration = Duration::from_micros(200);

/// The same in bytes moved, where a clock would be read too seldom.
const RUN_BYTES_MAX: usize = 256 * 1024;

/// The shard's account of work since its last ring operation.
pub(crate) struct Turns {
    /// Nanoseconds that tasks ran, without the poll under way.
    busy_ns: Cell<u64>,
    /// When the poll under way began.
    poll_began_ns: Cell<u64>,
    busy_bytes: Cell<usize>,
    in_flight: Cell<bool>,
    done: Notify,
    /// What the byte is read from.
    file: OnceCell<BufferedFile>,
}

impl Turns {
    /// Opens nothing yet: until then no turn is taken.
    pub(crate) fn new() -> Turns {
        Turns {
            busy_ns: Cell::new(0),
            poll_began_ns: Cell::new(now_ns()),
            busy_bytes: Cell::new(0),
            in_flight: Cell::new(false),
            done: Notify::new(),
            file: OnceCell::new(),
        }
    }

    /// Opens the file to read from: the program itself, which is there and in memory.
    pub(crate) async fn open(&self) -> std::io::Result<()> {
        let file = BufferedFile::open("/proc/self/exe").await.map_err(std::io::Error::from)?;
        let _ = self.file.set(file);
        Ok(())
    }

    /// A task's poll begins. Two of these clock readings a poll, ~20 ns each.
    pub(crate) fn poll_began(&self) {
        self.poll_began_ns.set(now_ns());
    }

    /// The poll ended.
    pub(crate) fn poll_ended(&self) {
        self.busy_ns.set(self.busy_ns.get() + (now_ns() - self.poll_began_ns.get()));
    }

    /// Counts bytes moved.
    pub(crate) fn consume(&self, bytes: usize) {
        self.busy_bytes.set(self.busy_bytes.get().saturating_add(bytes));
    }

    fn is_due(&self) -> bool {
        let busy_ns = self.busy_ns.get() + (now_ns() - self.poll_began_ns.get());
        self.busy_bytes.get() >= RUN_BYTES_MAX || busy_ns >= RUN_MAX.as_nanos() as u64
    }

    /// A poll has run for long enough for the run loop of the ring engine to look at its ring.
    pub(crate) fn is_overdue(&self) -> bool {
        self.busy_bytes.get() >= RUN_BYTES_MAX || self.busy_ns.get() >= RUN_MAX.as_nanos() as u64
    }

    /// The ring engine has looked at its ring.
    pub(crate) fn taken(&self) {
        self.busy_bytes.set(0);
        self.busy_ns.set(0);
    }

    /// On the ring engine: lets the run loop go on if the ring is due. The loop stops there by itself, since it counts the same work.
    async fn pass_once(&self) {
        if self.is_due() {
            // What is overdue stays so until the ring was looked at. More than once: a set of futures may poll one again before it gives its own
            // turn away.
            self.busy_bytes.set(RUN_BYTES_MAX);
            while self.busy_bytes.get() >= RUN_BYTES_MAX {
                futures_lite::future::yield_now().await;
            }
        }
    }

    /// Returns at once unless the rings are due.
    pub(crate) async fn pass(&self, is_ring: bool) {
        if is_ring {
            return self.pass_once().await;
        }
        if self.in_flight.get() {
            return self.done.notified().await;
        }
        if !self.is_due() {
            return;
        }
        let Some(file) = self.file.get() else { return };
        let flight = Flight::begin(self);
        // An error went through the ring as well.
        let _ = relay(file.read_at(0, 1)).await;
        drop(flight);
    }
}

/// The operation under way. Its end, also by a dropped task, lets the others go on.
struct Flight<'a>(&'a Turns);

impl Flight<'_> {
    fn begin(turns: &Turns) -> Flight<'_> {
        turns.in_flight.set(true);
        Flight(turns)
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.set(false);
        self.0.busy_bytes.set(0);
        self.0.busy_ns.set(0);
        // What the poll under way had done before it waited is not counted again.
        self.0.poll_began_ns.set(now_ns());
        self.0.done.notify_waiters();
    }
}
