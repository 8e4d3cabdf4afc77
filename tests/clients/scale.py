"""Many partitions, many topics made and deleted: what they cost one node, and that nothing of it stays."""

import time

from harness import batches, broker, wire
from harness.checks import LONG, check, equal, eventually, finish, note, part, skip, unique, watchdog
from harness.wire import Connection, array, i8, i16, i32, string

watchdog(3400 if LONG else 400)
TOPICS, PARTITIONS = 100, 100
# Topics made and deleted, so many in one request.
CYCLES, IN_ONE = (50_000 if LONG else 3_000), 50
node = broker.start()


def mib(size):
    return f"{size / 2**20:.0f} MiB"


def create(peer, names, partitions):
    """Error codes by CreateTopics v4."""
    rows = [string(name) + i32(partitions) + i16(-1) + array([]) + array([]) for name in names]
    answer = peer.call(wire.CREATE_TOPICS, 4, array(rows) + i32(60_000) + i8(0))
    answer.i32()
    return {code for _, code, _ in answer.array(lambda r: (r.string(), r.i16(), r.string()))}


def delete(peer, names):
    """Error codes by DeleteTopics v1."""
    answer = peer.call(wire.DELETE_TOPICS, 1, array([string(name) for name in names]) + i32(60_000))
    answer.i32()
    return {code for _, code in answer.array(lambda r: (r.string(), r.i16()))}


def produce_to_each(peer, topic, count):
    """Error codes of a record to each partition of a topic, in one request."""
    body = wire.produce_body(topic, {p: batches.build([(b"k", b"v" * 50)]) for p in range(count)})
    answer = peer.call(wire.PRODUCE, 7, body)
    found = answer.array(lambda r: (r.string(), r.array(lambda p: (p.i32(), p.i16(), p.i64(), p.i64(), p.i64()))))
    return [row[1] for _, rows in found for row in rows]


def timed_metadata(peer):
    """Seconds until the whole answer of an all-topics Metadata is there, and its size in bytes."""
    begin = time.monotonic()
    peer.post(wire.METADATA, 7, array(None) + i8(0))
    size = len(peer.frame())
    return time.monotonic() - begin, size


def ten_thousand_partitions():
    base = unique("wide")
    names = [f"{base}-{i}" for i in range(TOPICS)]
    with Connection(node.bootstrap, timeout=90) as peer:
        before = node.rss_bytes()
        begin = time.monotonic()
        codes = set().union(*(create(peer, names[i : i + 10], PARTITIONS) for i in range(0, TOPICS, 10)))
        took = time.monotonic() - begin
        equal(codes, {0}, "10,000 partitions are created")
        created = node.rss_bytes()
        note(f"in {took:.1f} s; RSS {mib(before)} to {mib(created)}: {(created - before) / TOPICS / PARTITIONS / 1024:.1f} KiB a partition")
        times = sorted(timed_metadata(peer) for _ in range(5))
        check(times[-1][0] < 1, "an all-topics Metadata takes less than 1 s", times)
        note(f"Metadata of {times[0][1]} bytes: {times[2][0] * 1000:.0f} ms, the slowest of five {times[-1][0] * 1000:.0f} ms")
        begin = time.monotonic()
        codes = [code for name in names for code in produce_to_each(peer, name, PARTITIONS)]
        equal((set(codes), len(codes)), ({0}, TOPICS * PARTITIONS), "a record to each of them is acknowledged")
        held = node.rss_bytes()
        note(f"in {time.monotonic() - begin:.1f} s; RSS {mib(held)}: {(held - before) / TOPICS / PARTITIONS / 1024:.1f} KiB a partition")
        if node.controlled:
            check((held - before) / TOPICS / PARTITIONS < 32 * 1024 or broker.IS_KAFKA, "which takes less than 32 KiB of memory each", held - before)
        ends = [peer.list_offset(names[i], -1, i)[2] for i in range(0, TOPICS, 7)]
        equal(set(ends), {1}, "and is there")
    if node.controlled and not broker.IS_KAFKA:
        node.kill9()
        begin = time.monotonic()
        node.start()
        note(f"serves {time.monotonic() - begin:.1f} s after kill -9")
        with Connection(node.bootstrap, timeout=90) as peer:
            ends = [peer.list_offset(names[i], -1, i)[2] for i in range(0, TOPICS, 7)]
            equal(set(ends), {1}, "all is there after kill -9")
    with Connection(node.bootstrap, timeout=90) as peer:
        begin = time.monotonic()
        codes = set().union(*(delete(peer, names[i : i + 10]) for i in range(0, TOPICS, 10)))
        equal(codes, {0}, "they are deleted")
        note(f"in {time.monotonic() - begin:.1f} s")
        check(timed_metadata(peer)[1] < 2000, "and listed no more")
    if node.controlled:
        gone = eventually(lambda: not any(node.partition_dirs(name) for name in names), 120, 1)
        check(gone, "their directories go away")


def create_and_delete():
    """The first tenth fills what is bounded; from then on memory stays."""
    if not node.controlled:
        skip("memory over topics made and deleted", "the process isn't ours")
        return
    base, sizes, codes = unique("cycle"), [], set()
    begin = time.monotonic()
    with Connection(node.bootstrap, timeout=90) as peer:
        for round_ in range(CYCLES // IN_ONE):
            names = [f"{base}-{round_}-{i}" for i in range(IN_ONE)]
            codes |= create(peer, names, 1) | delete(peer, names)
            sizes.append(node.rss_bytes())
    equal(codes, {0}, f"{CYCLES} topics made and deleted")
    took = time.monotonic() - begin
    # Ids of the last 10,000 deleted topics are kept on purpose: some hundred bytes each.
    settled = max(sizes[: max(1, len(sizes) // 5)])
    grown = max(sizes[-max(1, len(sizes) // 10) :]) - settled
    note(f"{took / CYCLES * 1000:.1f} ms each; RSS {mib(sizes[0])}, {mib(settled)} after a fifth, {mib(sizes[-1])} at the end")
    allowed = (10 << 20) if LONG else (4 << 20)
    check(grown < allowed or broker.IS_KAFKA, f"memory grows by less than {mib(allowed)} after the first fifth", grown)
    left = eventually(lambda: not list(node.data_dir.rglob(f"{base}-*")), 60, 0.5)
    check(left, "no directory of theirs stays", [p.name for p in node.data_dir.rglob(f"{base}-*")][:5])


for step in (ten_thousand_partitions, create_and_delete):
    with part(step.__name__):
        step()
finish()
