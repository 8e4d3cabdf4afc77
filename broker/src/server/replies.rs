//! [`Replies`]: answers of one connection, sent in the order of its requests.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures_util::stream::{FuturesOrdered, Stream};
use rt::net::Conn;
use rt::sync::{Notify, Permit};

use crate::metrics::{RequestClock, Stage};

/// Requests of a connection that are under way; a client with more waits.
const REQUESTS_MAX: usize = 64;

/// What becomes of a request.
#[derive(Debug)]
pub enum Reply {
    /// This is sent.
    Send(Vec<Bytes>),
    /// Nothing: acks=0.
    Nothing,
    /// The connection is closed, after what was answered before.
    Close,
}

/// A request being handled.
pub type ReplyFuture = Pin<Box<dyn Future<Output = Reply>>>;

/// The requests of a connection that aren't answered yet.
///
/// Produces run side by side, since each has its place in its logs already and may stand in other connections' way until it is polled:
/// also while the peer takes no answers, and when it has gone. Any other request begins when all before it are answered.
#[derive(Default)]
pub struct Replies {
    waiting: RefCell<VecDeque<Entry>>,
    /// Requests queued or running.
    count: Cell<usize>,
    /// Those of them that are no Produce.
    others: Cell<usize>,
    moved: Notify,
    sender: RefCell<Option<Waker>>,
    ending: Cell<bool>,
}

struct Entry {
    reply: ReplyFuture,
    permit: Permit,
    clock: RequestClock,
    is_produce: bool,
}

type Running = Pin<Box<dyn Future<Output = (Reply, RequestClock, bool)>>>;

impl Replies {
    /// Waits for room for a request; a Produce also until nothing but Produces is under way.
    pub async fn room(&self, is_produce: bool) {
        loop {
            let moved = self.moved.notified();
            if self.count.get() < REQUESTS_MAX && !(is_produce && self.others.get() > 0) {
                return;
            }
            moved.await;
        }
    }

    /// Queues a request; [`Self::room`] was waited for.
    pub fn push(&self, reply: ReplyFuture, permit: Permit, clock: RequestClock, is_produce: bool) {
        self.count.set(self.count.get() + 1);
        self.others.set(self.others.get() + usize::from(!is_produce));
        self.waiting.borrow_mut().push_back(Entry { reply, permit, clock, is_produce });
        self.wake_sender();
    }

    /// Whether no request is under way.
    pub fn is_empty(&self) -> bool {
        self.count.get() == 0
    }

    /// There will be no more requests, and nobody to answer: only Produces are finished.
    pub fn end(&self) {
        self.ending.set(true);
        self.wake_sender();
    }

    fn wake_sender(&self) {
        let waker = self.sender.borrow_mut().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn answered(&self, is_produce: bool) {
        self.count.set(self.count.get() - 1);
        self.others.set(self.others.get() - usize::from(!is_produce));
        self.moved.notify_waiters();
    }
}

impl std::fmt::Debug for Replies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replies")
            .field("count", &self.count)
            .field("others", &self.others)
            .finish_non_exhaustive()
    }
}

/// Runs the requests of a connection and sends their answers.
pub struct ReplySender {
    conn: Rc<Conn>,
    replies: Rc<Replies>,
    running: FuturesOrdered<Running>,
    /// Answers that wait for the ones being sent.
    ready: Vec<Bytes>,
    /// Their requests, and those of the answers being sent.
    answered: Vec<RequestClock>,
    leaving: Vec<RequestClock>,
    sending: Option<Pin<Box<dyn Future<Output = io::Result<()>>>>>,
    closing: bool,
}

impl std::fmt::Debug for ReplySender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReplySender").field("replies", &self.replies).finish_non_exhaustive()
    }
}

impl ReplySender {
    /// The sending half of `conn`.
    pub fn new(conn: Rc<Conn>, replies: Rc<Replies>) -> ReplySender {
        ReplySender {
            conn,
            replies,
            running: FuturesOrdered::new(),
            ready: Vec::new(),
            answered: Vec::new(),
            leaving: Vec::new(),
            sending: None,
            closing: false,
        }
    }

    /// Runs until a reply says that the connection is to be closed, or, after [`Replies::end`], until no Produce is under way.
    /// Dropping the future loses nothing: it may be called again.
    ///
    /// # Errors
    /// The connection broke.
    pub async fn run(&mut self) -> io::Result<()> {
        poll_fn(|cx| self.poll(cx)).await
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            self.begin();
            let mut progress = false;
            while let Poll::Ready(Some((reply, clock, is_produce))) =
                Pin::new(&mut self.running).poll_next(cx)
            {
                progress = true;
                self.replies.answered(is_produce);
                self.take(reply, clock);
            }
            let ending = self.replies.ending.get();
            if ending {
                self.ready.clear();
                self.sending = None;
                self.answered.clear();
                self.leaving.clear();
            }
            if self.sending.is_none() && !self.ready.is_empty() {
                let (conn, bufs) = (Rc::clone(&self.conn), std::mem::take(&mut self.ready));
                std::mem::swap(&mut self.leaving, &mut self.answered);
                self.sending = Some(Box::pin(async move { conn.send(bufs).await }));
            }
            if let Some(sending) = &mut self.sending
                && let Poll::Ready(sent) = sending.as_mut().poll(cx)
            {
                self.sending = None;
                sent?;
                let now = rt::now();
                self.leaving.drain(..).for_each(|clock| clock.end(now));
                progress = true;
            }
            let nothing_to_send = self.sending.is_none() && self.ready.is_empty();
            if nothing_to_send && self.closing && !ending {
                return Poll::Ready(Ok(()));
            }
            if ending && self.only_others() {
                return Poll::Ready(Ok(()));
            }
            if !progress {
                *self.replies.sender.borrow_mut() = Some(cx.waker().clone());
                return Poll::Pending;
            }
        }
    }

    /// An answer's turn has come.
    fn take(&mut self, reply: Reply, mut clock: RequestClock) {
        match reply {
            Reply::Send(bufs) if !self.closing => {
                clock.answered(bufs.iter().map(Bytes::len).sum());
                self.answered.push(clock);
                self.ready.extend(bufs);
            }
            Reply::Send(_) => {}
            Reply::Nothing => clock.end(rt::now()),
            Reply::Close => self.closing = true,
        }
    }

    /// Whether no Produce is under way.
    fn only_others(&self) -> bool {
        self.replies.others.get() == self.replies.count.get()
    }

    /// Begins the requests whose turn it is.
    fn begin(&mut self) {
        let mut waiting = self.replies.waiting.borrow_mut();
        while let Some(first) = waiting.front() {
            // One answer may wait behind the one being sent: a reader that doesn't read must not fill the memory.
            let turn = first.is_produce
                || (self.running.is_empty()
                    && self.ready.is_empty()
                    && !self.closing
                    && !self.replies.ending.get());
            if !turn {
                return;
            }
            let Some(Entry { reply, permit, mut clock, is_produce }) = waiting.pop_front() else { return };
            self.running.push_back(Box::pin(async move {
                if !is_produce {
                    clock.end_stage(Stage::Queue);
                }
                let reply = reply.await;
                clock.end_stage(Stage::Handle);
                drop(permit);
                (reply, clock, is_produce)
            }));
        }
    }
}
