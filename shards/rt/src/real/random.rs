//! Randomness of the operating system, drawn in blocks.

use std::cell::RefCell;

/// Random bytes drawn at a time: a system call costs more than these.
const BLOCK: usize = 512;

struct Pool {
    bytes: [u8; BLOCK],
    used: usize,
}

thread_local! {
    static POOL: RefCell<Pool> = const { RefCell::new(Pool { bytes: [0; BLOCK], used: BLOCK }) };
}

/// 64 bits fit for keys and salts.
pub(crate) fn u64() -> u64 {
    POOL.with(|pool| {
        let mut pool = pool.borrow_mut();
        if pool.used == BLOCK {
            fill(&mut pool.bytes);
            pool.used = 0;
        }
        let at = pool.used;
        let mut word = [0; 8];
        word.copy_from_slice(&pool.bytes[at..at + 8]);
        // A number is handed out once, and a core dump doesn't hold the past ones.
        pool.bytes[at..at + 8].fill(0);
        pool.used = at + 8;
        u64::from_le_bytes(word)
    })
}

fn fill(mut bytes: &mut [u8]) {
    while !bytes.is_empty() {
        match rustix::rand::getrandom(&mut *bytes, rustix::rand::GetRandomFlags::empty()) {
            Ok(n) => bytes = &mut bytes[n..],
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => super::bomb::die(&format!("getrandom: {error}")),
        }
    }
}
