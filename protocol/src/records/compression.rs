//! The five codecs, streaming and bounded on the way in.

use std::fmt;
use std::io::{self, BufRead, Read, Write};

use flate2::bufread::MultiGzDecoder;
use lz4_flex::frame::{BlockMode, BlockSize, FrameDecoder, FrameEncoder, FrameInfo};

use super::{RecordsError, snappy};

/// How a batch's records block is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Compression {
    /// As it is.
    #[default]
    None,
    /// RFC 1952, one member or several.
    Gzip,
    /// Snappy blocks in xerial framing (as snappy-java writes); a bare block is read as well.
    Snappy,
    /// LZ4 frame.
    Lz4,
    /// Zstandard frame (KIP-110): Produce from version 7, Fetch from version 10.
    Zstd,
}

impl Compression {
    /// Every codec, by id.
    pub const ALL: [Self; 5] = [Self::None, Self::Gzip, Self::Snappy, Self::Lz4, Self::Zstd];

    /// The codec of the attribute bits.
    ///
    /// # Errors
    /// `UnknownCompression` above 4.
    pub fn from_id(id: u8) -> Result<Self, RecordsError> {
        Self::ALL.get(usize::from(id)).copied().ok_or(RecordsError::UnknownCompression(id))
    }

    /// The attribute bits.
    pub fn id(self) -> u8 {
        self as u8
    }

    /// Kafka's name: `none`, `gzip`, `snappy`, `lz4`, `zstd`.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Snappy => "snappy",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        }
    }

    /// The codec of a name. `uncompressed`, a topic config's word, is none too; `producer` isn't a codec.
    pub fn from_name(name: &str) -> Option<Self> {
        if name == "uncompressed" {
            return Some(Self::None);
        }
        Self::ALL.into_iter().find(|codec| codec.name() == name)
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Compresses a records block. `level` is the codec's own (gzip 1 to 9, zstd -131072 to 22); none, or -1 for
/// gzip, is the codec's default. Snappy has no levels, and LZ4 has one here.
///
/// # Errors
/// `Compress`, if the codec refuses, as zstd may for lack of memory.
pub fn compress(codec: Compression, level: Option<i32>, block: &[u8]) -> Result<Vec<u8>, RecordsError> {
    let compressed = match codec {
        Compression::None => Ok(block.to_vec()),
        Compression::Gzip => gzip(level, block),
        Compression::Snappy => snappy::compress(block),
        Compression::Lz4 => lz4(block),
        Compression::Zstd => {
            zstd::stream::encode_all(block, level.unwrap_or(zstd::DEFAULT_COMPRESSION_LEVEL))
        }
    };
    compressed.map_err(|error| RecordsError::Compress(error.to_string()))
}

fn gzip(level: Option<i32>, block: &[u8]) -> io::Result<Vec<u8>> {
    let level = match level {
        Some(level @ 0..=9) => flate2::Compression::new(level as u32),
        _ => flate2::Compression::default(),
    };
    let mut encoder = flate2::write::GzEncoder::new(Vec::with_capacity(block.len() / 2), level);
    encoder.write_all(block)?;
    encoder.finish()
}

fn lz4(block: &[u8]) -> io::Result<Vec<u8>> {
    // Independent 64 KiB blocks: the only kind that Java's reader takes.
    let frame = FrameInfo::new().block_mode(BlockMode::Independent).block_size(BlockSize::Max64KB);
    let mut encoder = FrameEncoder::with_frame_info(frame, Vec::with_capacity(block.len() / 2));
    encoder.write_all(block)?;
    Ok(encoder.finish()?)
}

/// Decompresses a records block as a stream that ends, with an error, at a limit.
///
/// Memory is bounded whatever the block claims: for zstd a window of at most 128 MiB, touched only as far as data
/// really fill it; for LZ4 4 MiB a block; for snappy one block, whose claimed length is checked against what its
/// bytes can expand to. A cut LZ4 frame may just end early: its reader has to count the records.
pub struct Decompressor<R: BufRead> {
    inner: Inner<R>,
    codec: Compression,
    limit: u64,
    left: u64,
}

enum Inner<R: BufRead> {
    None(R),
    Gzip(Box<MultiGzDecoder<R>>),
    Snappy(snappy::Reader<R>),
    Lz4(Box<FrameDecoder<R>>),
    Zstd(zstd::stream::read::Decoder<'static, R>),
}

/// Largest zstd window accepted, as a power of two: what level 22 uses, and the limit of Kafka's own reader.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;

impl<R: BufRead> Decompressor<R> {
    /// Reads `block` as `codec`, at most `limit` decompressed bytes.
    ///
    /// # Errors
    /// `Decompress`, if the codec can't start (memory).
    pub fn new(codec: Compression, block: R, limit: u64) -> Result<Self, RecordsError> {
        let inner = match codec {
            Compression::None => Inner::None(block),
            Compression::Gzip => Inner::Gzip(Box::new(MultiGzDecoder::new(block))),
            Compression::Snappy => Inner::Snappy(snappy::Reader::new(block)),
            Compression::Lz4 => Inner::Lz4(Box::new(FrameDecoder::new(block))),
            Compression::Zstd => Inner::Zstd(zstd_decoder(block).map_err(|error| damaged(codec, &error))?),
        };
        Ok(Self { inner, codec, limit, left: limit })
    }

    /// Reads some bytes into `into`; 0 at the end.
    ///
    /// # Errors
    /// `Decompress` for a damaged block, `DecompressedTooLarge` beyond the limit.
    pub fn read_some(&mut self, into: &mut [u8]) -> Result<usize, RecordsError> {
        let read = match &mut self.inner {
            Inner::None(reader) => reader.read(into),
            Inner::Gzip(reader) => reader.read(into),
            Inner::Snappy(reader) => reader.read(into),
            Inner::Lz4(reader) => reader.read(into),
            Inner::Zstd(reader) => reader.read(into),
        };
        let read = read.map_err(|error| damaged(self.codec, &error))?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => return Err(RecordsError::DecompressedTooLarge { limit: self.limit }),
        }
        Ok(read)
    }
}

fn zstd_decoder<R: BufRead>(block: R) -> io::Result<zstd::stream::read::Decoder<'static, R>> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(block)?;
    decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
    Ok(decoder)
}

fn damaged(codec: Compression, error: &io::Error) -> RecordsError {
    RecordsError::Decompress { codec: codec.name(), why: error.to_string() }
}

impl<R: BufRead> fmt::Debug for Decompressor<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { codec, limit, left, .. } = self;
        f.debug_struct("Decompressor")
            .field("codec", codec)
            .field("limit", limit)
            .field("left", left)
            .finish()
    }
}
