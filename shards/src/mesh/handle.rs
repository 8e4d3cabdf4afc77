//! [`Mesh`]: one shard's way to the others.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use rt::sync::{Budget, Permit};
use rt::{ShardId, TaskSet, lane, oneshot};

use super::owner::serve_peer;
use super::ports::{CREDITS, CallId, MeshPiece, MeshPorts, OwnerPorts, Sent, WAITS_MAX};

/// One shard's way to the others.
///
/// A piece needs a credit first; without one the caller waits, and with it the connection, never the shard. The lanes hold as many
/// items as there are credits, so that sending never waits: an answer's room was taken with its piece. A piece that waits for what others do
/// gives its credit back when it has begun, and has its answer by a lane of its own.
pub struct Mesh<Q, A> {
    id: ShardId,
    peers: Vec<Option<Peer<Q, A>>>,
    receivers: RefCell<Vec<PeerReceivers<Q, A>>>,
    stats: MeshStats,
}

struct Peer<Q, A> {
    pieces_out: RefCell<lane::Sender<Sent<Q, A>>>,
    credits: Budget,
    /// Rights to have a piece wait there.
    waits: Budget,
    waiting: Rc<Waiting<A>>,
}

struct PeerReceivers<Q, A> {
    owner: OwnerPorts<Q, A>,
    answers_in: lane::Receiver<(CallId, Option<A>)>,
    waiting: Rc<Waiting<A>>,
}

/// Who waits for which answer. The credit stays here until the answer is in, also if the caller has gone; of a piece that waits, until it
/// has begun.
struct Waiting<A> {
    next: Cell<CallId>,
    calls: RefCell<BTreeMap<CallId, Call<A>>>,
}

struct Call<A> {
    caller: Option<oneshot::Sender<A>>,
    _credit: Permit,
}

/// Counts of pieces, since the start.
#[derive(Debug, Default)]
pub struct MeshStats {
    /// Pieces handled on the shard they came from.
    pub local: Cell<u64>,
    /// Pieces sent to another shard.
    pub remote: Cell<u64>,
    /// Those of them that were cancelled, since nobody waited for their answer any more.
    pub cancelled: Cell<u64>,
}

impl<Q: MeshPiece + 'static, A: Send + 'static> Mesh<Q, A> {
    /// Takes the ends into use on their shard. [`Self::serve`] must follow.
    pub fn new(ports: MeshPorts<Q, A>) -> Mesh<Q, A> {
        let mut receivers = Vec::new();
        let peers = ports.peers.into_iter().map(|ports| {
            let ports = ports?;
            let waiting = Rc::new(Waiting { next: Cell::new(0), calls: RefCell::default() });
            receivers.push(PeerReceivers {
                owner: ports.owner,
                answers_in: ports.answers_in,
                waiting: Rc::clone(&waiting),
            });
            Some(Peer {
                pieces_out: RefCell::new(ports.pieces_out),
                credits: Budget::new(CREDITS),
                waits: Budget::new(WAITS_MAX),
                waiting,
            })
        });
        let peers = peers.collect();
        Mesh { id: ports.id, peers, receivers: RefCell::new(receivers), stats: MeshStats::default() }
    }

    /// Counts of pieces.
    pub fn stats(&self) -> &MeshStats {
        &self.stats
    }

    /// Number of shards.
    pub fn shards(&self) -> u16 {
        self.peers.len() as u16
    }

    /// Pieces under way at another shard: their answers aren't here yet, and they don't wait for others.
    pub fn under_way(&self, shard: ShardId) -> usize {
        self.peers[usize::from(shard.0)].as_ref().map_or(0, |peer| peer.credits.used())
    }

    /// Pieces that wait at another shard for what others do.
    pub fn waiting(&self, shard: ShardId) -> usize {
        self.peers[usize::from(shard.0)].as_ref().map_or(0, |peer| peer.waits.used())
    }

    /// Begins to handle the pieces of the other shards with `handle`, and to hand out answers; two tasks a peer in `tasks`. Pieces of one
    /// peer begin in the order they were sent.
    pub fn serve<H, F>(&self, tasks: &TaskSet, handle: H)
    where
        H: Fn(Q) -> F + Clone + 'static,
        F: Future<Output = A> + 'static,
    {
        for receivers in self.receivers.take() {
            let PeerReceivers { owner, mut answers_in, waiting } = receivers;
            tasks.spawn(serve_peer(owner, handle.clone()));
            tasks.spawn(async move {
                while let Some((id, answer)) = answers_in.recv().await {
                    let call = waiting.calls.borrow_mut().remove(&id);
                    if let (Some(caller), Some(answer)) = (call.and_then(|call| call.caller), answer) {
                        // A caller that has gone doesn't want it any more.
                        drop(caller.send(answer));
                    }
                }
                // The peer has ended: nobody gets an answer any more.
                let calls = waiting.calls.take();
                drop(calls);
            });
        }
    }

    /// Sends a piece to another shard and waits for its answer. Calls to one shard are sent in the order in which they were first
    /// polled. `None`: that shard has ended.
    ///
    /// Dropping the future drops a piece that waits for others; any other is carried out, and keeps its credit until then.
    ///
    /// # Panics
    /// For a piece to the own shard, which needs no lane.
    pub async fn call(&self, shard: ShardId, piece: Q) -> Option<A> {
        let Some(peer) = &self.peers[usize::from(shard.0)] else {
            panic!("{shard} sends a piece to itself");
        };
        if piece.waits() {
            let _wait = peer.waits.take(1).await;
            let (reply, mut answer) = lane::channel(1);
            let credit = peer.credits.take(1).await;
            self.send(peer, piece, credit, None, Some(reply))?;
            let mut abandoned = Abandoned { is_answered: false, stats: &self.stats };
            let answer = answer.recv().await;
            abandoned.is_answered = true;
            return answer;
        }
        let (caller, answer) = oneshot::channel();
        let credit = peer.credits.take(1).await;
        self.send(peer, piece, credit, Some(caller), None)?;
        answer.recv().await
    }

    /// No future of its own, in which the piece would take its room once more.
    fn send(
        &self,
        peer: &Peer<Q, A>,
        piece: Q,
        credit: Permit,
        caller: Option<oneshot::Sender<A>>,
        reply: Option<lane::Sender<A>>,
    ) -> Option<()> {
        let id = peer.waiting.next.get();
        peer.waiting.next.set(id + 1);
        peer.waiting.calls.borrow_mut().insert(id, Call { caller, _credit: credit });
        self.stats.remote.set(self.stats.remote.get() + 1);
        let sent = peer.pieces_out.borrow_mut().try_send(Sent { id, piece, reply });
        if sent.is_err() {
            // With a credit in hand there is room, so the other end is gone.
            let call = peer.waiting.calls.borrow_mut().remove(&id);
            drop(call);
            return None;
        }
        Some(())
    }

    /// Counts a piece that didn't need a lane.
    pub fn count_local(&self) {
        self.stats.local.set(self.stats.local.get() + 1);
    }
}

/// Counts a piece whose caller went before the answer was in; its owner sees that by the reply's lane.
struct Abandoned<'a> {
    is_answered: bool,
    stats: &'a MeshStats,
}

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            self.stats.cancelled.set(self.stats.cancelled.get() + 1);
        }
    }
}

impl<Q, A> fmt::Debug for Mesh<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mesh").field("id", &self.id).field("stats", &self.stats).finish_non_exhaustive()
    }
}
