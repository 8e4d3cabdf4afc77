"""What bad input gets: Kafka's error or a closed connection, and no effect on anyone else.

Every case goes to the broker by a raw socket. After each: the process lives, its memory is within its bounds, and a
connection that was open all along, with a produce and a fetch of its own, works as before. Expected codes were taken
from Apache Kafka 4.4; where Kafka says UNKNOWN_SERVER_ERROR a named code is accepted too.
"""

import os
import random
import socket
import struct
import threading
import time

from harness import batches, broker, wire
from harness.checks import LONG, RANDOM, SEED, among, check, equal, eventually, finish, note, part, skip, unique, watchdog
from harness.wire import Connection, array, compact, framed, header, i8, i16, i32, i64, produce_body, string

CORRUPT_MESSAGE, UNKNOWN_TOPIC, MESSAGE_TOO_LARGE, INVALID_TOPIC = 2, 3, 10, 17
INVALID_REQUIRED_ACKS, UNSUPPORTED_VERSION, INVALID_REQUEST, OUT_OF_ORDER = 21, 35, 42, 45
INVALID_PRODUCER_EPOCH, INVALID_TIMESTAMP, UNSUPPORTED_COMPRESSION, INVALID_RECORD = 47, 32, 76, 87
UNKNOWN_SERVER_ERROR, UNSUPPORTED_FORMAT = -1, 43
REQUEST_BYTES_MAX = 104_857_600  # socket.request.max.bytes
# Java's heap is not ours to judge: the bound is for the broker under test.
RSS_GROWTH_MAX = (400 if not broker.IS_KAFKA else 4000) << 20

node = broker.start({"num.partitions": "2", "message.timestamp.after.max.ms": "3600000"})
HOST, PORT = node.bootstrap.rsplit(":", 1)
TOPIC = unique("bad")
good = b"x" * 100


class Bystander:
    """A connection that is open during every case and must not notice any."""

    def __init__(self):
        self.connection = Connection(node.bootstrap)
        self.next = 0

    def works(self):
        error, offset = self.connection.produce(TOPIC, batches.build([(b"by", b"stander%d" % self.next)]), partition=1)
        if (error, offset) != (0, self.next):
            return f"produce gave {(error, offset)}, wanted offset {self.next}"
        self.next += 1
        _, _, found = self.connection.fetch(TOPIC, {1: offset})
        got = batches.parse(found[1][3])
        return "" if found[1][0] == 0 and got and got[0].base_offset == offset else f"fetch gave {found}"


def settle(what):
    """The counted after-effects of one case."""
    problem = bystander.works()
    with Connection(node.bootstrap) as fresh:
        served = bool(fresh.api_versions())
    grown = node.rss_bytes() - rss_before
    check(not problem and served and node.alive() and grown < RSS_GROWTH_MAX, f"{what}: everyone else goes on",
          f"{problem} alive={node.alive()} grown={grown >> 20} MiB")


def refused(data, what, seconds=5.0, half_close=False):
    """The connection that sent `data` is closed by the broker."""
    with Connection(node.bootstrap) as peer:
        try:
            peer.send(data)
            if half_close:
                peer.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        check(peer.closed(seconds), f"{what}: connection closed")
    settle(what)


def answered(records, wanted, what, version=7, acks=-1):
    """A produce request that gets one of the codes, on a connection that goes on."""
    with Connection(node.bootstrap) as peer:
        error, _ = peer.produce(TOPIC, records, version=version, acks=acks)
        among(error, wanted, f"{what}: error code")
        error, offset = peer.produce(TOPIC, batches.build([(b"k", b"after")]), version=version)
        equal(error, 0, f"{what}: same connection goes on")
    settle(what)


