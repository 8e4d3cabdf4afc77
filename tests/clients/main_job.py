"""The everyday job, with librdkafka: 100,000 orders in, a group of two that loses a member, a broker that is killed.

The members of `billing` are processes of their own (this script with --member). Each writes a journal line with the
machine-wide monotonic time when it sees a message (S) and when its commit was acknowledged (C); the checks join the
journals, so that "none again after its commit was acknowledged" holds across members and over the broker's death.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zlib

from confluent_kafka import KafkaException

from harness import batches, broker, rdkafka
from harness.checks import LONG, RANDOM, SEED, check, equal, eventually, finish, note, part, skip, unique, watchdog

ORDERS, REVISIONS, PARTITIONS = 100_000, 4, 3
PACE_PER_S = 12_000  # slow enough for deaths to fall into the middle of the run
SESSION_MS = 6000


def member(bootstrap, topic, group, journal_path):
    """One member of the group until SIGTERM: process, then commit(msg), message by message."""
    journal = os.open(journal_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())

    def write(kind, message):
        # One write(2) a line: what a killed member did up to its death is in the file.
        order = json.loads(message.value())
        line = f"{kind} {time.monotonic_ns()} {message.partition()} {message.offset()} {order['id']} {order['rev']}\n"
        os.write(journal, line.encode())

    consumer = rdkafka.consumer(bootstrap, group, **{
        "session.timeout.ms": SESSION_MS, "heartbeat.interval.ms": 500, "topic.metadata.refresh.interval.ms": 2000})
    consumer.subscribe([topic], on_assign=lambda _c, ps: os.write(journal, f"A {time.monotonic_ns()} {len(ps)} 0 x 0\n".encode()))
    while not stop.is_set():
        message = consumer.poll(0.2)
        if message is None or message.error():
            continue
        write("S", message)
        try:
            consumer.commit(message=message, asynchronous=False)
            write("C", message)
        except KafkaException as error:
            print(f"commit of {message.partition()}/{message.offset()}: {error}", flush=True)
    consumer.close()


class Member:
    """A member's process and what its journal says so far."""

    def __init__(self, bootstrap, topic, group, folder, name):
        self.journal = pathlib.Path(folder) / name
        self.log = open(f"{self.journal}.log", "wb")
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--member", bootstrap, topic, group, str(self.journal)],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT)

    def rows(self):
        """[(kind, time, partition, offset, order id, revision)]."""
        if not self.journal.exists():
            return []
        lines = self.journal.read_text().split("\n")[:-1]
        return [(k, int(t), int(p), int(o), i, int(r)) for k, t, p, o, i, r in (line.split(" ") for line in lines)]

    def seen(self):
        """How many sightings; cheap enough to poll."""
        return self.journal.read_bytes().count(b"S ") if self.journal.exists() else 0

    def kill9(self):
        self.process.kill()
        self.process.wait(10)

    def stop(self):
        self.process.terminate()
        return self.process.wait(30)


def produce_orders(sender, topic, on_progress):
    """Sends every revision of every order, at a pace, and calls `on_progress(sent)` now and then."""
    begin, keys = time.monotonic(), ORDERS // REVISIONS
    for i in range(ORDERS):
        order, revision = f"order-{i % keys:06d}", i // keys
        body = json.dumps({"id": order, "rev": revision, "total": i * 7 % 9973, "items": ["a"] * (i % 9)})
        sender.send(topic, order.encode(), body.encode(), tag=(order, revision), headers=[("trace", b"%d" % i)])
        if i % 200 == 0:
            sender.poll()
            on_progress(i)
            ahead = i / PACE_PER_S - (time.monotonic() - begin)
            if ahead > 0:
                time.sleep(ahead)


def check_group(journals, acked):
    """At least once, order, and nothing again after its commit was acknowledged."""
    events = sorted((row for rows in journals for row in rows if row[0] in "SC"), key=lambda row: row[1])
    committed, first, again, disorder = {}, {}, [], []
    latest = {}
    for kind, _time, partition, offset, order, revision in events:
        if kind == "C":
            committed[partition] = max(committed.get(partition, -1), offset)
            continue
        if offset <= committed.get(partition, -1):
            again.append((partition, offset))
        if (partition, offset) not in first:
            first[partition, offset] = (order, revision)
            if revision <= latest.get(order, -1):
                disorder.append((order, revision))
            latest[order] = max(revision, latest.get(order, -1))
    missing = [key for key in acked if key not in first]
    equal(len(missing), 0, f"billing saw each of {len(acked)} acknowledged orders")
    equal(again[:5], [], "billing saw none again after its commit was acknowledged")
    equal(disorder[:5], [], "billing's first sightings are in order per key")
    wrong = [key for key, order in acked.items() if first.get(key) not in (None, order)]
    equal(wrong[:5], [], "each offset holds the order whose acknowledgement named it")
    note(f"{sum(e[0] == 'S' for e in events)} sightings, {len(first)} different")


