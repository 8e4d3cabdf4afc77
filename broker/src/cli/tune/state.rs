//! What was there before: a JSON file, so that people can read it and undo it by hand.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "runs on the command line's own thread, never on a shard"
)]

use std::io::Write;
use std::path::Path;

use super::plan::Setting;
use crate::cli::error::CliError;

/// Settings that were changed, the first value of each.
#[derive(Debug, Default)]
pub(super) struct Saved(Vec<Setting>);

impl Saved {
    /// Reads the file; nothing if there is none.
    pub(super) fn read(path: &Path) -> Result<Self, CliError> {
        match std::fs::read(path) {
            Ok(text) => match serde_json::from_slice(&text) {
                Ok(settings) => Self::checked(settings).map_err(|why| fault(path, &why)),
                Err(error) => Err(fault(path, &format!("it isn't what `ringlog tune` wrote: {error}"))),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(fault(path, &error.to_string())),
        }
    }

    /// Root writes what stands here: nothing but what `apply` could have changed.
    fn checked(settings: Vec<Setting>) -> Result<Self, String> {
        let is_kernels = |file: &str| {
            (file.starts_with("/sys/") || file.starts_with("/proc/"))
                && !file.split('/').any(|part| part == "..")
        };
        match settings.iter().find(|setting| !is_kernels(&setting.file)) {
            Some(setting) => Err(format!("{} is no setting of the kernel", setting.file)),
            None => Ok(Self(settings)),
        }
    }

    /// Writes the file in place of the old one; removes it if nothing is left to undo.
    pub(super) fn write(&self, path: &Path) -> Result<(), CliError> {
        let write = || {
            if self.0.is_empty() {
                return match std::fs::remove_file(path) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
                    _ => Ok(()),
                };
            }
            if let Some(dir) = path.parent() {
                std::fs::create_dir_all(dir)?;
            }
            let text = serde_json::to_vec_pretty(&self.0).map_err(std::io::Error::other)?;
            let new = path.with_extension("new");
            // A new file, so that no link somebody left there is followed.
            match std::fs::remove_file(&new) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            std::fs::File::create_new(&new)?.write_all(&text)?;
            std::fs::rename(&new, path)
        };
        write().map_err(|error| fault(path, &error.to_string()))
    }

    /// Keeps what a setting's file held, unless an earlier value is kept already.
    pub(super) fn remember(&mut self, setting: &Setting) {
        match self.0.iter_mut().find(|saved| saved.file == setting.file) {
            Some(saved) => saved.wanted.clone_from(&setting.wanted),
            None => self.0.push(setting.clone()),
        }
    }

    pub(super) fn forget(&mut self, file: &str) {
        self.0.retain(|saved| saved.file != file);
    }

    /// What undoes it, the last change first.
    pub(super) fn backwards(&self) -> Vec<Setting> {
        self.0.iter().rev().map(Setting::backwards).collect()
    }
}

fn fault(path: &Path, why: &str) -> CliError {
    CliError::Refused(format!("{}: {why}; name another place by --state", path.display()))
}
