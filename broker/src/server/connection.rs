//! A connection on its shard: requests in, answers out, in one task.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use protocol::types::Str;
use rt::TaskSet;
use rt::net::{Accepted, Conn};
use rt::sync::Budget;

use super::dispatch::{self, Peer, Request};
use super::frame::{FrameError, FrameReader};
use super::replies::{Replies, ReplySender};
use super::state::ShardState;
use crate::metrics::Stage;

/// Largest request that is counted as small, in bytes: the default `max.message.bytes` and some.
pub const SMALL_FRAME_BYTES_MAX: usize = 2 << 20;
/// How long Produces go on for a client that has gone.
const DRAIN: Duration = Duration::from_secs(30);

/// The connections of a shard, and what they share.
#[derive(Debug)]
pub struct Connections {
    /// Memory for requests of up to [`SMALL_FRAME_BYTES_MAX`] that were read and aren't answered yet, in bytes. Apart from that of large
    /// ones, so that peers who announce large requests and don't send them hold up neither heartbeats nor small batches.
    pub small_request_memory: Budget,
    /// Memory for larger requests, in bytes.
    pub large_request_memory: Budget,
    /// Counts since the start.
    pub counts: ConnectionCounts,
    tasks: TaskSet,
    open: RefCell<BTreeMap<u64, Rc<Conn>>>,
    next: Cell<u64>,
}

/// Counts of a shard's connections since the start.
#[derive(Debug, Default)]
pub struct ConnectionCounts {
    /// Connections adopted.
    pub adopted: Cell<u64>,
    /// Connections closed because their peer broke the protocol.
    pub violations: Cell<u64>,
    /// Connections closed because they were idle.
    pub idle: Cell<u64>,
}

impl Connections {
    /// None yet; their requests may take `request_memory_bytes` together.
    pub fn new(request_memory_bytes: usize) -> Connections {
        Connections {
            small_request_memory: Budget::new(request_memory_bytes / 2),
            large_request_memory: Budget::new(request_memory_bytes / 2),
            counts: ConnectionCounts::default(),
            tasks: TaskSet::new(),
            open: RefCell::default(),
            next: Cell::new(0),
        }
    }

    /// The memory that a request of `len` bytes is counted in.
    pub fn request_memory(&self, len: usize) -> &Budget {
        if len <= SMALL_FRAME_BYTES_MAX { &self.small_request_memory } else { &self.large_request_memory }
    }

    /// Closes all of them; requests that aren't answered yet get none.
    pub async fn close(&self) {
        self.tasks.cancel_all().await;
        self.open.borrow_mut().clear();
    }
}

/// Counts one up.
fn count(cell: &Cell<u64>) {
    cell.set(cell.get() + 1);
}

/// Makes the running shard the owner of a connection that came by listener number `listener`.
pub fn adopt(shard: &Rc<ShardState>, accepted: Accepted, listener: usize) {
    let connections = &shard.network;
    let conn = match accepted.into_conn() {
        Ok(conn) => Rc::new(conn),
        Err(error) => {
            tracing::debug!(%error, "a connection was gone before it was served");
            return;
        }
    };
    let number = connections.next.get();
    connections.next.set(number + 1);
    count(&connections.counts.adopted);
    shard.connections.set(shard.connections.get() + 1);
    connections.open.borrow_mut().insert(number, Rc::clone(&conn));
    let open = Open { shard: Rc::clone(shard), number };
    let peer = Peer { host: Str::from(format!("/{}", conn.peer_addr().ip())), listener };
    connections.tasks.spawn(async move {
        serve(&open.shard, conn, peer).await;
        drop(open);
    });
}

/// Counts a connection as open until it is dropped, also by a cancelled task.
struct Open {
    shard: Rc<ShardState>,
    number: u64,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.shard.connections.set(self.shard.connections.get().saturating_sub(1));
        let conn = self.shard.network.open.borrow_mut().remove(&self.number);
        drop(conn);
    }
}

