//! Who listens on a port of this host.

use std::path::Path;

use super::files;

/// State of a listening socket in /proc/net/tcp.
const LISTEN: &str = "0A";

/// The process that listens on `port`, if it is on this host and ours to see. A command that starts a broker
/// may be a shell around it, and an address has no process at all: the port tells which one to measure.
pub fn listener_of(port: u16) -> Option<u32> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| files::read_text(Path::new(table)));
    let inode = tables.iter().flatten().find_map(|table| socket_inode(table, port))?;
    let wanted = format!("socket:[{inode}]");
    let pids = std::fs::read_dir("/proc").ok()?.flatten();
    let mut pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.find(|pid| holds(*pid, &wanted))
}

/// The inode of the socket that listens on `port` by a table of /proc/net.
pub(super) fn socket_inode(table: &str, port: u16) -> Option<u64> {
    let suffix = format!(":{port:04X}");
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let listens = fields.get(1)?.ends_with(&suffix) && *fields.get(3)? == LISTEN;
        listens.then(|| fields.get(9)?.parse().ok())?
    })
}

fn holds(pid: u32, socket: &str) -> bool {
    let Ok(descriptors) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    descriptors
        .flatten()
        .any(|entry| std::fs::read_link(entry.path()).is_ok_and(|target| target.as_os_str() == socket))
}
