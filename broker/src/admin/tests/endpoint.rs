//! The endpoint over real sockets.

use std::io::{Read, Write};
use std::time::Duration;

use super::client::Behaviour::{Joins, Serves, Stuck};
use super::client::{connect, endpoint, exchange, get, split};
use crate::admin::limits::{CONNECTIONS_MAX, HEAD_BYTES_MAX, HEAD_WITHIN};
use crate::admin::{AdminError, Phase, start, wires};
use crate::config::listener::Listener;
use crate::metrics::NodeFacts;

const LONG: Duration = Duration::from_secs(10);
const SHORT: Duration = Duration::from_millis(50);

#[test]
fn metrics_come_from_every_shard() {
    let endpoint = endpoint(&[Serves(11), Serves(22)], LONG);
    let answer = exchange(endpoint.address, b"GET /metrics?x=1 HTTP/1.1\r\nHost: h\r\n\r\n");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    assert!(head.contains("content-type: text/plain; version=0.0.4; charset=utf-8"), "{head}");
    for line in [
        "# TYPE ringlog_pieces_total counter",
        "ringlog_pieces_total{shard=\"0\",kind=\"local\"} 11",
        "ringlog_pieces_total{shard=\"1\",kind=\"local\"} 22",
        "ringlog_shard_up{shard=\"1\"} 1",
        "process_start_time_seconds 1.5",
    ] {
        assert!(body.lines().any(|found| found == line), "no {line} in\n{body}");
    }
    assert!(body.contains("ringlog_build_info{version=\"") && body.contains("node_id=\"7\"} 1\n"), "{body}");
    assert!(body.contains("process_resident_memory_bytes "), "{body}");
}

#[test]
fn a_shard_that_does_not_answer_is_told_and_the_others_still_count() {
    let endpoint = endpoint(&[Stuck, Serves(5), Joins], SHORT);
    let (status, body) = get(endpoint.address, "/metrics");
    assert_eq!(status, 200);
    for line in [
        "ringlog_shard_up{shard=\"0\"} 0",
        "ringlog_shard_up{shard=\"1\"} 1",
        "ringlog_shard_up{shard=\"2\"} 0",
    ] {
        assert!(body.lines().any(|found| found == line), "no {line} in\n{body}");
    }
    assert!(body.contains("ringlog_pieces_total{shard=\"1\",kind=\"local\"} 5"));
    assert!(!body.contains("ringlog_pieces_total{shard=\"0\""), "{body}");
    assert_eq!(get(endpoint.address, "/healthz"), (503, "no answer from shard 0\n".into()));
}

#[test]
fn a_node_that_recovers_is_healthy_and_not_ready() {
    let endpoint = endpoint(&[Joins, Joins], LONG);
    assert_eq!(get(endpoint.address, "/healthz"), (200, "ok\n".into()));
    assert_eq!(get(endpoint.address, "/readyz"), (503, "starting\n".into()));
    endpoint.phase.set(Phase::Serving);
    assert_eq!(get(endpoint.address, "/readyz"), (200, "serving\n".into()));
    assert_eq!(get(endpoint.address, "/readyz"), (200, "serving\n".into()), "and stays so");
    endpoint.phase.set(Phase::Stopping);
    assert_eq!(get(endpoint.address, "/readyz"), (503, "stopping\n".into()));
}

