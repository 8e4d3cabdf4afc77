//! Each part of the facade once, on real shards.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests watch the runtime from outside"
)]

#[macro_use]
mod common;

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use rt::fs::{File, IoBuf, OpenMode};
use rt::net::{Listener, connect};
use rt::{Engine, ShardId};

on_both_engines![shards_sleep_write_and_talk];

fn shards_sleep_write_and_talk(engine: Engine) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_owned();
    let mut config = common::shards(engine, 2);
    config.data_dirs = vec![path.clone()];
    rt::run(config, move |shard| {
        let path = path.join(format!("file-{shard}"));
        async move {
            assert_eq!(rt::shard(), shard);
            let began = rt::now();
            rt::sleep(Duration::from_millis(20)).await;
            assert!(rt::now() - began >= Duration::from_millis(20));
            file(&path).await;
            if shard == ShardId(0) {
                echo().await;
            }
            assert_eq!(rt::blocking(|| 7).await, 7);
        }
    })
    .unwrap();
}

async fn file(path: &std::path::Path) {
    let file = File::open(path, OpenMode::CREATE).await.unwrap();
    file.preset(1 << 20).await.unwrap();
    assert_eq!(file.len().await.unwrap(), 1 << 20);
    let mut buf = IoBuf::zeroed(8192);
    buf.fill(3);
    let (result, _) = file.write_at(4096, buf).await;
    result.unwrap();
    file.sync_data().await.unwrap();
    let read = file.read_at(4000, 200).await.unwrap();
    assert_eq!((read.len(), read[95], read[96]), (200, 0, 3));
    file.set_len(5000).await.unwrap();
    assert_eq!(file.read_at(4990, 200).await.unwrap().len(), 10);
    file.close().await.unwrap();
}

async fn echo() {
    let listener = Listener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    let to = listener.local_addr();
    let server = rt::spawn(async move {
        let conn = listener.accept().await.unwrap().into_conn().unwrap();
        loop {
            let (result, buf) = conn.recv(BytesMut::with_capacity(100)).await;
            if result.unwrap() == 0 {
                return;
            }
            conn.send(vec![buf.freeze()]).await.unwrap();
        }
    });
    let conn = connect(to).await.unwrap();
    for _ in 0..100 {
        conn.send(vec![Bytes::from_static(b"hello"), Bytes::new(), Bytes::from_static(b" you")])
            .await
            .unwrap();
        let mut buf = BytesMut::with_capacity(100);
        while buf.len() < 9 {
            let (result, back) = conn.recv(buf).await;
            assert!(result.unwrap() > 0);
            buf = back;
        }
        assert_eq!(&buf[..], b"hello you");
    }
    conn.shutdown();
    server.await;
}
