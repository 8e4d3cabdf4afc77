//! Reading /proc, by texts and by this process itself.
#![allow(clippy::disallowed_types, reason = "the test listens by itself")]

use std::net::TcpListener;
use std::process::Command;

use crate::process::listening::socket_inode;
use crate::process::sample::{Switches, number_after, parse_io, parse_stat};
use crate::process::{Sample, Syscalls, Usage, counting_refused, listener_of, pause, syscalls};

#[test]
fn a_stat_line_is_read_whatever_the_name() {
    let stat = "77 (a) b (c) S 1 77 77 0 -1 4194560 1 2 3 4 250 50 6 7 20 0 9 0 123456 100 200";
    assert_eq!(parse_stat(stat), Some((3.0, 123_456)));
    assert_eq!(parse_stat("77 (x) S 1 2"), None);
    assert_eq!(parse_stat(""), None);
}

#[test]
fn written_bytes_are_without_those_taken_back() {
    let io = "rchar: 9\nwchar: 8\nread_bytes: 4096\nwrite_bytes: 12288\ncancelled_write_bytes: 4096\n";
    assert_eq!(parse_io(io), Some((8192, 4096)));
    assert_eq!(parse_io("rchar: 1\n"), None);
}

#[test]
fn switches_are_told_apart() {
    let status = "Name:\tx\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n";
    let found = ["voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:", "absent:"];
    assert_eq!(found.map(|name| number_after(status, name)), [12, 3, 0]);
}

#[test]
fn a_socket_is_found_by_its_port_and_state() {
    let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
        0: 0100007F:2384 00000000:0000 01 00000000:00000000 00:00000000 00000000     0        0 1 1\n\
        1: 0100007F:2384 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1\n";
    assert_eq!(socket_inode(table, 0x2384), Some(4711));
    assert_eq!(socket_inode(table, 0x2385), None);
}

#[test]
fn this_process_is_found_by_the_port_it_listens_on() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    assert_eq!(listener_of(port), Some(std::process::id()));
    drop(listener);
    assert_eq!(listener_of(port), None);
}

#[test]
fn work_and_waiting_show_in_the_difference() {
    let before = Sample::take(std::process::id()).unwrap();
    let until = rt::now() + std::time::Duration::from_millis(80);
    let mut word = 1u64;
    while rt::now() < until {
        word = std::hint::black_box(word.wrapping_mul(31));
    }
    for _ in 0..20 {
        pause(std::time::Duration::from_millis(1));
    }
    let after = Sample::take(std::process::id()).unwrap();
    let usage = Usage::between(&before, &after).unwrap();
    assert!(usage.cpu_s > 0.01, "{usage:?}");
    assert!(usage.voluntary_switches >= 20, "{usage:?}");
    assert!(usage.rss_bytes > 1 << 20 && after.rss_peak_bytes >= usage.rss_bytes / 2, "{usage:?}");
}

#[test]
fn another_process_of_the_same_pid_is_no_difference() {
    let before = Sample { started_ticks: 1, cpu_s: 9.0, ..Sample::default() };
    let after = Sample { started_ticks: 2, ..before.clone() };
    assert_eq!(Usage::between(&before, &after), None);
    assert!(Sample::take(u32::MAX).is_err());
}

#[test]
fn threads_are_summed_and_a_new_one_counts_from_zero() {
    let switches = |voluntary, involuntary| Switches { voluntary, involuntary };
    let before =
        Sample { switches: [(1, switches(5, 1)), (2, switches(100, 9))].into(), ..Sample::default() };
    let now = [(1, switches(7, 1)), (2, switches(3, 0)), (4, switches(10, 2))];
    let after = Sample { switches: now.into(), written_bytes: Some(4), ..Sample::default() };
    let usage = Usage::between(&before, &after).unwrap();
    assert_eq!((usage.voluntary_switches, usage.involuntary_switches), (2 + 3 + 10, 2));
    assert_eq!(usage.written_bytes, None, "unknown before is unknown between");
}

#[test]
fn perf_s_count_is_read() {
    assert_eq!(syscalls::parse("29;;raw_syscalls:sys_enter;1349031;100.00;;\n"), Some(29));
    assert_eq!(syscalls::parse("<not supported>;;raw_syscalls:sys_enter;0;100.00;;\n"), None);
    assert_eq!(syscalls::parse("Access to performance monitoring is limited\n"), None);
}

#[test]
fn system_calls_are_counted_where_that_is_allowed() {
    if let Some(why) = counting_refused() {
        println!("skip: {why}");
        return;
    }
    let mut busy = Command::new("sh").args(["-c", "while :; do kill -0 $$; done"]).spawn().unwrap();
    let count = Syscalls::start(busy.id()).unwrap();
    pause(std::time::Duration::from_millis(200));
    let counted = count.stop();
    busy.kill().unwrap();
    busy.wait().unwrap();
    assert!(counted.is_some_and(|calls| calls > 100), "{counted:?}");
}
