"""A client's own test suite on both brokers: each test's outcome is compared."""

from harness.checks import check, note, skip

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


def compare(kafka, ringlog, known):
    """One check a test: what passes on Kafka passes on Ringlog. What fails on Kafka too says nothing about Ringlog.

    Both are {test: outcome}; `known` is {test: why it fails on Ringlog alone}, and such a test must fail.
    """
    for test, there in sorted(kafka.items()):
        # One that died on Ringlog has no outcome there.
        here = ringlog.get(test, FAILED)
        if test in known:
            if there == PASSED and check(here != PASSED, f"{test} (known: {known[test]})", "it passes now"):
                skip(test, known[test])
        elif there == PASSED:
            check(here == PASSED, test, f"passed on Kafka, {here} on Ringlog")
        elif there == FAILED and here == PASSED:
            note(f"{test}: fails on Kafka, passes on Ringlog")
        else:
            skip(test, f"{there} on Kafka, {here} on Ringlog")
    if not kafka:
        check(False, "tests ran on Kafka", "none did")