def frames():
    refused(i32(REQUEST_BYTES_MAX + 1), "frame one byte over the limit")
    refused(i32(0x7FFFFFFF), "frame of 2 GiB")
    refused(i32(-1), "negative frame length")
    refused(i32(-(1 << 31)), "most negative frame length")
    refused(i32(0), "empty frame")
    for size in (1, 4, 7):
        refused(framed(bytes(size)), f"frame of {size} bytes, less than a header")
    body = header(wire.METADATA, 7, 1) + array([string(TOPIC)]) + i8(0)
    refused(framed(body[:-3]), "frame that ends inside a field")
    refused(i32(len(body) + 50) + body, "half a frame, then the end of the stream", half_close=True)
    refused(framed(i16(wire.METADATA) + i16(7) + i32(1) + i16(-2)), "client id length -2")
    refused(framed(i16(wire.METADATA) + i16(7) + i32(1) + i16(0x7FFF) + b"ab"), "client id longer than the frame")
    refused(b"GET / HTTP/1.1\r\nHost: broker\r\n\r\n", "an HTTP request")
    refused(bytes.fromhex("160301020001000001fc0303") + bytes(500), "a TLS hello", seconds=10)
    refused(b"\n" * 100, "line feeds")


def handshake():
    for api, version in ((999, 0), (-1, 0), (0x7FFF, 0x7FFF), (93, 0)):
        refused(framed(header(api, version, 3)), f"unknown API key {api}")
    for api, version, body in ((wire.METADATA, 99, bytes(4)), (wire.METADATA, -1, bytes(4)), (wire.FETCH, 3, bytes(40)),
                               (wire.PRODUCE, 2, produce_body(TOPIC, {0: b""})), (wire.PRODUCE, 99, bytes(10))):
        refused(framed(header(api, version, 4) + body), f"API {api} in unsupported version {version}")
    with Connection(node.bootstrap) as peer:
        peer.send(framed(i16(wire.API_VERSIONS) + i16(99) + i32(5) + string("x") + b"\0" + b"\xff\xfe\xfd"))
        answer = wire.Reader(peer.frame())
        equal((answer.i32(), answer.i16()), (5, UNSUPPORTED_VERSION), "ApiVersions v99: error 35 in the shape of v0 (KIP-511)")
        rows = answer.array(lambda r: (r.i16(), r.i16(), r.i16()))
        check(len(rows) >= 1 and any(r[0] == wire.API_VERSIONS and r[1] == 0 for r in rows) and answer.left() == 0,
              "ApiVersions v99: lists its own range and nothing behind", rows)
        check(peer.api_versions(), "ApiVersions v99: the connection goes on with v0")
    settle("ApiVersions v99")
    for name in ("a b!", "", "-x", "x-", "ä"):
        with Connection(node.bootstrap) as peer:
            answer = peer.call(wire.API_VERSIONS, 3, compact(name) + compact("1.0") + b"\0")
            equal(answer.i16(), INVALID_REQUEST, f"ApiVersions v3 with software name {name!r}: INVALID_REQUEST")
    settle("bad software names")
    with Connection(node.bootstrap) as peer:
        peer.api_versions()
        peer.send(framed(bytes([0xFF]) * 64))
        check(peer.closed(), "garbage after the handshake: connection closed")
    settle("garbage after the handshake")
    for round_number in range(200 if LONG else 40):
        with Connection(node.bootstrap) as peer:
            noise = RANDOM.randbytes(RANDOM.randrange(1, 400))
            try:
                if round_number % 2:
                    # A known key and version with noise for a body reaches deep into the decoders.
                    api = RANDOM.choice([k for k in versions if k not in (wire.API_VERSIONS,)])
                    peer.send(framed(header(api, RANDOM.choice(versions[api]), 9) + noise))
                else:
                    peer.send(noise)
                peer.socket.shutdown(socket.SHUT_WR)
            except OSError:
                continue
            peer.closed(0.5)
    settle(f"random noise (seed {SEED})")


