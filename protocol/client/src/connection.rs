//! One connection to a broker, without the socket.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use protocol::api::ApiKey;
use protocol::error::ErrorCode;
use protocol::header::{ResponseHeader, request_frame};
use protocol::messages::{ApiVersionsRequest, ApiVersionsResponse, Message, Request};
use protocol::types::Str;
use protocol::wire::Reader;

use crate::frames::Frames;
use crate::{ConnectionError, SendError, Versions};

/// What a connection is told at its start.
#[derive(Debug, Clone)]
pub struct ConnectionConfig {
    /// Name the client gives itself: quotas and logs go by it.
    pub client_id: Str,
    /// Client software as ApiVersions names it (KIP-511): letters, digits, `-` and `.`.
    pub software_name: Str,
    /// Its version, of the same characters.
    pub software_version: Str,
    /// How long an answer may take.
    pub request_timeout: Duration,
    /// Requests without an answer; more are refused.
    pub in_flight_max: usize,
    /// Largest answer accepted, in bytes.
    pub frame_bytes_max: usize,
}

impl Default for ConnectionConfig {
    fn default() -> Self {
        Self {
            client_id: Str::from_static("ringlog"),
            software_name: Str::from_static("ringlog"),
            software_version: Str::from_static(env!("CARGO_PKG_VERSION")),
            request_timeout: Duration::from_secs(30),
            in_flight_max: 64,
            frame_bytes_max: 256 << 20,
        }
    }
}

/// Which request an answer belongs to: its correlation id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(i32);

/// An answer, not yet decoded.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The request it answers.
    pub id: RequestId,
    /// The API.
    pub api: ApiKey,
    /// Version of request and answer.
    pub version: i16,
    body: Reader,
}

impl Answer {
    /// Decodes it as the answer to an `R`.
    ///
    /// # Errors
    /// `Decode`.
    ///
    /// # Panics
    /// If the request wasn't an `R`.
    pub fn decode<R: Request>(mut self) -> Result<R::Response, ConnectionError> {
        assert_eq!(self.api, R::API, "the answer to another request");
        Ok(R::Response::decode(&mut self.body, self.version)?)
    }
}

/// The client's side of one connection: negotiates versions, numbers and pipelines requests, matches answers,
/// watches their time.
///
/// It never touches a socket or a clock. The driver, which owns it,
/// 1. makes it with [`new`](Self::new), whose handshake is at once ready to be sent,
/// 2. after any call, takes what is to be sent from [`poll_transmit`](Self::poll_transmit) until there is none,
///    and sends it in order,
/// 3. hands received bytes to [`handle_bytes`](Self::handle_bytes), however they were cut, or receives into
///    [`receive_buffer`](Self::receive_buffer), then takes answers from [`poll_answer`](Self::poll_answer) until there is none,
/// 4. calls [`handle_timeout`](Self::handle_timeout) when the time of [`poll_timeout`](Self::poll_timeout) has come,
/// 5. calls [`handle_eof`](Self::handle_eof) when the peer has closed.
///
/// `now` is any clock that never goes back, as the time since some fixed moment. After an error the connection is over: every
/// later call says so, and the driver drops the socket. Brokers answer a connection's requests in order, so
/// one answer that never comes ends the connection: a later one can't be trusted to come.
#[derive(Debug)]
pub struct Connection {
    config: ConnectionConfig,
    state: State,
    frames: Frames,
    transmit: VecDeque<Bytes>,
    in_flight: VecDeque<InFlight>,
    answers: VecDeque<Answer>,
    next_id: i32,
}

#[derive(Debug)]
enum State {
    Negotiating,
    Ready(Versions),
    Over(ConnectionError),
}

#[derive(Debug)]
struct InFlight {
    id: RequestId,
    api: ApiKey,
    version: i16,
    deadline: Duration,
}

