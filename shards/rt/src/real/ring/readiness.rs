//! Waiting until a descriptor is ready.

use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use io_uring::opcode::PollAdd;
use io_uring::types::Fd;
use rustix::event::PollFlags;

use super::op::{IfDropped, Op};
use super::reactor::Reactor;

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interest {
    Readable,
    Writable,
}

type PollOp = Op<Rc<OwnedFd>>;

/// A wait that outlives the futures that poll it, so that a task polled for other reasons begins none anew.
pub(crate) struct Wait {
    interest: Interest,
    under_way: RefCell<Option<PollOp>>,
}

impl Wait {
    pub(crate) fn new(interest: Interest) -> Wait {
        Wait { interest, under_way: RefCell::new(None) }
    }

    /// Ready when `fd` has become so since the call that began the wait; an error or end of the peer counts.
    pub(crate) fn poll(
        &self,
        reactor: &Rc<Reactor>,
        fd: &Rc<OwnedFd>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        let mut under_way = self.under_way.borrow_mut();
        let op = under_way.get_or_insert_with(|| begin(reactor, fd, self.interest));
        let (result, _) = match Pin::new(op).poll(cx) {
            Poll::Ready(ready) => ready,
            Poll::Pending => return Poll::Pending,
        };
        *under_way = None;
        Poll::Ready(result.map(drop))
    }
}

/// Waits once.
pub(crate) async fn ready(reactor: &Rc<Reactor>, fd: Rc<OwnedFd>, interest: Interest) -> io::Result<()> {
    begin(reactor, &fd, interest).await.0.map(drop)
}

fn begin(reactor: &Rc<Reactor>, fd: &Rc<OwnedFd>, interest: Interest) -> PollOp {
    let events = match interest {
        Interest::Readable => PollFlags::IN | PollFlags::RDHUP,
        Interest::Writable => PollFlags::OUT,
    };
    Op::begin(reactor, Rc::clone(fd), IfDropped::Cancel, |fd| {
        PollAdd::new(Fd(fd.as_raw_fd()), u32::from(events.bits())).build()
    })
}
