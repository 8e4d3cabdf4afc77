"""Suites `kafka_python` and `confluent_kafka`: integration tests of the source distributions, which accept the address of a running broker."""

import dataclasses
import os
import re
import shutil
import xml.etree.ElementTree as xml

from harness.checks import note, skip
from runner import process, tools

from . import outcomes, sides

RUN_SECONDS_MAX = 900
# What the tests import and the source distribution lacks: the package that they are, and processes, of which one that runs already needs nothing.
_LACKING = {
    "test/__init__.py": "",
    "test/service.py": """class ExternalService:
    def __init__(self, host, port):
        self.host, self.port = host, port

    def nothing(self, *_args, **_kwargs):
        return True

    start = open = close = stop = dump_logs = wait_for = nothing


class SpawnedService:
    def __init__(self, *_args, **_kwargs):
        raise RuntimeError("the broker runs already")
""",
}


@dataclasses.dataclass(frozen=True)
class Client:
    """A client with its tests."""

    # As tests/requirements.txt names it, and its folder in the source distribution.
    package: str
    source: str
    tests: tuple
    # What the tests want besides the client.
    wants: str
    # By parts of names.
    left_out: str
    # {test: why it fails on Ringlog alone}.
    known: dict
    # {file below its source: text} that is put there.
    lacking: dict = dataclasses.field(default_factory=dict)

    @property
    def folder(self):
        return tools.TARGET / "peers" / self.package

    def environment(self, side):
        """What its tests read."""
        return dict(os.environ, PYTHONDONTWRITEBYTECODE="1", **{
            # The version as its tests know it: they leave out what an older broker can't do. Its fixtures want a folder of Kafka that they don't use.
            "kafka-python": {"KAFKA_VERSION": "4.3.0", "KAFKA_URI": f"plaintext://{side.bootstrap}", "KAFKA_ROOT": str(self.folder)},
            "confluent-kafka": {"BROKERS": side.bootstrap},
        }[self.package])


KAFKA_PYTHON = Client("kafka-python", "kafka_python", ("test/integration",), "py pytest-mock crc32c lz4 python-snappy zstandard", "sasl or ssl or transaction or acl", {}, _LACKING)
CONFLUENT_KAFKA = Client("confluent-kafka", "confluent_kafka", ("tests/integration/admin", "tests/integration/consumer", "tests/integration/producer"),
                         "trivup pytest-asyncio requests attrs cachetools httpx authlib fastavro jsonschema protobuf",
                         "sasl or scram or quota or transaction or upgrade or performance or acl", {})


def kafka_python(only):
    """The suite; `only` names tests by parts of their names."""
    _run(KAFKA_PYTHON, only)


def confluent_kafka(only):
    """Likewise."""
    _run(CONFLUENT_KAFKA, only)


def _run(client, only):
    if reason := _installed(client):
        skip(client.package, reason)
        return
    pair = sides.start()
    try:
        kafka, ringlog = sides.on_both(pair, lambda side: _run_all(client, side, only))
        outcomes.compare(kafka, ringlog, client.known)
    finally:
        for side in pair:
            side.close()


def _run_all(client, side, only):
    """{test: outcome} on one broker."""
    log, report = (tools.LOGS / f"{client.package}-{side.name}.{ending}" for ending in ("log", "xml"))
    chosen = " or ".join(only) or f"not ({client.left_out})"
    argv = [str(client.folder / "venv" / "bin" / "python"), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout=90", f"--junitxml={report}", "-k", chosen,
            *client.tests]
    report.unlink(missing_ok=True)
    process.run(argv, log, RUN_SECONDS_MAX, env=client.environment(side), cwd=next(client.folder.glob(f"{client.source}-*/")))
    note(f"{side.name}: {log}")
    found = {}
    if not report.exists():
        return found
    for case in xml.parse(report).iter("testcase"):
        name = f"{case.get('classname').rsplit('.', 1)[-1]}::{re.sub('0x[0-9a-f]+', '0x', case.get('name'))}"
        tags = {child.tag for child in case}
        found[name] = outcomes.FAILED if tags & {"failure", "error"} else outcomes.SKIPPED if "skipped" in tags else outcomes.PASSED
    return found


def _installed(client):
    """'' once the tests and a venv for them are there, else why they can't be had."""
    lines = (tools.ROOT / "tests" / "requirements.txt").read_text().splitlines()
    wanted = next(line.strip() for line in lines if line.startswith(f"{client.package}=="))
    there = f"{client.source}-*/{client.tests[0]}"
    if not any(client.folder.glob(there)):
        client.folder.mkdir(parents=True, exist_ok=True)
        pip = "-m pip --disable-pip-version-check -q"
        script = (f"python3 -m venv venv && venv/bin/python {pip} install '{wanted}' pytest pytest-timeout {client.wants} "
                  f"&& venv/bin/python {pip} download --no-deps --no-binary :all: '{wanted}' || true; tar xf {client.source}-*.tar.gz")
        log = tools.LOGS / f"install-{client.package}.log"
        if process.run(["sh", "-ec", script], log, tools.INSTALL_SECONDS_MAX, cwd=client.folder) != 0:
            shutil.rmtree(client.folder, ignore_errors=True)
            return f"its tests can't be had, see {log}"
    for source in client.folder.glob(f"{client.source}-*/"):
        for path, text in client.lacking.items():
            (source / path).write_text(text)
    return "" if any(client.folder.glob(there)) else "its source distribution has no integration tests"
