//! The end of a node, in two steps: shard 0 orders, every shard obeys and reports.
//!
//! ```text
//!   shard 0                       every shard, 0 too
//!   no more accepted
//!   Drain ──────────────────────> connections end
//!     <───────────────── Drained
//!   Close ──────────────────────> coordinators end, logs are closed
//!     <────────────────── Closed
//!   quorum ends, directory closed
//! ```
//!
//! Between the steps all shards still serve each other's pieces: a request that needs other shards is answered as any other.

use std::rc::Rc;

use futures_util::future::join_all;
use rt::lane;
use storage::{ClosedDir, DirHome, Offsets};

use super::failure::Failure;
use super::state::ShardState;

/// What shard 0 tells the shards, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// End the connections.
    Drain,
    /// Nobody needs you any more: close the logs.
    Close,
}

/// What a shard tells shard 0.
#[derive(Debug)]
pub(super) enum Report {
    /// Its connections have ended.
    Drained,
    /// Its logs are closed.
    Closed(ClosedDir),
}

/// Leads all shards through the end. Gives what each closed; none of one that ended otherwise.
pub(super) async fn conduct(
    orders: &mut [lane::Sender<Order>],
    reports: &mut [lane::Receiver<Report>],
) -> Vec<Option<ClosedDir>> {
    tell_all(orders, Order::Drain);
    join_all(reports.iter_mut().map(lane::Receiver::recv)).await;
    tell_all(orders, Order::Close);
    let closed = reports.iter_mut().map(|reports| async {
        match reports.recv().await {
            Some(Report::Closed(dir)) => Some(dir),
            _ => None,
        }
    });
    join_all(closed).await
}

fn tell_all(orders: &mut [lane::Sender<Order>], order: Order) {
    for shard in orders {
        // There is room for each order once; a shard that has ended has ended the process.
        let _ = shard.try_send(order);
    }
}

/// Does what shard 0 orders, up to the shard's end.
pub(super) async fn obey(
    shard: Rc<ShardState>,
    mut orders: lane::Receiver<Order>,
    mut reports: lane::Sender<Report>,
) {
    while let Some(order) = orders.recv().await {
        let report = match order {
            Order::Drain => {
                shard.network.close().await;
                Report::Drained
            }
            Order::Close => Report::Closed(close(&shard).await),
        };
        // There is room for each report once.
        let _ = reports.try_send(report);
        if order == Order::Close {
            return;
        }
    }
}

/// Ends the shard's tasks, then closes its logs.
async fn close(shard: &Rc<ShardState>) -> ClosedDir {
    shard.coordinators.stop().await;
    shard.partitions.borrow_mut().clear();
    shard.tasks.cancel_all().await;
    shard.log_dir.close().await
}

/// Closes the directory with what the shards closed.
///
/// # Errors
/// Something wasn't closed cleanly: the next start recovers.
pub(super) async fn close_home(
    home: DirHome,
    closed: Vec<Option<ClosedDir>>,
    broker_epoch: i64,
) -> Result<(), Failure> {
    let shards = closed.len();
    let closed: Vec<ClosedDir> = closed.into_iter().flatten().collect();
    if closed.len() < shards {
        return Err(Failure::fatal("a shard didn't close its logs"));
    }
    // The ISR is this node alone: all that was closed is committed.
    let marks: Offsets = closed
        .iter()
        .flat_map(|dir| dir.logs.iter().map(|(partition, at)| (partition.clone(), at.end)))
        .collect();
    let result = home.close(&closed, &marks, broker_epoch).await;
    result.map_err(|error| Failure::fatal(format!("the log directory wasn't closed cleanly: {error}")))
}
