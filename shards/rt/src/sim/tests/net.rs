use std::cell::{Cell, RefCell};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};

use super::{SEEDS, background, can_happen};
use crate::sim::facade::{now_ns, spawn};
use crate::sim::net::{Conn, Listener, connect};
use crate::sim::timer::sleep_until;
use crate::sim::{Crash, Node, Sim};

fn any(port: u16) -> SocketAddr {
    SocketAddr::from(([0, 0, 0, 0], port))
}

fn at(node: &Node, port: u16) -> SocketAddr {
    SocketAddr::new(node.ip(), port)
}

fn pair(seed: u64) -> (Sim, Node, Node) {
    let sim = Sim::new(seed);
    let (a, b) = (sim.node("a"), sim.node("b"));
    (sim, a, b)
}

async fn accept_one(port: u16) -> Conn {
    let listener = Listener::bind(any(port)).unwrap();
    listener.accept().await.unwrap().into_conn().unwrap()
}

async fn recv_all(conn: &Conn) -> (std::io::Result<usize>, Vec<u8>) {
    let mut all = Vec::new();
    loop {
        match conn.recv(BytesMut::with_capacity(3_000)).await {
            (Ok(1..), buf) => all.extend_from_slice(&buf),
            (end, _) => return (end, all),
        }
    }
}

async fn echo(port: u16) {
    let conn = accept_one(port).await;
    while let (Ok(1..), buf) = conn.recv(BytesMut::with_capacity(1 << 16)).await {
        if conn.send(vec![buf.freeze()]).await.is_err() {
            return;
        }
    }
}

#[test]
fn bytes_arrive_whole_and_in_order_with_backpressure() {
    for seed in 0..50 {
        let (sim, a, b) = pair(seed);
        let content: Vec<u8> = (0..600_000_u32).map(|n| (n % 253) as u8).collect();
        let (expect, sent) = (content.clone(), Rc::new(Cell::new(false)));
        let sent_flag = sent.clone();
        let received = background(&a, async move {
            let conn = accept_one(9092).await;
            sleep_until(now_ns() + 1_000_000_000).await;
            assert!(!sent_flag.get(), "600 kB don't fit the window");
            let (end, all) = recv_all(&conn).await;
            assert!(matches!(end, Ok(0)) && all == expect);
        });
        let to = at(&a, 9092);
        sim.block_on(&b, async move {
            let conn = connect(to).await.unwrap();
            assert_eq!(conn.peer_addr(), to);
            let bufs = content.chunks(70_001).map(Bytes::copy_from_slice).collect();
            conn.send(bufs).await.unwrap();
            sent.set(true);
            conn.shutdown();
            assert!(matches!(conn.recv(BytesMut::with_capacity(1)).await, (Ok(0), _)));
        });
        sim.run_until(Duration::from_secs(5), || received.get()).unwrap();
    }
}

#[test]
fn chunks_are_cut_anywhere() {
    let first_chunk = |seed| {
        let (sim, a, b) = pair(seed);
        a.spawn(async {
            let conn = accept_one(1).await;
            conn.send(vec![Bytes::from_static(b"abcdefgh")]).await.unwrap();
            std::future::pending::<()>().await;
        })
        .detach();
        let to = at(&a, 1);
        sim.block_on(&b, async move {
            let conn = connect(to).await.unwrap();
            conn.recv(BytesMut::with_capacity(64)).await.0.unwrap()
        })
    };
    for len in 1..=8 {
        assert!(can_happen(|seed| first_chunk(seed) == len), "{len}");
    }
}

#[test]
fn a_second_listener_on_the_port_fails_and_a_dropped_one_frees_it() {
    let (sim, a, b) = pair(1);
    sim.block_on(&a, async {
        let first = Listener::bind(any(9092)).unwrap();
        assert_eq!(Listener::bind(any(9092)).map(drop).unwrap_err().kind(), ErrorKind::AddrInUse);
        drop(first);
        let free = Listener::bind(any(0)).unwrap();
        assert!(free.local_addr().port() != 0);
        Listener::bind(any(9092)).unwrap();
    });
    let foreign = at(&b, 1);
    sim.block_on(&a, async move {
        assert_eq!(Listener::bind(foreign).map(drop).unwrap_err().kind(), ErrorKind::AddrNotAvailable);
    });
}

