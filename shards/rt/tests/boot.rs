//! Hosts that can't run shards: one readable verdict, never a panic.
//!
//! Not tested here: kernels before 5.12, and file systems other than ext4 and tmpfs.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests watch the runtime from outside"
)]

#[macro_use]
mod common;

use std::path::PathBuf;
use std::time::Duration;

use rt::boot::{BootError, EX_CONFIG, Status, check};
use rt::{Engine, boot};
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

on_both_engines![this_host_passes, a_forbidden_io_uring_is_refused];

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

fn this_host_passes(engine: Engine) {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let data = dir.path().join("made").join("on demand");
    let verdict = check(std::slice::from_ref(&data), 2, engine, true);
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
    assert_eq!(check(&dirs, 1, Engine::Ring, true).exit_code(), EX_CONFIG);
    assert_eq!(check(&dirs, 1, Engine::Ring, false).status(), Status::Warn);
}

#[test]
fn a_directory_that_cant_be_made_is_found_out() {
    let verdict = check(&[PathBuf::from("/proc/no such place")], 1, Engine::Ring, true);
    assert_eq!(verdict.exit_code(), EX_CONFIG, "{verdict}");
}

/// glommio registers memory with its rings.
#[test]
fn too_little_locked_memory_is_refused() {
    const NAME: &str = "too_little_locked_memory_is_refused";
    if common::is_child(NAME) {
        drop_capabilities();
        limit_locked_memory(1 << 20);
        let refused = rt::run(common::shards(Engine::Glommio, 5), |_| async { unreachable!() });
        assert!(matches!(refused, Err(BootError::Memlock { .. })));
        println!("{}", check(&[], 5, Engine::Glommio, true));
        // Without CAP_IPC_LOCK the rings really count against it: two shards fit.
        assert_eq!(boot::io_memory(2).unwrap(), 128 * 1024);
        rt::run(common::shards(Engine::Glommio, 2), |_| rt::sleep(Duration::from_millis(5))).unwrap();
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

/// The ring engine registers none. Newer kernels count the rings themselves: the soft limit is raised for them.
#[test]
fn rings_need_little_locked_memory() {
    const NAME: &str = "rings_need_little_locked_memory";
    if common::is_child(NAME) {
        drop_capabilities();
        setrlimit(Resource::Memlock, Rlimit { current: Some(0), maximum: Some(1 << 20) }).unwrap();
        rt::run(common::shards(Engine::Ring, 5), |_| rt::sleep(Duration::from_millis(5))).unwrap();
        println!("five shards ran");
        limit_locked_memory(0);
        match rt::run(common::shards(Engine::Ring, 5), |_| rt::sleep(Duration::from_millis(5))) {
            Ok(()) => println!("this kernel counts no rings"),
            Err(refused @ BootError::Uring { .. }) => println!("refused: {refused}"),
            Err(other) => panic!("{other}"),
        }
        return;
    }
    let output = common::run_child(NAME, DEADLINE);
    let text = common::text(&output);
    assert!(output.status.success() && text.contains("five shards ran"), "{text}");
    assert!(text.contains("counts no rings") || text.contains("raise LimitMEMLOCK"), "{text}");
}

#[test]
fn the_limit_of_open_files_is_raised_as_far_as_it_goes() {
    const NAME: &str = "the_limit_of_open_files_is_raised_as_far_as_it_goes";
    if common::is_child(NAME) {
        setrlimit(Resource::Nofile, Rlimit { current: Some(100), maximum: Some(300) }).unwrap();
        println!("raised to {:?}", rt::boot::raise_open_files());
        return;
    }
    let output = common::run_child(NAME, DEADLINE);
    let text = common::text(&output);
    assert!(output.status.success() && text.contains("raised to Some(300)"), "{text}");
}

fn a_forbidden_io_uring_is_refused(engine: Engine) {
    let name = common::test_name("a_forbidden_io_uring_is_refused", engine);
    if common::is_child(&name) {
        // Out of descriptors: the setup fails as under a filter, with another error.
        setrlimit(Resource::Nofile, Rlimit { current: Some(3), maximum: Some(3) }).unwrap();
        let refused = rt::run(common::shards(engine, 1), |_| async { unreachable!() });
        assert!(matches!(refused, Err(BootError::Uring { .. })));
        let verdict = check(&[], 1, engine, true);
        println!("{verdict}");
        std::process::exit(verdict.exit_code());
    }
    let output = common::run_child(&name, DEADLINE);
    let text = common::text(&output);
    assert_eq!(output.status.code(), Some(EX_CONFIG), "{text}");
    assert!(text.contains("FAIL  io_uring") && text.contains("io_uring_setup"), "{text}");
}
