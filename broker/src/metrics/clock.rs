//! [`RequestClock`]: one request's way through its shard, timed.

use std::rc::Rc;

use rt::Instant;

use super::apis::{ApiIndex, Stage};
use super::shard::ShardMetrics;

/// Goes along with a request of a connection. It reads the clock once a stage, 20 to 50 ns each. Dropped before the end, with its connection say, it has
/// counted the stages it went through and no total.
#[derive(Debug)]
pub struct RequestClock {
    metrics: Rc<ShardMetrics>,
    api: ApiIndex,
    arrived: Instant,
    stage_begun: Instant,
    response_bytes: u64,
}

impl RequestClock {
    /// A request of `frame_bytes`, its size included, that was all there at `arrived`.
    pub fn start(
        metrics: &Rc<ShardMetrics>,
        api: ApiIndex,
        frame_bytes: usize,
        arrived: Instant,
    ) -> RequestClock {
        let counter = metrics.apis.of(api);
        counter.requests.set(counter.requests.get() + 1);
        counter.request_bytes.set(counter.request_bytes.get() + frame_bytes as u64);
        RequestClock { metrics: Rc::clone(metrics), api, arrived, stage_begun: arrived, response_bytes: 0 }
    }

    /// Ends a stage; the next one begins.
    pub fn end_stage(&mut self, stage: Stage) {
        let now = rt::now();
        self.metrics.apis.of(self.api).stage(stage).record(now - self.stage_begun);
        self.stage_begun = now;
    }

    /// The answer is made, of so many bytes.
    pub fn answered(&mut self, response_bytes: usize) {
        self.response_bytes = response_bytes as u64;
    }

    /// The answer has left at `now`, or there was none to send.
    pub fn end(self, now: Instant) {
        let counter = self.metrics.apis.of(self.api);
        if self.response_bytes > 0 {
            counter.stage(Stage::Reply).record(now - self.stage_begun);
            counter.response_bytes.set(counter.response_bytes.get() + self.response_bytes);
        }
        counter.total.record(now - self.arrived);
    }
}
