#!/usr/bin/env python3
"""Instructions of one produced and one fetched message, by callgrind on the simulated runtime: a figure that repeats.

benches/examples/instructions.rs runs the whole broker in the simulator and repeats one request; callgrind counts from the
begin to the end of its function `counted`. The `echo` cases, the same exchange without a broker, are taken off: what is left is
the broker's own work. Figures are printed beside those committed in benches/instructions.json, with the change in per cent; a
change is for people to judge, so it fails nothing. That one case counted twice differs by more than 0.1 % does.

    tests/bench/instructions.py             as `tests/run instructions` does
    tests/bench/instructions.py --commit    and write the figures to benches/instructions.json
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "clients"))
sys.dont_write_bytecode = True

from harness.checks import check, finish, note, part, skip, watchdog  # noqa: E402 - the path above comes first

COMMITTED = ROOT / "benches" / "instructions.json"
TARGET = pathlib.Path(os.environ.get("RINGLOG_TARGET") or ROOT / "target")
# Figure: case, the case to take off, messages in a request.
FIGURES = {
    "produce, 1 message a request": ("produce-1", "echo-produce-1", 1),
    "produce, 100 messages a request": ("produce-100", "echo-produce-100", 100),
    "fetch, 1 message an answer": ("fetch-1", "echo-fetch-1", 1),
    "fetch, 100 messages an answer": ("fetch-100", "echo-fetch-100", 100),
}
# COUNTED of the program.
REQUESTS = 200
REPEATS_WITHIN = 0.001


def build():
    """The program, with optimisation and the names of functions; RINGLOG_INSTRUCTIONS names one that is built."""
    if built := os.environ.get("RINGLOG_INSTRUCTIONS"):
        return pathlib.Path(built).resolve()
    command = ["cargo", "build", "--release", "--quiet", "-p", "benches", "--example", "instructions"]
    done = subprocess.run(command, cwd=ROOT, env=dict(os.environ, CARGO_TARGET_DIR=str(TARGET)), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return TARGET / "release" / "examples" / "instructions"


def count(program, case, folder):
    """Instructions between the begin and the end of `counted`."""
    out = folder / f"{case}.out"
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--toggle-collect=*instructions::counted*", str(program), case]
    # A fixed environment: its size moves the stack, and with it the way of some copies.
    done = subprocess.run(command, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, timeout=300)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found or not int(found.group(1)):
        raise RuntimeError(f"{case}: {done.returncode}\n{done.stdout[-500:]}{done.stderr[-1500:]}")
    return int(found.group(1))


def main():
    watchdog(1700)
    for tool in ("valgrind", "cargo"):
        if not shutil.which(tool):
            skip("instructions of a message", f"no {tool}")
            return
    with part("build"):
        program = build()
    if "program" not in locals():
        return
    committed = json.loads(COMMITTED.read_text()) if COMMITTED.exists() else {}
    figures = {}
    with tempfile.TemporaryDirectory(prefix="instructions-") as name:
        folder = pathlib.Path(name)
        for figure, (case, base, messages) in FIGURES.items():
            with part(figure):
                whole, without = count(program, case, folder), count(program, base, folder)
                figures[figure] = round((whole - without) / REQUESTS / messages, 1)
                before = committed.get(figure)
                change = f", {100 * (figures[figure] / before - 1):+.1f} % against the committed {before:,.0f}" if before else ", none committed"
                check(figures[figure] > 0, f"{figure}: {figures[figure]:,.0f} instructions a message{change}")
                note(f"{whole / REQUESTS:,.0f} a request in all, {without / REQUESTS:,.0f} of them the simulator's and the client's")
        with part("again"):
            first, second = count(program, "produce-1", folder), count(program, "produce-1", folder)
            check(abs(first - second) <= REPEATS_WITHIN * first, f"the count repeats: {first:,} and {second:,}")
    if "--commit" in sys.argv:
        COMMITTED.write_text(json.dumps(figures, indent=2) + "\n")


main()
finish()
