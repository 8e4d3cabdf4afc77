//! A program that was started here and must not outlive us.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use super::{HostError, files};

/// Lines of a log that an error quotes.
const TAIL_LINES: usize = 15;
const POLL: Duration = Duration::from_millis(20);
/// How long the program's process group may take to go after TERM before it is killed.
const STOP_WITHIN: Duration = Duration::from_secs(60);

/// Waits on a pipe whose other end we hold. A line says that all is done; its end without one says that we are
/// gone, however that came about: then the group is stopped, killed after 10 s, and its directory removed.
const GUARD: &str = r#"read -r line && exit 0
kill -TERM "-$1" 2>/dev/null
i=0
while kill -0 "-$1" 2>/dev/null && [ $i -lt 100 ]; do sleep 0.1; i=$((i + 1)); done
kill -KILL "-$1" 2>/dev/null
[ -z "$2" ] || rm -rf -- "$2""#;

/// A program in a process group of its own, with its output in a log and, if it was given one, a directory
/// that goes with it.
///
/// Dropping it stops the group and removes the directory. If this process ends without that, by a signal, by
/// an abort, by kill -9, a guard (a shell that waits on a pipe) does the same a moment later. So Ctrl-C needs
/// no handler, and no broker is left behind.
#[derive(Debug)]
pub struct Owned {
    child: Child,
    pub(super) guard: Child,
    // Some until we stopped the group ourselves.
    guard_line: Option<ChildStdin>,
    log: PathBuf,
    dir: Option<PathBuf>,
    ended: Option<ExitStatus>,
}

impl Owned {
    /// Starts `command` with its output appended to `log`. `dir` is removed at the end.
    ///
    /// # Errors
    /// It can't be started, or the log can't be written.
    pub fn start(mut command: Command, log: &Path, dir: Option<&Path>) -> Result<Self, HostError> {
        let name = command.get_program().to_string_lossy().into_owned();
        let (out, err) = open_log(log)?;
        command.stdin(Stdio::null()).stdout(out).stderr(err).process_group(0);
        let mut child = command.spawn().map_err(|error| HostError::io(format!("starting {name}"), error))?;
        let guard = match start_guard(child.id(), dir) {
            Ok(guard) => guard,
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(error);
            }
        };
        let (mut guard, dir) = (guard, dir.map(Path::to_owned));
        let guard_line = guard.stdin.take();
        Ok(Self { child, guard, guard_line, log: log.to_owned(), dir, ended: None })
    }

    /// The program's process, which leads its group.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().ok().flatten();
        }
        self.ended
    }

    /// The end of what it printed.
    pub fn log_tail(&self) -> String {
        let text = files::read_text(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
    }

    /// Stops the group, cleanly if it goes by itself within a minute, and removes the directory. How the
    /// program ended; `None` if it had to be killed.
    pub fn stop(mut self) -> Option<ExitStatus> {
        self.stop_all()
    }

    fn stop_all(&mut self) -> Option<ExitStatus> {
        let line = self.guard_line.take()?;
        let clean = self.signal_and_wait(Signal::TERM, STOP_WITHIN);
        if !clean {
            self.signal_and_wait(Signal::KILL, STOP_WITHIN);
        }
        if let Some(dir) = &self.dir {
            // What stays is told by its name, and no reason to fail after the measuring.
            let _ = files::remove_dir(dir);
        }
        release(&mut self.guard, line);
        self.ended.filter(|_| clean)
    }

    /// True once nobody of the group is left.
    fn signal_and_wait(&mut self, signal: Signal, within: Duration) -> bool {
        let Some(group) = Pid::from_raw(self.child.id() as i32) else { return false };
        // Fails only if nobody is left.
        let _ = kill_process_group(group, signal);
        let until = rt::now() + within;
        loop {
            // Reaped first: a dead leader that nobody waited for still counts as its group.
            let leader_gone = self.ended().is_some();
            if leader_gone && test_kill_process_group(group).is_err() {
                return true;
            }
            if rt::now() >= until {
                return false;
            }
            files::pause(POLL);
        }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.stop_all();
    }
}

fn start_guard(group: u32, dir: Option<&Path>) -> Result<Child, HostError> {
    let mut guard = Command::new("sh");
    guard.args(["-c", GUARD, "ringlog-guard", &group.to_string()]);
    guard.arg(dir.unwrap_or(Path::new("")));
    // A group of its own: what Ctrl-C sends must not reach it.
    guard.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    guard.spawn().map_err(|error| HostError::io("starting sh", error))
}

/// Tells the guard that there is nothing left to do.
fn release(guard: &mut Child, mut line: ChildStdin) {
    let _ = std::io::Write::write_all(&mut line, b"done\n");
    drop(line);
    let _ = guard.wait();
}

#[allow(clippy::disallowed_types, reason = "the log of a program of this tool")]
fn open_log(path: &Path) -> Result<(std::fs::File, std::fs::File), HostError> {
    let opened = std::fs::File::options().create(true).append(true).open(path);
    let both = opened.and_then(|file| Ok((file.try_clone()?, file)));
    both.map_err(|error| HostError::io(path.display().to_string(), error))
}
