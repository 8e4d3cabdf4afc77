//! The end of a node, in two steps: shard 0 orders, every shard obeys and reports.
//!
//! ```text
//!   shard 0                       every shard, 0 too
//!   no more accepted
//!   Drain ──────────────────────> no more requests are read, those begun are answered, connections end
//!   (Hurry) ────────────────────> connections are closed
//!     <───────────────── Drained
//!   Close ──────────────────────> coordinators end, logs are closed
//!     <────────────────── Closed
//!   quorum ends, directories closed
//! ```
//!
//! Up to Close all shards serve each other's pieces: a request that needs other shards is answered as any other. What only waits doesn't hold
//! the stop: a Fetch is answered with what there is, JoinGroup and SyncGroup with NOT_COORDINATOR.

use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::{Either, join_all, select};
use rt::lane;
use storage::ClosedDir;

use super::failure::Failure;
use super::homes::Homes;
use super::placement_file;
use super::state::ShardState;

/// How long requests that were begun may take when the node stops. A client that doesn't read its answer is the one to reach it; service
/// managers that kill after 10 seconds must not cut off what follows.
const DRAIN_MAX: Duration = Duration::from_secs(5);

/// What shard 0 tells the shards, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Take no more requests, and let the connections end.
    Drain,
    /// Don't wait for them. May be left out, and may come late.
    Hurry,
    /// Nobody needs you any more: close the logs.
    Close,
}

/// What a shard closed, in the order of `log.dirs`; `None` for a directory that is offline.
pub(super) type ClosedDirs = Vec<Option<ClosedDir>>;

/// What a shard tells shard 0.
#[derive(Debug)]
pub(super) enum Report {
    /// Its connections have ended.
    Drained,
    /// Its logs are closed.
    Closed(ClosedDirs),
}

/// Leads all shards through the end; whatever comes by `hurry` makes it faster. Gives what each closed; none of one that ended otherwise.
pub(super) async fn conduct(
    orders: &mut [lane::Sender<Order>],
    reports: &mut [lane::Receiver<Report>],
    hurry: &flume::Receiver<i32>,
) -> Vec<Option<ClosedDirs>> {
    tell_all(orders, Order::Drain);
    drained(orders, reports, hurry).await;
    tell_all(orders, Order::Close);
    let closed = reports.iter_mut().map(|reports| async {
        match reports.recv().await {
            Some(Report::Closed(dirs)) => Some(dirs),
            _ => None,
        }
    });
    join_all(closed).await
}

/// Waits until all connections have ended.
async fn drained(
    orders: &mut [lane::Sender<Order>],
    reports: &mut [lane::Receiver<Report>],
    hurry: &flume::Receiver<i32>,
) {
    let drained = pin!(join_all(reports.iter_mut().map(lane::Receiver::recv)));
    if let Either::Right((signal, drained)) = select(drained, pin!(hurry.recv_async())).await {
        if let Ok(signal) = signal {
            tracing::info!(signal, "stopping without waiting for answers");
            tell_all(orders, Order::Hurry);
        }
        drained.await;
    }
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
    // The first order, whatever it is, ends the connections. Without orders shard 0 has ended, and the process with it.
    if orders.recv().await.is_none() {
        return;
    }
    drain(&shard, &mut orders).await;
    // There is room for each report once.
    let _ = reports.try_send(Report::Drained);
    while let Some(order) = orders.recv().await {
        if order == Order::Close {
            let _ = reports.try_send(Report::Closed(close(&shard).await));
            return;
        }
    }
}

/// Ends the connections: in peace, unless that takes too long or there is an order to hurry.
async fn drain(shard: &Rc<ShardState>, orders: &mut lane::Receiver<Order>) {
    let drained = pin!(rt::timeout(DRAIN_MAX, shard.network.drain()));
    if let Either::Left((Err(rt::Elapsed), _)) = select(drained, pin!(orders.recv())).await {
        let open = shard.network.open_count();
        tracing::warn!(shard = %shard.id, open, "connections are closed before they are answered");
    }
    shard.network.close().await;
}

/// Ends the shard's tasks, then closes its logs.
async fn close(shard: &Rc<ShardState>) -> ClosedDirs {
    shard.coordinators.stop().await;
    shard.partitions.borrow_mut().clear();
    shard.tasks.cancel_all().await;
    if shard.first.is_some() {
        placement_file::save(shard).await;
    }
    let closing = shard.log_dirs.all().map(|(_, dir)| async move {
        let closed = dir.opened()?.close().await;
        // What couldn't be closed on a disk that failed is for the next start to recover.
        dir.online().map(|_| closed)
    });
    join_all(closing.collect::<Vec<_>>()).await
}

/// Closes the directories with what the shards closed.
///
/// # Errors
/// Something wasn't closed cleanly: the next start recovers.
pub(super) async fn close_homes(
    homes: Homes,
    closed: Vec<Option<ClosedDirs>>,
    broker_epoch: i64,
) -> Result<(), Failure> {
    let shards = closed.len();
    let closed: Vec<ClosedDirs> = closed.into_iter().flatten().collect();
    if closed.len() < shards {
        return Err(Failure::fatal("a shard didn't close its logs"));
    }
    homes.close(closed, broker_epoch).await
}
