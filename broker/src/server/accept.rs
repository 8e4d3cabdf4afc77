//! Accepting connections, on shard 0, and handing each to the shard with the fewest.
//!
//! ```text
//!   accept ── Loads: the fewest ── Piece::Connection ──> adopt
//!               ^── how many ended <──────────────────── Connections
//! ```

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rt::net::Listener;
use rt::{ShardId, lane};

use super::piece::Piece;
use super::state::ShardState;

/// Open connections of each shard, as far as shard 0 knows: those handed to it less those it said have ended.
#[derive(Debug)]
pub(super) struct Loads {
    open: RefCell<Vec<usize>>,
    /// Who is asked first among equals.
    turn: Cell<usize>,
}

impl Loads {
    /// None are open yet.
    pub(super) fn new(shards: u16) -> Loads {
        assert!(shards > 0, "a node has a shard");
        Loads { open: RefCell::new(vec![0; usize::from(shards)]), turn: Cell::new(0) }
    }

    /// The shard for a new connection, which is counted as its own from here on: the one with the fewest, among equals in turn.
    pub(super) fn hand_out(&self) -> ShardId {
        let mut open = self.open.borrow_mut();
        let shards = open.len();
        let by_turn = (0..shards).map(|step| (self.turn.get() + step) % shards);
        let fewest = by_turn.min_by_key(|shard| open[*shard]).unwrap_or_default();
        open[fewest] += 1;
        self.turn.set((fewest + 1) % shards);
        ShardId(fewest as u16)
    }

    /// Connections of a shard have ended.
    pub(super) fn ended(&self, shard: ShardId, count: u32) {
        let open = &mut self.open.borrow_mut()[usize::from(shard.0)];
        *open = open.saturating_sub(count as usize);
    }
}

/// Accepts, and hands out.
pub(super) async fn accept(shard: Rc<ShardState>, loads: Rc<Loads>, listener: Listener, index: usize) {
    loop {
        match listener.accept().await {
            Ok(accepted) => {
                shard.call(loads.hand_out(), Piece::Connection(accepted, index)).await;
            }
            Err(error) => tracing::warn!(%error, "accept failed"),
        }
    }
}

/// Hears how many connections of a shard have ended.
pub(super) async fn follow_ended(loads: Rc<Loads>, shard: ShardId, mut ended: lane::Receiver<u32>) {
    while let Some(count) = ended.recv().await {
        loads.ended(shard, count);
    }
}

/// Tells it, on that shard.
pub(super) async fn tell_ended(shard: Rc<ShardState>, mut ended: lane::Sender<u32>) {
    // Nobody listens any more once no more are accepted.
    while ended.send(shard.network.ended().await).await.is_ok() {}
}

#[cfg(test)]
mod tests;