def counts():
    huge = (1_000_000, 0x7FFFFFFF)
    for count in (-2, -0x80000000):
        # Kafka takes any negative count for null (all topics); refusing it is as good.
        with Connection(node.bootstrap) as peer:
            peer.send(framed(header(wire.METADATA, 7, 1) + i32(count) + bytes(20)))
            try:
                got = wire.Reader(peer.frame()).i32()
            except (EOFError, ConnectionError):
                got = "closed"
            among(got, (1, "closed"), f"Metadata with {count} topics: as null, or closed")
        settle(f"Metadata with {count} topics")
    for count in huge:
        refused(framed(header(wire.METADATA, 7, 1) + i32(count) + bytes(20)), f"Metadata with {count} topics in 20 bytes")
    for count in huge:
        refused(framed(header(wire.PRODUCE, 7, 1) + string(None) + i16(-1) + i32(1000) + i32(count) + bytes(16)),
                f"Produce with {count} topics in 16 bytes")
        refused(framed(header(wire.FETCH, 11, 1) + i32(-1) * 2 + i32(1) + i32(1 << 20) + i8(0) + i32(0) + i32(-1) + i32(count) + bytes(16)),
                f"Fetch with {count} topics in 16 bytes")
    compact_count = batches.uvarint(0x7FFFFFFF)
    refused(framed(header(wire.METADATA, 9, 1) + compact_count + bytes(20)), "Metadata v9 with 2^31 topics")
    refused(framed(header(wire.METADATA, 9, 1) + b"\xff" * 12), "a varint that never ends")
    refused(framed(i16(wire.METADATA) + i16(9) + i32(1) + string("x") + compact_count + bytes(9)), "2^31 header tags")
    row = string(TOPIC) + array([i32(0) + i32(0x7FFFFFFF) + bytes(30)])
    refused(framed(header(wire.PRODUCE, 7, 1) + string(None) + i16(-1) + i32(1000) + array([row])), "records longer than the frame")
    refused(framed(header(wire.CREATE_TOPICS, 4, 1) + i32(1) + i16(-5) + bytes(30)), "a topic name of length -5")


