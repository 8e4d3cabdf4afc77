//! What each path answers.

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Response, StatusCode};

use super::phase::Phase;
use super::shards::Shards;
use crate::metrics::{self, NodeFacts, ShardSnapshot};

const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
/// Prometheus' text format.
const METRICS: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// The answer's whole body at once.
pub(super) type Answer = Response<Full<Bytes>>;

/// What the endpoint answers from.
#[derive(Debug)]
pub(super) struct Routes {
    node: NodeFacts,
    shards: Shards,
    /// One look at the shards at a time: however many ask, a shard's own work goes on between two answers.
    turn: tokio::sync::Semaphore,
}

impl Routes {
    pub(super) fn new(node: NodeFacts, shards: Shards) -> Routes {
        Routes { node, shards, turn: tokio::sync::Semaphore::new(1) }
    }

    /// Answers a request of this method for this path.
    pub(super) async fn answer(&self, method: &Method, path: &str) -> Answer {
        if !["/metrics", "/healthz", "/readyz"].contains(&path) {
            return text(StatusCode::NOT_FOUND, "there are /metrics, /healthz and /readyz\n".into());
        }
        if ![Method::GET, Method::HEAD].contains(method) {
            let mut refused = text(StatusCode::METHOD_NOT_ALLOWED, "GET or HEAD\n".into());
            refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return refused;
        }
        match path {
            "/metrics" => self.metrics().await,
            "/healthz" => self.health().await,
            _ => self.readiness(),
        }
    }

    async fn metrics(&self) -> Answer {
        let shards: Vec<Option<Box<ShardSnapshot>>> = {
            let _turn = self.turn.acquire().await;
            self.shards.snapshots().await
        };
        let process =
            rt::process_usage().map_err(|error| tracing::warn!(%error, "the process's own numbers")).ok();
        let mut answer = text(StatusCode::OK, metrics::render(&self.node, &shards, process.as_ref()));
        answer.headers_mut().insert(CONTENT_TYPE, METRICS);
        answer
    }

    async fn health(&self) -> Answer {
        let silent = {
            let _turn = self.turn.acquire().await;
            self.shards.silent().await
        };
        if silent.is_empty() {
            return text(StatusCode::OK, "ok\n".into());
        }
        let names: Vec<String> = silent.iter().map(usize::to_string).collect();
        text(StatusCode::SERVICE_UNAVAILABLE, format!("no answer from shard {}\n", names.join(", ")))
    }

    fn readiness(&self) -> Answer {
        let phase = self.shards.phase();
        let status = if phase == Phase::Serving { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        text(status, format!("{}\n", phase.name()))
    }
}

fn text(status: StatusCode, body: String) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(body)));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, TEXT);
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}
