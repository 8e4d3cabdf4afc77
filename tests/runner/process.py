"""Child processes with a deadline, output in a log file, and an end of the whole process group."""

import contextlib
import os
import pathlib
import signal
import subprocess
import time


def run(argv, log_path, seconds, env=None, cwd=None):
    """Exit code of `argv`; None past `seconds`. Output goes to `log_path`. Its process group is ended with it."""
    pathlib.Path(log_path).parent.mkdir(parents=True, exist_ok=True)
    with open(log_path, "wb") as log:
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=env, cwd=cwd,
                                 start_new_session=True)
        try:
            return child.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            end_group(child)


def end_group(child):
    """TERM, so that a suite stops the broker it started, then KILL."""
    for kind, grace in ((signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0)):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, kind)
        end = time.monotonic() + grace
        while time.monotonic() < end:
            child.poll()
            try:
                os.killpg(child.pid, 0)
            except (ProcessLookupError, PermissionError):
                return
            time.sleep(0.05)


def tail(log_path, lines=30):
    """The end of a log, indented, for a failure's report."""
    text = pathlib.Path(log_path).read_text(errors="replace").splitlines() if os.path.exists(log_path) else []
    return "\n".join("      | " + line for line in text[-lines:])
