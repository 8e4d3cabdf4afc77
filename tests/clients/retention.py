"""Retention: by time, size and log start, by settings changed while it runs, and under kill -9.

Old segments go whole and for good; what is above the low watermark stays and reads; the high watermark never moves back.
"""

import os
import threading
import time

from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AlterConfigOpType as OP
from confluent_kafka.admin import ConfigEntry, ConfigResource, ResourceType

from harness import batches, broker, rdkafka
from harness.checks import LONG, RANDOM, SEED, check, equal, eventually, finish, note, part, skip, unique, watchdog
from harness.wire import Connection

OUT_OF_RANGE = 1
MIB = 1 << 20
YEAR_2100_MS = 4_102_444_800_000
DEATHS = 12 if LONG else 4

watchdog(560 if LONG else 220)
node = broker.start({"log.retention.check.interval.ms": "300", "log.initial.task.delay.ms": "300"})
ADMIN = rdkafka.admin(node.bootstrap)


def create(name, **config):
    return rdkafka.create(node.bootstrap, unique(name), 1, {"file.delete.delay.ms": "300", **{k.replace("_", "."): str(v) for k, v in config.items()}})


def alter(topic, **config):
    entries = [ConfigEntry(k.replace("_", "."), str(v), incremental_operation=OP.SET) for k, v in config.items()]
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)
    ADMIN.incremental_alter_configs([resource])[resource].result(30)


def bounds(topic):
    """(low, high) watermark; a Kafka that was killed takes some time to lead again."""

    def ask():
        try:
            return rdkafka.end_offsets(node.bootstrap, topic, 1)[0]
        except KafkaException:
            return None

    return eventually(ask, 60)


def send(topic, count, size=100, **more):
    sender = rdkafka.Sender(node.bootstrap)
    for i in range(count):
        sender.send(topic, b"key-%d" % i, os.urandom(size), **more)
    equal((sender.flush(), sender.errors), (0, []), f"{count} records of {size} bytes are acknowledged")


def files(topic, ending):
    """Names in the partition's directory; none of a foreign broker."""
    found = node.partition_dirs(topic)
    return sorted(path.name for path in found[0].iterdir() if path.name.endswith(ending))


def error_at(topic, offset):
    with Connection(node.bootstrap) as peer:
        return peer.fetch(topic, {0: offset}, max_wait_ms=0)[2][0][0]


def by_time():
    topic = create("by-time", retention_ms=3000, segment_ms=1000)
    send(topic, 500)
    equal(bounds(topic), (0, 500), "all there at first")
    time.sleep(1.5)
    send(topic, 1)
    check(eventually(lambda: bounds(topic)[0] >= 500, 30), "retention.ms moves the low watermark", bounds(topic))
    equal(bounds(topic)[1], 501, "the high watermark stays")
    equal(error_at(topic, 10), OUT_OF_RANGE, "a Fetch below it: OFFSET_OUT_OF_RANGE")
    check(eventually(lambda: bounds(topic) == (501, 501), 30), "without traffic the last segment goes too", bounds(topic))
    send(topic, 3)
    reader = rdkafka.consumer(node.bootstrap)
    reader.assign([TopicPartition(topic, 0, 10)])
    first = eventually(lambda: (m := reader.poll(0.5)) and not m.error() and m, 20, 0)
    reader.close()
    equal(first and first.offset(), 501, "a reader of what went begins anew at the first there is")
    if node.controlled:
        check(eventually(lambda: not files(topic, ".deleted"), 20), "file.delete.delay.ms later their files are gone", files(topic, ".deleted"))
        check(all(int(name[:20]) >= 500 for name in files(topic, ".log") + files(topic, "index")), "and no other is left", files(topic, ""))


def by_size():
    topic = create("by-size", retention_bytes=2_000_000, segment_bytes=MIB, retention_ms=-1)
    send(topic, 1000, 10_000)
    check(eventually(lambda: bounds(topic)[0] > 500, 30), "retention.bytes cuts 10 MB", bounds(topic))
    time.sleep(1)
    low, high = bounds(topic)
    check(high == 1000 and 195 <= high - low <= 320, "to no less than 2 MB, by whole segments", (low, high))
    got = rdkafka.read_all(node.bootstrap, topic, 1)
    equal([m.offset() for m in got], list(range(low, high)), "what is left reads whole")


