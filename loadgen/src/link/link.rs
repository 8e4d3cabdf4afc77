//! One connection to a broker.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use client::{Answer, Connection, ConnectionConfig, ConnectionError, RequestId, SendError};
use protocol::messages::Request;
use rt::TaskSet;
use rt::sync::Notify;

use super::dial::dial;

/// Why a request, or a whole connection, failed.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum LinkError {
    /// It can't be reached, or the socket failed.
    #[error("{address}: {why}")]
    Io { address: String, why: String },
    /// The protocol failed.
    #[error("{address}: {source}")]
    Protocol { address: String, source: ConnectionError },
    /// A request couldn't be sent.
    #[error("{0}")]
    Send(#[from] SendError),
    /// The broker answered something else than was asked.
    #[error("{0}")]
    Answer(String),
    /// The broker refuses for good.
    #[error("{0}")]
    Refused(String),
}

/// A connection of the running task's shard: [`Connection`] and its socket. Requests are pipelined; answers come in
/// their order, either to whoever waits in [`call`](Self::call) or from [`poll_answer`](Self::poll_answer).
///
/// Two tasks move bytes, a third looks for answers that are overdue; they end with it.
#[derive(Debug)]
pub(crate) struct Link {
    inner: Rc<Inner>,
    _tasks: TaskSet,
}

#[derive(Debug)]
struct Inner {
    address: String,
    conn: rt::net::Conn,
    machine: RefCell<Connection>,
    answers: RefCell<VecDeque<Answer>>,
    /// Something waits to be sent.
    to_send: Notify,
    /// An answer came, unanswered bytes have left, or the connection is over.
    news: Rc<Notify>,
    over: RefCell<Option<LinkError>>,
    /// Bytes given to the sending task that aren't sent yet.
    sending_bytes: Cell<usize>,
    /// Somebody sends without answers, and wants to know when bytes have left; to all others it would be a useless
    /// turn for every request.
    tells_sent: Cell<bool>,
}

/// How often overdue answers are looked for.
const WATCH: Duration = Duration::from_millis(500);
/// How long negotiation may take.
const NEGOTIATE_TIMEOUT: Duration = Duration::from_secs(10);

fn clock() -> Duration {
    Duration::from_nanos(rt::now().as_nanos())
}

impl Link {
    /// Connects to `host:port` and negotiates versions. `news` is notified of everything that happens on it later.
    pub(crate) async fn connect(address: &str, news: Rc<Notify>) -> Result<Self, LinkError> {
        let failed = |error: io::Error| LinkError::Io { address: address.to_owned(), why: error.to_string() };
        let conn = dial(address).await.map_err(failed)?;
        let config = ConnectionConfig {
            client_id: "ringlog-loadgen".into(),
            in_flight_max: usize::MAX,
            ..ConnectionConfig::default()
        };
        let inner = Rc::new(Inner {
            address: address.to_owned(),
            conn,
            machine: RefCell::new(Connection::new(config, clock())),
            answers: RefCell::default(),
            to_send: Notify::new(),
            news,
            over: RefCell::default(),
            sending_bytes: Cell::new(0),
            tells_sent: Cell::new(false),
        });
        let tasks = TaskSet::new();
        tasks.spawn(send_all(inner.clone()));
        tasks.spawn(receive_all(inner.clone()));
        tasks.spawn(watch(inner.clone()));
        let link = Self { inner, _tasks: tasks };
        let ready = link.until(|link| link.inner.machine.borrow().versions().map(drop));
        match rt::timeout(NEGOTIATE_TIMEOUT, ready).await {
            Ok(ready) => ready.map(|()| link),
            Err(_) => Err(failed(io::ErrorKind::TimedOut.into())),
        }
    }

    /// Why it is over, if it is.
    pub(crate) fn error(&self) -> Option<LinkError> {
        self.inner.over.borrow().clone()
    }

    /// The best version of request `R` that the broker knows, up to `max`.
    pub(crate) fn version<R: Request>(&self, max: i16) -> Result<i16, LinkError> {
        let machine = self.inner.machine.borrow();
        let versions = machine.versions().ok_or(SendError::NotReady)?;
        Ok(versions.choose::<R>(max)?)
    }

    /// Sends a request without waiting for its answer, for which the broker may take `extra`.
    pub(crate) fn send<R: Request>(
        &self,
        request: &R,
        version: i16,
        extra: Duration,
    ) -> Result<RequestId, LinkError> {
        let id = self.inner.machine.borrow_mut().send(clock(), request, version, extra)?;
        self.inner.to_send.notify_waiters();
        Ok(id)
    }

