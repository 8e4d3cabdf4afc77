"""Reading: seek and assign, time queries to the record, limits, long polls, incremental fetch sessions."""

import threading
import time

from confluent_kafka import TopicPartition

from harness import batches, broker, rdkafka, wire
from harness.checks import check, equal, finish, part, unique, watchdog
from harness.wire import Connection

LATEST, EARLIEST = -1, -2
SESSION_NOT_FOUND, BAD_EPOCH, OUT_OF_RANGE, UNKNOWN_EPOCH, UNKNOWN_TOPIC = 70, 71, 1, 75, 3
watchdog(200)
node = broker.start()


def spans(records):
    """[(base offset, next offset)] of the whole batches."""
    return [(b.base_offset, b.next_offset) for b in batches.parse(records)]


def seek():
    topic = rdkafka.create(node.bootstrap, unique("seek"), 2)
    sender = rdkafka.Sender(node.bootstrap, **{"batch.num.messages": 37})
    for i in range(2000):
        sender.send(topic, None, b"%d" % i, partition=i % 2)
    sender.flush()
    for start, wanted in ((0, 1000), (1, 999), (555, 445), (999, 1), (1000, 0), (-2, 1000), (-1, 0)):
        got = rdkafka.read_all(node.bootstrap, topic, [1], start=start)
        equal((len(got), [int(m.value()) for m in got[:1]]), (wanted, [2 * (1000 - wanted) + 1][: min(1, wanted)]), f"assign at {start}: {wanted} records")
    reader = rdkafka.consumer(node.bootstrap)
    reader.assign([TopicPartition(topic, 0, 0)])

    def next_one():
        end = time.monotonic() + 15
        while time.monotonic() < end:
            message = reader.poll(0.5)
            if message and not message.error():
                return message.offset()
        return None

    got = [next_one()]
    for target in (900, 3, 500, 0, 999):
        reader.seek(TopicPartition(topic, 0, target))
        got.append(next_one())
    equal(got, [0, 900, 3, 500, 0, 999], "seek to and fro")
    reader.pause([TopicPartition(topic, 0)])
    reader.resume([TopicPartition(topic, 0)])
    reader.close()
    with Connection(node.bootstrap) as peer:
        equal([peer.fetch(topic, {0: o})[2][0][0] for o in (1001, -1, 1 << 50)], [OUT_OF_RANGE] * 3, "past the end or before the start: OFFSET_OUT_OF_RANGE")


def times():
    topic = rdkafka.create(node.bootstrap, unique("times"), 1)
    base = int(time.time() * 1000) - 100_000
    with Connection(node.bootstrap) as peer:
        equal(peer.list_offset(topic, base)[:3], (0, -1, -1), "a time in an empty partition: -1")
        # Times that go up and down inside a batch and between batches: the answer is a record, not its batch.
        stamps = [[0, 10, 20, 30], [25, 5, 40], [35], [60, 50, 70]]
        for deltas in stamps:
            first = deltas[0]
            records = batches.build([(b"k", b"v")] * len(deltas), timestamp=base + first, deltas=[d - first for d in deltas])
            equal(peer.produce(topic, records)[0], 0, f"times {deltas}")
        flat = [d for deltas in stamps for d in deltas]
        for query in range(-5, 75, 5):
            hit = next((i for i, d in enumerate(flat) if d >= query), None)
            wanted = (0, -1, -1) if hit is None else (0, base + flat[hit], hit)
            equal(peer.list_offset(topic, base + query)[:3], wanted, f"first record at or after +{query}")
        equal(peer.list_offset(topic, EARLIEST)[2], 0, "earliest")
        equal(peer.list_offset(topic, LATEST)[2], len(flat), "latest")
    reader = rdkafka.consumer(node.bootstrap)
    got = reader.offsets_for_times([TopicPartition(topic, 0, base + 36)], timeout=10)
    equal(got[0].offset, 6, "offsets_for_times by librdkafka")
    reader.close()


def by_compressed_time():
    """Time queries look into compressed batches too."""
    topic = rdkafka.create(node.bootstrap, unique("times-z"), 1)
    base = int(time.time() * 1000) - 500_000
    sender = rdkafka.Sender(node.bootstrap, **{"compression.type": "lz4", "linger.ms": 100})
    for i in range(500):
        sender.send(topic, None, b"some text that compresses well " * 3, timestamp=base + i * 10)
    equal((sender.flush(), sender.errors), (0, []), "500 records in lz4 batches")
    with Connection(node.bootstrap) as peer:
        equal([peer.list_offset(topic, base + t)[2] for t in (0, 1, 10, 2495, 4990, 4991)], [0, 1, 1, 250, 499, -1], "to the record")