def run_job(node, topic, folder):
    """Produce, consume, kill a member, kill the broker; returns {(partition, offset): (order, revision)} acknowledged."""
    sender = rdkafka.Sender(node.bootstrap, **{"enable.idempotence": True, "compression.type": "lz4", "linger.ms": 5})
    members = [Member(node.bootstrap, topic, "billing" + topic[6:], folder, f"member-{i}") for i in (0, 1)]
    assigned = eventually(lambda: all(any(r[0] == "A" and r[2] for r in m.rows()) for m in members), 60)
    check(assigned, "both members of billing get partitions")
    broker_at, member_at = RANDOM.randrange(25_000, 60_000, 200), RANDOM.randrange(15_000, 80_000, 200)
    note(f"seed {SEED}: broker dies at order {broker_at}, a member at {member_at}")
    done = set()
    killer = None

    def progress(sent):
        nonlocal killer
        if sent >= member_at and "member" not in done:
            done.add("member")
            members[0].kill9()
        if sent >= broker_at and "broker" not in done and node.controlled:
            done.add("broker")
            node.kill9()
            killer = threading.Thread(target=node.start)
            killer.start()

    begin = time.monotonic()
    produce_orders(sender, topic, progress)
    left = sender.flush(120)
    if killer:
        killer.join()
    note(f"produced in {time.monotonic() - begin:.1f} s")
    equal(left, 0, "flush() leaves nothing")
    equal(sender.errors[:3], [], "no order failed")
    equal(len(sender.acked), ORDERS, "each order acknowledged once")
    acked = {(p, o): tag for p, o, tag in sender.acked}
    equal(len(acked), ORDERS, "no two orders got the same place")
    if node.controlled:
        check("broker" in done and node.alive(), "the broker was killed with -9 in the middle and serves again")
    else:
        skip("broker killed in the middle", "the broker isn't ours")
    check(bool(members[1].seen()), "the surviving member works")

    def all_seen():
        # Counting is cheap, joining the journals isn't: join only when the count can suffice.
        return sum(m.seen() for m in members) >= ORDERS and not acked.keys() - {
            (r[2], r[3]) for m in members for r in m.rows() if r[0] == "S"}

    check(eventually(all_seen, 400, 1.0), "the survivor takes over and reaches the end", [m.seen() for m in members])
    equal(members[1].stop(), 0, "the survivor leaves cleanly")
    check_group([m.rows() for m in members], acked)
    return acked


def check_analytics(node, topic, acked):
    """A group that comes later starts at 0 and disturbs nobody."""
    ends = rdkafka.end_offsets(node.bootstrap, topic, PARTITIONS)
    equal(sum(end - begin for begin, end in ends.values()), ORDERS, "the log holds each order once")
    before = rdkafka.committed(node.bootstrap, "billing" + topic[6:], topic, PARTITIONS)
    equal(before, {p: end for p, (_, end) in ends.items()}, "billing's place is the end of each partition")
    reader = rdkafka.consumer(node.bootstrap, "analytics" + topic[6:])
    reader.subscribe([topic])
    got, end = [], time.monotonic() + 90
    while len(got) < ORDERS and time.monotonic() < end:
        got += [m for m in reader.consume(1000, 0.5) if not m.error()]
    time.sleep(0.5)
    got += [m for m in reader.consume(10, 0.5) if not m.error()]
    reader.close()
    equal(len(got), ORDERS, "analytics gets each order once")
    equal({p: min(m.offset() for m in got if m.partition() == p) for p in range(PARTITIONS)}, dict.fromkeys(range(PARTITIONS), 0),
          "analytics starts at 0")
    wrong = sum(1 for m in got if acked.get((m.partition(), m.offset())) != (json.loads(m.value())["id"], json.loads(m.value())["rev"]))
    equal(wrong, 0, "no acknowledged order is missing, doubled or elsewhere")
    misplaced = sum(1 for m in got if m.partition() != zlib.crc32(m.key()) % PARTITIONS)
    equal(misplaced, 0, "keys lie where librdkafka's partitioner puts them")
    equal(sum(1 for m in got if not m.headers() or m.headers()[0][0] != "trace"), 0, "headers come back")
    equal(rdkafka.committed(node.bootstrap, "billing" + topic[6:], topic, PARTITIONS), before, "analytics left billing's place alone")


