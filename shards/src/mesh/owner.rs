//! The owner's side: handles the pieces of one peer.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use futures_util::future::{Either, select};
use futures_util::stream::{FuturesUnordered, Stream};
use rt::lane;

use super::ports::{CREDITS, CallId, MeshPiece, OwnerPorts, Sent};

/// Pieces that have begun to wait are told together, when there are this many, or when something else is: each alone would wake the shard
/// that asked, for no more than its credit.
pub(super) const BEGUN_TOGETHER: usize = 64;

const _: () = assert!(BEGUN_TOGETHER < CREDITS, "some credits always come back by themselves");

/// Handles a peer's pieces, without a task for each: as many at a time as it has credits, and those that wait besides.
pub(super) async fn serve_peer<Q, A, H, F>(ports: OwnerPorts<Q, A>, handle: H)
where
    Q: MeshPiece,
    A: Send,
    H: Fn(Q) -> F + Clone,
    F: Future<Output = A>,
{
    let OwnerPorts { mut pieces_in, mut answers_out } = ports;
    let mut running = FuturesUnordered::new();
    let mut begun = Vec::new();
    let mut open = true;
    poll_fn(|cx: &mut Context<'_>| {
        loop {
            let mut progress = false;
            while open {
                match pieces_in.poll_recv(cx) {
                    Poll::Ready(Some(sent)) => {
                        if sent.reply.is_some() {
                            begun.push(sent.id);
                        }
                        if begun.len() >= BEGUN_TOGETHER {
                            tell_begun(&mut begun, &mut answers_out);
                        }
                        running.push(answer(sent, handle.clone()));
                        progress = true;
                    }
                    Poll::Ready(None) => open = false,
                    Poll::Pending => break,
                }
            }
            while let Poll::Ready(Some(answered)) = Pin::new(&mut running).poll_next(cx) {
                progress = true;
                tell_begun(&mut begun, &mut answers_out);
                if let Some((id, answer)) = answered {
                    // The answer's room is the piece's credit. A peer that ended doesn't want it.
                    drop(answers_out.try_send((id, Some(answer))));
                }
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

/// Gives the credits of pieces back that have begun to wait.
fn tell_begun<A: Send>(begun: &mut Vec<CallId>, answers_out: &mut lane::Sender<(CallId, Option<A>)>) {
    for id in begun.drain(..) {
        drop(answers_out.try_send((id, None)));
    }
}

/// Handles a piece. The answer of one that waits goes its own way.
async fn answer<Q, A, H, F>(sent: Sent<Q, A>, handle: H) -> Option<(CallId, A)>
where
    A: Send,
    H: Fn(Q) -> F,
    F: Future<Output = A>,
{
    let Sent { id, piece, reply } = sent;
    let Some(mut reply) = reply else { return Some((id, handle(piece).await)) };
    if let Some(answer) = wanted(handle(piece), &mut reply).await {
        // There is room for one, and this is it; whoever waited may have gone just now.
        drop(reply.try_send(answer));
    }
    None
}

/// Runs `future` to its end, or drops it when nobody waits for its answer any more.
async fn wanted<A: Send>(future: impl Future<Output = A>, reply: &mut lane::Sender<A>) -> Option<A> {
    match select(pin!(future), pin!(reply.closed())).await {
        Either::Left((answer, _)) => Some(answer),
        Either::Right(_) => None,
    }
}
