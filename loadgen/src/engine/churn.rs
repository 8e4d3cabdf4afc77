//! Connections and group members that come and go.

use std::rc::Rc;
use std::time::Duration;

use client::Cluster;
use protocol::messages::MetadataRequest;
use rt::TaskSet;

use super::ShardContext;
use crate::group::Member;
use crate::link::LinkError;
use crate::scenario::ChurnSpec;

/// Connections of churn at a time, each shard; further ones wait their turn and are counted as errors.
const CONNECTIONS_MAX: usize = 1024;
const METADATA_MAX: i16 = 12;
/// The longest sleep, so that orders are seen.
const SLEEP_MAX: Duration = Duration::from_millis(100);

/// Opens connections and makes members rejoin at this shard's share of the rates, until the line is over.
pub(super) async fn drive(context: Rc<ShardContext>, spec: ChurnSpec, members: Vec<Rc<Member>>) {
    let shards = f64::from(context.plan.shards);
    let connections_per_s = spec.connections_per_s / shards;
    // Members aren't dealt out evenly if there are few.
    let total = context.plan.reading.as_ref().map_or(0, |reading| reading.spec.total());
    let rejoins_per_s = spec.rejoins_per_s * members.len() as f64 / (total.max(1) as f64);
    let (mut connections, mut rejoins) = (0_u64, 0_u64);
    let tasks = TaskSet::new();
    while !context.control.is_stopped() {
        let elapsed_s = rt::now().as_nanos().saturating_sub(context.start_ns) as f64 / 1e9;
        while (connections as f64) < elapsed_s * connections_per_s {
            connections += 1;
            if tasks.len() >= CONNECTIONS_MAX {
                context.stats.borrow_mut().error("churn: too many connections at a time");
                continue;
            }
            tasks.spawn(connect(context.clone()));
        }
        while (rejoins as f64) + 1.0 <= elapsed_s * rejoins_per_s {
            members[rejoins as usize % members.len()].is_to_rejoin.set(true);
            rejoins += 1;
        }
        let next_s = (connections as f64 / connections_per_s.max(f64::EPSILON) - elapsed_s).max(0.001);
        rt::sleep(Duration::from_secs_f64(next_s.min(SLEEP_MAX.as_secs_f64()))).await;
    }
    tasks.cancel_all().await;
}

async fn connect(context: Rc<ShardContext>) {
    match visit(&context).await {
        Ok(()) => context.stats.borrow_mut().event("connections"),
        Err(error) => {
            tracing::debug!("{error}");
            context.stats.borrow_mut().error("churn: connection");
        }
    }
}

/// What a short-lived client does first.
async fn visit(context: &ShardContext) -> Result<(), LinkError> {
    let link = context.directory.any_link().await?;
    let topic = context.plan.layout.topics().first().map(|topic| topic.name.to_string()).unwrap_or_default();
    link.call::<MetadataRequest>(METADATA_MAX, Duration::ZERO, |version| {
        Cluster::metadata_request(Some(&[&topic]), false, version)
    })
    .await
    .map(drop)
}
