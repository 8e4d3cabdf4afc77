"""Counting of checks: one printed line per check, a last line that `tests/run` adds up.

A suite is a script that opens `part(...)` blocks, calls `check`/`equal`/`skip`, and ends with `finish()`, whose
line is `NAME: P passed, F failed, S skipped`. An exception inside a part is one failed check; the next part runs.
A watchdog turns a hang into a failed check with the stacks of all threads instead of a silent time-out.
"""

import contextlib
import faulthandler
import os
import pathlib
import random
import signal
import sys
import threading
import time
import traceback

NAME = pathlib.Path(sys.argv[0]).stem
LONG = os.environ.get("RINGLOG_LONG", "") == "1"
SEED = int(os.environ.get("RINGLOG_SEED") or random.SystemRandom().randrange(1 << 32))
RANDOM = random.Random(SEED)
_lock = threading.Lock()
_passed = _failed = _skipped = 0
_cleanups = []


def unique(base):
    """A topic or group name that no earlier run of this suite used (a foreign broker keeps what we made)."""
    return f"{base}-{os.getpid():x}{int(time.time()) & 0xFFFF:x}"


def check(good, what, detail=""):
    """Counts one check and returns whether it held. `detail` is printed only when it didn't."""
    global _passed, _failed
    good = bool(good)
    with _lock:
        if good:
            _passed += 1
            print(f"ok      {what}", flush=True)
        else:
            _failed += 1
            print(f"NOT OK  {what}   {str(detail)[:600]}", flush=True)
    return good


def equal(got, wanted, what):
    """Counts whether `got == wanted`."""
    return check(got == wanted, what, f"got {got!r}, wanted {wanted!r}")


def among(got, wanted, what):
    """Counts whether `got` is one of `wanted`."""
    return check(got in wanted, what, f"got {got!r}, wanted one of {wanted!r}")


def skip(what, why):
    """Counts one check as skipped, with its reason."""
    global _skipped
    with _lock:
        _skipped += 1
        print(f"skip    {what}: {why}", flush=True)


def note(text):
    """A line for the reader of the log that counts as nothing."""
    print(f"        {text}", flush=True)


@contextlib.contextmanager
def part(what):
    """A group of checks that fails as one check when it raises, so that later parts still run."""
    begin = time.monotonic()
    print(f"-- {what}", flush=True)
    try:
        yield
    except Exception as error:  # noqa: BLE001 - any exception is a failed check
        traceback.print_exc()
        check(False, f"{what}: raised", f"{type(error).__name__}: {error}")
    note(f"{time.monotonic() - begin:.1f} s")


def eventually(condition, seconds=30.0, every=0.1):
    """Polls `condition` until it is truthy or the time is over; returns its last value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(every)


def at_exit(function):
    """Runs `function` when the suite ends, however it ends (brokers register their own stop here)."""
    _cleanups.append(function)


def _terminated(*_):
    check(False, "ended from outside by SIGTERM")
    _leave()


def watchdog(seconds):
    """Ends the suite as failed after `seconds`, with every thread's stack; by SIGTERM likewise, without stacks."""
    signal.signal(signal.SIGTERM, _terminated)

    def bite():
        faulthandler.dump_traceback(all_threads=True)
        check(False, f"watchdog: not done within {seconds} s")
        _leave()

    timer = threading.Timer(seconds, bite)
    timer.daemon = True
    timer.start()


def finish():
    """Prints the suite's line and ends the process: exit code 1 when a check failed or none ran."""
    if _passed + _failed + _skipped == 0:
        check(False, "no check ran")
    _leave()


def _leave():
    for function in reversed(_cleanups):
        with contextlib.suppress(Exception):
            function()
    sys.stderr.flush()
    print(f"{NAME}: {_passed} passed, {_failed} failed, {_skipped} skipped", flush=True)
    # Clients of other languages leave threads behind that a normal exit would wait for.
    os._exit(1 if _failed else 0)
