"""kcat, as people use it at a prompt: list, produce, consume, query by time, a group, and how it behaves without a broker's help."""

import json
import subprocess
import time

from harness import broker, rdkafka
from harness.checks import check, equal, finish, part, unique, watchdog

watchdog(150)
node = broker.start()
TOPIC = rdkafka.create(node.bootstrap, unique("kcat"), 3)


def kcat(*args, stdin="", seconds=30):
    """stdout of kcat; raises with its stderr when it fails."""
    done = subprocess.run(["kcat", "-b", node.bootstrap, *args], input=stdin, capture_output=True, text=True, timeout=seconds)
    if done.returncode:
        raise RuntimeError(f"kcat {args}: {done.returncode} {done.stderr[-500:]}")
    return done.stdout


def listing():
    found = json.loads(kcat("-L", "-J"))
    check(any(t["topic"] == TOPIC and len(t["partitions"]) == 3 for t in found["topics"]), "-L -J lists the topic")
    equal(json.loads(kcat("-L", "-J", "-t", TOPIC))["topics"][0]["topic"], TOPIC, "-L of one topic")


def round_trip():
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        lines = "".join(f"key-{i}:{codec} value {i}\n" for i in range(200))
        kcat("-P", "-t", TOPIC, "-K", ":", "-z", codec, "-H", "by=kcat", "-X", "enable.idempotence=true", stdin=lines)
    out = kcat("-C", "-t", TOPIC, "-e", "-q", "-f", "%k|%s|%h|%p|%o\n", "-X", "check.crcs=true").splitlines()
    equal(len(out), 1000, "1000 lines by five codecs come back")
    check(all(line.split("|")[2] == "by=kcat" for line in out), "with their header")
    equal(len({tuple(line.split("|")[3:]) for line in out}), 1000, "each at its own place")
    kcat("-P", "-t", TOPIC, "-p", "2", "-Z", "-K", ":", stdin="tomb:\n")
    last = kcat("-C", "-t", TOPIC, "-p", "2", "-o", "-1", "-e", "-q", "-J")
    equal((json.loads(last)["key"], json.loads(last)["payload"]), ("tomb", None), "a null value (-Z) is null, read by -o -1")


def times():
    topic = rdkafka.create(node.bootstrap, unique("kcat-t"), 1)
    kcat("-P", "-t", topic, stdin="one\ntwo\n")
    time.sleep(0.3)
    middle = int(time.time() * 1000)
    time.sleep(0.3)
    kcat("-P", "-t", topic, stdin="three\n")
    equal(kcat("-Q", "-t", f"{topic}:0:{middle}").split()[-1], "2", "-Q: the offset after a time")
    equal(kcat("-C", "-t", topic, "-o", f"s@{middle}", "-e", "-q").split(), ["three"], "-o s@time: from there on")
    equal(kcat("-C", "-t", topic, "-o", "1", "-c", "1", "-e", "-q").split(), ["two"], "-o 1 -c 1")


def group():
    name = unique("kcat-g")
    options = ("-X", "auto.offset.reset=earliest", "-X", "session.timeout.ms=6000", "-X", "enable.auto.commit=true", "-e", "-q")
    first = kcat("-G", name, *options, TOPIC).splitlines()
    equal(len(first), 1001, "-G reads everything")
    equal(kcat("-G", name, *options, TOPIC).splitlines(), [], "and nothing again the second time")


for step in (listing, round_trip, times, group):
    with part(step.__name__):
        step()
finish()
