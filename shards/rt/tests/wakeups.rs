//! Regression: glommio 0.9 loses wake-ups for ever with a `preempt_timer` or a latency-sensitive task queue
//! (64 of 172 runs hung). Each round crosses all kinds: a socket's readiness, a lane to another shard and
//! back, a read from disk.

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
use std::path::PathBuf;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use rt::fs::{File, IoBuf, OpenMode};
use rt::lane::{Receiver, Sender, channel};
use rt::net::Listener;
use rt::{Engine, ShardId};

on_both_engines![none_is_lost_between_sockets_lanes_and_disk];

const RUNS: usize = 20;
const ROUNDS: u32 = 5_000;

/// A round costs 60 to 150 us; all runs together must stay below a minute on two busy cores.
const DEADLINE: Duration = Duration::from_secs(180);

/// Every so many rounds wait for the disk too.
const DISK_EVERY: u32 = 8;

type Ends = (Sender<u32>, Receiver<u32>);

fn none_is_lost_between_sockets_lanes_and_disk(engine: Engine) {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = dir.path().to_owned();
    common::bounded(DEADLINE, move || {
        for _ in 0..RUNS {
            one_run(engine, path.clone());
        }
    });
}

fn one_run(engine: Engine, dir: PathBuf) {
    let (there_in, there_out) = channel(4);
    let (back_in, back_out) = channel(4);
    let ends: [Option<Ends>; 2] = [Some((there_in, back_out)), Some((back_in, there_out))];
    let ends = Arc::new(Mutex::new(ends));
    let (port, client_port) = mpsc::channel();
    let client = std::thread::spawn(move || client(client_port.recv().unwrap()));
    let mut config = common::shards(engine, 2);
    config.data_dirs = vec![dir.clone()];
    rt::run(config, move |shard| {
        let ends = ends.lock().unwrap()[usize::from(shard.0)].take().unwrap();
        let (port, dir) = (port.clone(), dir.clone());
        async move {
            match shard {
                ShardId(0) => serve(ends, port).await,
                _ => answer(ends, dir).await,
            }
        }
    })
    .unwrap();
    client.join().unwrap();
}

fn client(to: SocketAddr) {
    let mut stream = TcpStream::connect(to).unwrap();
    stream.set_nodelay(true).unwrap();
    for round in 0..ROUNDS {
        stream.write_all(&round.to_le_bytes()).unwrap();
        let mut echo = [0; 4];
        stream.read_exact(&mut echo).unwrap();
        assert_eq!(u32::from_le_bytes(echo), round);
    }
}

async fn serve((mut to_other, mut from_other): Ends, port: mpsc::Sender<SocketAddr>) {
    let listener = Listener::bind(common::any_port()).unwrap();
    port.send(listener.local_addr()).unwrap();
    let conn = listener.accept().await.unwrap().into_conn().unwrap();
    loop {
        let mut buf = BytesMut::with_capacity(4);
        while buf.len() < 4 {
            let (result, back) = conn.recv(buf).await;
            if result.unwrap() == 0 {
                return;
            }
            buf = back;
        }
        to_other.send(u32::from_le_bytes(buf[..].try_into().unwrap())).await.unwrap();
        let round = from_other.recv().await.unwrap();
        conn.send(vec![Bytes::copy_from_slice(&round.to_le_bytes())]).await.unwrap();
    }
}

async fn answer((mut to_other, mut from_other): Ends, dir: PathBuf) {
    let file = File::open(dir.join("data"), OpenMode::CREATE).await.unwrap();
    let (result, _) = file.write_at(0, IoBuf::zeroed(65_536)).await;
    result.unwrap();
    while let Some(round) = from_other.recv().await {
        if round.is_multiple_of(DISK_EVERY) {
            let pos = u64::from(round % 15) * 4096;
            assert_eq!(file.read_at(pos, 4096).await.unwrap().len(), 4096);
        }
        to_other.send(round).await.unwrap();
    }
    file.close().await.unwrap();
}
