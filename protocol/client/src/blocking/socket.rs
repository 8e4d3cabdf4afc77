//! One connection over one blocking socket.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "runs on a plain thread of a command-line tool, outside rt and its simulation"
)]

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use protocol::messages::Request;

use crate::{Answer, ClientError, Connection, ConnectionConfig, ConnectionError, RequestId, Versions};

/// A connection that blocks: call and wait, or send several and take the answers as they come.
#[derive(Debug)]
pub struct BlockingConnection {
    address: String,
    socket: TcpStream,
    started: Instant,
    machine: Connection,
    buffer: Vec<u8>,
    answers: VecDeque<Answer>,
    versions: Versions,
}

/// Bytes received at once.
const RECV_BYTES: usize = 256 * 1024;

impl BlockingConnection {
    /// Connects to `host:port`, trying all addresses of the name, and negotiates versions.
    ///
    /// # Errors
    /// `Connect`, `Io`, `Connection`.
    pub fn connect(
        address: &str,
        config: ConnectionConfig,
        connect_timeout: Duration,
    ) -> Result<Self, ClientError> {
        let socket = dial(address, connect_timeout)
            .map_err(|source| ClientError::Connect { address: address.to_owned(), source })?;
        let mut connection = Self {
            address: address.to_owned(),
            socket,
            started: Instant::now(),
            machine: Connection::new(config, Duration::ZERO),
            buffer: vec![0; RECV_BYTES],
            answers: VecDeque::new(),
            versions: Versions::default(),
        };
        connection.flush()?;
        loop {
            if let Some(versions) = connection.machine.versions() {
                connection.versions = versions.clone();
                return Ok(connection);
            }
            connection.receive()?;
        }
    }

    /// Where it leads.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// What the broker knows.
    pub fn versions(&self) -> &Versions {
        &self.versions
    }

    /// Requests without an answer.
    pub fn in_flight(&self) -> usize {
        self.machine.in_flight()
    }

    /// Sends a request without waiting for its answer; see [`Connection::send`].
    ///
    /// # Errors
    /// `Send`, `Io`.
    pub fn send<R: Request>(
        &mut self,
        request: &R,
        version: i16,
        extra: Duration,
    ) -> Result<RequestId, ClientError> {
        let id = self.machine.send(self.started.elapsed(), request, version, extra)?;
        self.flush()?;
        Ok(id)
    }

    /// Sends a request that gets no answer: Produce with acks=0.
    ///
    /// # Errors
    /// `Send`, `Io`.
    pub fn send_unanswered<R: Request>(&mut self, request: &R, version: i16) -> Result<(), ClientError> {
        self.machine.send_unanswered(request, version)?;
        self.flush()
    }

    /// Waits for the next answer, in the order of the requests.
    ///
    /// # Errors
    /// `Io`, `Connection`.
    pub fn next_answer(&mut self) -> Result<Answer, ClientError> {
        loop {
            if let Some(answer) = self.answers.pop_front() {
                return Ok(answer);
            }
            self.receive()?;
        }
    }

    /// Sends a request and waits for its answer. Earlier requests' answers must have been taken.
    ///
    /// # Errors
    /// `Send`, `Io`, `Connection`.
    ///
    /// # Panics
    /// If answers to earlier requests are outstanding.
    pub fn call<R: Request>(
        &mut self,
        request: &R,
        version: i16,
        extra: Duration,
    ) -> Result<R::Response, ClientError> {
        let id = self.send(request, version, extra)?;
        let answer = self.next_answer()?;
        assert_eq!(answer.id, id, "an earlier answer wasn't taken");
        self.decode::<R>(answer)
    }

    /// Decodes an answer to an `R`.
    ///
    /// # Errors
    /// `Connection`.
    pub fn decode<R: Request>(&self, answer: Answer) -> Result<R::Response, ClientError> {
        answer.decode::<R>().map_err(|error| self.over(error))
    }

    fn flush(&mut self) -> Result<(), ClientError> {
        while let Some(bytes) = self.machine.poll_transmit() {
            self.socket.write_all(&bytes).map_err(|source| self.failed(source))?;
        }
        Ok(())
    }

    /// Waits for some bytes or the next deadline.
    fn receive(&mut self) -> Result<(), ClientError> {
        let now = self.started.elapsed();
        let wait = self.machine.poll_timeout().map(|at| at.saturating_sub(now).max(Duration::from_millis(1)));
        self.socket.set_read_timeout(wait).map_err(|source| self.failed(source))?;
        let outcome = match self.socket.read(&mut self.buffer) {
            Ok(0) => self.machine.handle_eof(),
            Ok(len) => self.machine.handle_bytes(self.started.elapsed(), &self.buffer[..len]),
            Err(error) if is_timeout(&error) => self.machine.handle_timeout(self.started.elapsed()),
            Err(error) => return Err(self.failed(error)),
        };
        outcome.map_err(|error| self.over(error))?;
        self.answers.extend(std::iter::from_fn(|| self.machine.poll_answer()));
        self.flush()
    }

    fn failed(&self, source: io::Error) -> ClientError {
        ClientError::Io { address: self.address.clone(), source }
    }

    fn over(&self, source: ConnectionError) -> ClientError {
        ClientError::Connection { address: self.address.clone(), source }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

fn dial(address: &str, timeout: Duration) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for candidate in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&candidate, timeout) {
            Ok(socket) => {
                socket.set_nodelay(true)?;
                return Ok(socket);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Sleeps, for a retry.
pub(super) fn pause(time: Duration) {
    std::thread::sleep(time);
}
