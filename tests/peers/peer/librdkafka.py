"""Suite `librdkafka`: its own regression tests, built from Debian's source package, one process a test."""

import concurrent.futures
import os
import pathlib
import re
import shutil

from harness import broker
from harness.checks import note, skip
from runner import process, tools

from . import jvm, outcomes, sides

FOLDER = tools.TARGET / "peers" / "librdkafka"
TEST_SECONDS_MAX = 240
BUILD_SECONDS_MAX = 1500
# What the runner takes the broker for: it leaves tests out that need a newer one.
BROKER_VERSION = "4.4.0.0"
_DECLARED = re.compile(r"^\s*_TEST\((\d{4})_\w+,", re.M)
_ROW = re.compile(r"(\d{4}_\w+)\s*\|\s*(PASSED|FAILED|SKIPPED)")
_OUTCOMES = {"PASSED": outcomes.PASSED, "FAILED": outcomes.FAILED, "SKIPPED": outcomes.SKIPPED}
# By number, with the reason.
LEFT_OUT = {
    "0098": "transactions", "0103": "transactions", "0129": "transactions", "0101": "several brokers", "0097": "TLS", "0115": "SASL", "0119": "ACLs",
    "0126": "OAUTHBEARER", "0128": "SASL", "0133": "TLS", "0134": "TLS", "0135": "SASL", "0142": "SASL",
}
# {test: why it fails on Ringlog alone}.
KNOWN = {"0061_consumer_lag": "its second half is about transactions"}


def run(only):
    """The suite; `only` names tests by number."""
    if reason := _built():
        skip("librdkafka", reason)
        return
    numbers = sorted(set(_DECLARED.findall((_tests() / "test.c").read_text())))
    wanted = [number for number in numbers if number in only or (not only and number not in LEFT_OUT and number < "1000")]
    for number, why in LEFT_OUT.items():
        if number in numbers and not only:
            skip(f"librdkafka {number}", why)
    pair = sides.start()
    try:
        kafka, ringlog = sides.on_both(pair, lambda side: _run_all(side, wanted))
        outcomes.compare(kafka, ringlog, KNOWN)
    finally:
        for side in pair:
            side.close()


def _run_all(side, numbers):
    """{test: outcome} on one broker. Two at a time: most of a test's time is waiting."""
    logs = tools.LOGS / "librdkafka" / side.name
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    conf = logs / "test.conf"
    conf.write_text(f"bootstrap.servers={side.bootstrap}\n")
    found = {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for number, rows in zip(numbers, pool.map(lambda n: _run_one(n, conf, logs), numbers)):
            found.update(rows)
            bad = [test for test, outcome in rows.items() if outcome == outcomes.FAILED]
            if bad:
                note(f"{side.name}: {', '.join(bad)} failed: {logs / number}.log")
    return found


def _run_one(number, conf, logs):
    log = logs / f"{number}.log"
    env = dict(os.environ, TESTS=number, KAFKA_PATH=str(_kafka_path()), BROKERS=conf.read_text().split("=")[1].strip(), TEST_KAFKA_VERSION=BROKER_VERSION, RDKAFKA_TEST_CONF=str(conf), CI="true",
               LD_LIBRARY_PATH=f"{_tests().parent / 'src'}:{_tests().parent / 'src-cpp'}")
    # -L: no tests that need no broker. -p1: those of one number after another.
    process.run(["./test-runner", "-L", "-p1"], log, TEST_SECONDS_MAX, env=env, cwd=_tests())
    rows = {test: _OUTCOMES[outcome] for test, outcome in _ROW.findall(log.read_text(errors="replace"))}
    return {test: outcome for test, outcome in rows.items() if test.startswith(number)} or {f"{number}_whole": outcomes.FAILED}


def _kafka_path():
    """A folder with the one script of Kafka's that some of the tests call."""
    script = FOLDER / "kafka" / "bin" / "kafka-topics.sh"
    if not script.exists():
        script.parent.mkdir(parents=True, exist_ok=True)
        options = " ".join(f"'{option}'" for option in jvm.OPTIONS)
        script.write_text(f"#!/bin/sh\nexec java {options} -cp '{broker.kafka_classpath()}' org.apache.kafka.tools.TopicCommand \"$@\"\n")
        script.chmod(0o755)
    return script.parent.parent


def _tests():
    """The folder of the tests in the unpacked source; raises without one."""
    return next(FOLDER.glob("librdkafka-*/tests"))


def _built():
    """'' once the test-runner is there, else why it can't be had."""
    if any(FOLDER.glob("librdkafka-*/tests/test-runner")):
        return ""
    if not shutil.which("apt-get"):
        return "no apt-get to fetch its source by"
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not any(FOLDER.glob("*.orig.tar.*")) and (reason := _fetched()):
        return reason
    log = tools.LOGS / "build-librdkafka.log"
    archive = next(FOLDER.glob("*.orig.tar.*"))
    script = (f"tar xf {archive.name} && cd librdkafka-*/ && ./configure --disable-optimization --disable-gssapi "
              "&& make -j2 libs && make -j2 -C tests test-runner")
    code = process.run(["sh", "-ec", script], log, BUILD_SECONDS_MAX, cwd=FOLDER)
    return "" if code == 0 and any(FOLDER.glob("librdkafka-*/tests/test-runner")) else f"its tests don't build, see {log}"


def _fetched():
    """Brings the source by apt-get from where this host has its packages from, whose lists stay as they are."""
    sources = FOLDER / "apt"
    for name in ("parts", "lists/partial", "archives/partial"):
        (sources / name).mkdir(parents=True, exist_ok=True)
    for found in pathlib.Path("/etc/apt/sources.list.d").glob("debian*.sources"):
        (sources / "parts" / found.name).write_text(re.sub(r"^Types:.*", "Types: deb-src", found.read_text(), flags=re.M))
    old = pathlib.Path("/etc/apt/sources.list")
    if old.exists():
        (sources / "parts" / "old.list").write_text(re.sub(r"^deb ", "deb-src ", old.read_text(), flags=re.M))
    own = ["-o", "Dir::Etc::SourceList=/dev/null", "-o", f"Dir::Etc::SourceParts={sources / 'parts'}", "-o", f"Dir::State::Lists={sources / 'lists'}",
           "-o", f"Dir::Cache::Archives={sources / 'archives'}", "-o", "Dir::Cache::srcpkgcache=", "-o", "Dir::Cache::pkgcache=", "-o", "APT::Sandbox::User=root"]
    log = tools.LOGS / "fetch-librdkafka.log"
    for argv in (["apt-get", *own, "update"], ["apt-get", *own, "source", "--download-only", "librdkafka"]):
        if process.run(argv, log, tools.INSTALL_SECONDS_MAX, cwd=FOLDER) != 0:
            return f"its source can't be fetched, see {log}"
    return "" if any(FOLDER.glob("*.orig.tar.*")) else f"no source archive came, see {log}"
