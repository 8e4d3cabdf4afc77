//! Targets, schedule, machine: what is read from words.

use std::path::Path;

use crate::compare::machine::{date, mount_of};
use crate::compare::ringlog::workspace_of;
use crate::compare::schedule::order;
use crate::compare::target::{TargetKind, tell_apart};
use crate::compare::{Machine, TargetSpec};

fn spec(text: &str) -> TargetSpec {
    text.parse().unwrap()
}

#[test]
fn targets_are_read_with_their_names() {
    assert_eq!(spec("kafka").kind, TargetKind::Kafka);
    assert_eq!(spec("new=ringlog"), TargetSpec { name: "new".into(), kind: TargetKind::Ringlog });
    let address = spec("127.0.0.1:9092,127.0.0.1:9093");
    assert_eq!(address.kind, TargetKind::Address("127.0.0.1:9092,127.0.0.1:9093".into()));
    let command = spec("cmd: /opt/old/ringlog serve --listen {listen} --override a=b");
    assert_eq!(command.name, "ringlog");
    let TargetKind::Command(text) = command.kind else { panic!() };
    assert!(text.starts_with("/opt/old/ringlog serve") && text.ends_with("a=b"));
    assert_eq!(spec("old=cmd:X=1 run {port}").name, "old");
    for bad in ["", "redpanda", "localhost", "host:port", ":9092", "cmd:ringlog serve", "a b=kafka"] {
        assert!(bad.parse::<TargetSpec>().is_err(), "{bad:?}");
    }
}

#[test]
fn a_broker_beside_itself_has_two_names() {
    let names = tell_apart([spec("ringlog"), spec("ringlog")]).map(|target| target.name);
    assert_eq!(names, ["ringlog A", "ringlog B"]);
    let names = tell_apart([spec("kafka"), spec("ringlog")]).map(|target| target.name);
    assert_eq!(names, ["kafka", "ringlog"]);
}

#[test]
fn who_begins_changes_with_every_round() {
    let rounds: Vec<[usize; 2]> = (0..4).map(order).collect();
    assert_eq!(rounds, [[0, 1], [1, 0], [0, 1], [1, 0]]);
}

#[test]
fn days_are_of_the_calendar() {
    let day = 86_400_000;
    let days = [0, 58, 59, 365, 789, 19_782, 20_787].map(|days| date(days * day + day - 1));
    let wanted =
        ["1970-01-01", "1970-02-28", "1970-03-01", "1971-01-01", "1972-02-29", "2024-02-29", "2026-11-30"];
    assert_eq!(days, wanted);
}

#[test]
fn the_mount_nearest_above_counts() {
    let mounts = "/dev/a / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n/dev/b /data xfs rw 0 0\n";
    let found = ["/data/x", "/tmp", "/database", "/"].map(|path| mount_of(mounts, Path::new(path)));
    let wanted = ["xfs on /dev/b", "tmpfs on tmpfs", "ext4 on /dev/a", "ext4 on /dev/a"];
    assert_eq!(found, wanted.map(|text| Some(text.to_owned())));
}

#[test]
fn a_directory_named_from_here_has_a_mount_too() {
    let machine = Machine::here(Path::new("."));
    assert!(machine.storage.contains(" on "), "{machine}");
    assert!(
        machine.cores > 0 && machine.memory_mib > 0 && machine.kernel.len() > "Linux ".len(),
        "{machine}"
    );
}

#[test]
fn this_build_s_workspace_is_found() {
    let own = std::env::current_exe().unwrap();
    let profile = own.parent().and_then(Path::parent).unwrap();
    let root = workspace_of(profile).expect("tests run in a target directory");
    assert!(root.join("loadgen/Cargo.toml").exists());
    assert_eq!(workspace_of(Path::new("/usr/bin")), None);
}
