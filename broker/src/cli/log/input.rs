//! Reading files and directories by std: on the command line's own thread, never on a shard.

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "runs on the command line's own thread, never on a shard, and where io_uring doesn't"
)]

use std::fs::{File, Metadata};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::cli::error::CliError;

/// What is in a directory.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) is_dir: bool,
    pub(super) bytes: u64,
    /// When it was last written to, in ns since 1970.
    pub(super) modified_ns: i128,
}

/// Largest file that is read whole, in bytes: a journal file of the largest journal. Indexes and checkpoints are far
/// smaller.
const WHOLE_BYTES_MAX: u64 = 1 << 30;
/// Bytes read from a segment at once.
const READ_BYTES: usize = 1 << 20;

pub(super) fn fault(path: &Path, error: &io::Error) -> CliError {
    CliError::Refused(format!("{}: {error}", path.display()))
}

/// A directory's entries, by name.
pub(super) fn list(dir: &Path) -> Result<Vec<Entry>, CliError> {
    let read = || {
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(dir)? {
            let entry = entry?;
            let meta = entry.metadata()?;
            let name = entry.file_name().to_string_lossy().into_owned();
            entries.push(Entry::of(name, entry.path(), &meta));
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    };
    read().map_err(|error| fault(dir, &error))
}

/// One file, as if it were listed.
pub(super) fn entry(path: &Path) -> Result<Entry, CliError> {
    let meta = std::fs::metadata(path).map_err(|error| fault(path, &error))?;
    let name =
        path.canonicalize().ok().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    Ok(Entry::of(name.unwrap_or_default(), path.into(), &meta))
}

impl Entry {
    fn of(name: String, path: PathBuf, meta: &Metadata) -> Self {
        let modified_ns = i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec());
        Self { name, path, is_dir: meta.is_dir(), bytes: meta.len(), modified_ns }
    }
}

/// A whole file of a moderate size.
pub(super) fn whole(path: &Path) -> Result<Vec<u8>, CliError> {
    let read = || {
        let bytes = std::fs::metadata(path)?.len();
        if bytes > WHOLE_BYTES_MAX {
            return Err(io::Error::other(format!("{bytes} bytes are too many for a file of this kind")));
        }
        std::fs::read(path)
    };
    read().map_err(|error| fault(path, &error))
}

/// A whole text file; words for why it is none.
pub(super) fn text(path: &Path) -> Result<Result<String, String>, CliError> {
    Ok(String::from_utf8(whole(path)?).map_err(|_| "it isn't UTF-8".to_owned()))
}

/// A file read from its start, and its size.
#[derive(Debug)]
pub(super) struct Stream {
    reader: BufReader<File>,
    pub(super) bytes: u64,
}

impl Stream {
    pub(super) fn open(path: &Path) -> Result<Self, CliError> {
        let open = || {
            let file = File::open(path)?;
            let bytes = file.metadata()?.len();
            Ok(Self { reader: BufReader::with_capacity(READ_BYTES, file), bytes })
        };
        open().map_err(|error| fault(path, &error))
    }

    /// The next bytes, fewer only at the file's end.
    pub(super) fn take(&mut self, bytes: usize) -> io::Result<Vec<u8>> {
        let mut taken = Vec::with_capacity(bytes.min(READ_BYTES));
        self.reader.by_ref().take(bytes as u64).read_to_end(&mut taken)?;
        Ok(taken)
    }

    /// Whether all that is left is zeros.
    pub(super) fn rest_is_zero(&mut self) -> io::Result<bool> {
        let mut piece = vec![0; READ_BYTES];
        loop {
            match self.reader.read(&mut piece)? {
                0 => return Ok(true),
                read if piece[..read].iter().any(|byte| *byte != 0) => return Ok(false),
                _ => {}
            }
        }
    }
}

/// A file read at any place.
#[derive(Debug)]
pub(super) struct Random {
    file: File,
    pub(super) bytes: u64,
    /// What was read last, and where it stands.
    window: Vec<u8>,
    window_at: u64,
}

impl Random {
    pub(super) fn open(path: &Path) -> Result<Self, CliError> {
        let open = || {
            let file = File::open(path)?;
            let bytes = file.metadata()?.len();
            Ok(Self { file, bytes, window: Vec::new(), window_at: 0 })
        };
        open().map_err(|error| fault(path, &error))
    }

    /// The bytes at `position`, fewer only at the file's end.
    pub(super) fn at(&mut self, position: u64, bytes: usize) -> io::Result<Vec<u8>> {
        let left = usize::try_from(self.bytes.saturating_sub(position)).unwrap_or(usize::MAX);
        let bytes = bytes.min(left);
        if bytes > READ_BYTES {
            return self.read(position, bytes);
        }
        if self.held(position, bytes).is_none() {
            match self.read(position, READ_BYTES.min(left)) {
                Ok(window) => (self.window, self.window_at) = (window, position),
                // Of a medium that is damaged there may be less to read.
                Err(_) => return self.read(position, bytes),
            }
        }
        Ok(self.held(position, bytes).unwrap_or_default().to_vec())
    }

    fn held(&self, position: u64, bytes: usize) -> Option<&[u8]> {
        let from = usize::try_from(position.checked_sub(self.window_at)?).ok()?;
        self.window.get(from..from.checked_add(bytes)?)
    }

    fn read(&self, position: u64, bytes: usize) -> io::Result<Vec<u8>> {
        let mut content = vec![0; bytes];
        self.file.read_exact_at(&mut content, position)?;
        Ok(content)
    }
}
