//! Files of the kernel, below a root that tests replace.

#![expect(clippy::disallowed_methods, reason = "runs on the command line's own thread, never on a shard")]

use std::io;
use std::path::PathBuf;

/// `/proc` and `/sys`.
#[derive(Debug, Clone)]
pub(in crate::cli) struct Sys {
    root: PathBuf,
}

impl Sys {
    /// This machine's.
    pub(in crate::cli) fn real() -> Self {
        Self { root: "/".into() }
    }

    #[cfg(test)]
    pub(in crate::cli) fn below(root: &std::path::Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Where an absolute path is.
    pub(in crate::cli) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// A file's text without blanks around it; none if it can't be read.
    pub(in crate::cli) fn read(&self, path: &str) -> Option<String> {
        let bytes = std::fs::read(self.path(path)).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// Writes a value into a file that is there.
    pub(in crate::cli) fn write(&self, path: &str, value: &str) -> io::Result<()> {
        let path = self.path(path);
        if !path.exists() {
            return Err(io::ErrorKind::NotFound.into());
        }
        std::fs::write(path, value)
    }

    /// Names in a directory, sorted; none if it can't be read.
    pub(in crate::cli) fn list(&self, dir: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(dir)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Where a link leads, as an absolute path.
    pub(in crate::cli) fn resolve(&self, path: &str) -> Option<String> {
        let root = self.root.canonicalize().ok()?;
        let found = self.path(path).canonicalize().ok()?;
        Some(format!("/{}", found.strip_prefix(root).ok()?.display()))
    }
}
