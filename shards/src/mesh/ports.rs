//! What a mesh is made of, before the shards run.

use rt::{ShardId, lane};

/// Pieces that one shard may have under way at another: each holds a credit, which is also the room for its answer.
pub const CREDITS: usize = 4096;

/// What the mesh asks of a piece.
pub trait MeshPiece: Send {
    /// Whether its owner may drop it half-way when nobody waits for its answer any more. Only for what waits or looks: a piece that changes
    /// something is carried out, whatever became of the one who asked.
    fn is_cancellable(&self) -> bool;
}

/// The ends of one shard's lanes, made by [`mesh`] and carried to the shard's thread.
#[derive(Debug)]
pub struct MeshPorts<Q, A> {
    pub(super) id: ShardId,
    pub(super) peers: Vec<Option<Ports<Q, A>>>,
}

/// The number of a call, its own at the shard that asks.
pub(super) type CallId = u64;

#[derive(Debug)]
pub(super) struct Ports<Q, A> {
    pub(super) pieces_out: lane::Sender<(CallId, Q)>,
    pub(super) cancels_out: lane::Sender<CallId>,
    pub(super) answers_in: lane::Receiver<(CallId, Option<A>)>,
    pub(super) owner: OwnerPorts<Q, A>,
}

/// The ends of the shard that owns what the pieces speak of.
#[derive(Debug)]
pub(super) struct OwnerPorts<Q, A> {
    pub(super) pieces_in: lane::Receiver<(CallId, Q)>,
    pub(super) cancels_in: lane::Receiver<CallId>,
    pub(super) answers_out: lane::Sender<(CallId, Option<A>)>,
}

/// Lanes between all pairs of `shards` shards; the ends in order of their shards.
pub fn mesh<Q: MeshPiece, A: Send>(shards: u16) -> Vec<MeshPorts<Q, A>> {
    let mut all: Vec<MeshPorts<Q, A>> = (0..shards)
        .map(|id| MeshPorts { id: ShardId(id), peers: (0..shards).map(|_| None).collect() })
        .collect();
    for low in 0..usize::from(shards) {
        for high in low + 1..usize::from(shards) {
            let ((up, up_cancels, up_answers), up_owner) = one_way();
            let ((down, down_cancels, down_answers), down_owner) = one_way();
            all[low].peers[high] = Some(Ports {
                pieces_out: up,
                cancels_out: up_cancels,
                answers_in: up_answers,
                owner: down_owner,
            });
            all[high].peers[low] = Some(Ports {
                pieces_out: down,
                cancels_out: down_cancels,
                answers_in: down_answers,
                owner: up_owner,
            });
        }
    }
    all
}

type AskingEnds<Q, A> =
    (lane::Sender<(CallId, Q)>, lane::Sender<CallId>, lane::Receiver<(CallId, Option<A>)>);

/// What a shard needs to ask another, and what that one needs to answer.
fn one_way<Q: MeshPiece, A: Send>() -> (AskingEnds<Q, A>, OwnerPorts<Q, A>) {
    let (pieces_out, pieces_in) = lane::channel(CREDITS);
    let (cancels_out, cancels_in) = lane::channel(CREDITS);
    let (answers_out, answers_in) = lane::channel(CREDITS);
    ((pieces_out, cancels_out, answers_in), OwnerPorts { pieces_in, cancels_in, answers_out })
}
