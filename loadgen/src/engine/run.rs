//! Starting the shards, and hearing from them.

use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use rt::{ShardsConfig, boot};

use super::{Control, Plan, Stats, shard};
use crate::LoadError;
use crate::producer::Finished;
use crate::verify::Ledger;

/// Memory that each shard locks for its rings, in bytes, three times: little, since the broker may be on the same
/// host and locked memory is scarce.
const IO_MEMORY_BYTES: usize = 64 * 1024;
/// Reports that wait for the conductor, from each shard.
const REPORTS_MAX: usize = 64;

/// What shards tell.
#[derive(Debug)]
pub(crate) enum Report {
    /// A shard is up and waits for the start.
    Ready,
    /// A tick's figures. Ticks count from 0 at the start; the last one of a shard may be short.
    Tick { index: u64, stats: Box<Stats>, last_record_ns: u64 },
    /// All producers of a shard have ended.
    Produced(Vec<Finished>),
    /// All consumers of a shard have reached their ends.
    Consumed,
    /// What a shard's consumers have proven.
    Proven(Vec<Ledger>),
    /// A task failed for good.
    Failed(String),
    /// A shard has ended.
    Ended,
}

/// Shards that run a plan. Dropping it stops them and waits for their end.
#[derive(Debug)]
pub(crate) struct Engine {
    control: Arc<Control>,
    reports: flume::Receiver<Report>,
    thread: Option<JoinHandle<Result<(), boot::BootError>>>,
    shards: u16,
}

impl Engine {
    /// Starts the shards and waits until all are up; the load begins with [`Control::start_at`].
    pub(crate) fn start(plan: Plan, rate_per_s: f64) -> Result<Self, LoadError> {
        let shards = plan.shards;
        let control = Arc::new(Control::new(rate_per_s));
        let (sender, reports) = flume::bounded(REPORTS_MAX * usize::from(shards));
        let mut config = ShardsConfig::unpinned(usize::from(shards));
        config.io_memory = Some(IO_MEMORY_BYTES);
        let (plan, orders) = (Arc::new(plan), control.clone());
        let body = move || {
            rt::run(config, move |shard| shard::run(plan.clone(), orders.clone(), sender.clone(), shard.0))
        };
        let thread = Builder::new().name("loadgen".into()).spawn(body);
        let thread = thread.map_err(|error| LoadError::Boot(boot::BootError::Thread(error)))?;
        let mut engine = Self { control, reports, thread: Some(thread), shards };
        engine.until_ready()?;
        Ok(engine)
    }

    fn until_ready(&mut self) -> Result<(), LoadError> {
        for _ in 0..self.shards {
            match self.reports.recv() {
                Ok(Report::Ready) => {}
                // The sender is gone: the shards never came up.
                _ => {
                    return Err(self
                        .join()
                        .err()
                        .unwrap_or_else(|| LoadError::Usage("no shard came up".into())));
                }
            }
        }
        Ok(())
    }

    pub(crate) fn control(&self) -> &Control {
        &self.control
    }

    /// The next report, if one comes in time.
    pub(crate) fn recv(&self, wait: Duration) -> Option<Report> {
        self.reports.recv_timeout(wait).ok()
    }

    fn join(&mut self) -> Result<(), LoadError> {
        let Some(thread) = self.thread.take() else { return Ok(()) };
        match thread.join() {
            Ok(outcome) => outcome.map_err(LoadError::Boot),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.control.stop();
        self.control.abort();
        // A shard may wait for room to report; those before it are of no use any more.
        while self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            drop(self.recv(Duration::from_millis(10)));
        }
        let _ = self.join();
    }
}
