"""Command line of `tests/run`."""

import argparse
import shutil
import sys
import time

from . import cargo, clients, process, serving, suites, tools
from .report import Counts, Report


def parse(argv):
    """Options of `tests/run`."""
    parser = argparse.ArgumentParser(prog="tests/run", description="Runs the project's checks; see tests/README.md.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="suites to run (default: all)")
    parser.add_argument("--list", action="store_true", help="name every suite and end")
    parser.add_argument("--long", action="store_true", help="the long form: more rounds, more seeds")
    parser.add_argument("--clients", action="store_true", help="only the client suites, after a release build")
    parser.add_argument("--against", metavar="HOST:PORT", help="client suites against a broker that runs already")
    parser.add_argument("--kafka", action="store_true", help="client suites against an Apache Kafka started here: proves the suites")
    parser.add_argument("--seed", type=int, help="seed of everything random in the client suites")
    parser.add_argument("--keep-logs", action="store_true", help="keep logs of passed suites too (target/test-logs)")
    return parser.parse_args(argv)


def choose(options):
    """The suites to run, in their order; exits on a name that is none."""
    unknown = set(options.names) - {s.name for s in suites.ALL}
    if unknown:
        sys.exit(f"no such suite: {', '.join(sorted(unknown))} (tests/run --list names them)")
    if options.names:
        chosen = [s for s in suites.ALL if s.name in options.names]
    else:
        chosen = list(suites.CLIENTS if options.clients or options.against or options.kafka else suites.ALL)
    build = next(s for s in suites.CARGO if s.name == "build")
    if any(s in suites.CLIENTS or s.name == "no_simulator" for s in chosen) and build not in chosen and not (options.against or options.kafka):
        # Client suites of an old binary would tell lies.
        chosen.insert(next(i for i, s in enumerate(chosen) if s in suites.CLIENTS or s.name == "no_simulator"), build)
    return chosen


def main(argv=None):
    """Runs what is asked for; returns the exit code."""
    options = parse(argv)
    if options.list:
        for suite in suites.ALL:
            print(f"{suite.name:<14} {suite.what}")
        return 0
    report, broker = Report(), Broker(options)
    shutil.rmtree(tools.TARGET / "test-data", ignore_errors=True)
    for suite in choose(options):
        if suite in suites.CARGO:
            reason = next(filter(None, map(tools.missing, suite.needs)), "")
            if suite.name == "no_simulator" and not broker.built:
                reason = "the broker did not build"
            if reason:
                report.skip(suite.name, reason)
                continue
            good = cargo.run(suite, report, options.long)
            broker.built = broker.built and (good or suite.name != "build")
        elif reason := why_not(suite, options, broker, report):
            report.skip(suite.name, reason)
        else:
            for tool in suite.wishes:
                tools.missing(tool)
            clients.run(suite, report, options)
    return report.finish()


class Broker:
    """What the client suites run against; asked for once, so that one cause is one failure."""

    def __init__(self, options):
        self.foreign = bool(options.against or options.kafka)
        self.built, self.reason = True, None

    def missing(self, report):
        """'' when it serves, else why not; a start that fails is a failed check of its own."""
        if self.foreign:
            return ""
        if not self.built:
            return "the broker did not build"
        if self.reason is None:
            begin = time.monotonic()
            state, self.reason = serving.probe()
            if state != "absent":
                counts = Counts(passed=1) if state == "ok" else Counts(failed=1)
                report.line("serving", counts, time.monotonic() - begin, self.reason)
            if state == "failed":
                log = tools.LOGS / "serving.log"
                print(process.tail(log), f"\n      log: {log}", flush=True)
        return self.reason


def why_not(suite, options, broker, report):
    """'' when a client suite can run, else the reason why it is skipped."""
    if reason := broker.missing(report):
        return reason
    # Asked for by name it runs all the same.
    if not broker.foreign and suite.name not in options.names and suite.name in suites.NOT_PASSING_YET:
        return f"not passing yet: {suites.NOT_PASSING_YET[suite.name]}"
    if suite.own_broker and options.against:
        return "it kills and inspects its broker, which isn't ours"
    needs = suite.needs + (("kafka",) if options.kafka else ())
    return next(filter(None, (tools.missing(tool) for tool in needs)), "")