def records():
    build, pair = batches.build, [(b"k", b"v")]
    answered(build(pair, crc=0x12345678), (CORRUPT_MESSAGE,), "wrong CRC")
    flipped = bytearray(build([(b"k", good)]))
    flipped[-20] ^= 1
    answered(bytes(flipped), (CORRUPT_MESSAGE,), "one flipped bit in a value")
    for magic in (0, 1, 3, 7, -1):
        answered(build(pair, magic=magic), (INVALID_RECORD, CORRUPT_MESSAGE, UNSUPPORTED_FORMAT, UNKNOWN_SERVER_ERROR), f"magic {magic}")
    answered(build(pair, count=2, last_delta=1), (INVALID_RECORD, CORRUPT_MESSAGE, UNKNOWN_SERVER_ERROR), "two records claimed, one there")
    answered(build(pair * 2, count=1, last_delta=0), (INVALID_RECORD, CORRUPT_MESSAGE, UNKNOWN_SERVER_ERROR), "one record claimed, two there")
    answered(build(pair, count=5), (INVALID_RECORD,), "count and last offset delta differ")
    answered(build(pair, last_delta=-1), (INVALID_RECORD,), "negative last offset delta")
    answered(build(pair, count=-1), (INVALID_RECORD,), "negative count")
    answered(build([], count=0, last_delta=-1), (INVALID_RECORD,), "no record at all")
    answered(build(pair, count=0x7FFFFFFF, last_delta=0x7FFFFFFE), (INVALID_RECORD, CORRUPT_MESSAGE, UNKNOWN_SERVER_ERROR), "2^31 records claimed")
    answered(build(pair, base_offset=7), (INVALID_RECORD,), "a base offset other than 0")
    answered(build(pair, attributes=0x20), (INVALID_RECORD,), "a control batch from a client")
    answered(build(pair, length=20), (CORRUPT_MESSAGE, INVALID_RECORD, UNKNOWN_SERVER_ERROR), "batch length below a header")
    answered(build(pair, length=-1), (CORRUPT_MESSAGE, INVALID_RECORD, UNKNOWN_SERVER_ERROR), "negative batch length")
    answered(build(pair)[:40], (CORRUPT_MESSAGE, INVALID_RECORD, UNKNOWN_SERVER_ERROR), "half a batch")
    answered(build(pair) + build(pair), (INVALID_RECORD,), "two batches for one partition")
    answered(b"", (INVALID_RECORD, CORRUPT_MESSAGE, UNKNOWN_SERVER_ERROR), "empty records field")
    answered(RANDOM.randbytes(300), (CORRUPT_MESSAGE, INVALID_RECORD, UNKNOWN_SERVER_ERROR), "records of noise")
    for body, what in ((b"\xff" * 40, "a record length varint that never ends"), (batches.varint(-5) + bytes(20), "a negative record length"),
                       (batches.varint(1 << 30) + bytes(20), "a record of 1 GiB in 20 bytes"),
                       (batches.varint(7) + b"\0\0\0" + batches.varint(-9) + bytes(3), "a negative key length")):
        answered(build(pair, body=body), (INVALID_RECORD, CORRUPT_MESSAGE, UNKNOWN_SERVER_ERROR), what)
    for codec in (1, 2, 3, 4):
        answered(build(pair, attributes=codec, body=RANDOM.randbytes(200)), (INVALID_RECORD, CORRUPT_MESSAGE, UNKNOWN_SERVER_ERROR),
                 f"noise marked as {batches.CODECS[codec]}")
    for codec in (5, 6, 7):
        answered(build(pair, attributes=codec), (INVALID_RECORD, CORRUPT_MESSAGE, UNSUPPORTED_COMPRESSION, UNKNOWN_SERVER_ERROR), f"codec {codec}")
    answered(build(pair, attributes=4, body=b""), (INVALID_RECORD, CORRUPT_MESSAGE, UNSUPPORTED_COMPRESSION, UNKNOWN_SERVER_ERROR),
             "zstd before Produce v7", version=6)
    answered(build(pair, timestamp=int(time.time() * 1000) + 7_200_000), (INVALID_TIMESTAMP,), "a timestamp two hours ahead")
    answered(build([(b"k", bytes(1_100_000))]), (MESSAGE_TOO_LARGE,), "a batch over max.message.bytes")
    answered(build(pair, attributes=0x10), (INVALID_REQUEST, 48, 53, 59, INVALID_RECORD), "transactional without producer id")
    for acks in (2, -2, 100):
        answered(build(pair), (INVALID_REQUIRED_ACKS,), f"acks={acks}", acks=acks)


def bombs():
    """A little that unpacks to a lot: bounded by the record limit, whatever the codec."""
    import gzip

    import zstandard

    payload = batches.record(0, None, bytes(200 << 20))
    for codec, packed in ((1, gzip.compress(payload, 6)), (4, zstandard.compress(payload, 3))):
        name = batches.CODECS[codec]
        with Connection(node.bootstrap, timeout=60) as peer:
            error, _ = peer.produce(TOPIC, batches.build([(b"", b"")], attributes=codec, body=packed))
            # Kafka checks compressed records by skipping through them and takes this one; so may we.
            among(error, (0, INVALID_RECORD, CORRUPT_MESSAGE, MESSAGE_TOO_LARGE, UNKNOWN_SERVER_ERROR), f"200 MiB in {len(packed) >> 10} KiB of {name}")
        settle(f"bomb in {name}")


