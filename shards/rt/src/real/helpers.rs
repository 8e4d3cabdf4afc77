//! Threads for calls that block.

use std::sync::Arc;

use super::bomb::Bomb;

/// Helper threads of the process, shared by its shards. A few: they run file system calls, which queue up on
/// the same devices anyway, and a `syncfs` must not hold up every directory listing.
const HELPERS: usize = 4;

/// Calls that may wait for a helper; more wait at their caller.
const QUEUE: usize = 256;

type Job = Box<dyn FnOnce() + Send>;

/// Sends calls to the helper threads, which end when it is dropped.
#[derive(Debug)]
pub(crate) struct Helpers {
    jobs: flume::Sender<Job>,
}

impl Helpers {
    /// Starts the threads. Call it on a thread that isn't pinned to a core: they inherit that.
    pub(crate) fn start() -> std::io::Result<Arc<Helpers>> {
        let (jobs, queue) = flume::bounded::<Job>(QUEUE);
        for index in 0..HELPERS {
            let queue = queue.clone();
            std::thread::Builder::new().name(format!("helper-{index}")).spawn(move || {
                let _bomb = Bomb("a blocking call");
                while let Ok(job) = queue.recv() {
                    job();
                }
            })?;
        }
        Ok(Arc::new(Helpers { jobs }))
    }

    /// Runs `call` on a helper. If the future is dropped the call still runs, and its result is dropped.
    pub(crate) async fn run<T: Send + 'static>(&self, call: impl FnOnce() -> T + Send + 'static) -> T {
        let (done, result) = flume::bounded(1);
        let job: Job = Box::new(move || {
            // An error says that the caller has gone.
            let _ = done.send(call());
        });
        self.jobs.send_async(job).await.expect("helpers live as long as their shards");
        result.recv_async().await.expect("a helper ends the process before it loses a call")
    }
}
