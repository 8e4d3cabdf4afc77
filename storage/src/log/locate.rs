//! Finding the segment, and the position in it, that an offset is read from.

use std::rc::Rc;

use super::core::LogCore;
use super::inner::LogInner;
use crate::dir::files;
use crate::dir::shared::{SegmentIndexes, SegmentKey};
use crate::limits::INDEX_FILE_BYTES_MAX;
use crate::segment::{OffsetIndex, SegmentReader, TimeIndex, names};
use crate::{FilePos, Offset, ReadError};

/// The part of a segment that may be read from its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FilePart {
    pub base: Offset,
    /// Where the next segment starts; the log's end in the last one.
    pub end: Offset,
    /// Where the readable bytes end.
    pub limit: u64,
    /// The offset to go on with there: in memory, or in the next segment.
    pub next: Offset,
    /// Whether nothing is ever added to the file.
    pub closed: bool,
    /// See [`LogCore::version_of`].
    pub version: u64,
}

impl LogCore {
    /// The segment that holds `offset`, or the next after a gap.
    pub(crate) fn part_of(&self, offset: Offset) -> FilePart {
        if let Some((_, segment)) = self.closed.range(..=offset).next_back().filter(|(_, s)| offset < s.end) {
            return FilePart {
                base: segment.base,
                end: segment.end,
                limit: segment.bytes,
                next: segment.end,
                closed: true,
                version: self.version_of(segment.base),
            };
        }
        let (active, end) = match &self.closing {
            Some(closing) if offset < self.active.build.base => (closing, self.active.build.base),
            _ => (&self.active, self.end),
        };
        let base = active.build.base;
        let (limit, next) =
            self.tail.first_of(base).map_or((active.placed, end), |first| (first.position, first.base));
        FilePart { base, end, limit: limit.0, next, closed: false, version: self.version_of(base) }
    }

    /// Parts of all segments that hold `start` or later offsets, oldest first.
    pub(crate) fn parts(&self) -> Vec<FilePart> {
        let mut parts = Vec::new();
        let mut at = self.start;
        loop {
            let part = self.part_of(at);
            parts.push(part);
            if part.end >= self.end {
                return parts;
            }
            at = part.end;
        }
    }
}

impl LogInner {
    pub(crate) fn part_key(&self, part: &FilePart) -> SegmentKey {
        (self.id, part.base, part.version)
    }

    /// A reader of a segment's file.
    pub(crate) async fn reader(&self, part: &FilePart) -> Result<SegmentReader<'_>, ReadError> {
        let key = self.part_key(part);
        let path = self.file_path(part.base, names::LOG);
        let file = self.dir.handle(key, &path).await;
        self.drop_stale(part);
        let file = file.map_err(|source| ReadError::Io { what: path.display().to_string(), source })?;
        Ok(SegmentReader::cached(file, &self.dir, key, part.limit, part.closed))
    }

    /// The last batch start known not to lie behind `offset`.
    pub(crate) async fn floor(&self, part: &FilePart, offset: Offset) -> Result<FilePos, ReadError> {
        if part.closed {
            return Ok(self.indexes(part).await?.offsets.floor(offset));
        }
        let core = self.core.borrow();
        let builds = [Some(&core.active), core.closing.as_ref()];
        let build = builds.into_iter().flatten().find(|active| active.build.base == part.base);
        Ok(build.map_or(FilePos(0), |active| active.build.index.floor(offset)))
    }

    /// Both indexes of a closed segment: from memory, its files, or by walking the segment where they are
    /// missing or damaged.
    pub(crate) async fn indexes(&self, part: &FilePart) -> Result<Rc<SegmentIndexes>, ReadError> {
        let key = self.part_key(part);
        if let Some(found) = self.dir.indexes.borrow_mut().get(&key) {
            return Ok(found);
        }
        let indexes = match self.load_indexes(part).await {
            Some(indexes) => indexes,
            None if self.is_stale(part) => {
                let what = self.file_path(part.base, names::INDEX).display().to_string();
                return Err(ReadError::Io { what, source: std::io::ErrorKind::NotFound.into() });
            }
            None => self.rebuild_indexes(part).await?,
        };
        let indexes = Rc::new(indexes);
        let cost = indexes.offsets.file_bytes() + indexes.times.file_bytes() + 64;
        self.dir.indexes.borrow_mut().insert(key, indexes.clone(), cost);
        self.drop_stale(part);
        Ok(indexes)
    }

    /// Whether the log was cut or ended since `part` was looked up, or the segment went.
    pub(crate) fn is_stale(&self, part: &FilePart) -> bool {
        let core = self.core.borrow();
        self.is_offline() || core.version_of(part.base) != part.version || !core.has_segment(part.base)
    }

    /// What was kept of a stale part's file goes: nobody will ask for it again, and an open handle would keep a
    /// deleted file's space.
    fn drop_stale(&self, part: &FilePart) {
        if self.is_stale(part) {
            self.dir.forget(self.part_key(part));
        }
    }

    async fn load_indexes(&self, part: &FilePart) -> Option<SegmentIndexes> {
        let offsets = files::read_small(&self.file_path(part.base, names::INDEX), INDEX_FILE_BYTES_MAX)
            .await
            .ok()??;
        let times = files::read_small(&self.file_path(part.base, names::TIME_INDEX), INDEX_FILE_BYTES_MAX)
            .await
            .ok()??;
        Some(SegmentIndexes {
            offsets: OffsetIndex::parse(part.base, &offsets, part.limit)?,
            times: TimeIndex::parse(part.base, &times)?,
        })
    }

    /// Walks the whole segment. The files aren't written: recovery and rolls do that, and a read must not
    /// fail for it.
    async fn rebuild_indexes(&self, part: &FilePart) -> Result<SegmentIndexes, ReadError> {
        tracing::warn!(log = %self.partition, base = %part.base, "an index is missing or damaged, walking the segment");
        let mut build = super::active::SegmentBuild::new(part.base);
        let interval = self.config().index_interval_bytes;
        let mut reader = self.reader(part).await?;
        let path = self.file_path(part.base, names::LOG);
        while let Some(header) =
            reader.header_at(build.bytes).await.map_err(|error| read_error(&path, build.bytes, error))?
        {
            build.push(&header, interval);
            rt::yield_point().await;
        }
        build.seal();
        Ok(SegmentIndexes { offsets: build.index, times: build.times })
    }
}

/// A walk's error as a reader sees it.
pub(crate) fn read_error(
    path: &std::path::Path,
    position: u64,
    error: crate::segment::WalkError,
) -> ReadError {
    use crate::segment::WalkError;
    match error {
        WalkError::Io(source) => ReadError::Io { what: path.display().to_string(), source },
        WalkError::NoBatch(reason) => {
            ReadError::Corrupt { path: path.display().to_string(), position, reason }
        }
    }
}
