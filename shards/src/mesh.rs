//! The lanes between the shards of a node: pieces one way, answers back.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::task::{Context, Poll};

use futures_util::stream::{FuturesUnordered, Stream};
use rt::sync::{Budget, Permit};
use rt::{ShardId, TaskSet, lane, oneshot};

/// Pieces that one shard may have under way at another: each holds a credit, which is also the room for its answer.
pub const CREDITS: usize = 4096;

/// The ends of one shard's lanes, made by [`mesh`] and carried to the shard's thread.
#[derive(Debug)]
pub struct MeshPorts<Q, A> {
    id: ShardId,
    peers: Vec<Option<Ports<Q, A>>>,
}

#[derive(Debug)]
struct Ports<Q, A> {
    pieces_out: lane::Sender<(u64, Q)>,
    pieces_in: lane::Receiver<(u64, Q)>,
    answers_out: lane::Sender<(u64, A)>,
    answers_in: lane::Receiver<(u64, A)>,
}

/// Lanes between all pairs of `shards` shards; the ends in order of their shards.
pub fn mesh<Q: Send, A: Send>(shards: u16) -> Vec<MeshPorts<Q, A>> {
    let mut all: Vec<MeshPorts<Q, A>> = (0..shards)
        .map(|id| MeshPorts { id: ShardId(id), peers: (0..shards).map(|_| None).collect() })
        .collect();
    for low in 0..usize::from(shards) {
        for high in low + 1..usize::from(shards) {
            let (up, up_in) = lane::channel(CREDITS);
            let (up_answers, up_answers_in) = lane::channel(CREDITS);
            let (down, down_in) = lane::channel(CREDITS);
            let (down_answers, down_answers_in) = lane::channel(CREDITS);
            all[low].peers[high] = Some(Ports {
                pieces_out: up,
                pieces_in: down_in,
                answers_out: down_answers,
                answers_in: up_answers_in,
            });
            all[high].peers[low] = Some(Ports {
                pieces_out: down,
                pieces_in: up_in,
                answers_out: up_answers,
                answers_in: down_answers_in,
            });
        }
    }
    all
}

/// One shard's way to the others.
///
/// A piece needs a credit first; without one the caller waits, and with it the connection, never the shard. The lanes hold as many
/// items as there are credits, so that sending never waits: an answer's room was taken with its piece.
pub struct Mesh<Q, A> {
    id: ShardId,
    peers: Vec<Option<Peer<Q, A>>>,
    receivers: RefCell<Vec<PeerReceivers<Q, A>>>,
    stats: MeshStats,
}

struct Peer<Q, A> {
    out: RefCell<lane::Sender<(u64, Q)>>,
    credits: Budget,
    waiting: Rc<Waiting<A>>,
}

struct PeerReceivers<Q, A> {
    pieces_in: lane::Receiver<(u64, Q)>,
    answers_out: lane::Sender<(u64, A)>,
    answers_in: lane::Receiver<(u64, A)>,
    waiting: Rc<Waiting<A>>,
}

/// Who waits for which answer. The credit stays here until the answer is in, also if the caller has gone.
struct Waiting<A> {
    next: Cell<u64>,
    calls: RefCell<BTreeMap<u64, (oneshot::Sender<A>, Permit)>>,
}

/// Counts of pieces, since the start.
#[derive(Debug, Default)]
pub struct MeshStats {
    /// Pieces handled on the shard they came from.
    pub local: Cell<u64>,
    /// Pieces sent to another shard.
    pub remote: Cell<u64>,
}

