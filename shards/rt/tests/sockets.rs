//! Sockets: ownership, order and limits.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests watch the runtime from outside"
)]

#[macro_use]
mod common;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::rc::Rc;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use rt::net::{Accepted, Listener, connect};
use rt::{Engine, ShardId, lane};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

on_both_engines![
    a_port_is_bound_once,
    many_slices_arrive_whole_and_in_order,
    nothing_follows_a_torn_send,
    closing_wakes_whoever_receives,
    closing_loses_nothing_that_was_sent,
    receiving_can_be_given_up_and_taken_up_again,
    a_refused_connection_is_an_error,
    accepted_connections_are_probed_by_the_system,
    accepted_connections_cross_shards,
    accept_backs_off_without_descriptors
];

const DEADLINE: Duration = Duration::from_secs(60);

fn one_shard<F: Future<Output = ()> + 'static>(engine: Engine, main: fn() -> F) {
    common::bounded(DEADLINE, move || rt::run(common::shards(engine, 1), move |_| main()).unwrap());
}

/// glommio's own bind sets SO_REUSEPORT: two brokers would share a port without a word.
fn a_port_is_bound_once(engine: Engine) {
    one_shard(engine, || async {
        let first = Listener::bind(common::any_port()).unwrap();
        let second = Listener::bind(first.local_addr());
        assert_eq!(second.unwrap_err().kind(), std::io::ErrorKind::AddrInUse);
        let addr = first.local_addr();
        drop(first);
        Listener::bind(addr).unwrap();
    });
}

/// glommio's vectored write sends the first slice only. Here: more slices than one call takes, empty ones
/// among them, more bytes than the socket buffers hold, to a reader that starts late.
fn many_slices_arrive_whole_and_in_order(engine: Engine) {
    common::bounded(DEADLINE, move || {
        let (port, ports) = mpsc::channel::<SocketAddr>();
        let reader = std::thread::spawn(move || {
            let mut stream = TcpStream::connect(ports.recv().unwrap()).unwrap();
            std::thread::sleep(Duration::from_millis(300));
            let mut all = Vec::new();
            stream.read_to_end(&mut all).unwrap();
            all
        });
        rt::run(common::shards(engine, 1), move |_| {
            let port = port.clone();
            async move {
                let listener = Listener::bind(common::any_port()).unwrap();
                port.send(listener.local_addr()).unwrap();
                let conn = listener.accept().await.unwrap().into_conn().unwrap();
                conn.send(slices()).await.unwrap();
                conn.send(Vec::new()).await.unwrap();
                conn.shutdown();
                let (result, _) = conn.recv(BytesMut::with_capacity(1)).await;
                assert_eq!(result.unwrap(), 0);
            }
        })
        .unwrap();
        let sent: Vec<u8> = slices().into_iter().flatten().collect();
        assert!(reader.join().unwrap() == sent, "the stream differs from what was sent");
    });
}

fn slices() -> Vec<Bytes> {
    let slice = |index: usize| {
        let len = [0, 1, 100_000, 33, 4096][index % 5];
        Bytes::from_iter((0..len).map(|at| (at * 7 + index) as u8))
    };
    (0..1_000).map(slice).collect()
}

