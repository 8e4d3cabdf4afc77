//! A dead or stuck shard takes the process along, and nothing else does. Each in a child process.
//!
//! A lost wake-up of one task alone isn't seen by the watchdog: the shard's heart beats on. `wakeups.rs` is
//! for that.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests watch the runtime from outside"
)]

#[macro_use]
mod common;

use std::io::{BufRead, BufReader, Read};
use std::net::Ipv4Addr;
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use rt::net::Listener;
use rt::{Engine, ShardId};
use rustix::process::{Pid, Signal, kill_process};

on_both_engines![
    a_panicking_task_ends_it,
    a_panicking_blocking_call_ends_it,
    a_stuck_shard_ends_it,
    a_stopped_process_goes_on,
    a_killed_process_leaves_its_port
];

/// SIGABRT: what aborting ends with.
const ABORTED: i32 = 6;

fn a_panicking_task_ends_it(engine: Engine) {
    let name = common::test_name("a_panicking_task_ends_it", engine);
    if common::is_child(&name) {
        rt::run(common::shards(engine, 2), |shard| async move {
            if shard == ShardId(1) {
                let task = rt::spawn(async { panic!("on purpose") });
                task.await;
            }
            rt::sleep(Duration::from_secs(60)).await;
        })
        .unwrap();
        return;
    }
    let output = common::run_child(&name, Duration::from_secs(20));
    assert_eq!(output.status.signal(), Some(ABORTED), "{}", common::text(&output));
    let text = common::text(&output);
    assert!(text.contains("a task panicked on thread shard-1") && text.contains("on purpose"), "{text}");
}

fn a_panicking_blocking_call_ends_it(engine: Engine) {
    let name = common::test_name("a_panicking_blocking_call_ends_it", engine);
    if common::is_child(&name) {
        rt::run(common::shards(engine, 1), |_| rt::blocking(|| panic!("on purpose"))).unwrap();
        return;
    }
    let output = common::run_child(&name, Duration::from_secs(20));
    assert_eq!(output.status.signal(), Some(ABORTED), "{}", common::text(&output));
}

fn a_stuck_shard_ends_it(engine: Engine) {
    let name = common::test_name("a_stuck_shard_ends_it", engine);
    if common::is_child(&name) {
        rt::run(common::shards(engine, 2), |shard| async move {
            if shard == ShardId(1) {
                // Blocks the shard, on purpose.
                std::thread::sleep(Duration::from_secs(60));
            }
            rt::sleep(Duration::from_secs(60)).await;
        })
        .unwrap();
        return;
    }
    let began = Instant::now();
    let output = common::run_child(&name, Duration::from_secs(30));
    assert_eq!(output.status.signal(), Some(ABORTED), "{}", common::text(&output));
    assert!(common::text(&output).contains("shard 1 has stood still"), "{}", common::text(&output));
    assert!(began.elapsed() >= Duration::from_secs(4), "given up after {:?}", began.elapsed());
}

fn a_stopped_process_goes_on(engine: Engine) {
    let name = common::test_name("a_stopped_process_goes_on", engine);
    if common::is_child(&name) {
        rt::run(common::shards(engine, 2), |_| async {
            println!("started");
            rt::sleep(Duration::from_secs(3)).await;
            rt::sleep(Duration::from_secs(3)).await;
            println!("went on");
        })
        .unwrap();
        return;
    }
    let mut process = common::child(&name).spawn().unwrap();
    let pid = Pid::from_child(&process);
    std::thread::sleep(Duration::from_secs(1));
    kill_process(pid, Signal::STOP).unwrap();
    std::thread::sleep(Duration::from_secs(8));
    kill_process(pid, Signal::CONT).unwrap();
    let mut said = String::new();
    process.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(process.wait().unwrap().success(), "{said}");
    assert_eq!(said.matches("went on").count(), 2, "{said}");
}

/// A ring lets go of what it waits for only some time after its process: the next broker found the port taken.
fn a_killed_process_leaves_its_port(engine: Engine) {
    let test = common::test_name("a_killed_process_leaves_its_port", engine);
    if common::is_child(&test) {
        rt::run(common::shards(engine, 1), |_| async {
            let listener = Listener::bind(common::any_port()).unwrap();
            println!("port {}", listener.local_addr().port());
            listener.accept().await.map(drop).unwrap();
        })
        .unwrap();
        return;
    }
    for _ in 0..10 {
        let mut process = common::child(&test).spawn().unwrap();
        let said = BufReader::new(process.stdout.take().unwrap());
        let port =
            said.lines().map_while(Result::ok).find_map(|line| Some(line.split_once("port ")?.1.to_owned()));
        let port = port.unwrap().trim().parse::<u16>().unwrap();
        // Long enough for it to wait for a connection.
        std::thread::sleep(Duration::from_millis(50));
        process.kill().unwrap();
        process.wait().unwrap();
        drop(std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap());
    }
}
