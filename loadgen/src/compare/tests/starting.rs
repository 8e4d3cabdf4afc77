//! Starting targets: what goes wrong leaves nothing behind.
#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "the test listens and looks from outside"
)]

use std::net::TcpListener;
use std::path::{Path, PathBuf};

use clap::Parser;

use crate::compare::start::Starter;
use crate::compare::{CompareArgs, TargetSpec};
use crate::process::{HostError, temp_dir};

#[derive(Debug, Parser)]
struct Options {
    #[command(flatten)]
    args: CompareArgs,
}

fn starter(target: &str, work_dir: &Path) -> Starter {
    let dir = work_dir.to_str().unwrap();
    let args = Options::parse_from(["test", "--work-dir", dir, "--cores", "0"]).args;
    Starter::new(&target.parse::<TargetSpec>().unwrap(), &args).unwrap()
}

fn scratch(name: &str) -> PathBuf {
    temp_dir(&std::env::temp_dir(), name).unwrap()
}

#[test]
fn a_command_that_ends_at_once_is_told_with_its_words() {
    let dir = scratch("compare-early");
    let starter = starter("cmd:echo cores {cores} at {listen} {data}; exit 3", &dir);
    let Err(HostError::Program { what, log_tail }) = starter.start() else { panic!("it can't serve") };
    assert!(what.contains("ended before it served") && what.contains('3'), "{what}");
    assert!(log_tail.starts_with("cores 0 at 127.0.0.1:") && log_tail.ends_with("/data"), "{log_tail}");
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0, "its directory went with it");
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn an_address_on_this_host_is_measured_by_its_pid() {
    let dir = scratch("compare-address");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let running = starter(&format!("127.0.0.1:{port}"), &dir).start().unwrap();
    assert_eq!(running.pid, Some(std::process::id()));
    assert!(running.stop(), "what wasn't started here isn't stopped");
    let elsewhere = starter("192.0.2.1:9092", &dir).start().unwrap();
    assert_eq!((elsewhere.pid, elsewhere.bootstrap.as_str()), (None, "192.0.2.1:9092"));
    drop(listener);
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_missing_binary_is_told_before_anything_starts() {
    let dir = scratch("compare-missing");
    let arguments = ["test", "--work-dir", dir.to_str().unwrap(), "--ringlog", "/no/such/ringlog"];
    let args = Options::parse_from(arguments).args;
    let refused = Starter::new(&"ringlog".parse().unwrap(), &args).unwrap_err();
    assert!(refused.to_string().contains("/no/such/ringlog"), "{refused}");
    std::fs::remove_dir_all(dir).unwrap();
}
