//! Hosts that can't run shards: one readable verdict, never a panic.
//!
//! Not tested here: kernels before 5.12, and file systems other than ext4 and tmpfs.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests watch the runtime from outside"
)]

mod common;

use std::path::PathBuf;
use std::time::Duration;

use rt::boot::{BootError, EX_CONFIG, Status, check};
use rt::{ShardsConfig, boot};
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

const DEADLINE: Duration = Duration::from_secs(30);

/// This thread, and all it starts, as without root.
fn drop_capabilities() {
    let mut sets = capabilities(None).unwrap();
    for set in [&mut sets.effective, &mut sets.permitted, &mut sets.inheritable] {
        set.remove(CapabilitySet::IPC_LOCK | CapabilitySet::SYS_RESOURCE);
    }
    set_capabilities(None, sets).unwrap();
}

fn limit_locked_memory(bytes: u64) {
    setrlimit(Resource::Memlock, Rlimit { current: Some(bytes), maximum: Some(bytes) }).unwrap();
}

#[test]
fn this_host_passes() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let data = dir.path().join("made").join("on demand");
    let verdict = check(std::slice::from_ref(&data), 2, true);
    assert!(verdict.is_ok(), "{verdict}");
    assert_eq!(std::fs::read_dir(data).unwrap().count(), 0, "the probe left something");
}

#[test]
fn tmpfs_is_found_out() {
    let Ok(dir) = tempfile::tempdir_in("/dev/shm") else {
        println!("skipped: no tmpfs at /dev/shm");
        return;
    };
    let dirs = [dir.path().to_owned()];
    assert_eq!(check(&dirs, 1, true).exit_code(), EX_CONFIG);
    assert_eq!(check(&dirs, 1, false).status(), Status::Warn);
}

#[test]
fn a_directory_that_cant_be_made_is_found_out() {
    let verdict = check(&[PathBuf::from("/proc/no such place")], 1, true);
    assert_eq!(verdict.exit_code(), EX_CONFIG, "{verdict}");
}

#[test]
fn too_little_locked_memory_is_refused() {
    const NAME: &str = "too_little_locked_memory_is_refused";
    if common::is_child(NAME) {
        drop_capabilities();
        limit_locked_memory(1 << 20);
        let refused = rt::run(ShardsConfig::unpinned(5), |_| async { unreachable!() });
        assert!(matches!(refused, Err(BootError::Memlock { .. })));
        println!("{}", check(&[], 5, true));
        // Without CAP_IPC_LOCK the rings really count against it: two shards fit.
        assert_eq!(boot::io_memory(2).unwrap(), 128 * 1024);
        rt::run(ShardsConfig::unpinned(2), |_| rt::sleep(Duration::from_millis(5))).unwrap();
        println!("two shards ran");
        return;
    }
    let output = common::run_child(NAME, DEADLINE);
    let text = common::text(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("FAIL  locked memory") && text.contains("raise LimitMEMLOCK"), "{text}");
    assert!(text.contains("two shards ran"), "{text}");
    assert!(!text.contains("registering buffers"), "glommio went without registered memory: {text}");
}

#[test]
fn a_forbidden_io_uring_is_refused() {
    const NAME: &str = "a_forbidden_io_uring_is_refused";
    if common::is_child(NAME) {
        // Out of descriptors: the setup fails as under a filter, with another error.
        setrlimit(Resource::Nofile, Rlimit { current: Some(3), maximum: Some(3) }).unwrap();
        let refused = rt::run(ShardsConfig::unpinned(1), |_| async { unreachable!() });
        assert!(matches!(refused, Err(BootError::Uring { .. })));
        let verdict = check(&[], 1, true);
        println!("{verdict}");
        std::process::exit(verdict.exit_code());
    }
    let output = common::run_child(NAME, DEADLINE);
    let text = common::text(&output);
    assert_eq!(output.status.code(), Some(EX_CONFIG), "{text}");
    assert!(text.contains("FAIL  io_uring") && text.contains("io_uring_setup"), "{text}");
}
