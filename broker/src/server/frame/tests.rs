//! A reader and a peer on two simulated nodes.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;

use rt::net::{Listener, connect};
use rt::sim::Sim;

use super::*;

const FRAME_BYTES_MAX: usize = 100 << 20;

/// What the reader said, and when.
struct Outcome {
    frames: Vec<Bytes>,
    error: FrameError,
    after: Duration,
    budget: Budget,
}

/// Reads frames until there is an error, while `send` has the other end. The budget is looked at with all frames let go.
fn read_all<F>(seed: u64, send: impl FnOnce(Conn) -> F + 'static) -> Outcome
where
    F: Future<Output = ()> + 'static,
{
    let sim = Sim::new(seed);
    let (server, client) = (sim.node("server"), sim.node("client"));
    let to = SocketAddr::new(server.ip(), 9092);
    let outcome: Rc<RefCell<Option<Outcome>>> = Rc::default();
    let ready = Rc::new(Cell::new(false));
    let (told, is_ready) = (Rc::clone(&outcome), Rc::clone(&ready));
    let reading = server.spawn(async move {
        let listener = Listener::bind(to).unwrap();
        is_ready.set(true);
        let conn = Rc::new(listener.accept().await.unwrap().into_conn().unwrap());
        let budget = Budget::new(1 << 20);
        let (mut reader, mut frames) = (FrameReader::new(conn, FRAME_BYTES_MAX), Vec::new());
        let since = rt::now();
        let error = loop {
            if let Err(error) = reader.begun(Some(Duration::from_secs(600))).await {
                break error;
            }
            match reader.frame(|_| &budget).await {
                Ok((frame, _permit)) => frames.push(frame),
                Err(error) => break error,
            }
        };
        let after = rt::now() - since;
        *told.borrow_mut() = Some(Outcome { frames, error, after, budget });
    });
    sim.run_until(Duration::from_secs(1), || ready.get()).unwrap();
    let sending = client.spawn(async move { send(connect(to).await.unwrap()).await });
    sim.run_until(Duration::from_secs(3600), || outcome.borrow().is_some()).unwrap();
    drop((reading, sending));
    outcome.take().unwrap()
}

fn framed(len: usize, byte: u8) -> Vec<u8> {
    let mut bytes = i32::try_from(len).unwrap().to_be_bytes().to_vec();
    bytes.resize(4 + len, byte);
    bytes
}

#[test]
fn frames_come_whole_however_they_are_cut() {
    rt::sim::for_each_seed(50, |seed| {
        let lens = [8, 9, 4096, 100, 70 << 10, 65_536, 12, 1 << 20, 300_000, 8];
        let outcome = read_all(seed, move |conn| async move {
            for (at, len) in lens.into_iter().enumerate() {
                conn.send(vec![framed(len, at as u8).into()]).await.unwrap();
            }
            conn.close().await;
        });
        assert!(matches!(outcome.error, FrameError::End), "{}", outcome.error);
        let got: Vec<(usize, bool)> = (0u8..)
            .zip(&outcome.frames)
            .map(|(at, frame)| (frame.len(), frame.iter().all(|byte| *byte == at)))
            .collect();
        assert_eq!(got, lens.map(|len| (len, true)));
        assert_eq!((outcome.budget.used(), outcome.budget.waiting()), (0, 0));
    });
}

#[test]
fn sizes_that_no_request_has_are_refused_at_once() {
    for size in [-1, i32::MIN, 0, 7, FRAME_BYTES_MAX as i32 + 1, i32::MAX] {
        let outcome = read_all(1, move |conn| async move {
            conn.send(vec![Bytes::copy_from_slice(&size.to_be_bytes())]).await.unwrap();
            rt::sleep(Duration::from_secs(100)).await;
        });
        assert!(matches!(outcome.error, FrameError::Size(told) if told == size), "{}", outcome.error);
        assert!(outcome.error.is_violation() && outcome.after < Duration::from_secs(1));
        assert_eq!(outcome.budget.used(), 0);
    }
}

/// A peer that sends some bytes, then one every `pause` for ever.
async fn drip(conn: Conn, start: Vec<u8>, pause: Duration) {
    conn.send(vec![start.into()]).await.unwrap();
    while conn.send(vec![Bytes::from_static(&[0])]).await.is_ok() {
        rt::sleep(pause).await;
    }
}

/// Each byte used to start the time anew: a request of 100 bytes at a byte every 20 seconds took half an hour.
#[test]
fn a_request_that_drips_is_ended_and_its_memory_is_back() {
    rt::sim::for_each_seed(10, |seed| {
        let dripping =
            |start: Vec<u8>| read_all(seed, move |conn| drip(conn, start, Duration::from_secs(20)));
        let (mut no_size, mut small) = (framed(100, 0), framed(100, 0));
        no_size.truncate(1);
        small.truncate(14);
        for (start, within) in [(no_size, 30), (small, 30)] {
            let outcome = dripping(start);
            assert!(matches!(outcome.error, FrameError::Stalled), "{}", outcome.error);
            let seconds = outcome.after.as_secs();
            assert!((within..=within + 1).contains(&seconds), "{seconds}");
            assert_eq!((outcome.budget.used(), outcome.frames.len()), (0, 0));
        }
    });
}

#[test]
fn a_large_request_has_the_time_its_size_needs_and_no_more() {
    const LEN: usize = 40 << 20;
    rt::sim::for_each_seed(3, |seed| {
        // 1 MiB every half second is twice as fast as it must be; every 2 seconds is too slow, though it never stalls.
        for (pause_ms, is_fast) in [(500, true), (2_000, false)] {
            let outcome = read_all(seed, move |conn| async move {
                let bytes = Bytes::from(framed(LEN, 7));
                for at in (0..bytes.len()).step_by(1 << 20) {
                    let piece = bytes.slice(at..bytes.len().min(at + (1 << 20)));
                    if conn.send(vec![piece]).await.is_err() {
                        return;
                    }
                    rt::sleep(Duration::from_millis(pause_ms)).await;
                }
                conn.close().await;
            });
            assert_eq!(outcome.frames.len(), usize::from(is_fast), "{}", outcome.error);
            if !is_fast {
                assert!(matches!(outcome.error, FrameError::Stalled), "{}", outcome.error);
                assert!((70..72).contains(&outcome.after.as_secs()), "{:?}", outcome.after);
            }
            assert_eq!(outcome.budget.used(), 0);
        }
    });
}
