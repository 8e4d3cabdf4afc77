//! The shard's clock, as coordinators want it.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::group::coordinator::{Clock, Now};

const NS_PER_MS: u64 = 1_000_000;

/// The running shard's clocks and timers.
#[derive(Debug, Clone, Copy)]
pub(super) struct ShardClock;

impl Clock for ShardClock {
    fn now(&self) -> Now {
        Now { mono_ms: mono_ms(), unix_ms: rt::unix_ms() }
    }

    fn sleep_until(&self, mono_ms: i64) -> Pin<Box<dyn Future<Output = ()>>> {
        Box::pin(async move {
            let until_ns = u64::try_from(mono_ms).unwrap_or_default().saturating_mul(NS_PER_MS);
            let left_ns = until_ns.saturating_sub(rt::now().as_nanos());
            rt::sleep(Duration::from_nanos(left_ns)).await;
        })
    }

    fn yield_point(&self) -> Pin<Box<dyn Future<Output = ()>>> {
        Box::pin(rt::yield_point())
    }
}

fn mono_ms() -> i64 {
    i64::try_from(rt::now().as_nanos() / NS_PER_MS).unwrap_or(i64::MAX)
}
