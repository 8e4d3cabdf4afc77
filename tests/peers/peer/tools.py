"""Suite `tools`: the same commands of Kafka's own tools on Apache Kafka and on Ringlog say the same and end with the same exit code."""

import contextlib
import dataclasses
import threading

from harness import rdkafka
from harness.checks import check, note, part

from . import differ, known, script, sides, steps


class Member:
    """A member of a group on each side, which reads and commits once, then stays."""

    def __init__(self, side, group, topic):
        self.reader = rdkafka.consumer(side.bootstrap, group, **{"client.id": "busy-one", "partition.assignment.strategy": "range"})
        self.reader.subscribe([topic])
        self.assigned, self.over = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self._stay, daemon=True)
        self.thread.start()

    def _stay(self):
        while not self.over.is_set():
            message = self.reader.poll(0.2)
            if message is not None and not message.error() and not self.assigned.is_set():
                partitions = self.reader.assignment()
                for partition in partitions:
                    partition.offset = 2
                self.reader.commit(offsets=partitions, asynchronous=False)
                self.assigned.set()

    def close(self):
        """Leaves the group."""
        self.over.set()
        self.thread.join(20)
        self.reader.close()


@contextlib.contextmanager
def members(pair, group, topic):
    """One on each side while the block runs."""
    there = [Member(side, group, topic) for side in pair]
    try:
        if not all(member.assigned.wait(30) for member in there):
            raise RuntimeError("a member got no partitions within 30 s")
        yield
    finally:
        for member in there:
            member.close()


@dataclasses.dataclass
class Outcome:
    """What both said to a step, and what of it isn't explained."""

    codes: tuple
    gone: list
    come: list
    differs: bool
    good: bool


def judged(answers, expected):
    """The same, or different as it is known."""
    (kafka_code, kafka_lines), (our_code, our_lines) = answers
    gone, come = differ.difference(kafka_lines, our_lines)
    codes = (kafka_code, our_code) if kafka_code != our_code else ()
    differs = bool(gone or come or codes)
    if expected:
        gone, come = differ.unexplained(gone, expected.kafka), differ.unexplained(come, expected.ringlog)
    good = not gone and not come and codes == (expected.codes if expected else ()) and differs == bool(expected)
    return Outcome((kafka_code, our_code), gone, come, differs, good)


def run_step(step, pair):
    """One check."""
    expected = known.STEPS.get(step.name)
    found = judged(steps.answers_of(step, pair, lambda answers: judged(answers, expected).good), expected)
    what = f"{step.name} (differs: {expected.why})" if expected else step.name
    if not check(found.good, what, f"exit codes {found.codes}" if found.differs else "it no longer differs"):
        show(found.gone, found.come)


def show(gone, come):
    """The lines that differ, for the reader of the log."""
    for mark, lines in (("kafka  ", gone), ("ringlog", come)):
        for line in lines[:40]:
            note(f"{mark} | {line[:300]}")
        if len(lines) > 40:
            note(f"{mark} | and {len(lines) - 40} lines more")


def run(only):
    """The suite; `only` names sections: those before them are run for what they leave, and not compared."""
    pair = sides.start()
    try:
        left = set(only)
        for name, commands in script.SECTIONS.items():
            if only and not left:
                break
            with part(name), members(pair, "busy", "orders") if name == "active" else contextlib.nullcontext():
                for step in commands:
                    if only and name not in only:
                        sides.on_both(pair, step.run)
                    else:
                        run_step(step, pair)
            left.discard(name)
        stale = set(known.STEPS) - {step.name for commands in script.SECTIONS.values() for step in commands}
        check(not stale, "each known difference is of a command", stale)
    finally:
        for side in pair:
            side.close()
