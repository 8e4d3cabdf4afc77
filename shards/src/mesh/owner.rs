//! The owner's side: handles the pieces of one peer.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use futures_util::stream::{FuturesUnordered, Stream};

use super::cancel::Cancel;
use super::ports::{CallId, MeshPiece, OwnerPorts};

/// Handles a peer's pieces, as many at a time as it has credits, without a task for each.
pub(super) async fn serve_peer<Q, A, H, F>(ports: OwnerPorts<Q, A>, handle: H)
where
    Q: MeshPiece,
    A: Send,
    H: Fn(Q) -> F + Clone,
    F: Future<Output = A>,
{
    let OwnerPorts { mut pieces_in, mut cancels_in, mut answers_out } = ports;
    let mut running = FuturesUnordered::new();
    // Pieces under way that may be cancelled.
    let mut cancels: BTreeMap<CallId, Rc<Cancel>> = BTreeMap::new();
    let mut cancelled: Vec<CallId> = Vec::new();
    let mut open = true;
    poll_fn(|cx: &mut Context<'_>| {
        loop {
            let mut progress = false;
            // Before the pieces: the piece that a cancel speaks of was sent before it, so it is received by then.
            while let Poll::Ready(Some(id)) = cancels_in.poll_recv(cx) {
                cancelled.push(id);
            }
            while open {
                match pieces_in.poll_recv(cx) {
                    Poll::Ready(Some((id, piece))) => {
                        let cancel = piece.is_cancellable().then(|| {
                            let cancel = Rc::new(Cancel::default());
                            cancels.insert(id, Rc::clone(&cancel));
                            cancel
                        });
                        let handle = handle.clone();
                        running.push(async move {
                            let answer = match &cancel {
                                Some(cancel) => cancel.or(handle(piece)).await,
                                None => Some(handle(piece).await),
                            };
                            (id, answer, cancel.is_some())
                        });
                        progress = true;
                    }
                    Poll::Ready(None) => open = false,
                    Poll::Pending => break,
                }
            }
            for id in cancelled.drain(..) {
                // One that isn't there any more was answered meanwhile.
                if let Some(cancel) = cancels.remove(&id) {
                    cancel.cancel();
                }
            }
            while let Poll::Ready(Some((id, answer, cancellable))) = Pin::new(&mut running).poll_next(cx) {
                progress = true;
                if cancellable {
                    cancels.remove(&id);
                }
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
