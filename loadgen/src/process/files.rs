//! Files, directories, ports and pauses of the tool itself.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the tool's own files, on a plain thread of its own, outside rt and its simulation"
)]

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::HostError;

/// Blocks the thread.
pub(crate) fn pause(time: Duration) {
    std::thread::sleep(time);
}

/// A file's text. /proc may hold bytes that are no UTF-8: they become signs of replacement.
pub(crate) fn read_text(path: &Path) -> Result<String, HostError> {
    let bytes = std::fs::read(path).map_err(|error| HostError::io(path.display().to_string(), error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), HostError> {
    std::fs::write(path, text).map_err(|error| HostError::io(path.display().to_string(), error))
}

pub(crate) fn make_dir(path: &Path) -> Result<(), HostError> {
    std::fs::create_dir_all(path).map_err(|error| HostError::io(path.display().to_string(), error))
}

/// Removes a directory with all in it; one that isn't there is as good.
pub(crate) fn remove_dir(path: &Path) -> Result<(), HostError> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(HostError::io(format!("removing {}", path.display()), error))
        }
        _ => Ok(()),
    }
}

/// A new directory in `parent`, whose name tells what it is and whose process it belongs to.
pub(crate) fn temp_dir(parent: &Path, what: &str) -> Result<PathBuf, HostError> {
    let path = parent.join(format!("{what}-{}-{:08x}", std::process::id(), rt::random_u64() as u32));
    make_dir(&path)?;
    Ok(path)
}

/// Where free ports are looked for: below those that Linux gives to outgoing connections, one of which could take
/// it before a slow broker does.
const PORTS: std::ops::Range<u16> = 20_000..32_000;
const PORT_TRIES: u32 = 200;

/// A port of the loopback interface that nobody listens on now. Somebody else may take it before it is used.
pub(crate) fn free_port() -> Result<u16, HostError> {
    let mut last = std::io::Error::from(std::io::ErrorKind::AddrInUse);
    for _ in 0..PORT_TRIES {
        let port = PORTS.start + (rt::random_u64() % PORTS.len() as u64) as u16;
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(_) => return Ok(port),
            Err(error) => last = error,
        }
    }
    Err(HostError::io("looking for a free port", last))
}
