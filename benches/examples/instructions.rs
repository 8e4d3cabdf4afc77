//! One kind of request, again and again, for `callgrind` to count the instructions of: `instructions CASE`, where
//! CASE is one of [`CASES`]. `tests/bench/instructions.py` runs it and works the figures out.
//!
//! The whole broker runs on the simulated runtime: one thread, one seed, virtual time, so that the same program
//! takes the same way and the count repeats. A client on another simulated machine sends frames built before and
//! reads answers without looking into them. What the simulator itself takes is in the count; the `echo` cases, in
//! which a task answers with as many bytes without a broker, tell how much that is.
#![allow(clippy::unwrap_used, reason = "a failed step is a failed measurement")]

use std::net::SocketAddr;
use std::sync::Arc;

use broker::config::{Inputs, load};
use broker::server::Wiring;
use broker::server::boot::run_shard;
use bytes::{Bytes, BytesMut};
use protocol::header::request_frame;
use protocol::messages::create_topics_request::CreatableTopic;
use protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use protocol::messages::{CreateTopicsRequest, FetchRequest, ProduceRequest, Request};
use protocol::records::{BatchBuilder, Compression};
use rt::net::{Conn, Listener, connect};
use rt::sim::{Node, Sim};

/// What can be counted: what is asked, and how many records of 100 bytes a batch has.
const CASES: [(&str, Ask, u32); 8] = [
    ("produce-1", Ask::Produce, 1),
    ("produce-100", Ask::Produce, 100),
    ("fetch-1", Ask::Fetch, 1),
    ("fetch-100", Ask::Fetch, 100),
    ("echo-produce-1", Ask::EchoProduce, 1),
    ("echo-produce-100", Ask::EchoProduce, 100),
    ("echo-fetch-1", Ask::EchoFetch, 1),
    ("echo-fetch-100", Ask::EchoFetch, 100),
];

/// Requests before the count, and in it.
const WARM_UP: u32 = 300;
const COUNTED: u32 = 200;
const PORT: u16 = 9092;
/// When the simulator's clock starts. The real one can't be asked under valgrind, which hides the kernel's vDSO.
const NOW_MS: i64 = 1_735_689_600_000;
const TOPIC: &str = "orders";
const VALUE: [u8; 100] = [b'v'; 100];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Ask {
    Produce,
    Fetch,
    EchoProduce,
    EchoFetch,
}

fn main() {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let Some((_, ask, records)) = CASES.into_iter().find(|(name, ..)| *name == wanted) else {
        let names: Vec<&str> = CASES.iter().map(|(name, ..)| *name).collect();
        eprintln!("instructions CASE, one of {}", names.join(", "));
        std::process::exit(2);
    };
    let sim = Sim::new(1);
    sim.set_step_budget(u64::MAX);
    let (server, client) = (sim.node("broker"), sim.node("client"));
    let to = SocketAddr::new(server.ip(), PORT);
    match ask {
        Ask::Produce | Ask::Fetch => start_broker(&server),
        Ask::EchoProduce | Ask::EchoFetch => start_echo(&server, ask, records),
    }
    let exchange = sim.block_on(&client, Exchange::prepare(to, ask, records));
    let exchange = sim.block_on(&client, exchange.repeat(WARM_UP));
    let exchange = counted(&sim, &client, exchange);
    println!(
        "{wanted}: {COUNTED} requests of {} bytes, {} bytes answered",
        exchange.request.len(),
        exchange.answered
    );
}

/// callgrind collects between this function's begin and end.
#[inline(never)]
fn counted(sim: &Sim, client: &Node, exchange: Exchange) -> Exchange {
    sim.block_on(client, exchange.repeat(COUNTED))
}

fn start_broker(node: &Node) {
    let inputs = Inputs { host_name: node.ip().to_string(), ..Inputs::default() };
    let inputs = inputs.with_data_dir("/data".as_ref()).with_listen(&format!("{}:{PORT}", node.ip()));
    let config = load(inputs).unwrap().config;
    let (stop, stops) = flume::bounded(2);
    let wiring = Arc::new(Wiring::new(config, 1, stops));
    node.start(1, move |shard| {
        let (wiring, stop) = (wiring.clone(), stop.clone());
        async move {
            run_shard(wiring, shard).await.unwrap();
            drop(stop);
        }
    });
}