def by_settings():
    topic = create("by-settings", retention_ms=-1, segment_bytes=MIB, cleanup_policy="compact")
    send(topic, 400, 10_000)
    alter(topic, retention_bytes=MIB)
    time.sleep(1.5)
    equal(bounds(topic), (0, 400), "a topic that is only compacted keeps its segments")
    alter(topic, cleanup_policy="delete")
    check(eventually(lambda: bounds(topic)[0] > 150, 30), "cleanup.policy=delete acts at once", bounds(topic))
    alter(topic, retention_bytes=-1)
    send(topic, 100, 10_000)
    low = bounds(topic)[0]
    time.sleep(1)
    equal(bounds(topic)[0], low, "retention.bytes=-1 likewise")
    alter(topic, retention_ms=1000)
    check(eventually(lambda: bounds(topic) == (500, 500), 30), "retention.ms too: all goes", bounds(topic))


def by_log_start():
    topic = create("by-start", retention_ms=-1, segment_bytes=MIB)
    send(topic, 500, 10_000)
    before = files(topic, ".log") if node.controlled else []
    place = TopicPartition(topic, 0, 350)
    equal(ADMIN.delete_records([place])[place].result(30).low_watermark, 350, "DeleteRecords up to 350")
    equal([m.offset() for m in rdkafka.read_all(node.bootstrap, topic, 1)][:1], [350], "the first that is read")
    if node.controlled:
        check(eventually(lambda: len(files(topic, ".log")) <= len(before) - 3, 30), "segments that lie before it go", files(topic, ".log"))


def by_future():
    topic = create("by-future", retention_ms=2000, message_timestamp_after_max_ms=2**63 - 1)
    send(topic, 10, timestamp=YEAR_2100_MS)
    equal(bounds(topic), (0, 10), "records of the year 2100 are taken where the topic allows it")
    if broker.IS_KAFKA:
        return skip("records of the year 2100 go", "Kafka keeps them until then")
    check(eventually(lambda: bounds(topic) == (10, 10), 30), "and go when they have been there for so long", bounds(topic))


class Load(threading.Thread):
    """Sends records to a topic that holds few, and keeps what was acknowledged."""

    def __init__(self, topic):
        super().__init__(daemon=True)
        self.sender = rdkafka.Sender(node.bootstrap, **{"enable.idempotence": True, "message.timeout.ms": 120_000, "reconnect.backoff.max.ms": 500})
        self.topic, self.stopping, self.sent = topic, threading.Event(), 0

    def run(self):
        while not self.stopping.is_set():
            self.sender.send(self.topic, b"k", b"%d " % self.sent + os.urandom(2000), tag=self.sent)
            self.sent += 1
            if self.sent % 20 == 0:
                self.sender.poll()
                time.sleep(0.005)


def by_death():
    topic = create("by-death", retention_bytes=3 * MIB, segment_bytes=MIB, retention_ms=-1)
    note(f"seed {SEED}")
    load = Load(topic)
    load.start()
    low = 0
    for _ in range(DEATHS):
        before = low
        eventually(lambda: (found := bounds(topic)[0]) > before and found, 60)
        time.sleep(RANDOM.random() * 0.6)
        low = bounds(topic)[0]
        node.kill9()
        node.start()
        after = bounds(topic)[0]
        check(after >= low > before, "a killed broker starts where its log did, or behind", (before, low, after))
        low = after
        if broker.IS_KAFKA:
            break
    load.stopping.set()
    load.join()
    equal((load.sender.flush(120), load.sender.errors[:3]), (0, []), f"{load.sent} records are acknowledged")
    time.sleep(1.5)
    low, high = bounds(topic)
    check(high - low < 4 * MIB // 2000 + 600, "no more is kept than asked for, and a segment", (low, high))
    read = {m.offset(): int(m.value().split(b" ", 1)[0]) for m in rdkafka.read_all(node.bootstrap, topic, 1)}
    equal(sorted(read), list(range(low, high)), "what is left reads whole")
    wrong = [(offset, tag) for _, offset, tag in load.sender.acked if offset >= low and read.get(offset) != tag]
    equal(wrong[:5], [], "what was acknowledged and is above the low watermark is there, where it was")
    equal(len(set(read.values())), len(read), "nothing is doubled")
    if not broker.IS_KAFKA:
        check(eventually(lambda: not files(topic, ".deleted"), 20), "nothing waits for its removal", files(topic, ".deleted"))
        below = [name for name in files(topic, "") if name[:20].isdigit() and int(name[:20]) < low]
        check(len({name[:20] for name in below}) <= 1, "and nothing is left of what went", below)


for run in (by_time, by_size, by_settings, by_log_start, by_future):
    with part(run.__name__.replace("_", " ")):
        run()
with part("kill -9 while segments go"):
    if node.controlled:
        by_death()
    else:
        skip("kill -9", "another one's broker")
finish()
