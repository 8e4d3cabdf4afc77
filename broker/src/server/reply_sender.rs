//! [`ReplySender`]: runs the requests of a connection and sends their answers.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::stream::{FuturesOrdered, Stream};
use rt::net::Conn;
use rt::sync::{Budget, Permit};

use super::replies::{End, Entry, Replies, Reply};
use super::sending::{Outgoing, send};
use crate::metrics::{RequestClock, Stage};

type Running = Pin<Box<dyn Future<Output = (Reply, RequestClock, bool)>>>;

/// The sending half of a connection.
///
/// At most two answers of a connection are in memory that are no Produce's: one being sent, one behind it. A request that is no Produce
/// begins only when there is neither one behind nor another under way.
pub struct ReplySender {
    conn: Rc<Conn>,
    replies: Rc<Replies>,
    /// What unsent answers are counted in.
    memory: Budget,
    /// Produces, or one other request.
    running: FuturesOrdered<Running>,
    /// Whether it is the one other.
    runs_other: bool,
    /// Answers that wait for the ones being sent.
    ready: Option<Outgoing>,
    sending: Option<Sending>,
    closing: bool,
}

struct Sending {
    future: Pin<Box<dyn Future<Output = io::Result<()>>>>,
    bytes: usize,
}

impl std::fmt::Debug for ReplySender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReplySender").field("replies", &self.replies).finish_non_exhaustive()
    }
}

impl ReplySender {
    /// The sending half of `conn`, whose answers are counted in `memory`.
    pub fn new(conn: Rc<Conn>, replies: Rc<Replies>, memory: Budget) -> ReplySender {
        let running = FuturesOrdered::new();
        ReplySender {
            conn,
            replies,
            memory,
            running,
            runs_other: false,
            ready: None,
            sending: None,
            closing: false,
        }
    }

    /// Runs until a reply says that the connection is to be closed; after [`Replies::last`], until all is answered and sent; after
    /// [`Replies::gone`], until no Produce is under way. Dropping the future loses nothing: it may be called again.
    ///
    /// # Errors
    /// The connection broke, or its peer doesn't read while others wait for the memory.
    pub async fn run(&mut self) -> io::Result<()> {
        poll_fn(|cx| self.poll(cx)).await
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let end = self.replies.end();
            if end == End::Gone {
                self.drop_others();
            }
            self.begin();
            let mut progress = false;
            while let Poll::Ready(Some((reply, clock, is_produce))) =
                Pin::new(&mut self.running).poll_next(cx)
            {
                progress = true;
                self.runs_other &= is_produce;
                self.replies.answered(is_produce);
                match reply {
                    Reply::Send(bufs, _) if self.closing || end == End::Gone => drop(bufs),
                    Reply::Send(bufs, memory) => self.queue(bufs, memory, clock),
                    Reply::Nothing => clock.end(rt::now()),
                    Reply::Close => self.closing = true,
                }
            }
            progress |= self.send(cx)?;
            let is_sent = self.sending.is_none() && self.ready.is_none();
            let is_done = match end {
                End::None => self.closing,
                End::Last => self.closing || self.replies.is_empty(),
                End::Gone => self.replies.is_empty(),
            };
            if is_sent && is_done {
                return Poll::Ready(Ok(()));
            }
            if !progress {
                self.replies.set_sender(cx.waker());
                return Poll::Pending;
            }
        }
    }

    /// Begins the requests whose turn it is.
    fn begin(&mut self) {
        let is_free = |this: &Self| this.running.is_empty() && this.ready.is_none() && !this.closing;
        while let Some(Entry { reply, memory, mut clock, is_produce }) =
            self.replies.next_if(|first| first.is_produce || is_free(self))
        {
            self.runs_other |= !is_produce;
            self.running.push_back(Box::pin(async move {
                if !is_produce {
                    clock.end_stage(Stage::Queue);
                }
                let reply = reply.await;
                clock.end_stage(Stage::Handle);
                drop(memory);
                (reply, clock, is_produce)
            }));
        }
    }

    fn queue(&mut self, bufs: Vec<Bytes>, memory: Option<Permit>, mut clock: RequestClock) {
        let bytes = bufs.iter().map(Bytes::len).sum();
        clock.answered(bytes);
        let memory = match memory {
            Some(mut taken) => {
                taken.adjust_to(bytes);
                taken
            }
            None => self.memory.charge(bytes),
        };
        let out = Outgoing { bufs, memory, clocks: vec![clock] };
        match &mut self.ready {
            Some(ready) => ready.append(out),
            None => self.ready = Some(out),
        }
    }

    /// Whether something was sent to its end.
    fn send(&mut self, cx: &mut Context<'_>) -> io::Result<bool> {
        if self.sending.is_none()
            && let Some(out) = self.ready.take()
        {
            let bytes = out.memory.amount();
            let future = Box::pin(send(Rc::clone(&self.conn), out, self.memory.clone()));
            self.sending = Some(Sending { future, bytes });
        }
        let mut is_sent = false;
        if let Some(sending) = &mut self.sending
            && let Poll::Ready(sent) = sending.future.as_mut().poll(cx)
        {
            self.sending = None;
            sent?;
            is_sent = true;
        }
        let ready = self.ready.as_ref().map_or(0, |ready| ready.memory.amount());
        self.replies.set_unsent(self.sending.as_ref().map_or(0, |sending| sending.bytes) + ready);
        Ok(is_sent)
    }

    /// The peer has gone: what isn't a Produce ends here, and with it what it waits for elsewhere; answers are thrown away.
    fn drop_others(&mut self) {
        self.ready = None;
        self.sending = None;
        if std::mem::take(&mut self.runs_other) {
            self.running = FuturesOrdered::new();
        }
        self.replies.drop_others();
    }
}
