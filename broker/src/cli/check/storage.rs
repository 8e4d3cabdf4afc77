//! File system and device of a data directory.

use std::path::Path;

use rt::boot::{Status, Verdict};

use crate::cli::host::disk::{Mount, chosen, mount_of, queue_of};
use crate::cli::host::sys::Sys;

pub(super) fn look(sys: &Sys, dir: &Path, verdict: &mut Verdict) {
    match mount_of(sys, dir) {
        Some(mount) => look_at(sys, dir, &mount, verdict),
        None => verdict.add(
            format!("file system {}", dir.display()),
            Status::Warn,
            "/proc/self/mountinfo doesn't tell",
        ),
    }
}

pub(in crate::cli) fn look_at(sys: &Sys, dir: &Path, mount: &Mount, verdict: &mut Verdict) {
    let name = dir.display();
    let (status, text) = file_system(mount);
    verdict.add(format!("file system {name}"), status, text);
    let Some(queue) = queue_of(sys, &mount.device) else {
        verdict.add(
            format!("device {name}"),
            Status::Warn,
            format!("no local disk is known as {}", mount.device),
        );
        return;
    };
    let read = |what: &str| sys.read(&format!("{queue}/{what}"));
    let turns = read("rotational").as_deref() == Some("1");
    let (status, text) = scheduler(read("scheduler").as_deref().unwrap_or_default(), turns);
    verdict.add(format!("I/O scheduler {name}"), status, text);
    let (status, text) = write_cache(read("write_cache").as_deref(), mount);
    verdict.add(format!("write cache {name}"), status, text);
    if turns {
        let text = "the disk says that it turns: an SSD is what the broker is made for (virtual disks often say so too)";
        verdict.add(format!("device {name}"), Status::Warn, text);
    }
}

/// File systems the broker is tested on: direct I/O and preallocation work there.
const GOOD: [&str; 2] = ["ext4", "xfs"];

fn file_system(mount: &Mount) -> (Status, String) {
    let system = &mount.file_system;
    let has = |option: &str| mount.options.iter().any(|found| found == option);
    let options = mount.options.join(",");
    // Without barriers a sync doesn't reach the medium of a disk with a volatile cache.
    if has("nobarrier") || has("barrier=0") {
        return (
            Status::Fail,
            format!(
                "{system} without write barriers ({options}): a power cut loses synced records; mount it with barriers"
            ),
        );
    }
    if has("ro") {
        return (Status::Fail, format!("{system} is mounted read-only"));
    }
    if !GOOD.contains(&system.as_str()) {
        return (Status::Warn, format!("{system}: ext4 or xfs is what the broker is tested on"));
    }
    if has("data=journal") {
        return (
            Status::Warn,
            format!(
                "{system} with data=journal writes everything twice, and has no direct I/O: mount it with data=ordered"
            ),
        );
    }
    (Status::Ok, format!("{system} ({options})"))
}

fn scheduler(text: &str, turns: bool) -> (Status, String) {
    match chosen(text) {
        Some(name) if turns => (Status::Ok, name.to_owned()),
        Some(name @ ("none" | "noop" | "mq-deadline" | "deadline")) => (Status::Ok, name.to_owned()),
        Some(name) => (
            Status::Warn,
            format!(
                "{name} costs time that an SSD doesn't need: `ringlog tune --apply`, or echo none into its queue/scheduler"
            ),
        ),
        // Devices without a choice have none.
        None => (Status::Ok, if text.is_empty() { "not told".to_owned() } else { text.to_owned() }),
    }
}

fn write_cache(text: Option<&str>, mount: &Mount) -> (Status, String) {
    match text {
        Some("write through") => (Status::Ok, "write through: a sync costs little".to_owned()),
        Some("write back") => {
            let text = format!(
                "write back: each sync empties the disk's cache, which {} makes happen; a disk with power-loss protection does it in microseconds",
                mount.file_system
            );
            (Status::Ok, text)
        }
        Some(other) => (Status::Warn, format!("{other}: not known")),
        None => (Status::Warn, "the device doesn't tell".to_owned()),
    }
}
