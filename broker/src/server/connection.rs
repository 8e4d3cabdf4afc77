//! A connection on its shard: requests in, answers out, in one task.

use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::stream::{FuturesUnordered, StreamExt};
use protocol::types::Str;
use rt::net::{Accepted, Conn};

use super::connections::{Connections, count};
use super::dispatch::{self, Peer, Request};
use super::frame::{Frame, FrameError, FrameReader};
use super::replies::Replies;
use super::reply_sender::ReplySender;
use super::state::ShardState;
use crate::metrics::Stage;

/// How long Produces go on for a client that has gone.
const PRODUCES_AFTER: Duration = Duration::from_secs(30);
/// How long a request waits for the memory that its arrays take; then its connection is closed. As long as a request may stall.
const MEMORY_WAIT: Duration = Duration::from_secs(30);
/// Pause before it is looked again whether there is enough.
const MEMORY_PAUSE: Duration = Duration::from_millis(100);
/// How long answers are waited for that were asked for before the peer broke the protocol.
const FLUSH: Duration = Duration::from_millis(100);

/// Makes the running shard the owner of a connection that came by listener number `listener`.
pub fn adopt(shard: &Rc<ShardState>, accepted: Accepted, listener: usize) {
    let open = shard.network.open(shard);
    if shard.network.is_draining() {
        // It came too late: closed, as is any that is still in the system's queue.
        return;
    }
    let conn = match accepted.into_conn() {
        Ok(conn) => Rc::new(conn),
        Err(error) => {
            tracing::debug!(%error, "a connection was gone before it was served");
            return;
        }
    };
    let peer = Peer { host: Str::from(format!("/{}", conn.peer_addr().ip())), listener };
    let served = Rc::clone(shard);
    shard.network.spawn(async move {
        serve(&served, conn, peer).await;
        drop(open);
    });
}

async fn serve(shard: &Rc<ShardState>, conn: Rc<Conn>, peer: Peer) {
    let replies = Rc::new(Replies::default());
    let memory = shard.network.response_memory.clone();
    let mut sender = ReplySender::new(Rc::clone(&conn), Rc::clone(&replies), memory);
    let ended = {
        let sending = pin!(async {
            match sender.run().await {
                Ok(()) => End::Reply,
                Err(error) => End::Frame(error.into()),
            }
        });
        let reading = pin!(read(shard, &conn, &peer, &replies));
        // Each half is polled for what it waits for itself: one for all would ask the socket in vain at every answer.
        let mut halves: FuturesUnordered<_> =
            [Either::Left(sending), Either::Right(reading)].into_iter().collect();
        match halves.next().await {
            Some(ended) => ended,
            None => unreachable!("two halves"),
        }
    };
    note(&shard.network, &conn, &ended);
    replies.last();
    let flushed = match ended {
        // The stop bounds it.
        End::Drained => sender.run().await,
        // What was asked properly is done and answered, also what a client asked that then ended its side (a consumer that leaves its group
        // and closes); a request that waits for something isn't waited for.
        End::Violation(_) | End::Frame(FrameError::End) => {
            rt::timeout(FLUSH, sender.run()).await.unwrap_or(Ok(()))
        }
        End::Frame(_) | End::Reply => Ok(()),
    };
    if let Err(error) = flushed {
        tracing::debug!(peer = %conn.peer_addr(), %error, "the last answers weren't sent");
    }
    conn.shutdown();
    replies.gone();
    if rt::timeout(PRODUCES_AFTER, sender.run()).await.is_err() {
        tracing::warn!(peer = %conn.peer_addr(), "produces of a closed connection take too long");
    }
    conn.close().await;
}

/// Why a connection ends.
enum End {
    /// By its bytes, or the lack of them.
    Frame(FrameError),
    /// By a request nobody can answer, and what is wrong with it.
    Violation(String),
    /// By the outcome of a request.
    Reply,
    /// The shard takes no more requests.
    Drained,
}

async fn read(shard: &Rc<ShardState>, conn: &Rc<Conn>, peer: &Peer, replies: &Rc<Replies>) -> End {
    let (network, limits) = (&shard.network, &shard.node.config.network);
    let mut frames = FrameReader::new(Rc::clone(conn), limits.request_max_bytes);
    loop {
        if frames.is_between() {
            let begun = begun(&mut frames, limits.connections_max_idle, replies);
            match select(pin!(network.draining()), pin!(begun)).await {
                Either::Left(_) => return End::Drained,
                Either::Right((Ok(()), _)) => {}
                Either::Right((Err(error), _)) => return End::Frame(error),
            }
        }
        let frame = frames.frame(|len| network.request_memory(len));
        // The end first: a client that has always more to send would never be told of it.
        let frame = match select(pin!(network.grace_over()), pin!(frame)).await {
            Either::Left(_) => return End::Drained,
            Either::Right((Ok(frame), _)) => frame,
            Either::Right((Err(error), _)) => return End::Frame(error),
        };
        let arrived = rt::now();
        rt::consume_budget(frame.bytes.len());
        rt::yield_point().await;
        let Frame { bytes, allocation_bytes, memory } = frame.alone_if(dispatch::waits_for_members);
        let frame = dispatch::Received { bytes, allocation_bytes, arrived, memory: memory.clone() };
        let dispatch::Understood { request, mut clock } = match decode(shard, peer, frame).await {
            Ok(understood) => understood,
            Err(end) => return end,
        };
        match request {
            Request::Produce(produce) => {
                replies.room(true).await;
                clock.end_stage(Stage::Queue);
                let stage_two = produce.start(shard).await;
                clock.end_stage(Stage::Route);
                replies.push(stage_two, memory, clock, true);
            }
            Request::Other(reply) => {
                replies.room(false).await;
                replies.push(reply, memory, clock, false);
            }
        }
    }
}

/// Decodes a request, once there is memory for what it becomes; until then it is tried again, since nobody can tell how much that is.
async fn decode(
    shard: &Rc<ShardState>,
    peer: &Peer,
    frame: dispatch::Received,
) -> Result<dispatch::Understood, End> {
    let until = rt::now() + MEMORY_WAIT;
    loop {
        match dispatch::decode(shard, peer, frame.clone()) {
            Ok(understood) => return Ok(understood),
            Err(dispatch::Violation::Memory) if rt::now() < until => {
                let pause = rt::sleep(MEMORY_PAUSE);
                if let Either::Left(_) = select(pin!(shard.network.grace_over()), pin!(pause)).await {
                    return Err(End::Drained);
                }
            }
            Err(violation) => return Err(End::Violation(violation.to_string())),
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

fn note(network: &Connections, conn: &Conn, ended: &End) {
    let counts = &network.counts;
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
        End::Drained => {}
    }
}
