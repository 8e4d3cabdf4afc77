//! Snappy in the framing of snappy-java ("xerial"), which Kafka's clients write: a 16-byte header, then
//! blocks with a 4-byte length.

use std::io::{self, BufRead, Read};

const MAGIC: [u8; 8] = [0x82, b'S', b'N', b'A', b'P', b'P', b'Y', 0];
/// After the magic: version and lowest compatible version, both 1.
const VERSIONS: [u8; 8] = [0, 0, 0, 1, 0, 0, 0, 1];
/// Uncompressed bytes a block, as snappy-java writes.
const BLOCK_BYTES: usize = 32 * 1024;
/// Snappy can't expand further: its longest copy makes 64 bytes of 3.
const EXPANSION_MAX: usize = 64;

/// Compresses with the framing.
pub(crate) fn compress(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(16 + bytes.len() / 2);
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&VERSIONS);
    let mut encoder = snap::raw::Encoder::new();
    let mut block = vec![0; snap::raw::max_compress_len(BLOCK_BYTES.min(bytes.len()))];
    for piece in bytes.chunks(BLOCK_BYTES) {
        let len = encoder.compress(piece, &mut block)?;
        out.extend_from_slice(&(len as u32).to_be_bytes());
        out.extend_from_slice(&block[..len]);
    }
    Ok(out)
}

/// Decompresses a stream of blocks, or one bare block. Holds one block, compressed and not.
pub(crate) struct Reader<R> {
    from: R,
    framing: Framing,
    compressed: Vec<u8>,
    block: Vec<u8>,
    at: usize,
}

enum Framing {
    Unknown,
    Xerial,
    Bare,
}

impl<R: BufRead> Reader<R> {
    pub(crate) fn new(from: R) -> Self {
        Self { from, framing: Framing::Unknown, compressed: Vec::new(), block: Vec::new(), at: 0 }
    }

    /// Decompresses the next block; false at the end.
    fn next_block(&mut self) -> io::Result<bool> {
        if matches!(self.framing, Framing::Unknown) {
            self.find_framing()?;
        }
        match self.framing {
            // A bare block was read whole to find out; there is nothing after it.
            Framing::Bare if self.compressed.is_empty() => return Ok(false),
            Framing::Bare => {}
            Framing::Xerial | Framing::Unknown => {
                if !self.read_framed()? {
                    return Ok(false);
                }
            }
        }
        self.decompress()?;
        self.compressed.clear();
        Ok(true)
    }

    fn find_framing(&mut self) -> io::Result<()> {
        self.fill(MAGIC.len())?;
        if self.compressed == MAGIC {
            self.framing = Framing::Xerial;
            self.fill(VERSIONS.len())?;
            return self.expect(VERSIONS.len());
        }
        self.framing = Framing::Bare;
        self.from.read_to_end(&mut self.compressed)?;
        Ok(())
    }

    /// Reads one framed block's compressed bytes; a second stream's header may stand in its place.
    fn read_framed(&mut self) -> io::Result<bool> {
        loop {
            self.fill(4)?;
            if self.compressed.is_empty() {
                return Ok(false);
            }
            self.expect(4)?;
            let Some(len) = self.compressed.first_chunk::<4>().copied() else { return Ok(false) };
            if len == MAGIC[..4] {
                self.fill(12)?;
                self.expect(12)?;
                continue;
            }
            let len = u32::from_be_bytes(len) as usize;
            self.fill(len)?;
            return self.expect(len).map(|()| true);
        }
    }

    /// Reads up to `len` bytes, growing only as they come.
    fn fill(&mut self, len: usize) -> io::Result<()> {
        self.compressed.clear();
        (&mut self.from).take(len as u64).read_to_end(&mut self.compressed)?;
        Ok(())
    }

    fn expect(&self, len: usize) -> io::Result<()> {
        if self.compressed.len() == len { Ok(()) } else { Err(invalid("ends within a block")) }
    }

    fn decompress(&mut self) -> io::Result<()> {
        let claimed = snap::raw::decompress_len(&self.compressed)?;
        if claimed > self.compressed.len().saturating_mul(EXPANSION_MAX) {
            return Err(invalid("a block claims more than it can hold"));
        }
        self.block.resize(claimed, 0);
        let len = snap::raw::Decoder::new().decompress(&self.compressed, &mut self.block)?;
        self.block.truncate(len);
        self.at = 0;
        Ok(())
    }
}

impl<R: BufRead> Read for Reader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.at == self.block.len() {
            if !self.next_block()? {
                return Ok(0);
            }
        }
        let len = into.len().min(self.block.len() - self.at);
        into[..len].copy_from_slice(&self.block[self.at..self.at + len]);
        self.at += len;
        Ok(len)
    }
}

fn invalid(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
