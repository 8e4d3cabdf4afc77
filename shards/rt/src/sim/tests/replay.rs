use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use bytes::{Bytes, BytesMut};

use crate::sim::disk::File;
use crate::sim::facade::{now_ns, random_u64, spawn, yield_point};
use crate::sim::net::{Listener, connect};
use crate::sim::timer::sleep_until;
use crate::sim::{Crash, Sim};

async fn serve() {
    let Ok(listener) = Listener::bind(SocketAddr::from(([0, 0, 0, 0], 9092))) else { return };
    let Ok(file) = File::open(Path::new("/log"), true).await else { return };
    let mut pos = file.len().unwrap_or(0);
    while let Ok(accepted) = listener.accept().await {
        let Ok(conn) = accepted.into_conn() else { continue };
        loop {
            let (Ok(1..), buf) = conn.recv(BytesMut::with_capacity(64)).await else { break };
            let data = buf.freeze();
            if file.write_at(pos, data.clone()).await.is_err() || file.sync_data().await.is_err() {
                return;
            }
            pos += data.len() as u64;
            if conn.send(vec![data]).await.is_err() {
                break;
            }
        }
    }
}

async fn talk(server: SocketAddr) {
    for _ in 0..20 {
        yield_point().await;
        let wait_ns = random_u64() % 3_000_000;
        sleep_until(now_ns() + wait_ns).await;
        let Ok(conn) = connect(server).await else { continue };
        let word = random_u64().to_le_bytes();
        let _ = conn.send(vec![Bytes::copy_from_slice(&word)]).await;
        let _ = conn.recv(BytesMut::with_capacity(8)).await;
    }
}

// A bit of everything: disk, network, timers, randomness, a crash, a partition.
fn run(seed: u64) -> u64 {
    let sim = Sim::new(seed);
    let (server, client) = (sim.node("server"), sim.node("client"));
    let address = SocketAddr::new(server.ip(), 9092);
    server.start(1, |_| serve());
    client.start(2, move |_| async move {
        let other = spawn(talk(address));
        talk(address).await;
        other.await;
    });
    sim.run_for(Duration::from_millis(sim.choose(20)));
    server.crash(if seed.is_multiple_of(2) { Crash::Kill } else { Crash::PowerCut });
    sim.run_for(Duration::from_millis(5));
    server.restart();
    sim.partition(&server, &client);
    sim.run_for(Duration::from_millis(5));
    sim.heal_all();
    sim.run_until(Duration::from_secs(600), || client.is_finished()).unwrap();
    sim.trace_hash()
}

#[test]
fn the_same_seed_takes_the_same_way() {
    for seed in 0..20 {
        let first = run(seed);
        assert_eq!(first, run(seed), "seed {seed}");
        assert_eq!(first, run(seed), "seed {seed}, third run");
    }
}

#[test]
fn different_seeds_take_different_ways() {
    let hashes: BTreeSet<u64> = (0..100).map(run).collect();
    assert_eq!(hashes.len(), 100);
}