/// Answers every request with as many bytes as a broker would.
fn start_echo(node: &Node, ask: Ask, records: u32) {
    let answer_bytes = match ask {
        Ask::EchoFetch => 120 + batch(records).len(),
        _ => 80,
    };
    node.start(1, move |_| async move {
        let listener = Listener::bind(SocketAddr::from(([0, 0, 0, 0], PORT))).unwrap();
        let conn = listener.accept().await.unwrap().into_conn().unwrap();
        let mut answer = BytesMut::from(&(answer_bytes as u32).to_be_bytes()[..]);
        answer.resize(4 + answer_bytes, 0);
        let answer = answer.freeze();
        loop {
            if receive(&conn).await == 0 {
                return;
            }
            conn.send(vec![answer.clone()]).await.unwrap();
        }
    });
}

/// A connection and the frame that goes over it.
struct Exchange {
    conn: Conn,
    request: Bytes,
    answered: usize,
}

impl Exchange {
    async fn prepare(to: SocketAddr, ask: Ask, records: u32) -> Exchange {
        let conn = loop {
            match connect(to).await {
                Ok(conn) => break conn,
                // It starts.
                Err(_) => rt::sleep(std::time::Duration::from_millis(1)).await,
            }
        };
        if matches!(ask, Ask::Produce | Ask::Fetch) {
            call(&conn, frame(&create(), 5)).await;
        }
        let produce = frame(&produce(records), 9);
        let request = match ask {
            Ask::Fetch => {
                call(&conn, produce).await;
                frame(&fetch(), 12)
            }
            Ask::EchoFetch => frame(&fetch(), 12),
            Ask::Produce | Ask::EchoProduce => produce,
        };
        Exchange { conn, request, answered: 0 }
    }

    async fn repeat(mut self, times: u32) -> Exchange {
        for _ in 0..times {
            self.answered = call(&self.conn, self.request.clone()).await;
        }
        self
    }
}

/// Sends a frame and reads the answer; its size.
async fn call(conn: &Conn, frame: Bytes) -> usize {
    conn.send(vec![frame]).await.unwrap();
    receive(conn).await
}

/// Reads one frame whole; its size, 0 at the end of the stream.
async fn receive(conn: &Conn) -> usize {
    let mut buf = BytesMut::with_capacity(64 << 10);
    loop {
        let (got, back) = conn.recv(buf).await;
        buf = back;
        if got.unwrap() == 0 {
            return 0;
        }
        let size = buf.first_chunk::<4>().map(|size| 4 + u32::from_be_bytes(*size) as usize);
        if size.is_some_and(|size| buf.len() >= size) {
            return buf.len();
        }
    }
}

fn frame<R: Request>(request: &R, version: i16) -> Bytes {
    request_frame(1, Some("instructions".into()), request, version).unwrap().into_bytes()
}

fn batch(records: u32) -> Bytes {
    let mut batch = BatchBuilder::new().compression(Compression::None);
    for _ in 0..records {
        batch.push(NOW_MS, None, Some(&VALUE), &[]);
    }
    batch.build().unwrap()
}

fn create() -> CreateTopicsRequest {
    let topic =
        CreatableTopic { name: TOPIC.into(), num_partitions: 1, replication_factor: 1, ..Default::default() };
    CreateTopicsRequest { topics: vec![topic], timeout_ms: 10_000, ..Default::default() }
}

fn produce(records: u32) -> ProduceRequest {
    let data = PartitionProduceData { index: 0, records: Some(batch(records)), ..Default::default() };
    let topic = TopicProduceData { name: TOPIC.into(), partition_data: vec![data], ..Default::default() };
    ProduceRequest { acks: 1, timeout_ms: 10_000, topic_data: vec![topic], ..Default::default() }
}

/// Asks for the first batch, again and again: a read from the tail.
fn fetch() -> FetchRequest {
    let partition =
        FetchPartition { partition: 0, fetch_offset: 0, partition_max_bytes: 1 << 20, ..Default::default() };
    let topic = FetchTopic { topic: TOPIC.into(), partitions: vec![partition], ..Default::default() };
    FetchRequest {
        replica_id: -1,
        max_wait_ms: 500,
        min_bytes: 1,
        max_bytes: 1 << 20,
        session_epoch: -1,
        topics: vec![topic],
        ..Default::default()
    }
}
