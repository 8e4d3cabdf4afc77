//! Its sockets.
#![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "plain threads of a test")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use bytes::Bytes;

use super::Fault;
use super::answers::answer;
use super::store::Store;

/// A broker that runs until the process ends; a thread a connection.
#[derive(Debug)]
pub(crate) struct Fake {
    port: u16,
}

impl Fake {
    /// Serves on a free port. Every topic has `partitions`.
    pub(crate) fn start(partitions: i32, fault: Fault) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let store = Arc::new(Mutex::new(Store::new(partitions, fault)));
        thread::spawn(move || {
            for socket in listener.incoming() {
                let store = store.clone();
                let socket = socket.unwrap();
                thread::spawn(move || talk(socket, &store, port));
            }
        });
        Self { port }
    }

    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

fn talk(mut socket: TcpStream, store: &Mutex<Store>, port: u16) {
    socket.set_nodelay(true).unwrap();
    loop {
        let mut size = [0; 4];
        if socket.read_exact(&mut size).is_err() {
            return;
        }
        let mut frame = vec![0; u32::from_be_bytes(size) as usize];
        if socket.read_exact(&mut frame).is_err() {
            return;
        }
        let is_fetch = frame[..2] == [0, 1];
        let Some(bytes) = answer(&mut store.lock().unwrap(), port, Bytes::from(frame)) else { return };
        if is_fetch && bytes.len() < 256 {
            // In place of waiting for records.
            thread::sleep(Duration::from_millis(5));
        }
        if socket.write_all(&bytes).is_err() {
            return;
        }
    }
}