def check_stored(node, topic):
    """The segment files hold the producer's lz4 batches as they came."""
    if not node.controlled:
        skip("stored batches are lz4", "the broker's files aren't ours")
        return
    node.stop()
    stored = {p: batches.segments(d) for p, d in node.partition_dirs(topic).items()}
    equal(sorted(stored), list(range(PARTITIONS)), "each partition has its directory")
    every = [b for found in stored.values() for b in found]
    # librdkafka sends a batch plain when lz4 would not make it smaller: those of one or two records.
    equal({b.codec for b in every if b.count > 2}, {"lz4"}, "stored batches are lz4")
    check(sum(b.count for b in every if b.codec == "lz4") > ORDERS * 0.95, "and nearly every order lies in one")
    equal(sum(b.count for b in every), ORDERS, "stored batches hold each order once")
    check(all(b.crc_holds for b in every), "their CRCs hold")
    check(all(b.producer_id >= 0 and b.sequence >= 0 for b in every), "and they name their producer and sequence")
    gaps = [p for p, found in stored.items() if [b.base_offset for b in found] != [0] + [b.next_offset for b in found[:-1]]]
    equal(gaps, [], "offsets are contiguous from 0")


def check_shapes(node):
    """Null keys, null values, empty ones, headers and timestamps come back as sent; murmur2 placement."""
    topic = rdkafka.create(node.bootstrap, unique("shapes"), PARTITIONS)
    now = int(time.time() * 1000)
    rows = [(b"k", b"v", [], now - 5), (None, b"v", [("h", b"1"), ("h", b"2")], now - 4), (b"k", None, [("n", None)], now - 3),
            (None, None, [], now - 2), (b"", b"", [("", b"")], now - 1), ("clé".encode(), bytes(range(256)), [("x", bytes(300))], now)]
    sender = rdkafka.Sender(node.bootstrap, **{"enable.idempotence": True, "compression.type": "lz4"})
    for key, value, headers, stamp in rows:
        sender.send(topic, key, value, partition=1, headers=headers, timestamp=stamp)
    equal((sender.flush(), sender.errors), (0, []), "odd shapes are taken")
    got = [(m.key(), m.value(), m.headers() or [], m.timestamp()) for m in rdkafka.read_all(node.bootstrap, topic, [1])]
    # confluent-kafka shows an empty key or value as null only when it is null.
    equal([(k, v, h) for k, v, h, _ in got], [(k, v, h) for k, v, h, _ in rows], "null and empty keys, values and headers come back")
    equal([t for *_, t in got], [(1, t) for *_, t in rows], "timestamps come back as create times")
    sender = rdkafka.Sender(node.bootstrap, partitioner="murmur2_random")
    keys = [f"key-{i}".encode() for i in range(300)]
    for key in keys:
        sender.send(topic, key, b"x", tag=key)
    sender.flush()
    from kafka.partitioner.default import murmur2

    wrong = [k for p, _, k in sender.acked if p != (murmur2(k) & 0x7FFFFFFF) % PARTITIONS]
    equal((len(sender.acked), wrong), (300, []), "murmur2 keys lie where the Java client's hash puts them")


def main():
    if sys.argv[1:2] == ["--member"]:
        member(*sys.argv[2:6])
        return
    watchdog(420 if not LONG else 600)
    node = broker.start()
    topic = "orders" if node.controlled else unique("orders")
    with tempfile.TemporaryDirectory() as folder:
        with part("shapes"):
            check_shapes(node)
        with part("orders"):
            rdkafka.create(node.bootstrap, topic, PARTITIONS)
            acked = run_job(node, topic, folder)
        with part("analytics"):
            check_analytics(node, topic, acked)
        with part("stored"):
            check_stored(node, topic)
    finish()


if __name__ == "__main__":
    main()