/// First version of ApiVersions tried: the lowest flexible one, which everything from Kafka 2.4 on knows at
/// once.
const API_VERSIONS_FIRST: i16 = 3;

impl Connection {
    /// A new connection, whose ApiVersions request waits to be sent.
    pub fn new(config: ConnectionConfig, now: Duration) -> Self {
        let frames = Frames::new(config.frame_bytes_max);
        let mut connection = Self {
            config,
            state: State::Negotiating,
            frames,
            transmit: VecDeque::new(),
            in_flight: VecDeque::new(),
            answers: VecDeque::new(),
            next_id: 0,
        };
        connection.ask_versions(now, API_VERSIONS_FIRST);
        connection
    }

    /// The broker's versions, once they are known: requests can be sent from then on.
    pub fn versions(&self) -> Option<&Versions> {
        match &self.state {
            State::Ready(versions) => Some(versions),
            State::Negotiating | State::Over(_) => None,
        }
    }

    /// How many requests have no answer yet.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Queues a request in a version that [`Versions::choose`] gave. Its answer is due within the config's
    /// time and `extra`, for which the request lets the broker wait.
    ///
    /// # Errors
    /// Nothing was queued then.
    pub fn send<R: Request>(
        &mut self,
        now: Duration,
        request: &R,
        version: i16,
        extra: Duration,
    ) -> Result<RequestId, SendError> {
        if self.in_flight.len() >= self.config.in_flight_max {
            return Err(SendError::Full);
        }
        let id = self.queue(request, version)?;
        let deadline = now + self.config.request_timeout + extra;
        self.in_flight.push_back(InFlight { id, api: R::API, version, deadline });
        Ok(id)
    }

    /// Queues a request that gets no answer: Produce with acks=0.
    ///
    /// # Errors
    /// Nothing was queued then.
    pub fn send_unanswered<R: Request>(&mut self, request: &R, version: i16) -> Result<(), SendError> {
        self.queue(request, version).map(drop)
    }

    /// Takes the next bytes to send.
    pub fn poll_transmit(&mut self) -> Option<Bytes> {
        self.transmit.pop_front()
    }

    /// Takes received bytes.
    ///
    /// # Errors
    /// The connection is over.
    pub fn handle_bytes(&mut self, now: Duration, bytes: &[u8]) -> Result<(), ConnectionError> {
        self.fail_again()?;
        self.frames.push(bytes);
        let outcome = self.take_frames(now);
        self.settle(outcome)
    }

    /// A buffer to receive into, behind what it holds already: the way to take large answers without copying them. It goes back
    /// by [`handle_received`](Self::handle_received); until then no other bytes may be handed in.
    pub fn receive_buffer(&mut self) -> BytesMut {
        self.frames.lend()
    }

    /// Takes what was received into the buffer of [`receive_buffer`](Self::receive_buffer).
    ///
    /// # Errors
    /// The connection is over.
    pub fn handle_received(&mut self, now: Duration, buffer: BytesMut) -> Result<(), ConnectionError> {
        self.fail_again()?;
        self.frames.give_back(buffer);
        let outcome = self.take_frames(now);
        self.settle(outcome)
    }

    /// Takes note that the peer has closed.
    ///
    /// # Errors
    /// Always: the connection is over.
    pub fn handle_eof(&mut self) -> Result<(), ConnectionError> {
        self.fail_again()?;
        self.settle(Err(ConnectionError::Closed { unanswered: self.in_flight.len() }))
    }

