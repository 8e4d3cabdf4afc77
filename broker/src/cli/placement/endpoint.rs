//! A request to the admin endpoint: one a connection, over a blocking socket.

#![allow(clippy::disallowed_types, reason = "the command's own thread")]

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use serde_json::Value;

use crate::cli::error::CliError;

/// How long connecting, and waiting for an answer, may take.
const WITHIN: Duration = Duration::from_secs(20);
/// Longest answer that is read, in bytes: some hundred for each of a million partitions.
const ANSWER_BYTES_MAX: u64 = 512 << 20;

/// Asks the endpoint at `address`; the answer's JSON.
///
/// # Errors
/// There is no such endpoint, or it refuses: its words.
pub(super) fn ask(address: &str, method: &str, target: &str) -> Result<Value, CliError> {
    let request = format!(
        "{method} {target} HTTP/1.1\r\nhost: {address}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    );
    let answer = exchange(address, request.as_bytes()).map_err(|error| {
        CliError::Refused(format!(
            "no admin endpoint at {address}: {error}. A Ringlog broker has one if ringlog.admin.listen is set; name it with --admin HOST:PORT"
        ))
    })?;
    let (status, body) = parse(&answer).ok_or_else(|| no_endpoint(address))?;
    let body: Value = serde_json::from_str(body).map_err(|_| match status {
        404 => {
            CliError::Refused(format!("the broker at {address} knows no placement: is it an older release?"))
        }
        _ => no_endpoint(address),
    })?;
    match body.get("error").and_then(Value::as_str) {
        None if status == 200 => Ok(body),
        Some(error) => Err(CliError::Refused(error.to_owned())),
        None => Err(no_endpoint(address)),
    }
}

fn no_endpoint(address: &str) -> CliError {
    CliError::Refused(format!(
        "what answers at {address} isn't a Ringlog broker's admin endpoint: name the one of ringlog.admin.listen with --admin HOST:PORT, not a Kafka listener"
    ))
}

#[allow(clippy::disallowed_methods, reason = "the command's own thread")]
fn exchange(address: &str, request: &[u8]) -> std::io::Result<String> {
    let mut failed = std::io::Error::other("the name has no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, WITHIN) {
            Ok(mut stream) => {
                stream.set_read_timeout(Some(WITHIN))?;
                stream.write_all(request)?;
                let mut answer = Vec::new();
                // A peer that speaks something else may close hard.
                let _ = stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer);
                return Ok(String::from_utf8_lossy(&answer).into_owned());
            }
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// Status and body of an answer that has its length, or ends with the connection.
fn parse(answer: &str) -> Option<(u16, &str)> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.strip_prefix("HTTP/1.1 ")?.split(' ').next()?;
    Some((status.parse().ok()?, body))
}

#[cfg(test)]
mod tests;