async fn serve(shard: &Rc<ShardState>, conn: Rc<Conn>, peer: Peer) {
    let replies = Rc::new(Replies::default());
    let mut sender = ReplySender::new(Rc::clone(&conn), Rc::clone(&replies));
    let ended = {
        let mut reading = pin!(read(shard, &conn, &peer, &replies));
        let mut sending = pin!(sender.run());
        poll_fn(|cx| {
            if let Poll::Ready(end) = sending.as_mut().poll(cx) {
                return Poll::Ready(match end {
                    Ok(()) => End::Reply,
                    Err(error) => End::Frame(error.into()),
                });
            }
            reading.as_mut().poll(cx)
        })
        .await
    };
    note(shard, &conn, &ended);
    if matches!(ended, End::Violation(_)) {
        // What was asked properly is answered; a request that waits for something isn't waited for.
        flush(&mut sender).await;
    }
    conn.shutdown();
    replies.end();
    if rt::timeout(DRAIN, sender.run()).await.is_err() {
        tracing::warn!(peer = %conn.peer_addr(), "produces of a closed connection take too long");
    }
    conn.close().await;
}

/// One turn for answers that are ready.
async fn flush(sender: &mut ReplySender) {
    drop(rt::timeout(Duration::from_millis(100), sender.run()).await);
}

/// Why a connection ends.
enum End {
    /// By its bytes, or the lack of them.
    Frame(FrameError),
    /// By a request nobody can answer, and what is wrong with it.
    Violation(String),
    /// By the outcome of a request.
    Reply,
}

async fn read(shard: &Rc<ShardState>, conn: &Rc<Conn>, peer: &Peer, replies: &Rc<Replies>) -> End {
    let limits = &shard.node.config.network;
    let mut frames = FrameReader::new(Rc::clone(conn), limits.request_max_bytes);
    loop {
        match begun(&mut frames, limits.connections_max_idle, replies).await {
            Ok(()) => {}
            Err(error) => return End::Frame(error),
        }
        let (frame, permit) = match frames.frame(|len| shard.network.request_memory(len)).await {
            Ok(frame) => frame,
            Err(error) => return End::Frame(error),
        };
        let arrived = rt::now();
        rt::consume_budget(frame.len());
        rt::yield_point().await;
        let (request, mut clock) = match dispatch::decode(shard, peer, frame, arrived) {
            Ok(understood) => understood,
            Err(violation) => return End::Violation(violation.to_string()),
        };
        match request {
            Request::Produce(produce) => {
                replies.room(true).await;
                clock.end_stage(Stage::Queue);
                let stage_two = produce.start(shard).await;
                clock.end_stage(Stage::Route);
                replies.push(stage_two, permit, clock, true);
            }
            Request::Other(reply) => {
                replies.room(false).await;
                replies.push(reply, permit, clock, false);
            }
        }
    }
}

/// Waits for the next request. A connection that waits for an answer isn't idle.
async fn begun(
    frames: &mut FrameReader,
    idle: Option<Duration>,
    replies: &Rc<Replies>,
) -> Result<(), FrameError> {
    loop {
        match frames.begun(idle).await {
            Err(FrameError::Idle) if !replies.is_empty() => {}
            begun => return begun,
        }
    }
}

fn note(shard: &Rc<ShardState>, conn: &Conn, ended: &End) {
    let counts = &shard.network.counts;
    let peer = conn.peer_addr();
    match ended {
        End::Frame(error) if error.is_violation() => {
            count(&counts.violations);
            tracing::debug!(%peer, %error, "a connection broke the protocol");
        }
        End::Violation(why) => {
            count(&counts.violations);
            tracing::debug!(%peer, why, "a connection broke the protocol");
        }
        End::Frame(FrameError::Idle) => count(&counts.idle),
        End::Frame(error) => tracing::debug!(%peer, %error, "a connection ended"),
        End::Reply => tracing::debug!(%peer, "a request ended its connection"),
    }
}
