"""Command line of `tests/run`."""

import argparse
import shutil
import sys

from . import cargo, clients, suites, tools
from .report import Report


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
    if any(s in suites.CLIENTS for s in chosen) and build not in chosen and not (options.against or options.kafka):
        # Client suites of an old binary would tell lies.
        chosen.insert(next(i for i, s in enumerate(chosen) if s in suites.CLIENTS), build)
    return chosen


def main(argv=None):
    """Runs what is asked for; returns the exit code."""
    options = parse(argv)
    if options.list:
        for suite in suites.ALL:
            print(f"{suite.name:<14} {suite.what}")
        return 0
    report, built = Report(), True
    shutil.rmtree(tools.TARGET / "test-data", ignore_errors=True)
    for suite in choose(options):
        if suite in suites.CARGO:
            reason = tools.missing("cargo-deny") if suite.name == "deny" else tools.missing("cargo")
            if reason:
                report.skip(suite.name, reason)
                continue
            good = cargo.run(suite, report, options.long)
            built = built and (good or suite.name != "build")
            continue
        reason = next(filter(None, (tools.missing(tool) for tool in suite.needs + (("kafka",) if options.kafka else ()))), "")
        if not reason and suite.own_broker and options.against:
            reason = "it kills and inspects its broker, which isn't ours"
        if reason:
            report.skip(suite.name, reason)
        elif not built:
            report.skip(suite.name, "the broker did not build")
        else:
            clients.run(suite, report, options)
    return report.finish()
