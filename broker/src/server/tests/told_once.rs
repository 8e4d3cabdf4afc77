//! What an offline log directory costs in lines of the program's log.

#![expect(clippy::disallowed_types, reason = "lines of the log are written from wherever they come")]

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use rt::sim::FaultOp;

use super::client::{Client, TOPIC};
use super::node::Broker;

/// Lines of the program's log.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    fn with(&self, what: &str) -> usize {
        String::from_utf8_lossy(&self.0.lock().unwrap()).lines().filter(|line| line.contains(what)).count()
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// There was an error for each of its partitions, at every start.
#[test]
fn a_directory_that_is_offline_is_one_error() {
    let broker = Broker::start_with(1, 1, &[("log.dirs", "/data/a,/data/b")]);
    let to = broker.address();
    broker.run(async move { Client::connect(to).await.create_topic(40).await });
    let of_topic = |name: &String| name.starts_with(&format!("{TOPIC}-"));
    assert_eq!(broker.disk().names("/data/b").iter().filter(|name| of_topic(name)).count(), 20);
    broker.kill();
    broker.disk().fail(FaultOp::Write, "/data/b/", u32::MAX);
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    tracing::subscriber::with_default(subscriber, || {
        broker.start_again();
        broker.run(async move { assert_eq!(Client::connect(to).await.produce(0, b"on").await, 0) });
    });
    assert_eq!(lines.with("can't be served"), 1);
}
