//! A client by hand, so that it can also misbehave; and shards that answer as they are told.
#![allow(clippy::disallowed_types, reason = "the endpoint's peers are plain threads")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::admin::{AdminEnds, Ask, PhaseSender, start, wires};
use crate::config::listener::Listener;
use crate::metrics::{NodeFacts, ShardSnapshot};
use crate::server::core_move::Unmoved;
use crate::server::placed_partitions::PlacedPartition;

/// What a shard of a test does with what it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Behaviour {
    /// Answers, with so many local pieces.
    Serves(u64),
    /// Answers, but has no numbers yet.
    Joins,
    /// Takes nothing.
    Stuck,
}

/// An endpoint of a node with these shards. Their threads end with its process.
pub(super) struct Endpoint {
    pub(super) address: SocketAddr,
    pub(super) phase: PhaseSender,
    _stuck: Vec<flume::Receiver<Ask>>,
}

pub(super) fn endpoint(shards: &[Behaviour], within: Duration) -> Endpoint {
    let (AdminEnds { asks, phase }, ends) = wires(shards.len() as u16, within);
    let listen = Listener::parse("ADMIN://127.0.0.1:0").unwrap();
    let address =
        start(&listen, NodeFacts { node_id: 7, log_dirs: vec!["/data".into()], start_ms: 1_500 }, ends)
            .unwrap();
    let mut stuck = Vec::new();
    for (asks, behaviour) in asks.into_iter().zip(shards.iter().copied()) {
        if behaviour == Behaviour::Stuck {
            stuck.push(asks);
            continue;
        }
        std::thread::Builder::new().spawn(move || asks.iter().for_each(|ask| reply(ask, behaviour))).unwrap();
    }
    Endpoint { address, phase, _stuck: stuck }
}

fn reply(ask: Ask, behaviour: Behaviour) {
    match (ask, behaviour) {
        (Ask::Ping(answer), _) => drop(answer.send(())),
        (Ask::Snapshot(answer), Behaviour::Serves(pieces_local)) => {
            let snapshot = ShardSnapshot { pieces_local, ..ShardSnapshot::default() };
            drop(answer.send(Some(Box::new(snapshot))));
        }
        (Ask::Snapshot(answer), _) => drop(answer.send(None)),
        (Ask::Placement(answer), Behaviour::Serves(bytes_in)) => {
            drop(answer.send(Some(vec![placed(bytes_in)])))
        }
        (Ask::Placement(answer), _) => drop(answer.send(None)),
        (Ask::Move(wish, answer), Behaviour::Serves(_)) => {
            let moved = if wish.core < 2 { Ok(wish.partition == 0) } else { Err(Unmoved::UnknownCore) };
            let _ = answer.send(Some(moved));
        }
        (Ask::Move(_, answer), _) => drop(answer.send(None)),
    }
}

fn placed(bytes_in: u64) -> PlacedPartition {
    PlacedPartition {
        topic: "orders".into(),
        partition: 3,
        dir: Some(0),
        on_purpose: true,
        since_ms: 1_000,
        records_in: 1,
        bytes_in,
        records_out: 0,
        bytes_out: 0,
    }
}

/// Connects, says `request`, and reads until the endpoint closes.
pub(super) fn exchange(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = connect(address);
    // The endpoint may have closed before it took all of it.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

pub(super) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// Status and body of a GET.
pub(super) fn get(address: SocketAddr, path: &str) -> (u16, String) {
    split(&exchange(address, format!("GET {path} HTTP/1.1\r\nHost: h\r\n\r\n").as_bytes()))
}

pub(super) fn split(answer: &str) -> (u16, String) {
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    (status, answer.split_once("\r\n\r\n").map_or(String::new(), |(_, body)| body.to_string()))
}
