//! What is particular to the ring engine, each on a ring of this kernel and on one as older kernels make it.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests watch the runtime from outside"
)]

use std::cell::Cell;
use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::task::Context;
use std::time::Duration;

use io_uring::IoUring;
use rustix::event::{EventfdFlags, eventfd};

use super::executor::Executor;
use super::reactor::Reactor;
use crate::ids::ShardId;
use crate::real::bomb::remember_panics;
use crate::real::current::{self, Shard};
use crate::real::helpers::Helpers;
use crate::real::task::Body;
use crate::real::turn::Turns;

/// Two tests of each of these shards, `NAME::newest` and `NAME::plain`.
macro_rules! on_both_rings {
    ($($name:ident),* $(,)?) => {
        $(mod $name {
            #[test]
            fn newest() {
                crate::real::ring::tests::shard(crate::real::ring::reactor::make_ring, super::$name);
            }

            #[test]
            fn plain() {
                crate::real::ring::tests::shard(crate::real::ring::reactor::make_plain_ring, super::$name);
            }
        })*
    };
}

mod end;
mod operations;
mod turns;

/// A hang is a failure after this.
const DEADLINE: Duration = Duration::from_secs(120);

/// Runs `main` as a shard of a thread of its own.
fn shard<F: Future<Output = ()> + 'static>(
    ring: fn() -> io::Result<IoUring>,
    main: impl FnOnce() -> F + Send + 'static,
) {
    remember_panics();
    let (done, ended) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let executor = Executor::on(ring().unwrap(), Duration::ZERO).unwrap();
        let shard = Rc::new(Shard {
            id: ShardId(0),
            timers: Default::default(),
            turns: Turns::new(),
            helpers: Helpers::start().unwrap(),
            ring: Some(executor.reactor()),
            probed_devices: Default::default(),
        });
        current::set(Some(shard.clone()));
        executor.run(&shard, Body::main(main(), shard.clone()));
        current::set(None);
        done.send(()).unwrap();
    });
    if let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(DEADLINE) {
        panic!("still running after {DEADLINE:?}: a wake-up was lost");
    }
    thread.join().unwrap();
}

fn reactor() -> Rc<Reactor> {
    current::ring("a test").unwrap()
}

/// A descriptor that is readable once it was written to.
fn event() -> Rc<OwnedFd> {
    Rc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).unwrap())
}

fn fire(event: &OwnedFd) {
    assert_eq!(rustix::io::write(event, &1_u64.to_ne_bytes()).unwrap(), 8);
}

/// Polls a future that isn't ready yet, once.
async fn begin<F: Future + Unpin>(future: &mut F) {
    std::future::poll_fn(|cx: &mut Context<'_>| {
        assert!(Pin::new(&mut *future).poll(cx).is_pending());
        std::task::Poll::Ready(())
    })
    .await;
}

/// Lets some turns pass.
async fn a_while() {
    crate::sleep(Duration::from_millis(10)).await;
}

/// Says that it was dropped.
struct OnDrop(Rc<Cell<usize>>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}