/// A send given up half-way would let the next one be read as its rest.
fn nothing_follows_a_torn_send(engine: Engine) {
    one_shard(engine, || async {
        let listener = Listener::bind(common::any_port()).unwrap();
        let client = connect(listener.local_addr()).await.unwrap();
        let _server = listener.accept().await.unwrap().into_conn().unwrap();
        let much = vec![Bytes::from(vec![0; 64 << 20])];
        assert!(rt::timeout(Duration::from_millis(200), client.send(much)).await.is_err());
        let next = client.send(vec![Bytes::from_static(b"x")]).await;
        assert_eq!(next.unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
    });
}

fn closing_wakes_whoever_receives(engine: Engine) {
    one_shard(engine, || async {
        let listener = Listener::bind(common::any_port()).unwrap();
        let client = Rc::new(connect(listener.local_addr()).await.unwrap());
        let _server = listener.accept().await.unwrap().into_conn().unwrap();
        let receiving = client.clone();
        let task = rt::spawn(async move { receiving.recv(BytesMut::with_capacity(10)).await.0 });
        rt::sleep(Duration::from_millis(50)).await;
        client.close().await;
        assert_eq!(task.await.unwrap(), 0);
        assert!(client.send(vec![Bytes::from_static(b"x")]).await.is_err());
    });
}

/// Closing with unread bytes resets a connection, and the reset overtakes what was sent.
fn closing_loses_nothing_that_was_sent(engine: Engine) {
    one_shard(engine, || async {
        let listener = Listener::bind(common::any_port()).unwrap();
        for _ in 0..20 {
            let client = connect(listener.local_addr()).await.unwrap();
            let server = listener.accept().await.unwrap().into_conn().unwrap();
            client.send(vec![Bytes::from(vec![1; 100_000])]).await.unwrap();
            let closing = rt::spawn(async move {
                server.send(vec![Bytes::from(vec![2; 300_000])]).await.unwrap();
                server.close().await;
            });
            let mut got = 0;
            loop {
                let (result, _) = client.recv(BytesMut::with_capacity(10_000)).await;
                match result.unwrap() {
                    0 => break,
                    n => got += n,
                }
            }
            assert_eq!(got, 300_000);
            drop(client);
            closing.await;
        }
    });
}

fn receiving_can_be_given_up_and_taken_up_again(engine: Engine) {
    one_shard(engine, || async {
        let listener = Listener::bind(common::any_port()).unwrap();
        let client = connect(listener.local_addr()).await.unwrap();
        let server = listener.accept().await.unwrap().into_conn().unwrap();
        for _ in 0..20 {
            let none = rt::timeout(Duration::from_millis(2), server.recv(BytesMut::with_capacity(10))).await;
            assert!(none.is_err());
            client.send(vec![Bytes::from_static(b"abc")]).await.unwrap();
            let (result, buf) = server.recv(BytesMut::with_capacity(10)).await;
            assert_eq!((result.unwrap(), &buf[..]), (3, &b"abc"[..]));
        }
    });
}

fn a_refused_connection_is_an_error(engine: Engine) {
    one_shard(engine, || async {
        let listener = Listener::bind(common::any_port()).unwrap();
        let to = listener.local_addr();
        drop(listener);
        assert_eq!(connect(to).await.unwrap_err().kind(), std::io::ErrorKind::ConnectionRefused);
    });
}

/// A client whose machine lost its power used to keep its connection until it was idle, or for ever.
fn accepted_connections_are_probed_by_the_system(engine: Engine) {
    one_shard(engine, || async {
        let listener = Listener::bind(common::any_port()).unwrap();
        let client = connect(listener.local_addr()).await.unwrap();
        let _server = listener.accept().await.unwrap().into_conn().unwrap();
        let ports = format!(":{:04X} ", listener.local_addr().port());
        let peer = format!(":{:04X} ", client.local_addr().port());
        let table = std::fs::read_to_string("/proc/self/net/tcp").unwrap();
        let line = table.lines().find(|line| {
            let ends: Vec<&str> = line.split_inclusive(' ').filter(|part| part.contains(':')).collect();
            ends.len() > 2 && ends[1].ends_with(&ports) && ends[2].ends_with(&peer)
        });
        // The timer that runs on an idle connection: 02 is keepalive's, 00 is none.
        let timer = line.unwrap().split_whitespace().nth(5).unwrap();
        assert!(timer.starts_with("02:"), "{line:?}");
    });
}

/// An accepted connection is an owned descriptor: it may cross shards, and dies with whoever loses it.
fn accepted_connections_cross_shards(engine: Engine) {
    common::bounded(DEADLINE, move || {
        let (to, from) = lane::channel::<Accepted>(8);
        let ends = Arc::new(Mutex::new((Some(to), Some(from))));
        let (port, ports) = mpsc::channel::<SocketAddr>();
        let client = std::thread::spawn(move || {
            let to = ports.recv().unwrap();
            let mut lost = TcpStream::connect(to).unwrap();
            assert_eq!(lost.read(&mut [0]).unwrap_or(0), 0);
            for _ in 0..20 {
                let mut stream = TcpStream::connect(to).unwrap();
                stream.write_all(b"ping").unwrap();
                let mut echo = [0; 4];
                stream.read_exact(&mut echo).unwrap();
                assert_eq!(&echo, b"ping");
            }
        });
        rt::run(common::shards(engine, 2), move |shard| {
            let (ends, port) = (ends.clone(), port.clone());
            async move {
                if shard == ShardId(0) {
                    let mut to = ends.lock().unwrap().0.take().unwrap();
                    let listener = Listener::bind(common::any_port()).unwrap();
                    port.send(listener.local_addr()).unwrap();
                    drop(listener.accept().await.unwrap());
                    for _ in 0..20 {
                        to.send(listener.accept().await.unwrap()).await.unwrap();
                    }
                } else {
                    let mut from = ends.lock().unwrap().1.take().unwrap();
                    while let Some(accepted) = from.recv().await {
                        assert!(accepted.peer_addr().ip().is_loopback());
                        let conn = accepted.into_conn().unwrap();
                        let (result, buf) = conn.recv(BytesMut::with_capacity(64)).await;
                        result.unwrap();
                        conn.send(vec![buf.freeze()]).await.unwrap();
                    }
                }
            }
        })
        .unwrap();
        client.join().unwrap();
    });
}

/// Out of descriptors, glommio's accept fails 540,000 times a second. Ours waits, and goes on when there are
/// some.
fn accept_backs_off_without_descriptors(engine: Engine) {
    let name = common::test_name("accept_backs_off_without_descriptors", engine);
    if common::is_child(&name) {
        rt::run(common::shards(engine, 1), |_| starved_accept()).unwrap();
        return;
    }
    let output = common::run_child(&name, DEADLINE);
    assert!(output.status.success(), "{}", common::text(&output));
    assert!(common::text(&output).contains("accepted in the end"), "{}", common::text(&output));
}

async fn starved_accept() {
    let listener = Listener::bind(common::any_port()).unwrap();
    let client = connect(listener.local_addr()).await.unwrap();
    let before = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(3), ..before }).unwrap();
    let cpu = || rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let began = cpu();
    let starved = rt::timeout(Duration::from_secs(1), listener.accept()).await;
    assert!(starved.is_err(), "accepted without a descriptor");
    let used_ms = (cpu().tv_sec - began.tv_sec) * 1_000 + (cpu().tv_nsec - began.tv_nsec) / 1_000_000;
    assert!(used_ms < 300, "{used_ms} ms of processor time while waiting for descriptors");
    setrlimit(Resource::Nofile, before).unwrap();
    let accepted = rt::timeout(Duration::from_secs(5), listener.accept()).await;
    assert_eq!(accepted.unwrap().unwrap().peer_addr(), client.local_addr());
    println!("accepted in the end");
}
