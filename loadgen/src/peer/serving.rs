//! Waiting for a broker that was started.

use std::time::Duration;

use client::ConnectionConfig;
use client::blocking::BlockingConnection;

use crate::process::{HostError, Owned, pause};

const POLL: Duration = Duration::from_millis(20);
const CONNECT: Duration = Duration::from_secs(1);

/// Waits until the broker `name` answers ApiVersions at `bootstrap`. While it runs, a closed port says only that
/// it isn't ready.
///
/// # Errors
/// It ended, or didn't serve `within` that time; with the end of its log.
pub(crate) fn await_serving(
    bootstrap: &str,
    owned: &mut Owned,
    name: &str,
    within: Duration,
) -> Result<(), HostError> {
    let until = rt::now() + within;
    let failed = |what: String, owned: &Owned| Err(HostError::Program { what, log_tail: owned.log_tail() });
    loop {
        if let Some(status) = owned.ended() {
            return failed(format!("{name} ended before it served, {status}"), owned);
        }
        let config = ConnectionConfig { client_id: "ringlog-loadgen".into(), ..ConnectionConfig::default() };
        let answered = BlockingConnection::connect(bootstrap, config, CONNECT);
        let Err(error) = answered else { return Ok(()) };
        if rt::now() >= until {
            return failed(format!("{name} didn't serve within {} s ({error})", within.as_secs()), owned);
        }
        pause(POLL);
    }
}
