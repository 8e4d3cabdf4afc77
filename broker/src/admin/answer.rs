//! A shard's side: it answers until it ends.

use std::cell::OnceCell;
use std::rc::Rc;

use super::shards::Ask;
use crate::metrics;
use crate::server::{ShardState, core_move, placed_partitions};

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
            Ask::Placement(answer) => {
                let placed = match seat.0.get() {
                    Some(shard) => Some(placed_partitions::all(shard).await),
                    None => None,
                };
                drop(answer.try_send(placed));
            }
            // It takes its time, and the shard answers others meanwhile. Only one is carried out at a time, others are refused at once.
            Ask::Move(wish, answer) => match seat.0.get() {
                Some(shard) => {
                    let mover = Rc::clone(shard);
                    shard.tasks.spawn(async move {
                        let moved = core_move::carry_out(&mover, wish).await;
                        let _ = answer.try_send(Some(moved));
                    });
                }
                None => drop(answer.try_send(None)),
            },
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
