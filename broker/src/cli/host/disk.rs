//! The device and the file system below a directory.

use std::os::linux::fs::MetadataExt;
use std::path::Path;

use super::sys::Sys;

/// Where a directory's bytes go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Mount {
    /// `ext4`, `xfs` and so on.
    pub(in crate::cli) file_system: String,
    /// Of the mount and the file system.
    pub(in crate::cli) options: Vec<String>,
    /// Major and minor number, as `/sys/dev/block` names devices.
    pub(in crate::cli) device: String,
}

/// The mount that holds a directory, the nearest one that exists of it and those above.
pub(in crate::cli) fn mount_of(sys: &Sys, dir: &Path) -> Option<Mount> {
    let dir = std::path::absolute(dir).ok()?;
    let there = dir.ancestors().find_map(|dir| dir.canonicalize().ok())?;
    let device = std::fs::metadata(&there).ok()?.st_dev();
    let major = ((device >> 8) & 0xfff) | ((device >> 32) & !0xfff);
    let minor = (device & 0xff) | ((device >> 12) & !0xff);
    parse_mounts(
        &sys.read("/proc/self/mountinfo")?,
        &there.display().to_string(),
        &format!("{major}:{minor}"),
    )
}

/// The last mount whose root is the longest start of the path; `device` where the mount tells another than files do.
pub(super) fn parse_mounts(mountinfo: &str, path: &str, device: &str) -> Option<Mount> {
    let mut best: Option<(usize, Mount)> = None;
    for line in mountinfo.lines() {
        let Some((left, right)) = line.split_once(" - ") else { continue };
        let (left, right): (Vec<&str>, Vec<&str>) = (left.split(' ').collect(), right.split(' ').collect());
        let (Some(point), Some(of_mount), Some(file_system)) = (left.get(4), left.get(5), right.first())
        else {
            continue;
        };
        let point = point.replace("\\040", " ");
        let holds = path == point
            || path.strip_prefix(point.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'));
        if !holds || best.as_ref().is_some_and(|(length, _)| *length > point.len()) {
            continue;
        }
        let of_system = right.get(2).copied().unwrap_or_default();
        let mut options: Vec<String> =
            of_mount.split(',').chain(of_system.split(',')).map(str::to_owned).collect();
        options.retain(|option| !option.is_empty());
        let mount = Mount { file_system: (*file_system).to_owned(), options, device: device.to_owned() };
        best = Some((point.len(), mount));
    }
    best.map(|(_, mount)| mount)
}

/// The queue of the disk that a device is, or is a partition of: a directory of /sys. None for what isn't a local disk.
pub(in crate::cli) fn queue_of(sys: &Sys, device: &str) -> Option<String> {
    let block = sys.resolve(&format!("/sys/dev/block/{device}"))?;
    let disk = if sys.path(&format!("{block}/partition")).exists() {
        block.rsplit_once('/')?.0.to_owned()
    } else {
        block
    };
    let queue = format!("{disk}/queue");
    sys.path(&queue).is_dir().then_some(queue)
}

/// The choice in force of a file like `none [mq-deadline] kyber`.
pub(in crate::cli) fn chosen(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once('[')?;
    rest.split_once(']').map(|(chosen, _)| chosen)
}

/// All choices of such a file.
pub(in crate::cli) fn choices(text: &str) -> Vec<&str> {
    text.split_whitespace().map(|word| word.trim_matches(['[', ']'])).collect()
}
