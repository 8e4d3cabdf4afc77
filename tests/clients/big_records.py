"""Sizes: limits at the byte, megabyte records, fetch limits below a batch, varint boundaries, many headers."""

import os
import zlib

from confluent_kafka import KafkaError

from harness import batches, broker, rdkafka
from harness.checks import check, equal, finish, part, unique, watchdog
from harness.wire import Connection

MESSAGE_TOO_LARGE = 10
DEFAULT_LIMIT = 1_048_588
watchdog(200)
node = broker.start()


def exactly(size):
    """A batch of one record that is `size` bytes long in all."""
    body = size - len(batches.build([(None, b"")])) - 6
    while len(built := batches.build([(None, bytes(body))])) < size:
        body += size - len(built)
    if len(built) != size:  # a varint grew by two at once
        built = batches.build([(b"", bytes(body - 2))])
    assert len(built) == size, (len(built), size)
    return built


def at_the_limit():
    for limit, config in ((5000, {"max.message.bytes": "5000"}), (DEFAULT_LIMIT, {})):
        topic = rdkafka.create(node.bootstrap, unique(f"big-{limit}"), 1, config)
        with Connection(node.bootstrap) as peer:
            equal(peer.produce(topic, exactly(limit)), (0, 0), f"a batch of {limit} bytes, the limit")
            equal(peer.produce(topic, exactly(limit + 1))[0], MESSAGE_TOO_LARGE, "one byte more: MESSAGE_TOO_LARGE")
            equal(peer.produce(topic, exactly(300)), (0, 1), "connection and partition go on")
    topic = rdkafka.create(node.bootstrap, unique("big-rd"), 1, {"max.message.bytes": "60000"})
    sender = rdkafka.Sender(node.bootstrap, **{"message.max.bytes": 5_000_000})
    sender.send(topic, None, os.urandom(90_000))
    sender.flush()
    equal([e.code() for e, _ in sender.errors], [KafkaError.MSG_SIZE_TOO_LARGE], "librdkafka reports MSG_SIZE_TOO_LARGE")
    sender = rdkafka.Sender(node.bootstrap, **{"message.max.bytes": 5_000_000, "compression.type": "zstd"})
    sender.send(topic, None, b"a" * 2_000_000)
    equal((sender.flush(), sender.errors), (0, []), "2 MB that compress below the limit are taken: it counts stored bytes")


def megabytes():
    topic = rdkafka.create(node.bootstrap, unique("big-mb"), 1, {"max.message.bytes": "12000000"})
    values = [os.urandom(n) for n in (8_000_000, 5, 3_300_000, 0, 11_000_000, 70_000)]
    sender = rdkafka.Sender(node.bootstrap, **{"message.max.bytes": 20_000_000})
    for value in values:
        sender.send(topic, b"k", value)
    equal((sender.flush(), sender.errors), (0, []), "records of up to 11 MB are taken")
    sums = [zlib.crc32(v) for v in values]
    wide = {"fetch.message.max.bytes": 20_000_000, "fetch.max.bytes": 60_000_000, "receive.message.max.bytes": 100_000_000}
    equal([zlib.crc32(m.value()) for m in rdkafka.read_all(node.bootstrap, topic, 1, 60, **wide)], sums, "and come back whole")
    narrow = {"fetch.message.max.bytes": 1000, "fetch.max.bytes": 20_000_000, "receive.message.max.bytes": 100_000_000}
    equal([zlib.crc32(m.value()) for m in rdkafka.read_all(node.bootstrap, topic, 1, 60, **narrow)], sums,
          "also past a fetch limit of 1000 bytes: the first batch is always whole (KIP-74)")
    with Connection(node.bootstrap, timeout=30) as peer:
        _, _, found = peer.fetch(topic, {0: 0}, max_bytes=1, partition_max_bytes=1)
        equal([b.next_offset for b in batches.parse(found[0][3])], [1], "a fetch of 1 byte gives exactly the first batch")
        # From the middle of a batch: the whole batch that holds the offset.
        _, _, found = peer.fetch(topic, {0: 3}, max_bytes=1, partition_max_bytes=1)
        check(batches.parse(found[0][3])[0].base_offset <= 3 < batches.parse(found[0][3])[0].next_offset, "a fetch inside gives the batch that holds it")


def every_size():
    topic = rdkafka.create(node.bootstrap, unique("big-var"), 1)
    edges = sorted({n + d for n in (0, 64, 128, 4096, 8192, 16384, 65536, 1 << 20) for d in (-2, -1, 0, 1) if 0 <= n + d <= 1_000_000})
    values = [os.urandom(n) for n in edges + [1_000_000]]
    for codec in ("none", "lz4", "snappy"):
        sender = rdkafka.Sender(node.bootstrap, **{"compression.type": codec, "linger.ms": 0, "message.max.bytes": 2_000_000})
        for value in values:
            sender.send(topic, value[:300], value)
        equal((sender.flush(), sender.errors), (0, []), f"sizes around every varint and block boundary, {codec}")
    got = rdkafka.read_all(node.bootstrap, topic, 1, 60)
    equal([zlib.crc32(m.value()) for m in got], [zlib.crc32(v) for v in values] * 3, "come back whole and in order")


def headers():
    topic = rdkafka.create(node.bootstrap, unique("big-head"), 1)
    many = [(f"name-{i % 50}", os.urandom(i % 90) if i % 9 else None) for i in range(2000)]
    sender = rdkafka.Sender(node.bootstrap)
    sender.send(topic, b"k", b"v", headers=many)
    equal((sender.flush(), sender.errors), (0, []), "2000 headers are taken")
    equal(rdkafka.read_all(node.bootstrap, topic, 1)[0].headers(), many, "and come back in order, null ones and repeated names too")


for step in (at_the_limit, megabytes, every_size, headers):
    with part(step.__name__):
        step()
finish()