#[test]
fn unknown_paths_and_methods_are_refused() {
    let endpoint = endpoint(&[Serves(1)], LONG);
    for path in ["/", "/metrics/", "/metric", "/healthz/x", "/%2fmetrics"] {
        assert_eq!(get(endpoint.address, path).0, 404, "{path}");
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "BREW"] {
        let request = format!("{method} /readyz HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc");
        let answer = exchange(endpoint.address, request.as_bytes());
        assert_eq!(split(&answer).0, 405, "{method}");
        assert!(answer.contains("allow: GET, HEAD"), "{answer}");
    }
    let head = exchange(endpoint.address, b"HEAD /healthz HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_eq!(split(&head), (200, String::new()));
    assert!(head.contains("content-length: 3"), "{head}");
    let old = exchange(endpoint.address, b"GET /healthz HTTP/1.0\r\n\r\n");
    assert_eq!(split(&old), (200, "ok\n".into()));
}

#[test]
fn heads_are_bounded_and_garbage_is_refused() {
    let endpoint = endpoint(&[Serves(1)], LONG);
    let large = format!("GET /healthz HTTP/1.1\r\nHost: h\r\nX: {}\r\n\r\n", "x".repeat(HEAD_BYTES_MAX));
    assert!([0, 431].contains(&split(&exchange(endpoint.address, large.as_bytes())).0));
    let many: String = (0..100).map(|n| format!("X{n}: 1\r\n")).collect();
    let many = format!("GET /healthz HTTP/1.1\r\nHost: h\r\n{many}\r\n");
    assert_eq!(split(&exchange(endpoint.address, many.as_bytes())).0, 431);
    for garbage in [&b"\x00\x00\x00\x10\x00\x12\x00\x03"[..], b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01"] {
        assert!([0, 400].contains(&split(&exchange(endpoint.address, garbage)).0), "{garbage:?}");
    }
    assert_eq!(get(endpoint.address, "/healthz").0, 200, "others are served on");
}

#[test]
fn silent_clients_are_closed_and_hold_up_nobody() {
    let endpoint = endpoint(&[Serves(1)], LONG);
    let mut silent: Vec<_> = (0..CONNECTIONS_MAX - 1).map(|_| connect(endpoint.address)).collect();
    silent[0].write_all(b"GET /heal").unwrap();
    assert_eq!(get(endpoint.address, "/healthz").0, 200, "one place is left");
    silent.push(connect(endpoint.address));
    let begun = rt::now();
    assert_eq!(get(endpoint.address, "/healthz").0, 200, "served as soon as a place is free");
    assert!(rt::now() - begun < HEAD_WITHIN * 2);
    for stream in &mut silent {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.is_empty() || rest.starts_with(b"HTTP/1.1 4"), "{rest:?}");
    }
}

#[test]
fn an_address_in_use_is_named() {
    let taken = endpoint(&[], LONG);
    let listen = Listener::parse(&format!("ADMIN://{}", taken.address)).unwrap();
    let (_, shards) = wires(1, LONG);
    let error = start(&listen, NodeFacts::default(), shards).unwrap_err();
    assert!(matches!(error, AdminError::Bind { .. }));
    let message = error.to_string();
    assert!(
        message.contains("ringlog.admin.listen") && message.contains(&taken.address.to_string()),
        "{message}"
    );
}

#[test]
fn the_placement_is_told_of_all_shards_that_answer() {
    let endpoint = endpoint(&[Serves(11), Joins], LONG);
    let (status, body) = get(endpoint.address, "/placement");
    assert_eq!(status, 200);
    let told: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!((&told["cores"], &told["silent"]), (&2.into(), &serde_json::json!([1])));
    let one = &told["partitions"][0];
    assert_eq!((&one["topic"], &one["partition"], &one["core"]), (&"orders".into(), &3.into(), &0.into()));
    assert_eq!((&one["bytes_in"], &one["dir"]), (&11.into(), &"/data".into()));
}

#[test]
fn a_move_is_a_post_and_its_refusal_tells_why() {
    let endpoint = endpoint(&[Serves(1), Serves(1)], LONG);
    let post = |query: &str| {
        let request =
            format!("POST /placement/move?{query} HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n");
        split(&exchange(endpoint.address, request.as_bytes()))
    };
    assert_eq!(post("topic=a&partition=0&core=1"), (200, "{\"remembered\":true}\n".into()));
    assert_eq!(post("topic=a&partition=1&core=1"), (200, "{\"remembered\":false}\n".into()));
    let (status, body) = post("topic=a&partition=0&core=2");
    assert!(status == 404 && body.contains("no such core"), "{status} {body}");
    for query in ["", "topic=a&partition=0", "topic=a&partition=x&core=1", "topic=a&partition=0&core=-1"] {
        assert_eq!(post(query).0, 400, "{query}");
    }
    assert_eq!(get(endpoint.address, "/placement/move?topic=a&partition=0&core=1").0, 405);
    let by_a_page = b"POST /placement/move?topic=a&partition=0&core=1 HTTP/1.1\r\nHost: h\r\nOrigin: http://h\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(split(&exchange(endpoint.address, by_a_page)).0, 403);
}