def swarms():
    """One request that names much: its cost is bounded, and other connections go on."""
    one = batches.build([(b"k", b"v")])
    row = i32(0) + i32(len(one)) + one
    with Connection(node.bootstrap, timeout=60) as peer:
        body = string(None) + i16(-1) + i32(5000) + array([string(TOPIC) + array([row] * 40_000)])
        answer = peer.call(wire.PRODUCE, 7, body)
        answer.i32(), answer.string()
        equal((answer.i32(), answer.i32(), answer.i16()), (1, 0, 0), "a partition 40,000 times in one Produce: the last counts")
    settle("one partition 40,000 times")
    import zstandard

    packed = zstandard.compress(batches.record(0, None, bytes(100 << 20)), 3)
    bomb = batches.build([(b"", b"")], attributes=4, body=packed)
    with Connection(node.bootstrap, timeout=60) as peer, Connection(node.bootstrap, timeout=60) as other:
        topic = unique("bombs")
        peer.create_topic(topic, 64)
        peer.post(wire.PRODUCE, 7, produce_body(topic, dict.fromkeys(range(64), bomb)))
        worst, begin = 0.0, time.monotonic()
        while time.monotonic() - begin < 3:
            asked = time.monotonic()
            other.api_versions()
            worst = max(worst, time.monotonic() - asked)
        check(worst < 3, "64 bombs in one Produce: another connection is served between them", worst)
        peer.frame()
    settle("64 bombs in one Produce")


def sequences():
    with Connection(node.bootstrap) as peer:
        error, producer, epoch = peer.init_producer_id()
        equal(error, 0, "InitProducerId")

        def send(sequence, records=1, at_epoch=epoch, partition=0):
            pairs = [(b"s", b"%d" % (sequence + i)) for i in range(records)]
            return peer.produce(TOPIC, batches.build(pairs, producer=(producer, at_epoch), sequence=sequence), partition=partition)

        error, first = send(0)
        equal(error, 0, "sequence 0 is taken")
        equal(send(5)[0], OUT_OF_ORDER, "a gap: OUT_OF_ORDER_SEQUENCE_NUMBER")
        equal(send(0), (0, first), "the same batch again: its first offset")
        equal(send(1)[0], 0, "the right next one is taken after all that")
        equal(send(0, records=2)[0], OUT_OF_ORDER, "an overlap that is no duplicate: OUT_OF_ORDER_SEQUENCE_NUMBER")
        equal(send(-1)[0], INVALID_RECORD, "producer id with sequence -1: INVALID_RECORD")
        equal(send(0, at_epoch=1)[0], 0, "a higher epoch starts at 0")
        among(send(2)[0], (INVALID_PRODUCER_EPOCH,), "the older epoch is fenced")
        equal(send(3, at_epoch=2)[0], OUT_OF_ORDER, "a new epoch that doesn't start at 0")
    settle("sequences")


def topics():
    names = ("", ".", "..", "a b", "a/b", "../up", "a\0b", "ä", "x" * 250, "a\nb", "a:b")
    for name in names:
        with Connection(node.bootstrap) as peer:
            equal(peer.create_topic(name), INVALID_TOPIC, f"CreateTopics {name[:12]!r}: INVALID_TOPIC_EXCEPTION")
            among(peer.metadata([name], create=True).get(name, (None,))[0], (INVALID_TOPIC,), f"Metadata {name[:12]!r} with auto-creation")
            among(peer.produce(name, batches.build([(b"k", b"v")]))[0], (INVALID_TOPIC, UNKNOWN_TOPIC), f"Produce to {name[:12]!r}")
    with Connection(node.bootstrap) as peer:
        among(peer.create_topic(unique("neg"), partitions=0), (37,), "0 partitions: INVALID_PARTITIONS")
        among(peer.create_topic(unique("neg"), partitions=-5), (37,), "-5 partitions: INVALID_PARTITIONS")
        among(peer.create_topic(unique("neg"), replicas=9), (38,), "9 replicas on one node: INVALID_REPLICATION_FACTOR")
        among(peer.create_topic(unique("neg"), configs={"no.such": "1"}), (40,), "an unknown topic setting: INVALID_CONFIG")
        among(peer.create_topic(unique("neg"), configs={"max.message.bytes": "many"}), (40,), "a bad topic setting: INVALID_CONFIG")
        among(peer.create_topic(TOPIC), (36,), "a topic that exists: TOPIC_ALREADY_EXISTS")
        # Minutes of CPU and gigabytes on a broker without a bound.
        among(peer.create_topic(unique("many"), partitions=2_000_000_000), (37, 42, 44, 89, UNKNOWN_SERVER_ERROR), "2,000,000,000 partitions")
        for partition in (2, -1, 0x7FFFFFFF):
            equal(peer.produce(TOPIC, batches.build([(b"k", b"v")]), partition=partition)[0], UNKNOWN_TOPIC, f"Produce to partition {partition}")
            equal(peer.fetch(TOPIC, {partition: 0})[2][partition][0], UNKNOWN_TOPIC, f"Fetch of partition {partition}")
            equal(peer.list_offset(TOPIC, -1, partition)[0], UNKNOWN_TOPIC, f"ListOffsets of partition {partition}")
    settle("bad topic names and partitions")


