//! Trying io_uring by hand, for one readable verdict: where it is forbidden, glommio panics.

use std::io;

use io_uring::IoUring;
use rustix::io::Errno;

use super::BootError;
use crate::shards::Engine;

/// Makes a ring, registers a buffer with it if the engine will, and lets a no-op through.
///
/// # Errors
/// [`BootError::Uring`] with the likely cause.
pub(crate) fn probe(engine: Engine) -> Result<(), BootError> {
    let mut ring = IoUring::new(8).map_err(|error| refused("io_uring_setup", &error))?;
    if engine == Engine::Glommio {
        register(&ring).map_err(|error| refused("io_uring_register", &error))?;
    }
    turn(&mut ring).map_err(|error| refused("io_uring_enter", &error))
}

fn register(ring: &IoUring) -> io::Result<()> {
    let mut page = crate::fs::IoBuf::zeroed(crate::fs::BLOCK);
    let slices = [io::IoSliceMut::new(&mut page)];
    // SAFETY: an IoSliceMut is an iovec by its documentation; the page outlives the registration, which is
    // undone before it is freed.
    #[allow(unsafe_code, reason = "the kernel is told of memory")]
    unsafe {
        let vectors = std::slice::from_raw_parts(slices.as_ptr().cast(), slices.len());
        ring.submitter().register_buffers(vectors)?;
    }
    ring.submitter().unregister_buffers()
}

fn turn(ring: &mut IoUring) -> io::Result<()> {
    let nop = io_uring::opcode::Nop::new().build();
    // SAFETY: a no-op refers to no memory.
    #[allow(unsafe_code, reason = "the queue can't know what an entry refers to")]
    unsafe {
        ring.submission().push(&nop).map_err(io::Error::other)?;
    }
    ring.submit_and_wait(1)?;
    match ring.completion().next() {
        Some(entry) if entry.result() >= 0 => Ok(()),
        Some(entry) => Err(io::Error::from_raw_os_error(-entry.result())),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

pub(crate) fn refused(call: &str, error: &io::Error) -> BootError {
    let cause = match Errno::from_io_error(error) {
        Some(Errno::PERM | Errno::ACCESS) => {
            "forbidden by a seccomp filter (container default profiles do that) or by sysctl \
             kernel.io_uring_disabled"
        }
        Some(Errno::NOSYS) => "the kernel has no io_uring, or a filter hides it",
        Some(Errno::NOMEM) => "not enough memory may be locked: raise LimitMEMLOCK",
        Some(Errno::MFILE | Errno::NFILE) => "out of file descriptors: raise LimitNOFILE",
        _ => "the kernel gives no known reason",
    };
    let disabled = disabled().map_or(String::new(), |value| format!("; kernel.io_uring_disabled is {value}"));
    BootError::Uring { why: format!("{call}: {error} ({cause}{disabled})") }
}

fn disabled() -> Option<String> {
    #[allow(clippy::disallowed_methods, reason = "before any shard runs")]
    let text = std::fs::read("/proc/sys/kernel/io_uring_disabled").ok()?;
    Some(String::from_utf8_lossy(&text).trim().to_owned())
}
