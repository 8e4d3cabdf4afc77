//! Buffers for direct I/O.

use std::ops::{Deref, DerefMut};

use glommio::io::DmaBuffer;

/// Alignment of direct I/O, in bytes: positions, lengths and addresses.
pub const BLOCK: usize = 4096;

#[derive(Clone)]
#[repr(C, align(4096))]
struct Block([u8; BLOCK]);

/// A buffer at a 4096-aligned address, a multiple of 4096 bytes long. Up to 1 MiB it is written without a
/// copy.
pub struct IoBuf(Inner);

enum Inner {
    /// On a real shard: from its memory registered with the ring while that lasts.
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
        if len > 0 && crate::real::current::is_here() {
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
        IoBuf(Inner::Blocks(vec![Block([0; BLOCK]); len / BLOCK]))
    }

    /// As what glommio writes.
    pub(crate) fn into_dma(self) -> DmaBuffer {
        match self.0 {
            Inner::Dma(buf) => buf,
            Inner::Blocks(_) => {
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