    /// Takes the next answer.
    pub fn poll_answer(&mut self) -> Option<Answer> {
        self.answers.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called.
    pub fn poll_timeout(&self) -> Option<Duration> {
        // Not only the front: a request with little time may stand behind one with much.
        self.in_flight.iter().map(|request| request.deadline).min()
    }

    /// Takes note of the time.
    ///
    /// # Errors
    /// An answer is overdue: the connection is over.
    pub fn handle_timeout(&mut self, now: Duration) -> Result<(), ConnectionError> {
        self.fail_again()?;
        match self.in_flight.iter().find(|request| request.deadline <= now) {
            Some(overdue) => {
                let error = ConnectionError::TimedOut { api: overdue.api };
                self.settle(Err(error))
            }
            None => Ok(()),
        }
    }

    fn fail_again(&self) -> Result<(), ConnectionError> {
        match &self.state {
            State::Over(error) => Err(error.clone()),
            State::Negotiating | State::Ready(_) => Ok(()),
        }
    }

    fn settle(&mut self, outcome: Result<(), ConnectionError>) -> Result<(), ConnectionError> {
        if let Err(error) = &outcome {
            self.state = State::Over(error.clone());
            self.transmit.clear();
            self.in_flight.clear();
        }
        outcome
    }

    fn queue<R: Request>(&mut self, request: &R, version: i16) -> Result<RequestId, SendError> {
        match (&self.state, R::API) {
            (State::Over(_), _) => return Err(SendError::Over),
            (State::Negotiating, api) if api != ApiKey::ApiVersions => return Err(SendError::NotReady),
            _ => {}
        }
        let id = self.next_id;
        let frame = request_frame(id, Some(self.config.client_id.clone()), request, version)?;
        self.next_id = (id + 1) & i32::MAX;
        self.transmit.extend(frame.into_bufs());
        Ok(RequestId(id))
    }

    fn take_frames(&mut self, now: Duration) -> Result<(), ConnectionError> {
        while let Some(frame) = self.frames.next()? {
            let answer = self.matched(frame)?;
            match self.state {
                State::Negotiating => self.take_versions(now, answer)?,
                State::Ready(_) | State::Over(_) => self.answers.push_back(answer),
            }
        }
        Ok(())
    }

    /// Takes the oldest request and checks that the frame answers it.
    fn matched(&mut self, frame: Bytes) -> Result<Answer, ConnectionError> {
        let mut body = Reader::new(frame);
        let got = body.clone().i32()?;
        let expected = self.in_flight.front().map(|request| request.id.0);
        if expected != Some(got) {
            return Err(ConnectionError::Correlation { got, expected });
        }
        let Some(InFlight { id, api, version, .. }) = self.in_flight.pop_front() else {
            return Err(ConnectionError::Correlation { got, expected: None });
        };
        ResponseHeader::decode(&mut body, api.response_header_version(version))?;
        Ok(Answer { id, api, version, body })
    }

    fn ask_versions(&mut self, now: Duration, version: i16) {
        let request = if version >= 3 {
            ApiVersionsRequest {
                client_software_name: self.config.software_name.clone(),
                client_software_version: self.config.software_version.clone(),
                ..ApiVersionsRequest::default()
            }
        } else {
            ApiVersionsRequest::default()
        };
        let sent = self.send(now, &request, version, Duration::ZERO);
        assert!(sent.is_ok(), "the first request always fits: {sent:?}");
    }

    /// A broker that doesn't know the version answers in version 0, with the versions it knows (KIP-511).
    fn take_versions(&mut self, now: Duration, answer: Answer) -> Result<(), ConnectionError> {
        let asked = answer.version;
        let code = ErrorCode::from_code(answer.body.clone().i16()?);
        let layout = if code == ErrorCode::UNSUPPORTED_VERSION { 0 } else { asked };
        let mut body = answer.body;
        let response = ApiVersionsResponse::decode(&mut body, layout)?;
        let versions = Versions::of(&response);
        match code {
            ErrorCode::NONE => self.state = State::Ready(versions),
            ErrorCode::UNSUPPORTED_VERSION if asked > 0 => {
                let fallback = versions.choose::<ApiVersionsRequest>(asked - 1).unwrap_or(0);
                self.ask_versions(now, fallback);
            }
            code => return Err(ConnectionError::Refused(code)),
        }
        Ok(())
    }
}
