//! What the tests of real shards share.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]
#![allow(dead_code, unused_macros, reason = "each test file uses its part")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests watch the runtime from outside"
)]

use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rt::{Engine, ShardsConfig};

/// Two tests of each of these functions, `NAME::glommio` and `NAME::ring`: it is given its engine.
macro_rules! on_both_engines {
    ($($name:ident),* $(,)?) => {
        $(mod $name {
            #[test]
            fn glommio() {
                super::$name(rt::Engine::Glommio);
            }

            #[test]
            fn ring() {
                super::$name(rt::Engine::Ring);
            }
        })*
    };
}

/// Set in a child process that runs one test's other half.
const CHILD: &str = "RT_TEST_CHILD";

/// So many shards of this engine, wherever the scheduler puts them.
pub(crate) fn shards(engine: Engine, count: usize) -> ShardsConfig {
    ShardsConfig { engine, ..ShardsConfig::unpinned(count) }
}

/// What the test of `function` on this engine is called.
pub(crate) fn test_name(function: &str, engine: Engine) -> String {
    let engine = match engine {
        Engine::Glommio => "glommio",
        Engine::Ring => "ring",
    };
    format!("{function}::{engine}")
}

/// Runs `body` on a thread of its own. A hang is a failure after `deadline`.
pub(crate) fn bounded(deadline: Duration, body: impl FnOnce() + Send + 'static) {
    let (done, ended) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        body();
        let _ = done.send(());
    });
    match ended.recv_timeout(deadline) {
        Ok(()) => thread.join().unwrap(),
        Err(mpsc::RecvTimeoutError::Disconnected) => thread.join().unwrap(),
        Err(mpsc::RecvTimeoutError::Timeout) => {
            panic!("still running after {deadline:?}: a wake-up was lost")
        }
    }
}

/// True in the process started by [`run_child`] for this test.
pub(crate) fn is_child(test: &str) -> bool {
    std::env::var(CHILD).is_ok_and(|name| name == test)
}

/// This test again, in a process of its own, where [`is_child`] holds.
pub(crate) fn child(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads", "1"]).env(CHILD, test);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs [`child`] to its end, and kills it after `deadline`.
pub(crate) fn run_child(test: &str, deadline: Duration) -> Output {
    let mut process = child(test).spawn().unwrap();
    let until = Instant::now() + deadline;
    while process.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            process.kill().unwrap();
            let output = process.wait_with_output().unwrap();
            panic!("{test}: the child still ran after {deadline:?}: {}", text(&output));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    process.wait_with_output().unwrap()
}

/// All that a child said.
pub(crate) fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A free port of this host.
pub(crate) fn any_port() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
}
