//! Ringlog's own binary.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::process::HostError;

const NAME: &str = "ringlog";

/// The binary that was named, or the one beside this program. In a cargo target directory it is built first: what
/// lies there may be older than the code, and would tell lies.
///
/// # Errors
/// There is none, or it can't be built.
pub(super) fn find(named: Option<&Path>) -> Result<PathBuf, HostError> {
    if let Some(path) = named {
        return existing(path);
    }
    let own = std::env::current_exe().map_err(|error| HostError::io("finding this program's file", error))?;
    if own.file_name().is_some_and(|name| name == NAME) {
        return Ok(own);
    }
    // Tests lie in `deps`, one further down.
    let mut dir = own.parent().unwrap_or(Path::new("."));
    if dir.ends_with("deps") {
        dir = dir.parent().unwrap_or(dir);
    }
    if let Some(root) = workspace_of(dir) {
        build(&root, dir)?;
    }
    existing(&dir.join(NAME))
}

fn existing(path: &Path) -> Result<PathBuf, HostError> {
    if path.is_file() {
        return Ok(path.to_owned());
    }
    Err(HostError::Missing(format!("no {}: build it, or name it by --ringlog", path.display())))
}

/// The workspace whose `target/PROFILE` that is.
pub(super) fn workspace_of(dir: &Path) -> Option<PathBuf> {
    let root = dir.parent()?.parent()?;
    let is_ours = root.join("broker/Cargo.toml").exists() && root.join("loadgen/Cargo.toml").exists();
    is_ours.then(|| root.to_owned())
}

fn build(root: &Path, dir: &Path) -> Result<(), HostError> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "-p", "broker", "--bin", NAME]).current_dir(root).stdin(Stdio::null());
    if dir.ends_with("release") {
        cargo.arg("--release");
    } else {
        eprintln!("a debug build of Ringlog is measured: its figures mean nothing");
    }
    let output = match cargo.output() {
        // A host with the build but without cargo: what is there is what is measured.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        output => output.map_err(|error| HostError::io("cargo", error))?,
    };
    if output.status.success() {
        return Ok(());
    }
    let log_tail = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(HostError::Program { what: "Ringlog doesn't build".into(), log_tail })
}
