//! A sender over a simulated connection, with requests that end when the test says so.

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use bytes::BytesMut;
use futures_util::future::join;
use protocol::api::ApiKey;
use rt::net::{Conn, Listener, connect};
use rt::sim::Sim;
use rt::sync::Budget;
use rt::{Task, oneshot};

use super::*;
use crate::metrics::ApiIndex;
use crate::server::reply_sender::ReplySender;

const RESPONSE_BYTES: usize = 1 << 20;

/// A connection with both ends in hand.
struct Bench {
    replies: Rc<Replies>,
    requests: Budget,
    responses: Budget,
    peer: Conn,
    run: Task<std::io::Result<()>>,
}

/// A request under way.
struct Pending {
    answer: oneshot::Sender<Reply>,
    begun: Rc<Cell<bool>>,
    dropped: Rc<Cell<bool>>,
}

struct SetOnDrop(Rc<Cell<bool>>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.set(true);
    }
}

impl Bench {
    async fn new() -> Bench {
        let listener = Listener::bind(SocketAddr::from(([127, 0, 0, 1], 9092))).unwrap();
        let (accepted, peer) = join(listener.accept(), connect(listener.local_addr())).await;
        let conn = Rc::new(accepted.unwrap().into_conn().unwrap());
        let replies = Rc::new(Replies::default());
        let responses = Budget::new(RESPONSE_BYTES);
        let mut sender = ReplySender::new(conn, Rc::clone(&replies), responses.clone());
        let run = rt::spawn(async move { sender.run().await });
        Bench { replies, requests: Budget::new(1000), responses, peer: peer.unwrap(), run }
    }

    /// Queues a request of 10 bytes.
    async fn push(&self, is_produce: bool) -> Pending {
        self.replies.room(is_produce).await;
        let (answer, receiver) = oneshot::channel();
        let pending = Pending { answer, begun: Rc::default(), dropped: Rc::default() };
        let (begun, dropped) = (Rc::clone(&pending.begun), SetOnDrop(Rc::clone(&pending.dropped)));
        let reply = async move {
            let _dropped = dropped;
            begun.set(true);
            receiver.recv().await.unwrap_or(Reply::Nothing)
        };
        let api = ApiIndex::of(if is_produce { ApiKey::Produce } else { ApiKey::Fetch }).unwrap();
        let clock = RequestClock::start(&Rc::default(), api, 10, rt::now());
        let memory = FrameMemory::new(self.requests.take(10).await, None);
        self.replies.push(Box::pin(reply), memory, clock, is_produce);
        pending
    }

    /// What the peer gets next.
    async fn read(&self, len: usize) -> String {
        let mut got = BytesMut::with_capacity(len);
        while got.len() < len {
            let (read, buf) = self.peer.recv(got).await;
            assert!(read.unwrap() > 0, "the stream ended");
            got = buf;
        }
        String::from_utf8(got.to_vec()).unwrap()
    }

    /// Whether the peer gets nothing for a while.
    async fn is_quiet(&self) -> bool {
        let receiving = self.peer.recv(BytesMut::with_capacity(1));
        rt::timeout(Duration::from_millis(50), receiving).await.is_err()
    }

    async fn has_room(&self, is_produce: bool) -> bool {
        rt::timeout(Duration::from_millis(1), self.replies.room(is_produce)).await.is_ok()
    }

    /// The sender's end, and that nothing is counted any more.
    async fn end(self) -> std::io::Result<()> {
        let Bench { requests, responses, run, .. } = self;
        let ended = run.await;
        assert_eq!((requests.used(), responses.used()), (0, 0), "memory is given back");
        ended
    }
}

fn text(text: &str) -> Reply {
    Reply::Send(vec![Bytes::copy_from_slice(text.as_bytes())], None)
}

fn answer(pending: Pending, reply: Reply) {
    assert!(pending.answer.send(reply).is_ok(), "the request is under way");
}

