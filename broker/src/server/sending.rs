//! Sending answers, and giving back their memory as they go.

use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{Either, select};
use rt::net::Conn;
use rt::sync::{Budget, Permit};

use crate::metrics::RequestClock;

/// Bytes handed to the connection at once, about: so often memory is given back.
const PIECE_BYTES: usize = 1 << 20;
/// A peer that takes no piece for this long loses its connection, if others wait for the memory it holds.
const STALL: Duration = Duration::from_secs(30);
/// How often it is looked whether others wait, after that.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Answers on their way out, and the memory they are counted in.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) bufs: Vec<Bytes>,
    pub(super) memory: Permit,
    /// Of the requests they answer.
    pub(super) clocks: Vec<RequestClock>,
}

impl Outgoing {
    /// Adds an answer behind what is there.
    pub(super) fn append(&mut self, next: Outgoing) {
        self.bufs.extend(next.bufs);
        self.memory.merge(next.memory);
        self.clocks.extend(next.clocks);
    }
}

/// Sends all of it. A peer may be as slow as it likes as long as nobody waits for the memory: a consumer that is busy with its records
/// doesn't read, and means no harm.
///
/// # Errors
/// The connection broke, or TimedOut.
pub(super) async fn send(conn: Rc<Conn>, out: Outgoing, budget: Budget) -> io::Result<()> {
    let Outgoing { bufs, mut memory, clocks } = out;
    if memory.amount() <= PIECE_BYTES {
        send_piece(&conn, bufs, &budget).await?;
    } else {
        let mut bufs = bufs.into_iter().peekable();
        while bufs.peek().is_some() {
            let (mut piece, mut bytes) = (Vec::new(), 0);
            while let Some(buf) = bufs.next_if(|_| bytes < PIECE_BYTES) {
                bytes += buf.len();
                piece.push(buf);
            }
            send_piece(&conn, piece, &budget).await?;
            memory.shrink_to(memory.amount().saturating_sub(bytes));
        }
    }
    let now = rt::now();
    clocks.into_iter().for_each(|clock| clock.end(now));
    Ok(())
}

async fn send_piece(conn: &Conn, piece: Vec<Bytes>, budget: &Budget) -> io::Result<()> {
    let mut sending = pin!(conn.send(piece));
    let mut patience = STALL;
    loop {
        match select(sending.as_mut(), pin!(rt::sleep(patience))).await {
            Either::Left((sent, _)) => return sent,
            Either::Right(_) if budget.waiting() > 0 => return Err(io::ErrorKind::TimedOut.into()),
            Either::Right(_) => patience = LOOK_EVERY,
        }
    }
}