#[test]
fn nodes_reach_themselves_by_loopback_and_by_address() {
    let (sim, a, _) = pair(1);
    for to in [SocketAddr::from(([127, 0, 0, 1], 7)), at(&a, 7)] {
        sim.block_on(&a, async move {
            let server = spawn(echo(7));
            sleep_until(now_ns() + 1_000_000).await;
            let conn = connect(to).await.unwrap();
            conn.send(vec![Bytes::from_static(b"ping")]).await.unwrap();
            conn.shutdown();
            assert_eq!(recv_all(&conn).await.1, b"ping");
            server.await;
        });
    }
}

#[test]
fn nobody_listening_refuses_and_no_power_times_out() {
    let (sim, a, b) = pair(1);
    let to = at(&a, 9);
    let try_once = move || async move { connect(to).await.map(drop).unwrap_err().kind() };
    assert_eq!(sim.block_on(&b, try_once()), ErrorKind::ConnectionRefused);
    a.crash(Crash::PowerCut);
    assert_eq!(sim.block_on(&b, try_once()), ErrorKind::TimedOut);
    a.restart();
    assert_eq!(sim.block_on(&b, try_once()), ErrorKind::ConnectionRefused);
}

#[test]
fn a_partition_delays_and_a_long_one_ends_the_connection() {
    for seed in 0..50 {
        let (sim, a, b) = pair(seed);
        a.spawn(echo(1)).detach();
        let to = at(&a, 1);
        let conn = Rc::new(RefCell::new(None));
        let keep = conn.clone();
        sim.block_on(&b, async move {
            *keep.borrow_mut() = Some(Rc::new(connect(to).await.unwrap()));
        });
        let conn = conn.borrow_mut().take().unwrap();
        sim.partition(&a, &b);
        let (sending, answered) = (conn.clone(), Rc::new(Cell::new(false)));
        let done = answered.clone();
        b.spawn(async move {
            sending.send(vec![Bytes::from_static(b"x")]).await.unwrap();
            assert!(matches!(sending.recv(BytesMut::with_capacity(8)).await, (Ok(1), _)));
            done.set(true);
        })
        .detach();
        sim.run_for(Duration::from_secs(60));
        assert!(!answered.get());
        sim.heal(&a, &b);
        sim.run_until(Duration::from_secs(1), || answered.get()).unwrap();
        sim.partition(&a, &b);
        let end = sim.block_on(&b, async move {
            conn.send(vec![Bytes::from_static(b"x")]).await.unwrap();
            conn.recv(BytesMut::with_capacity(8)).await.0.unwrap_err().kind()
        });
        assert_eq!(end, ErrorKind::TimedOut, "seed {seed}");
    }
}

#[test]
fn a_one_way_cut_stops_one_way() {
    let (sim, a, b) = pair(4);
    let got = Rc::new(Cell::new(0));
    let count = got.clone();
    a.spawn(async move {
        let conn = accept_one(1).await;
        while let (Ok(n @ 1..), _) = conn.recv(BytesMut::with_capacity(8)).await {
            count.set(count.get() + n);
            conn.send(vec![Bytes::from_static(b"y")]).await.unwrap();
        }
    })
    .detach();
    let to = at(&a, 1);
    let (back, cut) = (Rc::new(Cell::new(0)), sim.world.clone());
    let (seen, ids) = (back.clone(), (a.id, b.id));
    b.spawn(async move {
        let conn = connect(to).await.unwrap();
        cut.net.borrow_mut().links.cut(ids.0, ids.1);
        conn.send(vec![Bytes::from_static(b"x")]).await.unwrap();
        while let (Ok(n @ 1..), _) = conn.recv(BytesMut::with_capacity(8)).await {
            seen.set(seen.get() + n);
        }
    })
    .detach();
    sim.run_for(Duration::from_secs(10));
    assert_eq!((got.get(), back.get()), (1, 0));
    sim.heal_all();
    sim.run_for(Duration::from_secs(1));
    assert_eq!((got.get(), back.get()), (1, 1));
}

