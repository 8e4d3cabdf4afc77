"""The client suites: scripts that print their counts on the last line."""

import os
import re
import time

from . import process, tools
from .report import Counts

_RESULT = re.compile(r"^\w+: (\d+) passed, (\d+) failed, (\d+) skipped$", re.M)


def environment(options):
    """What every suite reads; see harness/broker.py."""
    env = dict(os.environ, RINGLOG_TARGET=str(tools.TARGET), RINGLOG_KAFKA_LIBS=str(tools.KAFKA_LIBS),
               RINGLOG_NODE_DIR=str(tools.NODE_DIR), PYTHONUNBUFFERED="1")
    env["RINGLOG_LONG"] = "1" if options.long else ""
    if options.against:
        env["RINGLOG_BOOTSTRAP"] = options.against
    if options.kafka:
        env["RINGLOG_BROKER"] = "kafka"
    if options.seed is not None:
        env["RINGLOG_SEED"] = str(options.seed)
    return env


def run(suite, report, options):
    """Runs one suite; returns whether it passed."""
    script = tools.ROOT / "tests" / "clients" / suite.script
    argv = ["node", str(script)] if suite.script.endswith(".mjs") else [str(tools.PYTHON), str(script)]
    if suite.script.endswith(".mjs"):
        # Node clients know no broker process: a small Python parent starts it for them.
        argv = ["python3", str(script.parent / "with_broker.py"), *argv]
    log = tools.LOGS / f"{suite.name}.log"
    begin = time.monotonic()
    seconds = suite.seconds[options.long]
    code = process.run(argv, log, seconds, env=environment(options), cwd=script.parent)
    found = _RESULT.findall(log.read_text(errors="replace"))
    counts, remark = (Counts(*map(int, found[-1])), "") if found else (Counts(failed=1), "ended without its result line")
    if code is None:
        counts, remark = counts + Counts(failed=1), f"not done within {seconds} s"
    elif code != 0 and not counts.failed:
        counts, remark = counts + Counts(failed=1), f"exit code {code}"
    report.line(suite.name, counts, time.monotonic() - begin, remark)
    _print_exceptional(log, counts)
    if not counts.failed and not options.keep_logs:
        log.unlink()
    return not counts.failed


def _print_exceptional(log, counts):
    """Failed and skipped checks by their own lines; the log's end when a suite died."""
    lines = log.read_text(errors="replace").splitlines()
    for line in lines:
        if line.startswith(("NOT OK", "skip ")):
            print(f"      {line}", flush=True)
    if counts.failed:
        print(process.tail(log), f"\n      log: {log}", flush=True)
