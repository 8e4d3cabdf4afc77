//! A reader and a peer on two simulated nodes.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::pin::pin;

use futures_util::future::{Either, select};
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
                Ok(frame) => frames.push(frame.bytes),
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

/// A reader of a connection on which `send` has the other end, and `read` what it is read with.
fn with_reader<F, G>(send: impl FnOnce(Conn) -> F + 'static, read: impl FnOnce(FrameReader) -> G + 'static)
where
    F: Future<Output = ()> + 'static,
    G: Future<Output = ()> + 'static,
{
    let (sim, node) = Sim::with_node(1);
    sim.block_on(&node, async move {
        let listener = Listener::bind(SocketAddr::from(([127, 0, 0, 1], 9092))).unwrap();
        let to = listener.local_addr();
        let sending = rt::spawn(async move { send(connect(to).await.unwrap()).await });
        let conn = Rc::new(listener.accept().await.unwrap().into_conn().unwrap());
        read(FrameReader::new(conn, FRAME_BYTES_MAX)).await;
        drop(sending);
    });
}

/// Sends many small frames at once, then nothing for a minute.
async fn burst(conn: Conn) {
    let frames: Vec<u8> = (0..40_000).flat_map(|_| framed(20, 1)).collect();
    conn.send(vec![frames.into()]).await.unwrap();
    rt::sleep(Duration::from_secs(60)).await;
}

/// It used to be counted with its own length, though it keeps all of the buffer it came in.
#[test]
fn a_small_frame_counts_the_buffer_that_it_keeps_and_many_count_it_once() {
    with_reader(burst, |mut reader| async move {
        let budget = Budget::new(100 << 20);
        let mut frames: Vec<Frame> = Vec::new();
        for _ in 0..40_000 {
            reader.begun(None).await.unwrap();
            frames.push(reader.frame(|_| &budget).await.unwrap());
        }
        let received = 40_000 * (FRAME_PREFIX_BYTES + 20);
        let buffers = budget.used() - 40_000 * 20;
        assert!((received..=3 * received).contains(&buffers), "{buffers}");
        frames.drain(..39_000);
        let kept = frames.swap_remove(500);
        assert!(kept.allocation_bytes >= ROOM_BYTES_MAX / 2, "{}", kept.allocation_bytes);
        drop(frames);
        assert_eq!(budget.used(), 20 + kept.allocation_bytes);
        drop(kept);
        assert_eq!(budget.used(), 0);
    });
}

/// Its last buffer used to stay with a connection for as long as that was idle, also one of 100 MB.
#[test]
fn an_idle_connection_keeps_no_large_buffer() {
    let large = |conn: Conn| async move {
        conn.send(vec![framed(30 << 20, 7).into()]).await.unwrap();
        rt::sleep(Duration::from_secs(60)).await;
    };
    with_reader(large, |reader| last_frame_is_let_go(reader, 1));
    with_reader(burst, |reader| last_frame_is_let_go(reader, 40_000));
}

/// While the reader waits for the next frame, nothing but the last one keeps its bytes.
async fn last_frame_is_let_go(mut reader: FrameReader, frames: usize) {
    let budget = Budget::new(100 << 20);
    let mut last = None;
    for _ in 0..frames {
        reader.begun(None).await.unwrap();
        last = Some(reader.frame(|_| &budget).await.unwrap());
    }
    let last = last.unwrap();
    let looking = async {
        rt::sleep(Duration::from_secs(2)).await;
        last.bytes.is_unique()
    };
    let waiting = pin!(reader.begun(Some(Duration::from_secs(600))));
    match select(waiting, pin!(looking)).await {
        Either::Left(_) => panic!("nothing more comes"),
        Either::Right((is_unique, _)) => assert!(is_unique),
    }
}

#[test]
fn a_connection_that_went_quiet_is_idle_when_its_time_is_over() {
    with_reader(burst, |mut reader| async move {
        let budget = Budget::new(100 << 20);
        for _ in 0..40_000 {
            reader.begun(None).await.unwrap();
            reader.frame(|_| &budget).await.unwrap();
        }
        for idle_ms in [300, 1_000, 5_000] {
            let since = rt::now();
            let idle = reader.begun(Some(Duration::from_millis(idle_ms))).await;
            assert!(matches!(idle, Err(FrameError::Idle)), "{idle:?}");
            assert_eq!((rt::now() - since).as_millis(), u128::from(idle_ms));
        }
    });
}
