//! The facade in a simulation, by its public names alone: what the other packages will do.
#![cfg(feature = "sim")]

use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use rt::fs::{File, IoBuf, OpenMode};
use rt::net::{Listener, connect};
use rt::sim::{Crash, Sim};

async fn append(path: &str, byte: u8) -> std::io::Result<()> {
    let file = File::open(path, OpenMode::CREATE).await?;
    let mut buf = IoBuf::zeroed(4096);
    buf.fill(byte);
    let pos = file.len().await?;
    let (result, _buf) = file.write_at(pos, buf).await;
    result?;
    file.sync_data().await?;
    file.close().await?;
    rt::fs::sync_dir("/").await
}

#[test]
fn synced_files_survive() {
    rt::sim::for_each_seed(100, |seed| {
        let (sim, node) = Sim::with_node(seed);
        sim.block_on(&node, async {
            append("/log", 1).await.unwrap();
            append("/log", 2).await.unwrap();
        });
        node.crash(Crash::PowerCut);
        let content = sim.block_on(&node, async { rt::fs::read("/log").await.unwrap() });
        assert_eq!((content.len(), content[0], content[4096]), (8192, 1, 2));
    });
}

#[test]
fn a_server_hands_connections_to_its_own_tasks() {
    rt::sim::for_each_seed(100, |seed| {
        let sim = Sim::new(seed);
        let (server, client) = (sim.node("server"), sim.node("client"));
        server.start(1, |shard| async move {
            assert_eq!(rt::shard(), shard);
            let listener = Listener::bind(SocketAddr::from(([0, 0, 0, 0], 9092))).unwrap();
            loop {
                let conn = listener.accept().await.unwrap().into_conn().unwrap();
                let echo = rt::spawn(async move {
                    while let (Ok(1..), buf) = conn.recv(BytesMut::with_capacity(64)).await {
                        conn.send(vec![buf.freeze()]).await.unwrap();
                    }
                });
                echo.await;
            }
        });
        let to = SocketAddr::new(server.ip(), 9092);
        sim.block_on(&client, async move {
            let conn = loop {
                match connect(to).await {
                    Ok(conn) => break conn,
                    Err(_) => rt::sleep(Duration::from_millis(1)).await,
                }
            };
            let nothing = rt::timeout(Duration::from_secs(1), conn.recv(BytesMut::with_capacity(8))).await;
            assert!(matches!(nothing, Err(rt::Elapsed)));
            conn.send(vec![Bytes::from_static(b"pi"), Bytes::from_static(b"ng")]).await.unwrap();
            let mut got = BytesMut::with_capacity(8);
            while got.len() < 4 {
                let (read, buf) = conn.recv(got).await;
                assert!(read.unwrap() > 0);
                got = buf;
            }
            assert_eq!(got, &b"ping"[..]);
            conn.close().await;
        });
    });
}

#[test]
fn clocks_randomness_and_maps_repeat() {
    let run = || {
        let (sim, node) = Sim::with_node(9);
        sim.block_on(&node, async {
            let start = rt::now();
            rt::sleep(Duration::from_secs(60)).await;
            assert!(rt::now() - start >= Duration::from_secs(60));
            let map: rt::HashMap<u64, ()> = (0..100).map(|n| (n, ())).collect();
            let order: Vec<u64> = map.into_keys().collect();
            let inline = rt::blocking(|| 7).await;
            (rt::unix_ms(), rt::random_bytes::<12>(), order, inline)
        })
    };
    assert_eq!(run(), run());
}

#[test]
fn a_dropped_task_is_cancelled() {
    let (sim, node) = Sim::with_node(1);
    let ran = Rc::new(Cell::new(false));
    let flag = ran.clone();
    sim.block_on(&node, async move {
        let task = rt::spawn(async move {
            rt::sleep(Duration::from_millis(1)).await;
            flag.set(true);
        });
        drop(task);
        rt::sleep(Duration::from_secs(1)).await;
    });
    assert!(!ran.get());
}
