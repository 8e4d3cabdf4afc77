//! Finding out which transactions were aborted.

use bytes::{Bytes, BytesMut};
use protocol::records::{HeaderScan, RecordBatch};

use super::pass::Pass;
use super::source::control_kind;
use super::txns::{Survey, Transactions};
use crate::limits::{ABORTED_MAX, PIECE_BYTES};
use crate::log::handle::Log;
use crate::{CompactionError, Offset};

impl Pass {
    /// Reads on from `from` until the outcome of all transactions with data before `upto` is known, but not beyond
    /// the high watermark: what a marker there says may still be lost.
    pub(crate) async fn survey(&self, from: Offset, upto: Offset) -> Result<Transactions, CompactionError> {
        let log = Log(self.log.clone());
        let mut survey = Survey::new(from, upto, ABORTED_MAX);
        let mut at = from;
        while at < self.high_watermark {
            let slice = log.read(at, self.high_watermark, PIECE_BYTES, true).await?;
            if slice.bytes == 0 {
                break;
            }
            at = slice.next_offset;
            self.pace(slice.bytes).await?;
            if !show(&mut survey, &join(slice.bufs))? {
                break;
            }
        }
        Ok(survey.finish())
    }
}

/// Shows the survey the batches in `bytes`; false once it has enough.
fn show(survey: &mut Survey, bytes: &Bytes) -> Result<bool, CompactionError> {
    for found in HeaderScan::new(bytes) {
        let damaged =
            |error: protocol::records::RecordsError| CompactionError::Uncleanable(error.to_string());
        let (position, header) = found.map_err(damaged)?;
        let kind = if header.attributes.is_control() {
            let batch = RecordBatch::parse(bytes.slice(position..position + header.total_bytes()));
            control_kind(&batch.map_err(damaged)?).map_err(damaged)?
        } else {
            None
        };
        if !survey.show(&header, kind) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn join(bufs: Vec<Bytes>) -> Bytes {
    let mut whole = BytesMut::with_capacity(bufs.iter().map(Bytes::len).sum());
    bufs.iter().for_each(|buf| whole.extend_from_slice(buf));
    whole.freeze()
}
