//! Settling IOPOLL before the first file that matters, which is also the self-test of direct I/O.
//!
//! glommio asks once per device and executor whether the device can be polled, by reading offset 0 of the
//! first file it opens there. An empty file answers nothing, it takes that for a yes, and all reads on that
//! device fail with EOPNOTSUPP from then on. So the first file on each device is one of ours, with content.

#![allow(
    clippy::disallowed_methods,
    reason = "once per device and shard, before anything waits for the shard"
)]

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::rc::Rc;

use bytes::BytesMut;
use glommio::io::OpenOptions;

use super::io_error;
use crate::fs::{BLOCK, Durable, IoBuf, OpenMode};
use crate::real::current;
use crate::real::ring::{Reactor, RingFile};

/// What the probe file holds: no two of its words alike, so a misplaced read shows.
fn pattern() -> Vec<u8> {
    (0..BLOCK as u32 / 4).flat_map(|word| (word ^ 0x5A17_C0DE).to_le_bytes()).collect()
}

/// Makes sure that glommio has settled its question on the device of `path`, an existing file of `len` bytes
/// or a file about to be made in an existing directory.
pub(crate) async fn settle(path: &Path, len: u64) -> io::Result<()> {
    let dir = match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        _ => Path::new("."),
    };
    let device = std::fs::metadata(dir)?.dev();
    if is_settled(device) {
        return Ok(());
    }
    if len >= BLOCK as u64 {
        // Its own content settles it, and the directory may be read-only.
        remember(device);
        return Ok(());
    }
    directory(dir).await
}

fn is_settled(device: u64) -> bool {
    current::expect("rt::fs").probed_devices.borrow().contains(&device)
}

fn remember(device: u64) {
    let shard = current::expect("rt::fs");
    let mut devices = shard.probed_devices.borrow_mut();
    if !devices.contains(&device) {
        devices.push(device);
    }
}

/// Writes a file in `dir`, reads it back by direct I/O on this shard's rings, overwrites it so, and removes
/// it.
pub(crate) async fn directory(dir: &Path) -> io::Result<()> {
    let shard = current::expect("rt::fs").id;
    let path = dir.join(format!(".rt-probe-{}-{shard}", std::process::id()));
    let result = probe(&path).await;
    let removed = std::fs::remove_file(&path);
    result?;
    removed?;
    remember(std::fs::metadata(dir)?.dev());
    Ok(())
}

async fn probe(path: &Path) -> io::Result<()> {
    std::fs::write(path, pattern())?;
    match current::ring("rt::fs") {
        Some(ring) => probe_ring(&ring, path).await,
        None => probe_glommio(path).await,
    }
}

async fn probe_ring(ring: &Rc<Reactor>, path: &Path) -> io::Result<()> {
    let file = RingFile::open(ring, path, OpenMode::READ_WRITE).await?;
    let mut read = BytesMut::new();
    let result = file.read_piece(0, BLOCK, &mut read).await;
    let written = match result {
        Ok(_) if read[..] == pattern()[..] => file.write(0, IoBuf::zeroed(BLOCK), Durable::Yes).await.0,
        Ok(_) => Err(read_back_something_else()),
        Err(error) => Err(error),
    };
    file.close().await?;
    written
}

fn read_back_something_else() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "direct I/O read back something else")
}

async fn probe_glommio(path: &Path) -> io::Result<()> {
    let file = OpenOptions::new().read(true).write(true).dma_open(path).await.map_err(io_error)?;
    let read = file.read_at_aligned(0, BLOCK).await.map_err(io_error);
    let written = match &read {
        Ok(bytes) if bytes[..] == pattern()[..] => {
            file.write_at(IoBuf::zeroed(BLOCK).into_dma(), 0).await.map_err(io_error)
        }
        Ok(_) => Err(read_back_something_else()),
        Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
    };
    file.close().await.map_err(io_error)?;
    match written? {
        BLOCK => Ok(()),
        n => Err(io::Error::new(io::ErrorKind::WriteZero, format!("direct I/O wrote {n} of {BLOCK} bytes"))),
    }
}
