"""Whether the built binary serves: client suites need that, and a build may say that it has no broker yet."""

import contextlib
import os
import pathlib
import socket
import subprocess
import tempfile
import time

from . import process, tools

# What `ringlog serve` says, ending at once, as long as no server is built in.
NO_BROKER = "this build has no broker"
START_SECONDS_MAX = 60.0


def probe():
    """Starts the binary once. ("ok" | "absent" | "failed", why): any end but the announced absence is a failure."""
    binary = os.environ.get("RINGLOG_BIN") or str(tools.TARGET / "release" / "ringlog")
    parent = tools.TARGET / "test-data"
    parent.mkdir(parents=True, exist_ok=True)
    log = tools.LOGS / "serving.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="serving-", dir=parent) as data, open(log, "wb") as out:
        argv = [binary, "serve", "--data-dir", str(pathlib.Path(data) / "data"), "--listen", f"127.0.0.1:{_free_port()}"]
        try:
            child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)
        except OSError as error:
            return "failed", f"{binary}: {error}"
        try:
            return _watch(child, log)
        finally:
            process.end_group(child)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(5)


def _watch(child, log):
    end = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < end:
        code = child.poll()
        text = log.read_text(errors="replace")
        if code is not None:
            if NO_BROKER in text:
                return "absent", f"`ringlog serve` says: {NO_BROKER}"
            return "failed", f"`ringlog serve` ended at once with {code}"
        if "listening " in text:
            return "ok", ""
        time.sleep(0.05)
    return "failed", f"`ringlog serve` did not listen within {START_SECONDS_MAX:.0f} s"


def _free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
