//! Programs that go with their owner, however that one ends.
#![allow(clippy::disallowed_methods, reason = "the test looks at files from outside")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::process::{Owned, files, pause};

/// In a child process: a directory in which it starts its program and then waits to be killed.
const CHILD: &str = "LOADGEN_TEST_OWNER";

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

/// A scratch directory for a test, and the one that its program owns.
fn scratch(name: &str) -> (PathBuf, PathBuf) {
    let outer = files::temp_dir(&std::env::temp_dir(), name).unwrap();
    let inner = outer.join("data");
    std::fs::create_dir_all(&inner).unwrap();
    (outer, inner)
}

fn lives(pid: u32) -> bool {
    // A zombie is dead, though /proc still names it.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

fn eventually(what: &str, condition: impl Fn() -> bool) {
    for _ in 0..500 {
        if condition() {
            return;
        }
        pause(Duration::from_millis(20));
    }
    panic!("not within 10 s: {what}");
}

fn number_in(path: &Path) -> Option<u32> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[test]
fn stopping_ends_the_whole_group_and_its_directory() {
    let (outer, inner) = scratch("owned-stop");
    let script = format!("sleep 300 & echo $! > {}/grandchild; echo hello; wait", outer.display());
    let mut owned = Owned::start(shell(&script), &outer.join("log"), Some(&inner)).unwrap();
    eventually("a grandchild", || number_in(&outer.join("grandchild")).is_some());
    let grandchild = number_in(&outer.join("grandchild")).unwrap();
    assert!(lives(owned.pid()) && lives(grandchild) && owned.ended().is_none());
    eventually("a log", || owned.log_tail() == "hello");
    let (pid, guard) = (owned.pid(), owned.guard.id());
    assert!(owned.stop().is_some(), "it went by itself");
    assert!(!lives(pid) && !lives(grandchild) && !lives(guard) && !inner.exists());
    std::fs::remove_dir_all(outer).unwrap();
}

#[test]
fn a_program_that_ends_early_is_seen_and_quoted() {
    let (outer, inner) = scratch("owned-early");
    let mut owned =
        Owned::start(shell("echo no luck >&2; exit 7"), &outer.join("log"), Some(&inner)).unwrap();
    for _ in 0..500 {
        if owned.ended().is_some() {
            break;
        }
        pause(Duration::from_millis(10));
    }
    assert_eq!((owned.ended().unwrap().code(), owned.log_tail().as_str()), (Some(7), "no luck"));
    drop(owned);
    assert!(!inner.exists());
    assert!(Owned::start(Command::new("/no/such/program"), &outer.join("log"), None).is_err());
    std::fs::remove_dir_all(outer).unwrap();
}

/// The owner is another process of this test, killed without a chance to clean up.
#[test]
fn what_an_owner_started_goes_with_it_even_by_kill_9() {
    if let Some(dir) = std::env::var_os(CHILD) {
        let outer = PathBuf::from(dir);
        let owned = Owned::start(shell("sleep 300"), &outer.join("log"), Some(&outer.join("data"))).unwrap();
        std::fs::write(outer.join("pid"), owned.pid().to_string()).unwrap();
        pause(Duration::from_secs(60));
        return;
    }
    for signal in ["-KILL", "-INT"] {
        let (outer, inner) = scratch("owned-killed");
        let mut owner = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "process::tests::owned::what_an_owner_started_goes_with_it_even_by_kill_9"])
            .env(CHILD, &outer)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        eventually("the program", || number_in(&outer.join("pid")).is_some());
        let program = number_in(&outer.join("pid")).unwrap();
        assert!(lives(program) && inner.exists());
        Command::new("kill").args([signal, &owner.id().to_string()]).status().unwrap();
        owner.wait().unwrap();
        eventually("the program is gone", || !lives(program));
        eventually("its directory is gone", || !inner.exists());
        std::fs::remove_dir_all(outer).unwrap();
    }
}
