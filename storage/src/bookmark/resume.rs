//! Beginning a scan at a bookmark's place.

use super::mark::{Bookmark, Marked};
use crate::log::core::LogCore;
use crate::log::recover::{Recovery, batch_or_end};
use crate::{Offset, StorageError};

impl Recovery<'_> {
    /// What the bookmark says of the segment at `base`, which is `bytes` long, if its file bears that out.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) async fn marked(&self, base: Offset, bytes: u64) -> Result<Option<Marked>, StorageError> {
        let Some(bookmark) = &self.bookmark else { return Ok(None) };
        if bookmark.base != base.0 || bookmark.bytes > bytes {
            return Ok(None);
        }
        #[cfg(feature = "mutants")]
        if self.dir.config.mutant == Some(crate::Mutant::BelieveBookmark) {
            return Ok(bookmark.clone().parse());
        }
        let is_borne_out = self.has_last_batch(bookmark).await.map_err(|error| self.io(base, error))?;
        let marked = if is_borne_out { bookmark.clone().parse() } else { None };
        if marked.is_none() {
            tracing::info!(log = %self.path.display(), place = bookmark.bytes, "a bookmark isn't of this log as it is: all of its last segment is scanned");
        }
        Ok(marked)
    }

    /// Whether the batch that ends at the place is the one that was there, whole.
    async fn has_last_batch(&self, bookmark: &Bookmark) -> std::io::Result<bool> {
        let last = bookmark.last();
        let mut reader = self.reader(Offset(bookmark.base), bookmark.bytes).await?;
        let found = async {
            let Some(header) = batch_or_end(reader.header_at(last.position).await)? else { return Ok(false) };
            let ends_there = last.position + header.total_bytes() as u64 == bookmark.bytes;
            let is_it = ends_there && last.is(&header) && header.next_offset() == bookmark.next;
            Ok(is_it && reader.crc_holds(last.position, &header).await?)
        };
        let found: std::io::Result<bool> = found.await;
        reader.close().await?;
        found
    }
}

impl Marked {
    /// Has the log know what a scan of the batches before the place would have told it.
    pub(crate) fn tell(&mut self, core: &mut LogCore) {
        for (epoch, start) in std::mem::take(&mut self.epochs) {
            core.epochs.assign(epoch, start);
        }
        core.producers = std::mem::take(&mut self.producers);
    }
}