fn simulate<F: Future<Output = ()> + 'static>(seeds: u64, test: impl Fn() -> F) {
    rt::sim::for_each_seed(seeds, |seed| {
        let (sim, node) = Sim::with_node(seed);
        sim.block_on(&node, test());
    });
}

const PRODUCE: bool = true;
const OTHER: bool = false;

#[test]
fn produces_run_side_by_side_and_are_answered_in_order() {
    simulate(50, || async {
        let bench = Bench::new().await;
        let (a, b, c) = (bench.push(PRODUCE).await, bench.push(PRODUCE).await, bench.push(PRODUCE).await);
        rt::sleep(Duration::from_millis(1)).await;
        assert!(a.begun.get() && b.begun.get() && c.begun.get());
        answer(c, text("c"));
        answer(b, Reply::Nothing);
        assert!(bench.is_quiet().await);
        answer(a, text("a"));
        assert_eq!(bench.read(2).await, "ac");
        bench.replies.last();
        bench.end().await.unwrap();
    });
}

#[test]
fn any_other_request_waits_for_those_before_it_and_holds_up_those_after() {
    simulate(50, || async {
        let bench = Bench::new().await;
        let (a, x, y) = (bench.push(PRODUCE).await, bench.push(OTHER).await, bench.push(OTHER).await);
        rt::sleep(Duration::from_millis(1)).await;
        assert!(a.begun.get() && !x.begun.get() && !y.begun.get());
        assert!(!bench.has_room(PRODUCE).await, "a Produce would overtake");
        answer(a, text("a"));
        assert_eq!(bench.read(1).await, "a");
        assert!(x.begun.get() && !y.begun.get());
        answer(x, text("x"));
        assert_eq!(bench.read(1).await, "x");
        assert!(y.begun.get() && !bench.has_room(PRODUCE).await);
        answer(y, text("y"));
        assert_eq!(bench.read(1).await, "y");
        assert!(bench.has_room(PRODUCE).await);
        bench.replies.last();
        bench.end().await.unwrap();
    });
}

#[test]
fn a_request_that_closes_lets_earlier_answers_out_and_no_later_ones() {
    simulate(50, || async {
        let bench = Bench::new().await;
        let (a, closes, b) =
            (bench.push(PRODUCE).await, bench.push(PRODUCE).await, bench.push(PRODUCE).await);
        answer(b, text("b"));
        answer(closes, Reply::Close);
        assert!(bench.is_quiet().await);
        answer(a, text("a"));
        assert_eq!(bench.read(1).await, "a");
        let Bench { peer, run, requests, responses, .. } = bench;
        run.await.unwrap();
        let (read, _) = peer.recv(BytesMut::with_capacity(1)).await;
        assert_eq!(read.unwrap(), 0, "the end, nothing more");
        assert_eq!((requests.used(), responses.used()), (0, 0));
    });
}

#[test]
fn after_the_last_request_all_are_answered() {
    simulate(50, || async {
        let bench = Bench::new().await;
        let (a, x) = (bench.push(PRODUCE).await, bench.push(OTHER).await);
        bench.replies.last();
        rt::sleep(Duration::from_millis(1)).await;
        assert!(!bench.run.is_finished());
        answer(a, text("a"));
        assert_eq!(bench.read(1).await, "a");
        assert!(!bench.run.is_finished());
        answer(x, text("x"));
        assert_eq!(bench.read(1).await, "x");
        bench.end().await.unwrap();
    });
}