// What the client of a crashed server sees after three bytes were sent to it.
fn server_crash(seed: u64, how: Crash) -> (Result<usize, ErrorKind>, usize) {
    let (sim, a, b) = pair(seed);
    a.spawn(async {
        let conn = accept_one(1).await;
        conn.send(vec![Bytes::from_static(b"abc")]).await.unwrap();
        std::future::pending::<()>().await;
    })
    .detach();
    let to = at(&a, 1);
    let result = Rc::new(RefCell::new(None));
    let put = result.clone();
    let done = background(&b, async move {
        let conn = connect(to).await.unwrap();
        let (end, all) = recv_all(&conn).await;
        *put.borrow_mut() = Some((end.map_err(|error| error.kind()), all.len()));
    });
    sim.run_for(Duration::from_micros(1_500 + sim.choose(1_000)));
    a.crash(how);
    sim.run_until(Duration::from_secs(30), || done.get()).unwrap();
    result.take().unwrap()
}

#[test]
fn peers_of_a_dead_node_see_the_end_or_a_reset() {
    let reset = Err(ErrorKind::ConnectionReset);
    assert!(can_happen(|seed| server_crash(seed, Crash::Kill).0 == Ok(0)));
    assert!(can_happen(|seed| server_crash(seed, Crash::Kill).0 == reset));
    assert!(can_happen(|seed| server_crash(seed, Crash::PowerCut).0 == reset));
    assert!((0..SEEDS).all(|seed| server_crash(seed, Crash::PowerCut).0 == reset));
}

#[test]
fn closing_with_unread_bytes_resets() {
    let (sim, a, b) = pair(1);
    a.spawn(async {
        let conn = accept_one(1).await;
        sleep_until(now_ns() + 1_000_000_000).await;
        drop(conn);
    })
    .detach();
    let to = at(&a, 1);
    let end = sim.block_on(&b, async move {
        let conn = connect(to).await.unwrap();
        conn.send(vec![Bytes::from_static(b"unread")]).await.unwrap();
        recv_all(&conn).await.0.unwrap_err().kind()
    });
    assert_eq!(end, ErrorKind::ConnectionReset);
}

#[test]
fn sending_to_a_closed_end_is_reset() {
    let (sim, a, b) = pair(1);
    a.spawn(async { drop(accept_one(1).await) }).detach();
    let to = at(&a, 1);
    sim.block_on(&b, async move {
        let conn = connect(to).await.unwrap();
        assert!(matches!(recv_all(&conn).await.0, Ok(0)));
        conn.send(vec![Bytes::from_static(b"x")]).await.unwrap();
        sleep_until(now_ns() + 1_000_000_000).await;
        let error = conn.send(vec![Bytes::from_static(b"x")]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    });
}

#[test]
fn connections_can_be_reset_by_the_test() {
    let (sim, a, b) = pair(1);
    a.spawn(echo(1)).detach();
    let to = at(&a, 1);
    let ended = background(&b, async move {
        let conn = connect(to).await.unwrap();
        assert_eq!(recv_all(&conn).await.0.unwrap_err().kind(), ErrorKind::ConnectionReset);
    });
    sim.run_for(Duration::from_secs(1));
    assert!(!ended.get());
    sim.reset_connections(&a, &b);
    sim.run_until(Duration::from_secs(1), || ended.get()).unwrap();
}

#[test]
fn a_dropped_attempt_to_connect_leaves_no_connection() {
    let (sim, a, b) = pair(1);
    let ended = background(&a, async {
        let conn = accept_one(1).await;
        assert!(matches!(recv_all(&conn).await.0, Ok(0)));
    });
    let to = at(&a, 1);
    b.spawn(async move {
        let attempt = spawn(async move { drop(connect(to).await) });
        sleep_until(now_ns() + 1_000).await;
        drop(attempt);
        std::future::pending::<()>().await;
    })
    .detach();
    sim.run_until(Duration::from_secs(5), || ended.get()).unwrap();
    assert!(sim.world.net.borrow().conns.is_empty());
}
