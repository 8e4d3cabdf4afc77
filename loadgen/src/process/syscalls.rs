//! Counting a process's system calls by `perf stat`.

use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use super::HostError;

/// The tracepoint at which every system call begins.
const EVENT: &str = "raw_syscalls:sys_enter";

/// How long perf takes, about, to start and attach to all threads of a broker, in s.
const ATTACH_S: f64 = 0.1;

/// A running count. It costs the process a little at each call, so what is timed shouldn't be counted at the
/// same time.
#[derive(Debug)]
pub struct Syscalls {
    perf: Child,
    began: rt::Instant,
}

/// Why system calls can't be counted here; `None` when they can. Starts `perf` once, on itself.
pub fn counting_refused() -> Option<String> {
    let mut probe = Command::new("perf");
    probe.args(["stat", "-x", ";", "-e", EVENT, "true"]).stdin(Stdio::null());
    match probe.output() {
        Err(error) => Some(format!("perf: {error}")),
        Ok(output) => match parse(&String::from_utf8_lossy(&output.stderr)) {
            Some(_) => None,
            None => Some("perf stat may not trace system calls here".into()),
        },
    }
}

impl Syscalls {
    /// Begins to count those of all threads of `pid`, also of threads that it starts later.
    ///
    /// # Errors
    /// perf can't be started.
    pub fn start(pid: u32) -> Result<Self, HostError> {
        let mut command = Command::new("perf");
        command.args(["stat", "-x", ";", "-e", EVENT, "-p", &pid.to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let perf = command.spawn().map_err(|error| HostError::io("perf stat", error))?;
        Ok(Self { perf, began: rt::now() })
    }

    /// Ends the count and tells it, with what went by while perf attached put in by proportion; `None` if perf
    /// gave none.
    pub fn stop(mut self) -> Option<u64> {
        let seconds = (rt::now() - self.began).as_secs_f64();
        interrupt(&self.perf);
        let mut text = String::new();
        let pipe = self.perf.stderr.take();
        pipe.map(|mut pipe| std::io::Read::read_to_string(&mut pipe, &mut text));
        // Reaped here; the drop finds nothing left to do.
        let _ = self.perf.wait();
        let share = (1.0 - ATTACH_S / seconds).max(0.5);
        parse(&text).map(|counted| (counted as f64 / share) as u64)
    }
}

impl Drop for Syscalls {
    fn drop(&mut self) {
        if matches!(self.perf.try_wait(), Ok(None)) {
            interrupt(&self.perf);
            let _ = self.perf.wait();
        }
    }
}

/// perf prints its counts when it is interrupted.
fn interrupt(perf: &Child) {
    if let Some(pid) = Pid::from_raw(perf.id() as i32) {
        let _ = kill_process(pid, Signal::INT);
    }
}

/// The count in perf's `-x ;` form: `1234;;raw_syscalls:sys_enter;...`.
pub(super) fn parse(output: &str) -> Option<u64> {
    let line = output.lines().find(|line| line.contains(EVENT))?;
    line.split(';').next()?.parse().ok()
}
