//! A shard's side: it answers until it ends.

use std::cell::OnceCell;
use std::rc::Rc;

use super::shards::Ask;
use crate::metrics;
use crate::server::ShardState;

/// Where a shard puts its state once it has one: before that it runs, but has no numbers.
#[derive(Debug, Clone, Default)]
pub struct Seat(Rc<OnceCell<Rc<ShardState>>>);

impl Seat {
    /// Puts it there.
    ///
    /// # Panics
    /// The second time.
    pub fn take(&self, shard: &Rc<ShardState>) {
        assert!(self.0.set(Rc::clone(shard)).is_ok(), "a shard joins once");
    }
}

/// Answers the endpoint; returns when there is none.
pub async fn answer(asks: flume::Receiver<Ask>, seat: Seat) {
    while let Ok(ask) = asks.recv_async().await {
        // Whoever asked may have given up.
        match ask {
            Ask::Ping(answer) => drop(answer.try_send(())),
            Ask::Snapshot(answer) => {
                let snapshot = match seat.0.get() {
                    Some(shard) => Some(Box::new(metrics::snapshot(shard).await)),
                    None => None,
                };
                drop(answer.try_send(snapshot));
            }
        }
    }
}