/// Requests that wait used to be kept until the connection's Produces were over.
#[test]
fn when_the_peer_has_gone_produces_are_finished_and_others_dropped_at_once() {
    simulate(50, || async {
        let bench = Bench::new().await;
        let (a, x, y) = (bench.push(PRODUCE).await, bench.push(OTHER).await, bench.push(OTHER).await);
        rt::sleep(Duration::from_millis(1)).await;
        bench.replies.gone();
        rt::sleep(Duration::from_millis(1)).await;
        assert!(x.dropped.get() && y.dropped.get() && !a.dropped.get());
        assert!(!bench.run.is_finished());
        assert_eq!(bench.requests.used(), 10);
        answer(a, text("a"));
        let (read, _) = bench.peer.recv(BytesMut::with_capacity(1)).await;
        assert_eq!(read.unwrap(), 0, "the end, and no answer before it");
        bench.end().await.unwrap();
    });
    simulate(50, || async {
        let bench = Bench::new().await;
        let x = bench.push(OTHER).await;
        rt::sleep(Duration::from_millis(1)).await;
        assert!(x.begun.get());
        bench.replies.gone();
        bench.end().await.unwrap();
        assert!(x.dropped.get());
    });
}

#[test]
fn a_cancelled_sender_gives_everything_back() {
    simulate(50, || async {
        let bench = Bench::new().await;
        let (a, _b, x) = (bench.push(PRODUCE).await, bench.push(PRODUCE).await, bench.push(OTHER).await);
        answer(a, Reply::Send(vec![Bytes::from(vec![0; 600 << 10])], None));
        rt::sleep(Duration::from_millis(1)).await;
        assert!(bench.responses.used() > 0 && bench.requests.used() == 20);
        let Bench { replies, requests, responses, peer, run } = bench;
        run.cancel().await;
        drop((replies, peer));
        assert_eq!((requests.used(), responses.used()), (0, 0));
        assert!(x.dropped.get());
    });
}

/// Each acknowledgement is small, but a client that sends for ever and reads none made them pile up for ever.
#[test]
fn a_client_that_reads_no_acknowledgement_is_not_read_either() {
    simulate(10, || async {
        let bench = Bench::new().await;
        let mut sent = 0;
        while bench.has_room(PRODUCE).await {
            let pending = bench.push(PRODUCE).await;
            answer(pending, Reply::Send(vec![Bytes::from(vec![b'.'; 1000])], None));
            rt::sleep(Duration::from_micros(100)).await;
            sent += 1;
            assert!(sent < 1000, "no end to it");
        }
        let held = bench.responses.used();
        assert!((UNSENT_BYTES_MAX..UNSENT_BYTES_MAX + 400_000).contains(&held), "{held}");
        assert_eq!(bench.read(sent * 1000).await.len(), sent * 1000);
        assert!(bench.has_room(PRODUCE).await);
        bench.replies.last();
        bench.end().await.unwrap();
    });
}

#[test]
fn a_slow_reader_is_borne_while_nobody_waits_for_its_memory() {
    simulate(5, || async {
        let bench = Bench::new().await;
        let x = bench.push(OTHER).await;
        answer(x, Reply::Send(vec![Bytes::from(vec![b'.'; 100 << 10]); 30], None));
        rt::sleep(Duration::from_secs(3600)).await;
        assert_eq!(bench.responses.used(), 3000 << 10, "counted beyond the capacity");
        assert_eq!(bench.read(3000 << 10).await.len(), 3000 << 10);
        bench.replies.last();
        bench.end().await.unwrap();
    });
}

#[test]
fn a_peer_that_does_not_read_loses_its_connection_when_others_need_the_memory() {
    simulate(5, || async {
        let bench = Bench::new().await;
        let x = bench.push(OTHER).await;
        answer(x, Reply::Send(vec![Bytes::from(vec![b'.'; 100 << 10]); 30], None));
        rt::sleep(Duration::from_secs(10)).await;
        let (since, other) = (rt::now(), bench.responses.take(1000));
        let Bench { replies, responses, peer, run, .. } = bench;
        let ended = rt::spawn(async move {
            let ended = run.await;
            drop(replies);
            ended
        });
        let other = other.await;
        let waited = rt::now() - since;
        assert!((15..=40).contains(&waited.as_secs()), "{waited:?}");
        assert_eq!(ended.await.unwrap_err().kind(), std::io::ErrorKind::TimedOut);
        assert_eq!(responses.used(), other.amount());
        drop(peer);
    });
}
