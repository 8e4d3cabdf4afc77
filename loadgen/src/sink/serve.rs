//! Running the sink.

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use bytes::{Buf, Bytes, BytesMut};
use rt::net::{Accepted, Conn, Listener};
use rt::{ShardsConfig, TaskSet};

use super::answer::Sink;
use crate::LoadError;

/// Largest request taken, in bytes.
const FRAME_BYTES_MAX: usize = 256 << 20;
/// Bytes received at once.
const RECV_BYTES: usize = 256 * 1024;
/// Connections on their way to a shard.
const ACCEPTED_MAX: usize = 256;
/// As the load generator's own.
const IO_MEMORY_BYTES: usize = 64 * 1024;

/// Serves on all cores until the process ends; says `listening HOST:PORT` once it does.
///
/// # Errors
/// `Boot`, `Usage`: the host or the address doesn't do.
pub fn serve(listen: SocketAddr, partitions: i32) -> Result<(), LoadError> {
    let cores = rt::boot::plan_shards(&rt::boot::ShardsRequest::default()).map_err(LoadError::Boot)?;
    let mut config = ShardsConfig::unpinned(cores.len());
    config.io_memory = Some(IO_MEMORY_BYTES);
    // Any shard takes the next connection.
    let (sender, accepted) = flume::bounded::<Accepted>(ACCEPTED_MAX);
    let (failed, failures) = flume::bounded::<String>(1);
    let port = Arc::new(std::sync::atomic::AtomicU16::new(0));
    rt::run(config, move |shard| {
        let (sender, accepted, failed, port) =
            (sender.clone(), accepted.clone(), failed.clone(), port.clone());
        async move {
            let listening = (shard.0 == 0).then(|| Listener::bind(listen));
            let listener = match listening.transpose() {
                Ok(listener) => listener,
                Err(error) => {
                    let _ = failed.try_send(format!("{listen}: {error}"));
                    return;
                }
            };
            let tasks = TaskSet::new();
            if let Some(listener) = listener {
                let at = listener.local_addr();
                port.store(at.port(), std::sync::atomic::Ordering::Release);
                println!("listening {at}");
                tasks.spawn(accept(listener, sender));
            } else {
                // Only the accepting shard keeps the queue open: if it can't listen, the others end.
                drop(sender);
            }
            while let Ok(next) = accepted.recv_async().await {
                let port = port.load(std::sync::atomic::Ordering::Acquire);
                let sink = Rc::new(Sink { host: listen.ip().to_string(), port, partitions });
                if let Ok(conn) = next.into_conn() {
                    tasks.spawn(async move { talk(&conn, &sink).await });
                }
            }
        }
    })
    .map_err(LoadError::Boot)?;
    match failures.try_recv() {
        Ok(why) => Err(LoadError::Usage(why)),
        Err(_) => Ok(()),
    }
}

async fn accept(listener: Listener, sender: flume::Sender<Accepted>) {
    loop {
        match listener.accept().await {
            Ok(accepted) => {
                if sender.send_async(accepted).await.is_err() {
                    return;
                }
            }
            Err(error) => tracing::debug!("accept: {error}"),
        }
    }
}

async fn talk(conn: &Conn, sink: &Sink) {
    let mut buf = BytesMut::with_capacity(RECV_BYTES);
    loop {
        while let Some(frame) = take_frame(&mut buf) {
            match sink.answer(frame) {
                Ok(None) => {}
                Ok(Some(bufs)) => {
                    if conn.send(bufs).await.is_err() {
                        return;
                    }
                }
                Err(error) => return tracing::debug!("{}: {error}", conn.peer_addr()),
            }
        }
        buf.reserve(RECV_BYTES);
        let (result, back) = conn.recv(buf).await;
        buf = back;
        if !matches!(result, Ok(n) if n > 0) || frame_bytes(&buf).is_some_and(|bytes| bytes > FRAME_BYTES_MAX)
        {
            return;
        }
        rt::yield_point().await;
    }
}

/// The announced size of the next frame; absurd for a negative one.
fn frame_bytes(buf: &BytesMut) -> Option<usize> {
    let size = i32::from_be_bytes(*buf.first_chunk::<4>()?);
    Some(usize::try_from(size).unwrap_or(usize::MAX))
}

fn take_frame(buf: &mut BytesMut) -> Option<Bytes> {
    let bytes = frame_bytes(buf).filter(|bytes| *bytes <= FRAME_BYTES_MAX && buf.len() >= 4 + bytes)?;
    buf.advance(4);
    Some(buf.split_to(bytes).freeze())
}