def fetches():
    with Connection(node.bootstrap) as peer:
        for offset in (1 << 40, -2, -0x8000000000000000):
            equal(peer.fetch(TOPIC, {1: offset})[2][1][0], 1, f"Fetch at {offset}: OFFSET_OUT_OF_RANGE")
        error, _, found = peer.fetch(TOPIC, {1: 0}, max_bytes=-1, partition_max_bytes=-1)
        check(error in (0, INVALID_REQUEST), "negative fetch limits", (error, found))
        error, _, found = peer.fetch(TOPIC, {1: 0}, max_bytes=0x7FFFFFFF, partition_max_bytes=0x7FFFFFFF)
        equal((error, found[1][0]), (0, 0), "the greatest fetch limits")
        equal(peer.fetch(TOPIC, {1: 0}, session=(123456, 7))[0], 70, "an unknown fetch session: FETCH_SESSION_ID_NOT_FOUND")
        _, session, _ = peer.fetch(TOPIC, {1: 0}, session=(0, 0))
        if check(session, "a session is granted", session):
            equal(peer.fetch(TOPIC, {}, session=(session, 9))[0], 71, "a session's wrong epoch: INVALID_FETCH_SESSION_EPOCH")
        equal(peer.fetch(TOPIC, {1: 0}, leader_epoch=9999)[2][1][0], 75, "an epoch from the future: UNKNOWN_LEADER_EPOCH")
        begin = time.monotonic()
        end = peer.list_offset(TOPIC, -1, 1)[2]
        peer.fetch(TOPIC, {1: end}, max_wait_ms=-5)
        check(time.monotonic() - begin < 3, "a negative max wait doesn't wait")
    settle("odd fetches")


