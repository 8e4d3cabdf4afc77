//! Producer state as of an offset: from the last snapshot before it, and the batches since.

use std::rc::Rc;

use super::core::producer_of;
use super::inner::LogInner;
use super::locate::read_error;
use super::recover::load_snapshot;
use crate::producer::ProducerState;
use crate::segment::names;
use crate::{Offset, ReadError};

impl LogInner {
    /// The state that the batches below `end` give. Nothing may be evicted meanwhile ([`Self::begin_cut`]):
    /// what isn't read from files is taken from memory.
    pub(crate) async fn producers_at(self: &Rc<Self>, end: Offset) -> Result<ProducerState, ReadError> {
        let loaded = load_snapshot(&self.path, end).await;
        let what = || self.path.display().to_string();
        let (mut producers, mut at) = loaded.map_err(|source| ReadError::Io { what: what(), source })?;
        let (start, parts) = {
            let core = self.core.borrow();
            (core.start, core.parts())
        };
        at = at.max(parts.first().map_or(start, |part| part.base));
        for part in parts.into_iter().filter(|part| part.end > at && part.base < end) {
            let Some(mut reader) = self.reader_of_all(&part).await? else { continue };
            let path = self.file_path(part.base, names::LOG);
            let mut position = self.floor(&part, at).await?.0;
            while let Some(header) =
                reader.header_at(position).await.map_err(|error| read_error(&path, position, error))?
            {
                position += header.total_bytes() as u64;
                if (at..end).contains(&Offset(header.base_offset))
                    && let Some(batch) = producer_of(&header)
                {
                    producers.record(&batch);
                }
                rt::yield_point().await;
            }
        }
        let core = self.core.borrow();
        let from_memory = core.tail.first_of(core.active.build.base).map(|first| first.base);
        if let Some(first) = from_memory {
            core.tail.visit(first, |batch| {
                if let Ok(header) = batch.header()
                    && (at..end).contains(&batch.base)
                    && let Some(batch) = producer_of(&header)
                {
                    producers.record(&batch);
                }
                batch.base < end
            });
        }
        Ok(producers)
    }
}
