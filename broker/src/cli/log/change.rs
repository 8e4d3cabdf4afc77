//! Changing files and directories by std, each step durable when it returns: on the command line's own thread, never on a
//! shard.

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "runs on the command line's own thread, never on a shard, and where io_uring doesn't"
)]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use super::input::{Random, fault};
use crate::cli::error::CliError;

/// Bytes copied at once.
const COPY_BYTES: u64 = 1 << 20;
/// What a damaged medium may still give when more can't be read, in bytes.
const SECTOR_BYTES: u64 = 4096;

/// Whether there is something of that name.
pub(super) fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Whether these directories lie on one file system; `dir` need not be there yet.
pub(super) fn is_same_file_system(dir: &Path, others: &[PathBuf]) -> bool {
    let device = |path: &Path| fs::metadata(path).ok().map(|meta| meta.dev());
    let own = dir.ancestors().find_map(device);
    others.iter().all(|other| device(other) == own)
}

/// A path without symbolic links and `..`, also of what isn't there yet: as far as it is there, and the rest as it stands.
pub(super) fn real_path(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let real = |above: &Path| Some((above.canonicalize().ok()?, path.strip_prefix(above).ok()?));
    let Some((mut real, rest)) = path.ancestors().find_map(real) else { return path };
    for component in rest.components() {
        match component {
            Component::ParentDir => drop(real.pop()),
            component => real.push(component),
        }
    }
    real
}

/// Makes a directory's names durable.
pub(super) fn sync_dir(dir: &Path) -> Result<(), CliError> {
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(|error| fault(dir, &error))
}

/// Makes a directory, with those above it.
pub(super) fn make_dir(dir: &Path) -> Result<(), CliError> {
    fs::create_dir_all(dir).map_err(|error| fault(dir, &error))?;
    sync_parent(dir)
}

/// Puts a file in the place of the one there may be: after a crash it is the old one or the new one, whole.
pub(super) fn replace(path: &Path, content: &[u8]) -> Result<(), CliError> {
    write_anew(path, None, |file| file.write_all(content))
}

/// Gives a file or directory another name, in place of nothing.
pub(super) fn rename(from: &Path, to: &Path) -> Result<(), CliError> {
    if exists(to) {
        return Err(CliError::Refused(format!("{} is there already", to.display())));
    }
    fs::rename(from, to).map_err(|error| fault(from, &error))?;
    sync_parent(to)?;
    sync_parent(from)
}

/// Removes a file; nothing to do if it isn't there.
pub(super) fn remove(path: &Path) -> Result<(), CliError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(fault(path, &error)),
        _ => sync_parent(path),
    }
}

/// Removes a directory with all that is in it.
pub(super) fn remove_dir(dir: &Path) -> Result<(), CliError> {
    fs::remove_dir_all(dir).map_err(|error| fault(dir, &error))?;
    sync_parent(dir)
}

/// Gives a file a second name. False if these file systems don't let it have one; then nothing was done. Not durable before
/// [`sync_dir`].
pub(super) fn link(from: &Path, to: &Path) -> Result<bool, CliError> {
    match fs::hard_link(from, to) {
        Ok(()) => Ok(true),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::CrossesDevices
                    | io::ErrorKind::PermissionDenied
                    | io::ErrorKind::Unsupported
                    | io::ErrorKind::TooManyLinks
            ) =>
        {
            Ok(false)
        }
        Err(error) => Err(fault(to, &error)),
    }
}

/// Copies a whole file; its name isn't durable before [`sync_dir`]. Gives its size in bytes.
pub(super) fn copy(from: &Path, to: &Path) -> Result<u64, CliError> {
    let copy = || {
        let bytes = fs::copy(from, to)?;
        let file = OpenOptions::new().write(true).open(to)?;
        // Retention, and closing segments without traffic, go by when records last came.
        file.set_modified(modified(from)?)?;
        file.sync_all()?;
        Ok(bytes)
    };
    copy().map_err(|error| fault(to, &error))
}

/// Copies a file from `position` on into a new one. What the medium doesn't give any more is zeros there.
pub(super) fn copy_from(from: &Path, position: u64, to: &Path) -> Result<(), CliError> {
    let mut source = Random::open(from)?;
    write_anew(to, None, |file| {
        let (mut at, end) = (position, source.bytes);
        while at < end {
            let mut bytes = COPY_BYTES.min(end - at);
            let piece = source.at(at, bytes as usize).or_else(|_| {
                bytes = (SECTOR_BYTES - at % SECTOR_BYTES).min(end - at);
                source.at(at, bytes as usize)
            });
            file.write_all(&piece.unwrap_or_else(|_| vec![0; bytes as usize]))?;
            at += bytes;
        }
        Ok(())
    })
}

/// Puts these pieces of a file, one behind the other, in its place. When it was last written to stays: see [`cut`].
pub(super) fn keep_only(path: &Path, pieces: &[Range<u64>]) -> Result<(), CliError> {
    let mut source = Random::open(path)?;
    let written_at = modified(path).map_err(|error| fault(path, &error))?;
    write_anew(path, Some(written_at), |file| {
        for piece in pieces {
            let mut at = piece.start;
            while at < piece.end {
                let bytes = COPY_BYTES.min(piece.end - at);
                file.write_all(&source.at(at, bytes as usize)?)?;
                at += bytes;
            }
        }
        Ok(())
    })
}

/// Cuts a file off. One that has a second name elsewhere keeps what it holds there. When it was last written to stays: a segment whose records
/// tell no time is as old as that to retention.
pub(super) fn cut(path: &Path, bytes: u64) -> Result<(), CliError> {
    let links = fs::metadata(path).map_err(|error| fault(path, &error))?.nlink();
    if links > 1 {
        let piece = 0..bytes;
        return keep_only(path, std::slice::from_ref(&piece));
    }
    let cut = || {
        let written_at = modified(path)?;
        let file = OpenOptions::new().write(true).open(path)?;
        file.set_len(bytes)?;
        file.set_modified(written_at)?;
        file.sync_all()
    };
    cut().map_err(|error| fault(path, &error))
}

fn modified(path: &Path) -> io::Result<SystemTime> {
    fs::metadata(path)?.modified()
}

/// A new file beside, which then takes the name; written to at `written_at`, or now.
fn write_anew(
    path: &Path,
    written_at: Option<SystemTime>,
    write: impl FnOnce(&mut io::BufWriter<File>) -> io::Result<()>,
) -> Result<(), CliError> {
    // A name that a start knows as left over.
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".tmp");
    let beside = path.with_file_name(name);
    let done = || {
        let mut file = io::BufWriter::with_capacity(COPY_BYTES as usize, File::create(&beside)?);
        write(&mut file)?;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        written_at.map_or(Ok(()), |at| file.set_modified(at))?;
        file.sync_all()?;
        fs::rename(&beside, path)
    };
    done().map_err(|error| fault(path, &error))?;
    sync_parent(path)
}

fn sync_parent(path: &Path) -> Result<(), CliError> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => sync_dir(parent),
        _ => sync_dir(Path::new(".")),
    }
}
