//! The tagged-field section that ends every struct of a flexible version (KIP-482).

use bytes::Bytes;

use super::{DecodeError, EncodeError, Reader, Writer};
use crate::limits::TAGS_LEN_MAX;

/// Tagged fields this version doesn't know, kept so that decode and encode give the same bytes.
///
/// Sorted by tag; one word when empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
// Boxed: every struct of every message has one, and nearly all are empty.
#[allow(clippy::box_collection)]
pub struct UnknownTags(Option<Box<Vec<(u32, Bytes)>>>);

impl UnknownTags {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Tags and their bytes, by rising tag.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Bytes)> {
        self.0.iter().flat_map(|tags| tags.iter().map(|(tag, bytes)| (*tag, bytes)))
    }

    /// Adds one field; of the same tag several may stand side by side, as they came.
    pub fn insert(&mut self, tag: u32, bytes: Bytes) {
        self.0.get_or_insert_default().push((tag, bytes));
        self.settle();
    }

    /// Sorts what [`TagReader::keep`] added: once a section, so that a peer that sends ten thousand falling tags
    /// doesn't have them sorted ten thousand times.
    pub fn settle(&mut self) {
        if let Some(tags) = &mut self.0 {
            tags.sort_by_key(|(tag, _)| *tag);
        }
    }

    /// The section of a struct that knows no tags in any version.
    pub fn read(r: &mut Reader) -> Result<Self, DecodeError> {
        let mut unknown = Self::default();
        let mut tags = TagReader::new(r)?;
        while let Some(tag) = tags.next(r)? {
            tags.keep(tag, r, &mut unknown)?;
            tags.end(r)?;
        }
        unknown.settle();
        Ok(unknown)
    }

    /// The section of a struct that knows no tags in any version.
    pub fn write(&self, w: &mut Writer) -> Result<(), EncodeError> {
        TagWriter::default().finish(self, w)
    }

    /// Refuses unknown fields in a version without tagged fields.
    pub fn refuse(&self, version: i16) -> Result<(), EncodeError> {
        if self.is_empty() { Ok(()) } else { Err(EncodeError::TagsNotAllowed { version }) }
    }
}

/// Walks a section. Between [`Self::next`] and [`Self::end`] the reader sees exactly one field.
#[derive(Debug)]
pub struct TagReader {
    left: usize,
    tag: u32,
    outer: usize,
}

impl TagReader {
    /// Reads the count of fields.
    pub fn new(r: &mut Reader) -> Result<Self, DecodeError> {
        let left = r.uvarint()? as usize;
        if left > TAGS_LEN_MAX {
            return Err(DecodeError::TooMany { at: r.position(), len: left, max: TAGS_LEN_MAX });
        }
        Ok(Self { left, tag: 0, outer: 0 })
    }

    /// The next field's tag, with the reader narrowed to its bytes.
    pub fn next(&mut self, r: &mut Reader) -> Result<Option<u32>, DecodeError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        self.tag = r.uvarint()?;
        let size = r.uvarint()? as usize;
        self.outer = r.enter(size)?;
        Ok(Some(self.tag))
    }

    /// Keeps the field as it is; [`UnknownTags::settle`] must follow the section. Counted with the arrays: two bytes on the wire are forty in
    /// memory.
    ///
    /// # Errors
    /// There are more than the reader allows.
    pub fn keep(&self, tag: u32, r: &mut Reader, unknown: &mut UnknownTags) -> Result<(), DecodeError> {
        let fields = unknown.0.get_or_insert_default();
        let room = fields.capacity();
        fields.push((tag, r.take_rest()));
        let list_bytes = if room == 0 { size_of_val(fields) } else { 0 };
        r.count_array(list_bytes + (fields.capacity() - room) * size_of::<(u32, Bytes)>())
    }

    /// Ends the field, which must be read whole.
    pub fn end(&mut self, r: &mut Reader) -> Result<(), DecodeError> {
        let left = r.remaining();
        r.leave(self.outer);
        if left > 0 { Err(DecodeError::TagSize { tag: self.tag, at: r.position(), left }) } else { Ok(()) }
    }
}

/// Gathers the known fields of a section, each with its size still open; allocates nothing without one.
#[derive(Debug, Default)]
pub struct TagWriter {
    known: Vec<(u32, Writer)>,
}

impl TagWriter {
    /// Where the value of field `tag` goes. Fields may be opened in any order.
    pub fn field(&mut self, tag: u32) -> &mut Writer {
        let at = self.known.partition_point(|(other, _)| *other < tag);
        self.known.insert(at, (tag, Writer::new()));
        &mut self.known[at].1
    }

    /// Writes the section: the count, then known and unknown fields by rising tag.
    ///
    /// # Errors
    /// An unknown field has a known one's tag, or there are too many.
    pub fn finish(self, unknown: &UnknownTags, w: &mut Writer) -> Result<(), EncodeError> {
        let len = self.known.len() + unknown.iter().count();
        if len > TAGS_LEN_MAX {
            return Err(EncodeError::TooLong { len, max: TAGS_LEN_MAX });
        }
        w.put_uvarint(len as u32);
        let mut rest = unknown.iter().peekable();
        for (tag, value) in self.known {
            while let Some((other, bytes)) = rest.next_if(|(other, _)| *other <= tag) {
                if other == tag {
                    return Err(EncodeError::TagClash { tag });
                }
                put_unknown(w, other, bytes);
            }
            w.put_uvarint(tag);
            w.put_uvarint(value.len() as u32);
            w.append(value);
        }
        rest.for_each(|(tag, bytes)| put_unknown(w, tag, bytes));
        Ok(())
    }
}

fn put_unknown(w: &mut Writer, tag: u32, bytes: &Bytes) {
    w.put_uvarint(tag);
    w.put_uvarint(bytes.len() as u32);
    w.put_shared(bytes.clone());
}
