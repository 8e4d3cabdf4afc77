"""Counting over all suites and the one line that each of them prints."""

import dataclasses
import time


@dataclasses.dataclass
class Counts:
    """Checks by outcome; a step without checks of its own counts as one."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other):
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


class Report:
    """Prints one line a suite and, at the end, the sum alone on the last line."""

    def __init__(self):
        self.total = Counts()
        self.begin = time.monotonic()

    def line(self, name, counts, seconds, remark=""):
        self.total += counts
        mark = "FAIL" if counts.failed else "skip" if not counts.passed else "ok"
        print(f"{mark:4}  {name:<16} {counts}  ({seconds:.1f} s){'  ' + remark if remark else ''}", flush=True)

    def skip(self, name, why):
        self.line(name, Counts(skipped=1), 0.0, why)

    def finish(self):
        """Prints the last line; returns the exit code."""
        minutes, seconds = divmod(int(time.monotonic() - self.begin), 60)
        print(f"{minutes} min {seconds} s")
        print(self.total, flush=True)
        return 1 if self.total.failed or not self.total.passed else 0
