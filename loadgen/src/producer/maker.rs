//! Making batches.

use bytes::Bytes;
use protocol::records::{BatchBuilder, BatchHeader, Compression, DECOMPRESSED_BYTES_MAX, RecordsError};

use super::template::{Template, write_header};
use super::times::Times;
use crate::draw::Rng;
use crate::payload::{STAMP_BYTES, Stamp, fill};
use crate::scenario::{Build, Keys, ProduceSpec};

/// A batch that is being filled.
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) first_sequence: u64,
    pub(crate) times: Times,
    pub(crate) value_bytes: u64,
    /// When its first record came.
    pub(crate) opened_ns: u64,
    /// Records, where they aren't a template's.
    builder: Option<BatchBuilder>,
}

/// A batch as it is sent, once or again.
#[derive(Debug, Clone)]
pub(crate) struct Batch {
    pub(crate) first_sequence: u64,
    pub(crate) records: u32,
    pub(crate) value_bytes: u64,
    pub(crate) times: Times,
    pub(crate) bytes: Bytes,
    /// When it was sealed.
    pub(crate) sealed_ns: u64,
}

impl Batch {
    /// The sequence after its last record's.
    pub(crate) fn end_sequence(&self) -> u64 {
        self.first_sequence + u64::from(self.records)
    }
}

/// Whose batches they are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sender {
    pub(crate) run: u32,
    pub(crate) index: u32,
    /// Producer id and epoch of an idempotent one.
    pub(crate) identity: Option<(i64, i16)>,
    /// Its batches belong to transactions.
    pub(crate) is_transactional: bool,
}

impl Sender {
    fn origin(&self, first_sequence: u64) -> Origin {
        let base_sequence = (first_sequence & i32::MAX as u64) as i32;
        self.identity.map_or(Origin::NOBODY, |(producer_id, producer_epoch)| Origin {
            producer_id,
            producer_epoch,
            base_sequence,
            is_transactional: self.is_transactional,
        })
    }
}

/// What a batch says of who sent it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin {
    pub(super) producer_id: i64,
    pub(super) producer_epoch: i16,
    pub(super) base_sequence: i32,
    pub(super) is_transactional: bool,
}

impl Origin {
    /// A producer that isn't idempotent.
    pub(super) const NOBODY: Self =
        Self { producer_id: -1, producer_epoch: -1, base_sequence: -1, is_transactional: false };

    /// A header with it.
    pub(super) fn on(self, header: BatchHeader) -> BatchHeader {
        BatchHeader {
            attributes: header.attributes.with_transactional(self.is_transactional),
            producer_id: self.producer_id,
            producer_epoch: self.producer_epoch,
            base_sequence: self.base_sequence,
            ..header
        }
    }
}

/// Makes the batches of one producer.
#[derive(Debug)]
pub(crate) struct Maker {
    kind: Kind,
    batch_bytes: usize,
    compression: Compression,
    /// Filler of the longest value, at whose front each value's stamp is written.
    value: Vec<u8>,
}

#[derive(Debug)]
enum Kind {
    /// Records alike but for their stamps.
    Template(Template),
    /// Records one by one.
    Records,
    /// Whole batches again and again; uncompressed ones carry the time in their first record.
    Prebuilt(Template),
    /// Compressed ones, by their number of records.
    PrebuiltCompressed { template: Template, made: Vec<(u32, Bytes)> },
}

/// Compressed batches kept, which differ in their number of records.
const MADE_MAX: usize = 64;
/// Bytes that a record takes beside key and value, at the most, for those of sane size.
const RECORD_OVERHEAD_BYTES: usize = 21;
/// Bytes of a key.
pub(crate) const KEY_BYTES: usize = 8;

impl Maker {
    pub(crate) fn new(spec: &ProduceSpec, rng: &mut Rng) -> Result<Self, RecordsError> {
        let mut value = vec![0; spec.record_bytes.max()];
        fill(&mut value, spec.filler, rng);
        let batch_bytes = spec.batch_bytes as usize;
        let compression = spec.compression.0;
        let alike = spec.keys == Keys::None && spec.record_bytes.fixed().is_some();
        let kind = match spec.build {
            Build::Prebuilt if compression == Compression::None => {
                Kind::Prebuilt(Template::new(&value, batch_bytes)?)
            }
            Build::Prebuilt => {
                Kind::PrebuiltCompressed { template: Template::new(&value, batch_bytes)?, made: Vec::new() }
            }
            Build::Records if alike && compression == Compression::None => {
                Kind::Template(Template::new(&value, batch_bytes)?)
            }
            Build::Records => Kind::Records,
        };
        Ok(Self { kind, batch_bytes, compression, value })
    }

