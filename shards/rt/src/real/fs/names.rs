//! Calls on paths, on the helper threads: each may wait for a device or a journal of the file system.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "these run on helper threads")]

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::fs::{DirEntry, Space};
use crate::real::current;

async fn help<T: Send + 'static>(
    path: &Path,
    call: impl FnOnce(PathBuf) -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let path = path.to_owned();
    let helpers = current::expect("rt::fs").helpers.clone();
    helpers.run(move || call(path)).await
}

pub(crate) async fn create_dir_all(path: &Path) -> io::Result<()> {
    help(path, fs::create_dir_all).await
}

pub(crate) async fn read_dir(path: &Path) -> io::Result<Vec<DirEntry>> {
    help(path, |path| {
        let mut entries = Vec::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let meta = match entry.metadata() {
                Ok(meta) => meta,
                // Removed between the two calls: as if listed after that.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let (len, modified_ms) = if meta.is_dir() { (0, 0) } else { (meta.len(), modified_ms(&meta)) };
            // A name that isn't UTF-8 is none of ours; the replacement characters keep it from matching one.
            let name = entry.file_name().to_string_lossy().into_owned();
            entries.push(DirEntry { name, is_dir: meta.is_dir(), len, modified_ms });
        }
        Ok(entries)
    })
    .await
}

fn modified_ms(meta: &fs::Metadata) -> i64 {
    let since_1970 = meta.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    since_1970.and_then(|since| i64::try_from(since.as_millis()).ok()).unwrap_or_default()
}

pub(crate) async fn exists(path: &Path) -> bool {
    help(path, fs::symlink_metadata).await.is_ok()
}

pub(crate) async fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let to = to.to_owned();
    help(from, |from| fs::rename(from, to)).await
}

pub(crate) async fn remove_file(path: &Path) -> io::Result<()> {
    help(path, fs::remove_file).await
}

pub(crate) async fn remove_dir_all(path: &Path) -> io::Result<()> {
    help(path, fs::remove_dir_all).await
}

pub(crate) async fn sync_dir(path: &Path) -> io::Result<()> {
    help(path, |path| fs::File::open(path)?.sync_all()).await
}

pub(crate) async fn read(path: &Path) -> io::Result<Bytes> {
    help(path, |path| {
        let mut file = fs::File::open(path)?;
        let mut content = Vec::with_capacity(file.metadata()?.len() as usize);
        file.read_to_end(&mut content)?;
        Ok(Bytes::from(content))
    })
    .await
}

pub(crate) async fn write_atomic(path: &Path, content: Bytes) -> io::Result<()> {
    help(path, move |path| {
        let mut part = path.clone().into_os_string();
        part.push(".tmp");
        let part = PathBuf::from(part);
        let mut file = fs::File::create(&part)?;
        file.write_all(&content)?;
        file.sync_all()?;
        drop(file);
        fs::rename(&part, &path)?;
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::File::open(dir)?.sync_all()
    })
    .await
}

pub(crate) async fn space(path: &Path) -> io::Result<Space> {
    help(path, |path| {
        let stat = rustix::fs::statvfs(path)?;
        Ok(Space {
            total_bytes: stat.f_blocks.saturating_mul(stat.f_frsize),
            used_bytes: stat.f_blocks.saturating_sub(stat.f_bfree).saturating_mul(stat.f_frsize),
            free_bytes: stat.f_bavail.saturating_mul(stat.f_frsize),
        })
    })
    .await
}
