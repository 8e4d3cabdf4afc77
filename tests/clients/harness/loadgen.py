"""The load generator's binary, for suites that run it."""

import os
import subprocess

from .broker import ROOT, TARGET


def binary():
    """`ringlog-loadgen` under test."""
    return os.environ.get("RINGLOG_LOADGEN") or str(TARGET / "release" / "ringlog-loadgen")


def run(*args, seconds=300):
    """A finished run: returncode, stdout, stderr."""
    return subprocess.run([binary(), *map(str, args)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds, cwd=ROOT)