    pub(crate) fn open(&self, first_sequence: u64, now_ns: u64) -> Open {
        let builder =
            matches!(self.kind, Kind::Records).then(|| BatchBuilder::new().compression(self.compression));
        Open { first_sequence, times: Times::new(now_ns), value_bytes: 0, opened_ns: now_ns, builder }
    }

    /// Whether a record with a value of `len` bytes still fits; the first one always does.
    pub(crate) fn fits(&self, open: &Open, len: usize) -> bool {
        match (&self.kind, &open.builder) {
            _ if open.times.len() == 0 => true,
            (Kind::Template(template) | Kind::Prebuilt(template), _) => {
                open.times.len() < template.records_max()
            }
            (Kind::PrebuiltCompressed { template, .. }, _) => open.times.len() < template.records_max(),
            (Kind::Records, Some(builder)) => {
                builder.uncompressed_bytes() + len + KEY_BYTES + RECORD_OVERHEAD_BYTES <= self.batch_bytes
            }
            (Kind::Records, None) => false,
        }
    }

    /// Adds a record of `len` bytes to slot `slot`'s batch.
    pub(crate) fn push(
        &mut self,
        open: &mut Open,
        sender: &Sender,
        slot: u32,
        key: Option<u64>,
        len: usize,
        time_ns: u64,
    ) {
        let sequence = open.first_sequence + u64::from(open.times.len());
        if let Some(builder) = &mut open.builder {
            let value = &mut self.value[..len];
            if len >= STAMP_BYTES {
                Stamp { run: sender.run, producer: sender.index, slot, sequence, time_ns }.write(value);
            }
            let key = key.map(u64::to_be_bytes);
            builder.push(rt::unix_ms(), key.as_ref().map(|key| &key[..]), Some(value), &[]);
        }
        open.times.push(time_ns);
        open.value_bytes += len as u64;
    }

    /// Finishes a batch.
    pub(crate) fn seal(
        &mut self,
        open: Open,
        sender: &Sender,
        slot: u32,
        now_ns: u64,
    ) -> Result<Batch, RecordsError> {
        let records = open.times.len();
        let origin = sender.origin(open.first_sequence);
        let stamp = |index: usize| Stamp {
            run: sender.run,
            producer: sender.index,
            slot,
            sequence: open.first_sequence + index as u64,
            time_ns: open.times.at(index),
        };
        let bytes = match (&mut self.kind, open.builder) {
            (Kind::Records, Some(builder)) => builder
                .producer(origin.producer_id, origin.producer_epoch, origin.base_sequence)
                .transactional(origin.is_transactional)
                .build()?,
            (Kind::Template(template), _) => {
                let stamped = |index: usize, value: &mut [u8]| {
                    if value.len() >= STAMP_BYTES {
                        stamp(index).write(value);
                    }
                };
                template.batch(records, rt::unix_ms(), origin, stamped).into()
            }
            (Kind::Prebuilt(template), _) => {
                let first = |index: usize, value: &mut [u8]| {
                    if index == 0 && value.len() >= STAMP_BYTES {
                        stamp(0).write(value);
                    }
                };
                template.batch(records, rt::unix_ms(), origin, first).into()
            }
            (Kind::PrebuiltCompressed { template, made }, _) => {
                renewed(compressed(template, made, records, self.compression)?, origin)?
            }
            (Kind::Records, None) => return Err(RecordsError::Inconsistent("a batch without records")),
        };
        Ok(Batch {
            first_sequence: open.first_sequence,
            records,
            value_bytes: open.value_bytes,
            times: open.times,
            bytes,
            sealed_ns: now_ns,
        })
    }
}

/// A compressed batch of `records`, made now or earlier.
fn compressed(
    template: &Template,
    made: &mut Vec<(u32, Bytes)>,
    records: u32,
    codec: Compression,
) -> Result<Bytes, RecordsError> {
    if let Some((_, bytes)) = made.iter().find(|(count, _)| *count == records) {
        return Ok(bytes.clone());
    }
    let plain =
        protocol::records::RecordBatch::parse(template.batch(records, 0, Origin::NOBODY, |_, _| ()).into())?;
    let bytes = protocol::records::recompress(&plain, codec, None, DECOMPRESSED_BYTES_MAX)?.into_bytes();
    if made.len() < MADE_MAX {
        made.push((records, bytes.clone()));
    }
    Ok(bytes)
}

/// A copy with a new time and producer.
fn renewed(batch: Bytes, origin: Origin) -> Result<Bytes, RecordsError> {
    let mut bytes = batch.to_vec();
    let now_ms = rt::unix_ms();
    let old = BatchHeader::parse(&bytes)?;
    write_header(&mut bytes, origin.on(BatchHeader { base_timestamp: now_ms, max_timestamp: now_ms, ..old }));
    Ok(bytes.into())
}