    /// Sends a request that gets no answer.
    pub(crate) fn send_unanswered<R: Request>(&self, request: &R, version: i16) -> Result<(), LinkError> {
        self.inner.machine.borrow_mut().send_unanswered(request, version)?;
        self.inner.tells_sent.set(true);
        self.inner.to_send.notify_waiters();
        Ok(())
    }

    /// Bytes that were sent and haven't left yet.
    pub(crate) fn sending_bytes(&self) -> usize {
        self.inner.sending_bytes.get()
    }

    /// The next answer, in the order of the requests.
    pub(crate) fn poll_answer(&self) -> Option<Answer> {
        self.inner.answers.borrow_mut().pop_front()
    }

    /// Decodes an answer to an `R`.
    pub(crate) fn decode<R: Request>(&self, answer: Answer) -> Result<R::Response, LinkError> {
        let address = || self.inner.address.clone();
        answer.decode::<R>().map_err(|source| LinkError::Protocol { address: address(), source })
    }

    /// Sends a request, in the best version up to `max`, and waits for its answer. No other request may be under
    /// way.
    pub(crate) async fn call<R: Request>(
        &self,
        max: i16,
        extra: Duration,
        build: impl FnOnce(i16) -> R,
    ) -> Result<R::Response, LinkError> {
        let version = self.version::<R>(max)?;
        let id = self.send(&build(version), version, extra)?;
        let answer = self.until(Self::poll_answer).await?;
        if answer.id != id {
            return Err(LinkError::Answer(format!("{}: an answer to another request", self.inner.address)));
        }
        self.decode::<R>(answer)
    }

    /// Waits until `found` finds something, or the connection is over.
    async fn until<T>(&self, mut found: impl FnMut(&Self) -> Option<T>) -> Result<T, LinkError> {
        loop {
            let news = self.inner.news.notified();
            if let Some(found) = found(self) {
                return Ok(found);
            }
            if let Some(error) = self.error() {
                return Err(error);
            }
            news.await;
        }
    }
}

impl Inner {
    fn end(&self, error: LinkError) {
        self.over.borrow_mut().get_or_insert(error);
        self.news.notify_waiters();
    }

    fn end_by_io(&self, error: &io::Error) {
        self.end(LinkError::Io { address: self.address.clone(), why: error.to_string() });
    }

    fn end_by_protocol(&self, source: ConnectionError) {
        self.end(LinkError::Protocol { address: self.address.clone(), source });
    }

    fn take_transmit(&self) -> Vec<Bytes> {
        let mut machine = self.machine.borrow_mut();
        std::iter::from_fn(|| machine.poll_transmit()).collect()
    }

    /// Hands what was received to the machine.
    fn received(&self, buf: BytesMut) -> Result<(), ConnectionError> {
        let mut machine = self.machine.borrow_mut();
        let was_ready = machine.versions().is_some();
        machine.handle_received(clock(), buf)?;
        if machine.versions().is_none() {
            // A version that the broker doesn't know is asked for again.
            self.to_send.notify_waiters();
        }
        let mut answers = self.answers.borrow_mut();
        let before = answers.len();
        answers.extend(std::iter::from_fn(|| machine.poll_answer()));
        // A part of an answer is no news.
        if answers.len() > before || !was_ready {
            self.news.notify_waiters();
        }
        Ok(())
    }
}

async fn send_all(inner: Rc<Inner>) {
    loop {
        let more = inner.to_send.notified();
        let bufs = inner.take_transmit();
        if bufs.is_empty() {
            more.await;
            continue;
        }
        inner.sending_bytes.set(bufs.iter().map(Bytes::len).sum());
        if let Err(error) = inner.conn.send(bufs).await {
            return inner.end_by_io(&error);
        }
        inner.sending_bytes.set(0);
        if inner.tells_sent.get() {
            inner.news.notify_waiters();
        }
        rt::yield_point().await;
    }
}

async fn receive_all(inner: Rc<Inner>) {
    loop {
        let buf = inner.machine.borrow_mut().receive_buffer();
        let (result, buf) = inner.conn.recv(buf).await;
        let outcome = match result {
            Ok(0) => inner.machine.borrow_mut().handle_eof(),
            Ok(_) => inner.received(buf),
            Err(error) => return inner.end_by_io(&error),
        };
        if let Err(error) = outcome {
            return inner.end_by_protocol(error);
        }
        rt::yield_point().await;
    }
}

async fn watch(inner: Rc<Inner>) {
    loop {
        rt::sleep(WATCH).await;
        let outcome = inner.machine.borrow_mut().handle_timeout(clock());
        if let Err(error) = outcome {
            return inner.end_by_protocol(error);
        }
    }
}
