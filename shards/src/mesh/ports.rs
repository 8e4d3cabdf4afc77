//! What a mesh is made of, before the shards run.

use rt::{ShardId, lane};

/// Pieces that one shard may have under way at another: each holds a credit, which is also the room for its answer.
pub const CREDITS: usize = 4096;

/// Pieces that one shard may have waiting at another for what others do; more wait where they are.
pub const WAITS_MAX: usize = 100_000;

/// What the mesh asks of a piece.
pub trait MeshPiece: Send {
    /// Whether it waits for what others do, maybe for minutes: then its credit is back when it has begun, so that it stands in nobody's way, and
    /// its owner drops it half-way when nobody waits for its answer any more. A piece that changes something is carried out, whatever became of
    /// the one who asked.
    fn waits(&self) -> bool;
}

/// The ends of one shard's lanes, made by [`mesh`] and carried to the shard's thread.
#[derive(Debug)]
pub struct MeshPorts<Q, A> {
    pub(super) id: ShardId,
    pub(super) peers: Vec<Option<Ports<Q, A>>>,
}

/// The number of a call, its own at the shard that asks.
pub(super) type CallId = u64;

/// A piece on its way.
#[derive(Debug)]
pub(super) struct Sent<Q, A> {
    pub(super) id: CallId,
    pub(super) piece: Q,
    /// Where the answer of a piece that waits goes; the others' answers share a lane.
    pub(super) reply: Option<lane::Sender<A>>,
}

#[derive(Debug)]
pub(super) struct Ports<Q, A> {
    pub(super) pieces_out: lane::Sender<Sent<Q, A>>,
    pub(super) answers_in: lane::Receiver<(CallId, Option<A>)>,
    pub(super) owner: OwnerPorts<Q, A>,
}

/// The ends of the shard that owns what the pieces speak of.
#[derive(Debug)]
pub(super) struct OwnerPorts<Q, A> {
    pub(super) pieces_in: lane::Receiver<Sent<Q, A>>,
    pub(super) answers_out: lane::Sender<(CallId, Option<A>)>,
}

/// Lanes between all pairs of `shards` shards; the ends in order of their shards.
pub fn mesh<Q: MeshPiece, A: Send>(shards: u16) -> Vec<MeshPorts<Q, A>> {
    let mut all: Vec<MeshPorts<Q, A>> = (0..shards)
        .map(|id| MeshPorts { id: ShardId(id), peers: (0..shards).map(|_| None).collect() })
        .collect();
    for low in 0..usize::from(shards) {
        for high in low + 1..usize::from(shards) {
            let (up, up_answers, up_owner) = one_way();
            let (down, down_answers, down_owner) = one_way();
            all[low].peers[high] = Some(Ports { pieces_out: up, answers_in: up_answers, owner: down_owner });
            all[high].peers[low] =
                Some(Ports { pieces_out: down, answers_in: down_answers, owner: up_owner });
        }
    }
    all
}

/// What a shard needs to ask another, and what that one needs to answer.
#[allow(clippy::type_complexity, reason = "three ends, named where they are taken apart")]
fn one_way<Q: MeshPiece, A: Send>()
-> (lane::Sender<Sent<Q, A>>, lane::Receiver<(CallId, Option<A>)>, OwnerPorts<Q, A>) {
    let (pieces_out, pieces_in) = lane::channel(CREDITS);
    let (answers_out, answers_in) = lane::channel(CREDITS);
    (pieces_out, answers_in, OwnerPorts { pieces_in, answers_out })
}
