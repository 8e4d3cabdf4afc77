//! Buffers for direct I/O.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::mem;
use std::ops::{Deref, DerefMut};

use glommio::io::DmaBuffer;

/// Alignment of direct I/O, in bytes: positions, lengths and addresses.
pub const BLOCK: usize = 4096;

/// Blocks that a thread keeps for its next buffers, in bytes: a buffer from the system costs a page fault a
/// block.
const KEPT_BYTES_MAX: usize = 8 << 20;

/// As many of them at most: a search looks at all.
const KEPT_MAX: usize = 256;

#[derive(Clone)]
#[repr(C, align(4096))]
struct Block([u8; BLOCK]);

/// Buffers that wait to be used again, on a shard of the ring engine.
#[derive(Default)]
struct Kept {
    /// The last given back is behind.
    buffers: VecDeque<Vec<Block>>,
    bytes: usize,
}

thread_local! {
    static KEPT: RefCell<Kept> = const { RefCell::new(Kept { buffers: VecDeque::new(), bytes: 0 }) };
}

/// A buffer at a 4096-aligned address, a multiple of 4096 bytes long. Up to 1 MiB it is written without a
/// copy.
pub struct IoBuf(Inner);

enum Inner {
    /// On glommio: from its memory registered with the ring while that lasts.
    Dma(DmaBuffer),
    /// Elsewhere, and for buffers of no bytes.
    Blocks(Vec<Block>),
}

impl IoBuf {
    /// `len` zeros.
    ///
    /// # Panics
    /// If `len` is no multiple of [`BLOCK`].
    pub fn zeroed(len: usize) -> IoBuf {
        assert!(len.is_multiple_of(BLOCK), "a buffer of {len} bytes is no multiple of {BLOCK}");
        if len > 0 && crate::real::current::is_glommio() {
            let mut buf = glommio::allocate_dma_buffer(len);
            // As the pool left it until here: never to be read, also not as uninitialised bytes.
            // SAFETY: the buffer is len bytes long, and no reference into it exists.
            #[allow(
                unsafe_code,
                reason = "its bytes may be uninitialised, so no slice may be made of them yet"
            )]
            unsafe {
                std::ptr::write_bytes(buf.as_mut_ptr(), 0, len);
            }
            return IoBuf(Inner::Dma(buf));
        }
        let mut blocks = kept(len / BLOCK);
        blocks.clear();
        blocks.resize(len / BLOCK, Block([0; BLOCK]));
        IoBuf(Inner::Blocks(blocks))
    }

    /// `len` bytes of no meaning: whoever takes it writes all of them. Saves zeroing what is overwritten anyway.
    ///
    /// # Panics
    /// If `len` is no multiple of [`BLOCK`].
    pub fn to_fill(len: usize) -> IoBuf {
        assert!(len.is_multiple_of(BLOCK), "a buffer of {len} bytes is no multiple of {BLOCK}");
        if crate::real::current::is_glommio() {
            return IoBuf::zeroed(len);
        }
        #[cfg(feature = "sim")]
        if crate::sim::facade::is_simulated() {
            // What isn't written over shows: a new buffer would be zeros, one used before isn't.
            let mut stale = IoBuf::scratch(len);
            stale.fill(0xA5);
            return stale;
        }
        IoBuf::scratch(len)
    }

    /// `len` bytes of no meaning, to be read into.
    pub(crate) fn scratch(len: usize) -> IoBuf {
        let mut blocks = kept(len / BLOCK);
        blocks.resize(len / BLOCK, Block([0; BLOCK]));
        IoBuf(Inner::Blocks(blocks))
    }

    /// As what glommio writes.
    pub(crate) fn into_dma(mut self) -> DmaBuffer {
        match mem::replace(&mut self.0, Inner::Blocks(Vec::new())) {
            Inner::Dma(buf) => buf,
            Inner::Blocks(blocks) => {
                self.0 = Inner::Blocks(blocks);
                let mut buf = glommio::allocate_dma_buffer(self.len());
                buf.as_bytes_mut().copy_from_slice(&self);
                buf
            }
        }
    }

    /// What glommio gave back.
    pub(crate) fn from_dma(buf: DmaBuffer) -> IoBuf {
        IoBuf(Inner::Dma(buf))
    }
}

/// A buffer that can hold `count` blocks without growing, from what the thread keeps or a new one.
fn kept(count: usize) -> Vec<Block> {
    KEPT.with_borrow_mut(|kept| {
        // The last fit: buffers of one size come and go together.
        let fits = |buffer: &Vec<Block>| buffer.capacity() >= count && buffer.capacity() <= 4 * count;
        let at = kept.buffers.iter().rposition(fits);
        let Some(buffer) = at.and_then(|at| kept.buffers.remove(at)) else {
            return Vec::with_capacity(count);
        };
        kept.bytes -= buffer.capacity() * BLOCK;
        buffer
    })
}

impl Drop for IoBuf {
    fn drop(&mut self) {
        let Inner::Blocks(blocks) = &mut self.0 else { return };
        if blocks.capacity() == 0 || !crate::real::current::is_ring() {
            return;
        }
        let blocks = mem::take(blocks);
        // No access while the thread's locals are being destroyed: then it is freed.
        let _ = KEPT.try_with(|kept| {
            let mut kept = kept.borrow_mut();
            let bytes = blocks.capacity() * BLOCK;
            kept.bytes += bytes;
            kept.buffers.push_back(blocks);
            while kept.bytes > KEPT_BYTES_MAX || kept.buffers.len() > KEPT_MAX {
                let Some(oldest) = kept.buffers.pop_front() else { break };
                kept.bytes -= oldest.capacity() * BLOCK;
            }
        });
    }
}

impl Deref for IoBuf {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Inner::Dma(buf) => buf.as_bytes(),
            // SAFETY: a Block is exactly 4096 bytes without padding, so n of them in a row are n * 4096
            // initialised bytes.
            #[allow(unsafe_code, reason = "the only way to see aligned blocks as bytes")]
            Inner::Blocks(blocks) => unsafe {
                std::slice::from_raw_parts(blocks.as_ptr().cast(), blocks.len() * BLOCK)
            },
        }
    }
}

impl DerefMut for IoBuf {
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.0 {
            Inner::Dma(buf) => buf.as_bytes_mut(),
            // SAFETY: as in `deref`; the exclusive borrow of the vector covers the slice, and any bytes make
            // a Block.
            #[allow(unsafe_code, reason = "the only way to see aligned blocks as bytes")]
            Inner::Blocks(blocks) => unsafe {
                std::slice::from_raw_parts_mut(blocks.as_mut_ptr().cast(), blocks.len() * BLOCK)
            },
        }
    }
}

impl std::fmt::Debug for IoBuf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IoBuf").field("len", &self.len()).finish()
    }
}
