//! A command's connection to the cluster and its output.

use client::blocking::BlockingClient;
use client::{ClientError, ConnectionConfig};
use protocol::error::ErrorCode;

use super::args::{GlobalArgs, OutputFormat};
use super::error::CliError;

/// What every command but `serve` works with.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) client: BlockingClient,
    pub(super) output: OutputFormat,
}

impl Session {
    pub(super) fn open(global: &GlobalArgs) -> Result<Self, CliError> {
        let config = ConnectionConfig { client_id: "ringlog-cli".into(), ..ConnectionConfig::default() };
        let client = BlockingClient::connect(&global.bootstrap_server, config)?;
        Ok(Self { client, output: global.output })
    }

    /// Partitions of a topic, in order, after asking for its metadata. With `create`, waits for a topic that
    /// the broker then makes.
    pub(super) fn partitions_of(&mut self, topic: &str, create: bool) -> Result<Vec<i32>, CliError> {
        for _ in 0..TOPIC_TRIES {
            self.client.refresh(Some(&[topic]), create)?;
            match self.client.cluster().topic(topic) {
                Ok(found) if found.partitions.values().all(|partition| partition.leader >= 0) => {
                    return Ok(found.partitions.keys().copied().collect());
                }
                // A topic just made may have no leaders for a moment; one that is missing stays so, unless we
                // may make it.
                Ok(_) => {}
                Err(error) if error.code() == Some(ErrorCode::LEADER_NOT_AVAILABLE) => {}
                Err(error) if create && error.code() == Some(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION) => {}
                Err(error) => return Err(error.into()),
            }
            pause();
        }
        let found = self.client.cluster().topic(topic)?;
        Ok(found.partitions.keys().copied().collect())
    }
}

/// Does something with a group's coordinator, again while that is moving or loading.
pub(super) fn at_coordinator<T>(
    session: &mut Session,
    group: &str,
    mut attempt: impl FnMut(&mut Session) -> Result<T, ClientError>,
) -> Result<T, ClientError> {
    let mut tries = 0;
    loop {
        tries += 1;
        match attempt(session) {
            Err(error) if tries < COORDINATOR_TRIES && error.code().is_some_and(is_passing) => {
                session.client.forget_coordinator(group);
                pause();
            }
            outcome => return outcome,
        }
    }
}

fn is_passing(code: ErrorCode) -> bool {
    [
        ErrorCode::NOT_COORDINATOR,
        ErrorCode::COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode::COORDINATOR_NOT_AVAILABLE,
    ]
    .contains(&code)
}

/// How often a coordinator is tried, 200 ms apart.
const COORDINATOR_TRIES: u32 = 50;
/// How often a topic is looked for, 200 ms apart.
const TOPIC_TRIES: u32 = 15;

/// Waits before another try.
pub(super) fn pause() {
    sleep(std::time::Duration::from_millis(200));
}

/// Waits.
#[expect(clippy::disallowed_methods, reason = "runs on the command line's own thread, never on a shard")]
pub(super) fn sleep(time: std::time::Duration) {
    std::thread::sleep(time);
}

/// The time, in ms since 1970.
#[expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "runs on the command line's own thread, never on a shard"
)]
pub(super) fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Parses `key=value`.
pub(super) fn parse_pair(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(key, _)| !key.trim().is_empty());
    pair.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        .ok_or_else(|| format!("{text:?} isn't KEY=VALUE"))
}

/// Reports each failure but the last, which the command ends with.
pub(super) fn all_or_last(failures: Vec<ClientError>) -> Result<(), CliError> {
    let mut failures = failures.into_iter().peekable();
    while let Some(failure) = failures.next() {
        if failures.peek().is_none() {
            return Err(failure.into());
        }
        eprintln!("ringlog: {failure}");
    }
    Ok(())
}