def connections():
    """Half-open, stalled and slow peers, and many of them."""
    fds_before = len(os.listdir(f"/proc/{node.pid}/fd")) if node.controlled else 0
    stalled = []
    for _ in range(150):
        peer = Connection(node.bootstrap)
        peer.send(i32(1000) + b"\0\3")
        stalled.append(peer)
    settle("150 connections stalled inside a frame")
    for peer in stalled[:75]:
        # RST instead of FIN: the half-open kind.
        peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    for peer in stalled:
        peer.close()
    settle("their ends, by FIN and by RST")
    request = framed(header(wire.METADATA, 7, 77) + array([string(TOPIC)]) + i8(0))
    slow = Connection(node.bootstrap, timeout=20)
    for byte in request:
        slow.send(bytes([byte]))
        time.sleep(0.01)
    equal(wire.Reader(slow.frame()).i32(), 77, "a request byte by byte is answered")
    slow.close()
    # Claims of 90 MiB each, with nothing behind: memory follows what arrives, not what is claimed.
    # (Kafka allocates what is claimed and dies of OutOfMemoryError: it gets two.)
    claimers = [Connection(node.bootstrap) for _ in range(2 if broker.IS_KAFKA else 30)]
    for peer in claimers:
        peer.send(i32(90 << 20) + header(wire.PRODUCE, 7, 1))
    time.sleep(0.5)
    settle("claims of 90 MiB")
    for peer in claimers:
        peer.close()
    # A peer that asks and never reads: its answers must not pile up.
    deaf = Connection(node.bootstrap, timeout=2)
    deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    with Connection(node.bootstrap) as peer:
        for _ in range(20):
            peer.produce(TOPIC, batches.build([(b"k", bytes(900_000))]))
    sent = 0
    try:
        for _ in range(3000):
            deaf.send(framed(header(wire.FETCH, 11, sent) + deaf.fetch_body(TOPIC, {0: 0}, partition_max_bytes=20 << 20, max_wait_ms=0)))
            sent += 1
    except OSError:
        pass
    note(f"{sent} fetches taken from a peer that never reads")
    settle("a peer that never reads")
    deaf.close()
    storm_errors = []

    def storm(seed):
        choose = random.Random(seed)
        for _ in range(60):
            try:
                with Connection(node.bootstrap) as peer:
                    if choose.random() < 0.5:
                        peer.send(choose.randbytes(choose.randrange(1, 64)))
            except OSError as error:
                storm_errors.append(error)

    threads = [threading.Thread(target=storm, args=(SEED + i,)) for i in range(8)]
    [t.start() for t in threads], [t.join() for t in threads]
    equal(storm_errors[:3], [], "480 short connections are all accepted")
    settle("a storm of short connections")
    with Connection(node.bootstrap) as peer:
        for i in range(200):
            peer.send(framed(header(wire.METADATA, 7, 1000 + i) + array([string(TOPIC)]) + i8(0)))
        got = [wire.Reader(peer.frame()).i32() for _ in range(200)]
        equal(got, list(range(1000, 1200)), "200 requests at once are answered in their order")
    if node.controlled:
        fds = lambda: len(os.listdir(f"/proc/{node.pid}/fd"))  # noqa: E731
        check(eventually(lambda: fds() < fds_before + 60, 20), "no file descriptors are left behind", f"{fds_before} -> {fds()}")
    else:
        skip("file descriptors", "the broker isn't ours")


def acks_zero():
    """acks=0 has no answer, so an error has to close the connection (kafka-4.4: as Kafka does)."""
    with Connection(node.bootstrap) as peer:
        peer.post(wire.PRODUCE, 7, produce_body(TOPIC, {0: batches.build([(b"k", b"v")])}, acks=0))
        check(peer.api_versions(), "acks=0 gets no answer, the next request its own")
    refused(framed(header(wire.PRODUCE, 7, 1) + produce_body(TOPIC, {0: batches.build([(b"k", b"v")], crc=1)}, acks=0)), "acks=0 with a wrong CRC")
    refused(framed(header(wire.PRODUCE, 7, 1) + produce_body(unique("none"), {77: batches.build([(b"k", b"v")])}, acks=0)), "acks=0 to no partition")


watchdog(300)
with Connection(node.bootstrap) as setup:
    equal(setup.create_topic(TOPIC, 2), 0, "a topic to abuse")
    eventually(lambda: all(p[0] == 0 for p in setup.metadata([TOPIC])[TOPIC][1].values()) and setup.list_offset(TOPIC, -1, 1)[0] == 0, 20)
    versions = setup.api_versions()
bystander = Bystander()
rss_before = node.rss_bytes()
for case in (frames, handshake, counts, records, bombs, swarms, sequences, topics, fetches, acks_zero, connections):
    with part(case.__name__):
        case()
note(f"resident memory {rss_before >> 20} -> {node.rss_bytes() >> 20} MiB")
if node.controlled:
    with part("stop"):
        among(node.stop(), (0, 143), "a clean stop after all that")
finish()