def append_time():
    topic = rdkafka.create(node.bootstrap, unique("append"), 1, {"message.timestamp.type": "LogAppendTime"})
    before = int(time.time() * 1000)
    with Connection(node.bootstrap) as peer:
        for _ in range(3):
            peer.produce(topic, batches.build([(b"a", b"1"), (b"b", b"2")], timestamp=5))
        stored = batches.parse(peer.fetch(topic, {0: 0})[2][0][3])
    equal([(b.attributes & 8, b.crc_holds) for b in stored], [(8, True)] * 3, "LogAppendTime: marked in the batch, CRC made anew")
    check(all(before - 1000 <= b.max_timestamp <= time.time() * 1000 + 1000 for b in stored), "with the broker's time")
    got = [m.timestamp() for m in rdkafka.read_all(node.bootstrap, topic, 1, **{"check.crcs": True})]
    check(len(got) == 6 and all(kind == 2 and stamp >= before - 1000 for kind, stamp in got), "as consumers see it", got)


def false_times():
    """A header that lies about its records' largest timestamp is put right: time queries, rolls and retention go by it."""
    topic = rdkafka.create(node.bootstrap, unique("false"), 1)
    base = int(time.time() * 1000) - 100_000
    with Connection(node.bootstrap) as peer:
        for claimed in (base + (1 << 40), (1 << 63) - 1, base - 5, -1):
            records = batches.build([(b"k", b"v")] * 2, timestamp=base, deltas=[0, 10], max_timestamp=claimed)
            equal(peer.produce(topic, records)[0], 0, f"a header says {claimed}: taken")
        stored = batches.parse(peer.fetch(topic, {0: 0})[2][0][3])
        equal([(b.max_timestamp, b.crc_holds) for b in stored], [(base + 10, True)] * 4, "the stored headers say the truth")
        equal(peer.list_offset(topic, base + 11)[:3], (0, -1, -1), "nothing is later than the last record")


def limits():
    topic = rdkafka.create(node.bootstrap, unique("limits"), 2)
    with Connection(node.bootstrap) as peer:
        for p in (0, 1):
            for _ in range(10):
                peer.produce(topic, batches.build([(b"k", bytes(9_000))] * 3), p)
        one = batches.parse(peer.fetch(topic, {0: 0}, partition_max_bytes=1)[2][0][3])[0].size_bytes
        _, _, found = peer.fetch(topic, {0: 0, 1: 0}, partition_max_bytes=one * 3 + 100)
        equal([len(spans(found[p][3])) for p in (0, 1)], [3, 3], "partition_max_bytes: whole batches up to it")
        _, _, found = peer.fetch(topic, {0: 0, 1: 0}, max_bytes=one * 4)
        equal(sum(len(spans(found[p][3])) for p in (0, 1)) <= 4, True, "max_bytes: over all partitions")
        _, _, found = peer.fetch(topic, {0: 0, 1: 0}, max_bytes=1)
        equal([len(spans(found[p][3])) for p in (0, 1)], [1, 0], "max_bytes of 1: one batch of the first partition, no more")
        _, _, found = peer.fetch(topic, {0: 4}, partition_max_bytes=1)
        equal(spans(found[0][3]), [(3, 6)], "an offset inside a batch: that batch whole")
        equal([found[1] for found in peer.fetch(topic, {0: 0}, leader_epoch=99)[2].items()][0][0], UNKNOWN_EPOCH, "an epoch from the future: UNKNOWN_LEADER_EPOCH")
        equal(peer.list_offset(topic, LATEST, 0, 99)[0], UNKNOWN_EPOCH, "also in ListOffsets")


def long_poll():
    topic = rdkafka.create(node.bootstrap, unique("poll"), 1)
    with Connection(node.bootstrap) as reader, Connection(node.bootstrap) as writer:
        begin = time.monotonic()
        _, _, found = reader.fetch(topic, {0: 0}, max_wait_ms=700)
        took = time.monotonic() - begin
        check(0.6 < took < 2 and not found[0][3], "nothing to read: answered after max_wait", took)
        timer = threading.Timer(0.3, lambda: writer.produce(topic, batches.build([(b"k", b"wake")])))
        timer.start()
        begin = time.monotonic()
        _, _, found = reader.fetch(topic, {0: 0}, max_wait_ms=8000)
        took = time.monotonic() - begin
        check(0.2 < took < 2 and spans(found[0][3]) == [(0, 1)], "a record comes: answered at once", (took, found))
        timer.join()
        timer = threading.Timer(0.3, lambda: [writer.produce(topic, batches.build([(b"k", bytes(400))])) for _ in range(12)])
        timer.start()
        begin = time.monotonic()
        _, _, found = reader.fetch(topic, {0: 1}, min_bytes=2500, max_wait_ms=8000)
        check(len(found[0][3]) >= 2500 and time.monotonic() - begin < 4, "min_bytes: not before there are so many", len(found[0][3]))
        timer.join()
        # The end of stalled reads is not another reader's business.
        waiters = [Connection(node.bootstrap) for _ in range(50)]
        end = writer.list_offset(topic, LATEST)[2]
        for w in waiters:
            w.post(wire.FETCH, 11, w.fetch_body(topic, {0: end}, max_wait_ms=20_000))
        for w in waiters[25:]:
            w.close()
        time.sleep(0.2)
        begin = time.monotonic()
        writer.produce(topic, batches.build([(b"k", b"all")]))
        for w in waiters[:25]:
            w.frame()
            w.close()
        check(time.monotonic() - begin < 2, "25 waiting readers wake at one record, 25 gone ones disturb nobody", time.monotonic() - begin)


