//! What each path answers.

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue, ORIGIN};
use hyper::{Method, Response, StatusCode};

use serde_json::{Value, json};

use super::phase::Phase;
use super::placement;
use super::shards::Shards;
use crate::metrics::{self, NodeFacts, ShardSnapshot};
use crate::server::core_move::Unmoved;

const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
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
    pub(super) async fn answer(
        &self,
        method: &Method,
        path: &str,
        query: &str,
        headers: &HeaderMap,
    ) -> Answer {
        if path == "/placement/move" {
            return match *method {
                // Only a browser names one, and it does whenever a page posts: no page is to move what its reader can reach.
                Method::POST if headers.contains_key(ORIGIN) => {
                    let error = "a web page may not move partitions";
                    json(StatusCode::FORBIDDEN, &json!({"error": error}))
                }
                Method::POST => self.move_to_core(query).await,
                _ => not_allowed("POST"),
            };
        }
        if !["/metrics", "/healthz", "/readyz", "/placement"].contains(&path) {
            let paths = "there are /metrics, /healthz, /readyz, /placement and /placement/move\n";
            return text(StatusCode::NOT_FOUND, paths.into());
        }
        if ![Method::GET, Method::HEAD].contains(method) {
            return not_allowed("GET, HEAD");
        }
        match path {
            "/metrics" => self.metrics().await,
            "/healthz" => self.health().await,
            "/placement" => self.placement().await,
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

    async fn placement(&self) -> Answer {
        let shards = {
            let _turn = self.turn.acquire().await;
            self.shards.placements().await
        };
        json(StatusCode::OK, &placement::as_json(&self.node, rt::unix_ms(), shards))
    }

    async fn move_to_core(&self, query: &str) -> Answer {
        let Some(wish) = placement::wish(query) else {
            let error = "it takes topic=NAME&partition=NUMBER&core=NUMBER";
            return json(StatusCode::BAD_REQUEST, &json!({"error": error}));
        };
        match self.shards.move_to_core(wish).await {
            Some(Ok(is_remembered)) => json(StatusCode::OK, &json!({"remembered": is_remembered})),
            Some(Err(error)) => {
                let status = match error {
                    Unmoved::UnknownPartition | Unmoved::UnknownCore => StatusCode::NOT_FOUND,
                    _ => StatusCode::CONFLICT,
                };
                json(status, &json!({"error": error.to_string()}))
            }
            None => {
                let error = "no answer in time: the node doesn't serve, or the move goes on";
                json(StatusCode::SERVICE_UNAVAILABLE, &json!({"error": error}))
            }
        }
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

fn not_allowed(allowed: &'static str) -> Answer {
    let mut refused = text(StatusCode::METHOD_NOT_ALLOWED, format!("{allowed}\n"));
    refused.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    refused
}

fn json(status: StatusCode, body: &Value) -> Answer {
    let mut answer = text(status, format!("{body}\n"));
    answer.headers_mut().insert(CONTENT_TYPE, JSON);
    answer
}

fn text(status: StatusCode, body: String) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(body)));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, TEXT);
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}
