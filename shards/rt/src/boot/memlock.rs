//! Memory that the rings lock.
//!
//! Each shard registers its I/O memory with 3 rings, and the kernel counts it against RLIMIT_MEMLOCK unless
//! the process has CAP_IPC_LOCK, which hides the fault from whoever tests as root. glommio only warns when it
//! is too little, and panics with a misleading message when it is far too little.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::BootError;

/// glommio's own floor for a shard's I/O memory, in bytes.
const IO_MEMORY_MIN: u64 = 64 * 1024;

/// Above it, registered memory gains nothing, in bytes.
const IO_MEMORY_MAX: u64 = 1 << 20;

/// Three rings register it; the fourth part is for what else is locked, and for shards that are just ending.
const PARTS: u64 = 4;

/// glommio refuses limits below this, whatever the capabilities, in bytes.
const LIMIT_MIN: u64 = 512 * 1024;

/// What one ring of the ring engine takes, rounded up, in bytes: newer kernels (6.18 is one) count the rings
/// themselves.
const RING: u64 = 128 * 1024;

/// Bit of CAP_IPC_LOCK in /proc/thread-self/status.
const CAP_IPC_LOCK: u32 = 14;

/// I/O memory for each of `shards` shards, in bytes. Raises the soft lock limit to the hard one.
///
/// # Errors
/// [`BootError::Memlock`].
pub fn io_memory(shards: usize) -> Result<usize, BootError> {
    let needed = needed(shards);
    let limit = raise(needed);
    share(limit, has_ipc_lock(), shards)
}

/// Makes room for the rings of `shards` shards of the ring engine, as far as the process may. Too little shows when
/// the first ring is refused: most kernels count none.
///
/// # Errors
/// [`BootError::Memlock`]: they don't fit where they are counted.
pub(crate) fn allow_rings(shards: usize) -> Result<(), BootError> {
    let needed = RING * shards as u64;
    if has_ipc_lock() || getrlimit(Resource::Memlock).current.is_none_or(|soft| soft >= needed) {
        return Ok(());
    }
    let limit = raise(needed);
    if limit < needed {
        return Err(BootError::Memlock { limit, needed, shards });
    }
    Ok(())
}

pub(super) fn share(limit: u64, ipc_lock: bool, shards: usize) -> Result<usize, BootError> {
    let needed = needed(shards);
    let per_shard = if ipc_lock { IO_MEMORY_MAX } else { limit / (PARTS * shards.max(1) as u64) };
    if per_shard < IO_MEMORY_MIN || limit < LIMIT_MIN {
        return Err(BootError::Memlock { limit, needed, shards });
    }
    Ok((per_shard.min(IO_MEMORY_MAX) / 4096 * 4096) as usize)
}

fn needed(shards: usize) -> u64 {
    (IO_MEMORY_MIN * PARTS * shards.max(1) as u64).max(LIMIT_MIN)
}

/// Raises the limit as far as it goes, at least to `needed` if the process may, and returns it, in bytes.
fn raise(needed: u64) -> u64 {
    let before = getrlimit(Resource::Memlock);
    let Some(soft) = before.current else { return u64::MAX };
    let hard = before.maximum;
    let wishes = [
        Rlimit { current: hard, maximum: hard },
        // Root may raise the hard limit too.
        Rlimit { current: Some(needed), maximum: Some(needed) },
    ];
    let [to_hard, to_needed] = wishes;
    if hard.is_none_or(|hard| hard > soft) {
        // Refused: the limit stays, and is judged as it is.
        let _ = setrlimit(Resource::Memlock, to_hard);
    }
    if hard.is_some_and(|hard| hard < needed) {
        let _ = setrlimit(Resource::Memlock, to_needed);
    }
    getrlimit(Resource::Memlock).current.unwrap_or(u64::MAX)
}

fn has_ipc_lock() -> bool {
    #[allow(clippy::disallowed_methods, reason = "before any shard runs")]
    let Ok(status) = std::fs::read("/proc/thread-self/status") else { return false };
    let status = String::from_utf8_lossy(&status);
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    effective
        .and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok())
        .is_some_and(|bits| bits & (1 << CAP_IPC_LOCK) != 0)
}
