"""The steps on the code and its build: each is one check, but `unit`, whose tests are counted one by one."""

import os
import re
import time

from . import process, tools
from .report import Counts

_RESULT = re.compile(rb"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", re.M)
COMMANDS = {
    "fmt": ["cargo", "fmt", "--all", "--check"],
    "clippy": ["cargo", "clippy", "--workspace", "--all-targets", "--", "-D", "warnings"],
    "doc": ["cargo", "doc", "--no-deps", "--workspace"],
    "deny": ["cargo", "deny", "check", "licenses", "bans", "sources"],
    "advisories": ["cargo", "deny", "check", "--disable-fetch", "advisories"],
    "unit": ["cargo", "test", "--workspace", "--no-fail-fast"],
    "build": ["cargo", "build", "--release", "-p", "broker", "-p", "loadgen"],
    "no_simulator": [str(tools.ROOT / "tests" / "no_simulator.sh"), str(tools.TARGET / "release" / "ringlog")],
}


def run(suite, report, long_form):
    """Runs one step; returns whether it passed."""
    argv = list(COMMANDS[suite.name])
    if suite.name == "unit" and long_form:
        argv += ["--", "--include-ignored"]
    env = dict(tools.environment(), CARGO_TERM_COLOR="never", RINGLOG_LONG="1" if long_form else "")
    if suite.name == "doc":
        env["RUSTDOCFLAGS"] = "-D warnings"
    log = tools.LOGS / f"{suite.name}.log"
    begin = time.monotonic()
    code = process.run(argv, log, suite.seconds[long_form], env=env, cwd=tools.ROOT)
    counts, remark = Counts(passed=1) if code == 0 else Counts(failed=1), ""
    if suite.name == "unit":
        counts, remark = _count_tests(log.read_bytes(), code)
    if code is None:
        remark = f"not done within {suite.seconds[long_form]} s"
    report.line(suite.name, counts, time.monotonic() - begin, remark)
    if counts.failed:
        print(process.tail(log), f"\n      log: {log}", flush=True)
    return not counts.failed


def _count_tests(output, code):
    found = [tuple(map(int, row)) for row in _RESULT.findall(output)]
    passed, failed, ignored = (sum(column) for column in zip(*found)) if found else (0, 0, 0)
    if code != 0 and not failed:
        failed = 1  # it did not compile, or a test process died
    return Counts(passed, failed), f"{ignored} more in the long form" if ignored else ""
