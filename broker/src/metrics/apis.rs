//! [`ApiCounters`]: requests of a shard's connections, by API.

use std::cell::Cell;

use protocol::api::ApiKey;
use protocol::error::ErrorCode;
use rt::{TimeCounts, TimeHistogram};

use crate::server::dispatch::SERVED;

/// Known error codes, -1 and NONE included; anything else is counted as the first of them, UNKNOWN_SERVER_ERROR.
const CODES: usize = 138;

/// A served API, by its place in [`SERVED`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApiIndex(u8);

impl ApiIndex {
    /// None if it isn't served.
    pub fn of(key: ApiKey) -> Option<ApiIndex> {
        let index = SERVED.iter().position(|served| *served == key)?;
        u8::try_from(index).ok().map(ApiIndex)
    }
}

/// A part of a request's time on the shard of its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// From its last byte until it begins: it waits for earlier requests of the connection.
    Queue,
    /// Produce only: its batches are checked and queued at their owners.
    Route,
    /// Its handler, until the answer is made; for Produce the wait for the owners.
    Handle,
    /// From the answer until the kernel has its last byte.
    Reply,
}

impl Stage {
    /// All of them, in order.
    pub const ALL: [Stage; 4] = [Stage::Queue, Stage::Route, Stage::Handle, Stage::Reply];

    /// Value of the label.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Queue => "queue",
            Stage::Route => "route",
            Stage::Handle => "handle",
            Stage::Reply => "reply",
        }
    }
}

/// Counts of all served APIs, without a look-up by name or code: about 2 KiB each.
#[derive(Debug)]
pub struct ApiCounters {
    apis: Box<[ApiCounter]>,
}

/// Counts of one API.
#[derive(Debug)]
pub struct ApiCounter {
    /// Requests understood.
    pub requests: Cell<u64>,
    /// Their frames, sizes included, in bytes.
    pub request_bytes: Cell<u64>,
    /// Frames of answers that were sent, sizes included, in bytes.
    pub response_bytes: Cell<u64>,
    /// From a request's last byte to its answer's.
    pub total: TimeHistogram,
    stages: [TimeHistogram; Stage::ALL.len()],
    errors: [Cell<u64>; CODES],
}

/// An API's counts as plain data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiNumbers {
    /// The API's name.
    pub api: &'static str,
    /// See [`ApiCounter::requests`].
    pub requests: u64,
    /// See [`ApiCounter::request_bytes`].
    pub request_bytes: u64,
    /// See [`ApiCounter::response_bytes`].
    pub response_bytes: u64,
    /// See [`ApiCounter::total`].
    pub total: TimeCounts,
    /// In the order of [`Stage::ALL`].
    pub stages: [TimeCounts; Stage::ALL.len()],
    /// Error codes in answers, NONE left out, those that occurred.
    pub errors: Vec<(ErrorCode, u64)>,
}

impl Default for ApiCounters {
    fn default() -> Self {
        Self { apis: SERVED.iter().map(|_| ApiCounter::default()).collect() }
    }
}

impl Default for ApiCounter {
    fn default() -> Self {
        Self {
            requests: Cell::default(),
            request_bytes: Cell::default(),
            response_bytes: Cell::default(),
            total: TimeHistogram::default(),
            stages: Default::default(),
            errors: std::array::from_fn(|_| Cell::new(0)),
        }
    }
}

impl ApiCounters {
    /// Counts of one API.
    pub fn of(&self, api: ApiIndex) -> &ApiCounter {
        &self.apis[usize::from(api.0)]
    }

    /// All that were asked for so far.
    pub fn numbers(&self) -> Vec<ApiNumbers> {
        let asked = SERVED.iter().zip(&self.apis).filter(|(_, counter)| counter.requests.get() > 0);
        asked.map(|(key, counter)| counter.numbers(key.name())).collect()
    }
}

impl ApiCounter {
    /// Times of a stage.
    pub fn stage(&self, stage: Stage) -> &TimeHistogram {
        &self.stages[stage as usize]
    }

    /// Counts an error code of an answer; NONE isn't one.
    pub fn count_error(&self, code: ErrorCode) {
        if code.is_none() {
            return;
        }
        let index = usize::try_from(i32::from(code.code()) + 1).ok().filter(|index| *index < CODES);
        let cell = &self.errors[index.unwrap_or(0)];
        cell.set(cell.get() + 1);
    }

    fn numbers(&self, api: &'static str) -> ApiNumbers {
        let occurred = self.errors.iter().enumerate().filter(|(_, count)| count.get() > 0);
        let errors = occurred.map(|(index, count)| (ErrorCode::from_code(index as i16 - 1), count.get()));
        ApiNumbers {
            api,
            requests: self.requests.get(),
            request_bytes: self.request_bytes.get(),
            response_bytes: self.response_bytes.get(),
            total: self.total.counts(),
            stages: std::array::from_fn(|stage| self.stages[stage].counts()),
            errors: errors.collect(),
        }
    }
}
