//! Record bytes of a response, as the pieces they were read in.

use bytes::Bytes;

/// Record batches in one or more shared pieces: what a log read returns goes into a response, and from there
/// to the socket, without being joined. Equal when the bytes are, however they are cut.
#[derive(Debug, Clone, Default)]
pub struct Records {
    pieces: Vec<Bytes>,
    len: usize,
}

impl Records {
    /// Bytes of all pieces.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The pieces in order; none is empty.
    pub fn pieces(&self) -> &[Bytes] {
        &self.pieces
    }

    /// One contiguous buffer; copies only when there are several pieces.
    pub fn to_bytes(&self) -> Bytes {
        match &self.pieces[..] {
            [] => Bytes::new(),
            [one] => one.clone(),
            several => several.concat().into(),
        }
    }
}

impl From<Bytes> for Records {
    fn from(bytes: Bytes) -> Self {
        Self::from(vec![bytes])
    }
}

impl From<Vec<Bytes>> for Records {
    fn from(mut pieces: Vec<Bytes>) -> Self {
        pieces.retain(|piece| !piece.is_empty());
        let len = pieces.iter().map(Bytes::len).sum();
        Self { pieces, len }
    }
}

impl PartialEq for Records {
    fn eq(&self, other: &Self) -> bool {
        let bytes = |records: &Self| records.pieces.clone().into_iter().flatten();
        self.len == other.len && bytes(self).eq(bytes(other))
    }
}
