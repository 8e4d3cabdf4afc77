//! [`Link`]: a client's connection, the machine of `client` driven over the simulated network.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::BytesMut;
use client::{Answer, Connection, ConnectionConfig, ConnectionError, RequestId, SendError};
use protocol::error::ErrorCode;
use protocol::messages::Request;
use protocol::types::Str;
use rt::net::Conn;

/// How long a client waits for a connection, and for an answer.
const PATIENCE: Duration = Duration::from_secs(4);
const RECEIVE_BYTES: usize = 16 << 10;

/// A connection that ended, or never came to be. Whether the broker did what it was asked last is not known.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Lost {
    #[error("no connection: {0}")]
    Connect(#[from] std::io::Error),
    #[error("no connection in time")]
    Slow(#[from] rt::Elapsed),
    #[error(transparent)]
    Over(#[from] ConnectionError),
    #[error("the broker says to try again: {0}")]
    Refused(ErrorCode),
}

impl Lost {
    /// An answer with an error on which clients try again.
    ///
    /// # Panics
    /// If they don't.
    pub(crate) fn refused(what: impl std::fmt::Display, code: ErrorCode) -> Lost {
        assert!(code.is_retriable(), "{what}: {code}");
        Lost::Refused(code)
    }
}

/// A connection past its negotiation.
pub(crate) struct Link {
    conn: Conn,
    machine: Connection,
}

/// The clients' clock, as the machine wants it.
fn now() -> Duration {
    Duration::from_nanos(rt::now().as_nanos())
}

impl Link {
    /// Connects and negotiates.
    pub(crate) async fn open(broker: SocketAddr, name: &str) -> Result<Link, Lost> {
        let conn = rt::timeout(PATIENCE, rt::net::connect(broker)).await??;
        let config = ConnectionConfig {
            client_id: Str::from(name),
            request_timeout: PATIENCE,
            ..ConnectionConfig::default()
        };
        let mut link = Link { conn, machine: Connection::new(config, now()) };
        while link.machine.versions().is_none() {
            link.turn().await?;
        }
        Ok(link)
    }

    /// Sends a request in the highest version up to `version_max` that both know, without waiting for its answer.
    pub(crate) async fn send<R: Request>(
        &mut self,
        request: &R,
        version_max: i16,
        extra: Duration,
    ) -> Result<RequestId, Lost> {
        let version = self.version::<R>(version_max);
        let id = match self.machine.send(now(), request, version, extra) {
            Ok(id) => id,
            Err(SendError::Over) => return Err(ConnectionError::Closed { unanswered: 0 }.into()),
            Err(error) => panic!("{}: {error}", R::NAME),
        };
        self.transmit().await?;
        Ok(id)
    }

    /// The version that [`Link::send`] takes.
    pub(crate) fn version<R: Request>(&self, version_max: i16) -> i16 {
        let versions = self.machine.versions().expect("a link is past its negotiation");
        versions.choose::<R>(version_max).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The next answer.
    pub(crate) async fn answer(&mut self) -> Result<Answer, Lost> {
        loop {
            if let Some(answer) = self.machine.poll_answer() {
                return Ok(answer);
            }
            self.turn().await?;
        }
    }

    /// Asks and waits; nothing else may be under way. The broker may take `extra` over the usual time.
    pub(crate) async fn call<R: Request>(
        &mut self,
        request: &R,
        version_max: i16,
        extra: Duration,
    ) -> Result<R::Response, Lost> {
        let id = self.send(request, version_max, extra).await?;
        let answer = self.answer().await?;
        assert_eq!(answer.id, id, "nothing else was asked");
        Ok(answer.decode::<R>()?)
    }

    /// Hands over what is to be sent, then waits for bytes, the end, or the time of an answer to be over.
    async fn turn(&mut self) -> Result<(), Lost> {
        self.transmit().await?;
        let until = self.machine.poll_timeout().unwrap_or(Duration::MAX);
        let receiving = self.conn.recv(BytesMut::with_capacity(RECEIVE_BYTES));
        match rt::timeout(until.saturating_sub(now()), receiving).await {
            Err(rt::Elapsed) => self.machine.handle_timeout(now())?,
            Ok((Ok(0), _)) => self.machine.handle_eof()?,
            Ok((Ok(_), bytes)) => self.machine.handle_bytes(now(), &bytes)?,
            Ok((Err(error), _)) => return Err(error.into()),
        }
        Ok(())
    }

    async fn transmit(&mut self) -> Result<(), Lost> {
        let mut bufs = Vec::new();
        while let Some(buf) = self.machine.poll_transmit() {
            bufs.push(buf);
        }
        if bufs.is_empty() {
            return Ok(());
        }
        // A broker that takes no bytes is as lost as one that gives no answer.
        Ok(rt::timeout(PATIENCE, self.conn.send(bufs)).await??)
    }
}