def sessions():
    topic = rdkafka.create(node.bootstrap, unique("session"), 3)
    with Connection(node.bootstrap) as peer:
        for p in range(3):
            peer.produce(topic, batches.build([(b"k", b"first")]), p)
        error, session, found = peer.fetch(topic, {0: 0, 1: 0, 2: 0}, session=(0, 0))
        check(error == 0 and session > 0 and sorted(found) == [0, 1, 2], "a full fetch opens a session", (error, session))
        error, same, found = peer.fetch(topic, {0: 1, 1: 1, 2: 1}, session=(session, 1), max_wait_ms=100)
        equal((error, same, found), (0, session, {}), "nothing new: an empty answer in the same session")
        peer.produce(topic, batches.build([(b"k", b"second")]), 1)
        error, _, found = peer.fetch(topic, {}, session=(session, 2))
        equal((error, {p: spans(f[3]) for p, f in found.items()}), (0, {1: [(1, 2)]}), "only the partition with news")
        error, _, found = peer.fetch(topic, {1: 2}, session=(session, 3), max_wait_ms=50, forget=(2,))
        equal((error, found), (0, {}), "a partition is forgotten")
        peer.produce(topic, batches.build([(b"k", b"third")]), 2)
        equal(peer.fetch(topic, {}, session=(session, 4), max_wait_ms=200)[2], {}, "and no longer answered")
        equal(peer.fetch(topic, {}, session=(session, 9))[0], BAD_EPOCH, "a skipped epoch: INVALID_FETCH_SESSION_EPOCH")
        equal(peer.fetch(topic, {}, session=(session + 1, 1))[0], SESSION_NOT_FOUND, "another id: FETCH_SESSION_ID_NOT_FOUND")
        error, none, found = peer.fetch(topic, {0: 0}, session=(session, -1))
        equal((error, none, spans(found[0][3])), (0, 0, [(0, 1)]), "epoch -1 closes it and reads without")
        equal(peer.fetch(topic, {}, session=(session, 5))[0], SESSION_NOT_FOUND, "then it is gone")


def nothing_to_wait_for():
    topic = rdkafka.create(node.bootstrap, unique("nothing"), 2)
    with Connection(node.bootstrap) as peer:
        _, session, _ = peer.fetch(topic, {0: 0, 1: 0}, session=(0, 0), max_wait_ms=1)
        begin = time.monotonic()
        equal(peer.fetch(topic, {}, session=(session, -1), max_wait_ms=20_000)[:2], (0, 0), "a close without partitions")
        equal(peer.fetch(topic, {}, max_wait_ms=20_000)[:2], (0, 0), "a fetch without partitions")
        _, session, _ = peer.fetch(topic, {0: 0, 1: 0}, session=(0, 0), max_wait_ms=1)
        equal(peer.fetch(topic, {}, session=(session, 1), max_wait_ms=20_000, forget=(0, 1))[:2], (0, 0), "all forgotten ends the session")
        equal(peer.fetch(topic, {}, session=(session, 2), max_wait_ms=20_000)[0], SESSION_NOT_FOUND, "then it is gone")
        check(time.monotonic() - begin < 5, "none of them waits", time.monotonic() - begin)
        begin = time.monotonic()
        _, _, found = peer.fetch(topic, {0: 0, 77: 0}, max_wait_ms=700)
        took = time.monotonic() - begin
        check(0.6 < took < 5 and (found[0][0], found[77][0]) == (0, UNKNOWN_TOPIC), "an unknown partition doesn't end the wait of a known one", (took, found))
        begin = time.monotonic()
        _, _, found = peer.fetch(topic, {77: 0}, max_wait_ms=20_000)
        check(found[77][0] == UNKNOWN_TOPIC and time.monotonic() - begin < 5, "alone it is answered at once", found)


def many_in_a_session():
    """Changes of a large session cost what they hold, not that times the session."""
    with Connection(node.bootstrap, timeout=60) as peer:
        spots = dict.fromkeys(range(40_000), 0)
        _, session, found = peer.fetch("no-such-topic", spots, session=(0, 0), max_wait_ms=1)
        begin = time.monotonic()
        error, _, left = peer.fetch("no-such-topic", {}, session=(session, 1), max_wait_ms=1, forget=range(0, 40_000, 2))
        took = time.monotonic() - begin
        check((error, len(found)) == (0, 40_000) and took < 10, "20,000 of 40,000 partitions forgotten", (error, len(found), took))
        check(node.alive(), "the broker lives")


for step in (seek, times, by_compressed_time, append_time, false_times, limits, long_poll, sessions, nothing_to_wait_for, many_in_a_session):
    with part(step.__name__):
        step()
finish()
