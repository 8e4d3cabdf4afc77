"""Command line of `tests/peers/run`."""

import argparse
import dataclasses
import os
import sys
from collections.abc import Callable

from harness.checks import finish, part, skip, watchdog
from runner import tools as needed

from . import franz_go, librdkafka, python_clients, tools


@dataclasses.dataclass(frozen=True)
class Suite:
    """`seconds` bound it; only a short one is part of `tests/run`."""

    what: str
    run: Callable[[list], None]
    seconds: int
    needs: tuple = ()
    short: bool = False


SUITES = {
    "tools": Suite("Kafka's own tools: same output, same exit code", tools.run, 400, ("kafka", "javac"), short=True),
    "librdkafka": Suite("librdkafka's test-runner: same outcome of each test", librdkafka.run, 3600, ("kafka", "cc", "make")),
    "kafka_python": Suite("kafka-python's integration tests: same outcome of each", python_clients.kafka_python, 1500, ("kafka",)),
    "confluent_kafka": Suite("confluent-kafka-python's integration tests: same outcome of each", python_clients.confluent_kafka, 1500, ("kafka",)),
    "franz_go": Suite("franz-go's own tests of its client and its admin package", franz_go.run, 3600, ("kafka", "go")),
}


def main(argv):
    """Runs what is asked for, or all of it; the short form when `tests/run` asks."""
    parser = argparse.ArgumentParser(prog="tests/peers/run", description="The same work on Apache Kafka and on Ringlog; see tests/README.md.")
    parser.add_argument("names", nargs="*", metavar="SUITE", help="suites to run (default: all)")
    parser.add_argument("--list", action="store_true", help="name every suite and end")
    parser.add_argument("--only", action="append", default=[], metavar="TEST", help="only this test of a suite; may be repeated")
    options = parser.parse_args(argv)
    if options.list:
        for name, suite in SUITES.items():
            print(f"{name:<14} {suite.what}")
        return
    if unknown := set(options.names) - set(SUITES):
        sys.exit(f"no such suite: {', '.join(sorted(unknown))} (tests/peers/run --list names them)")
    # Set by tests/run for each suite that it starts.
    by_runner = "RINGLOG_LONG" in os.environ
    chosen = [name for name in options.names or SUITES if options.names or SUITES[name].short or not by_runner]
    watchdog(sum(SUITES[name].seconds for name in chosen))
    for name in chosen:
        suite = SUITES[name]
        if reason := next(filter(None, map(needed.missing, suite.needs)), ""):
            skip(name, reason)
            continue
        with part(name):
            suite.run(options.only)
    finish()
