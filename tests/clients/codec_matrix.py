"""Every codec by every Python client, read by each; a topic's own codec; what lies in the log."""

import asyncio

from harness import batches, broker, rdkafka
from harness.checks import equal, finish, part, unique, watchdog
from harness.wire import Connection

watchdog(200)
node = broker.start()
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
# Each gets smaller alone, too: librdkafka sends a batch plain that compressing wouldn't shrink, and its first may hold one record.
VALUES = [f"{i:05d} ".encode() * (40 + i % 60) for i in range(400)]


def by_librdkafka(topic, codec):
    sender = rdkafka.Sender(node.bootstrap, **{"compression.type": codec, "linger.ms": 50})
    for i, value in enumerate(VALUES):
        sender.send(topic, b"%d" % i, value, headers=[("n", b"%d" % i)])
    assert sender.flush() == 0 and not sender.errors, sender.errors


def by_kafka_python(topic, codec):
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=node.bootstrap, compression_type=None if codec == "none" else codec, linger_ms=50)
    waiting = [producer.send(topic, key=b"%d" % i, value=v, headers=[("n", b"%d" % i)]) for i, v in enumerate(VALUES)]
    producer.flush(30)
    [w.get(30) for w in waiting]
    producer.close()


def by_aiokafka(topic, codec):
    from aiokafka import AIOKafkaProducer

    async def send():
        producer = AIOKafkaProducer(bootstrap_servers=node.bootstrap, compression_type=None if codec == "none" else codec, linger_ms=50)
        await producer.start()
        waiting = [await producer.send(topic, key=b"%d" % i, value=v, headers=[("n", b"%d" % i)]) for i, v in enumerate(VALUES)]
        await asyncio.gather(*waiting)
        await producer.stop()

    asyncio.run(send())


def read_kafka_python(topic):
    from kafka import KafkaConsumer, TopicPartition

    consumer = KafkaConsumer(bootstrap_servers=node.bootstrap, auto_offset_reset="earliest", consumer_timeout_ms=4000, enable_auto_commit=False)
    consumer.assign([TopicPartition(topic, 0)])
    got = []
    for message in consumer:
        got.append((message.key, message.value, list(message.headers)))
        if len(got) == len(VALUES):
            break
    consumer.close()
    return got


def read_aiokafka(topic):
    from aiokafka import AIOKafkaConsumer, TopicPartition

    async def read():
        consumer = AIOKafkaConsumer(bootstrap_servers=node.bootstrap, auto_offset_reset="earliest", enable_auto_commit=False)
        await consumer.start()
        consumer.assign([TopicPartition(topic, 0)])
        got = []
        while len(got) < len(VALUES):
            message = await asyncio.wait_for(consumer.getone(), 15)
            got.append((message.key, message.value, list(message.headers)))
        await consumer.stop()
        return got

    return asyncio.run(read())


def read_librdkafka(topic):
    return [(m.key(), m.value(), m.headers()) for m in rdkafka.read_all(node.bootstrap, topic, 1)]


def stored(topic):
    with Connection(node.bootstrap) as peer:
        at, found = 0, []
        while True:
            got = batches.parse(peer.fetch(topic, {0: at}, max_wait_ms=0)[2][0][3])
            if not got:
                return found
            found += got
            at = got[-1].next_offset


WANTED = [(b"%d" % i, v, [("n", b"%d" % i)]) for i, v in enumerate(VALUES)]
WRITERS = {"librdkafka": by_librdkafka, "kafka-python": by_kafka_python, "aiokafka": by_aiokafka}
READERS = {"librdkafka": read_librdkafka, "kafka-python": read_kafka_python, "aiokafka": read_aiokafka}
for writer, write in WRITERS.items():
    for codec in CODECS:
        with part(f"{writer} {codec}"):
            topic = rdkafka.create(node.bootstrap, unique(f"codec-{writer}-{codec}"), 1)
            write(topic, codec)
            kept = stored(topic)
            equal({b.codec for b in kept}, {codec}, f"{codec} of {writer} is stored as it came")
            equal((all(b.crc_holds for b in kept), sum(b.count for b in kept)), (True, len(VALUES)), "its CRCs and counts hold")
            for reader, read in READERS.items():
                equal(read(topic) == WANTED, True, f"{reader} reads it back whole")
for codec in CODECS[1:] + ("uncompressed",):
    with part(f"topic codec {codec}"):
        topic = rdkafka.create(node.bootstrap, unique(f"topic-{codec}"), 1, {"compression.type": codec})
        for sent in ("none", "snappy" if codec == "zstd" else "zstd"):
            by_librdkafka(topic, sent)
        kept = stored(topic)
        equal({b.codec for b in kept}, {codec.replace("uncompressed", "none")}, f"compression.type={codec}: stored so, whatever is sent")
        equal(sum(b.count for b in kept), 2 * len(VALUES), "nothing lost on the way")
        equal(read_librdkafka(topic) == WANTED * 2, True, "and it reads back whole")
finish()