impl<Q: Send + 'static, A: Send + 'static> Mesh<Q, A> {
    /// Takes the ends into use on their shard. [`Self::serve`] must follow.
    pub fn new(ports: MeshPorts<Q, A>) -> Mesh<Q, A> {
        let mut receivers = Vec::new();
        let peers = ports.peers.into_iter().map(|ports| {
            let ports = ports?;
            let waiting = Rc::new(Waiting { next: Cell::new(0), calls: RefCell::default() });
            receivers.push(PeerReceivers {
                pieces_in: ports.pieces_in,
                answers_out: ports.answers_out,
                answers_in: ports.answers_in,
                waiting: Rc::clone(&waiting),
            });
            Some(Peer { out: RefCell::new(ports.pieces_out), credits: Budget::new(CREDITS), waiting })
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

    /// Begins to handle the pieces of the other shards with `handle`, and to hand out answers; two tasks a peer in `tasks`. Pieces of one
    /// peer begin in the order they were sent.
    pub fn serve<H, F>(&self, tasks: &TaskSet, handle: H)
    where
        H: Fn(Q) -> F + Clone + 'static,
        F: Future<Output = A> + 'static,
    {
        for receivers in self.receivers.take() {
            let PeerReceivers { pieces_in, answers_out, mut answers_in, waiting } = receivers;
            tasks.spawn(serve_peer(pieces_in, answers_out, handle.clone()));
            tasks.spawn(async move {
                while let Some((id, answer)) = answers_in.recv().await {
                    let call = waiting.calls.borrow_mut().remove(&id);
                    if let Some((caller, _credit)) = call {
                        // A caller that has gone doesn't want it any more.
                        drop(caller.send(answer));
                    }
                }
            });
        }
    }

    /// Sends a piece to another shard and waits for its answer. Calls to one shard are sent in the order in which they were first
    /// polled. `None`: that shard has ended.
    ///
    /// # Panics
    /// For a piece to the own shard, which needs no lane.
    pub async fn call(&self, shard: ShardId, piece: Q) -> Option<A> {
        let Some(peer) = &self.peers[usize::from(shard.0)] else {
            panic!("{shard} sends a piece to itself");
        };
        let credit = peer.credits.take(1).await;
        let id = peer.waiting.next.get();
        peer.waiting.next.set(id + 1);
        let (sender, receiver) = oneshot::channel();
        peer.waiting.calls.borrow_mut().insert(id, (sender, credit));
        self.stats.remote.set(self.stats.remote.get() + 1);
        let sent = peer.out.borrow_mut().try_send((id, piece));
        if sent.is_err() {
            // With a credit in hand there is room, so the other end is gone.
            peer.waiting.calls.borrow_mut().remove(&id);
            return None;
        }
        receiver.recv().await
    }

    /// Counts a piece that didn't need a lane.
    pub fn count_local(&self) {
        self.stats.local.set(self.stats.local.get() + 1);
    }
}

impl<Q, A> fmt::Debug for Mesh<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mesh").field("id", &self.id).field("stats", &self.stats).finish_non_exhaustive()
    }
}

/// Handles a peer's pieces, as many at a time as it has credits, without a task for each.
async fn serve_peer<Q, A, H, F>(
    mut pieces_in: lane::Receiver<(u64, Q)>,
    mut answers_out: lane::Sender<(u64, A)>,
    handle: H,
) where
    Q: Send,
    A: Send,
    H: Fn(Q) -> F + Clone,
    F: Future<Output = A>,
{
    let mut running = FuturesUnordered::new();
    let mut open = true;
    poll_fn(|cx: &mut Context<'_>| {
        loop {
            let mut progress = false;
            while open {
                match pieces_in.poll_recv(cx) {
                    Poll::Ready(Some((id, piece))) => {
                        let handle = handle.clone();
                        running.push(async move { (id, handle(piece).await) });
                        progress = true;
                    }
                    Poll::Ready(None) => open = false,
                    Poll::Pending => break,
                }
            }
            while let Poll::Ready(Some((id, answer))) = std::pin::Pin::new(&mut running).poll_next(cx) {
                progress = true;
                // The answer's room is the piece's credit. A peer that ended doesn't want it.
                drop(answers_out.try_send((id, answer)));
            }
            if !open && running.is_empty() {
                return Poll::Ready(());
            }
            if !progress {
                return Poll::Pending;
            }
        }
    })
    .await;
}
