"""Round trip by kafka-python: admin, produce, groups, seek, offsets by time."""

import threading
import time

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic

from harness import broker
from harness.checks import check, equal, eventually, finish, part, unique, watchdog

watchdog(200)
node = broker.start()
TOPIC, COUNT = unique("kpy"), 2000
# Not long ago: retention goes by record times, and a foreign broker may look often.
BASE_MS = int(time.time() * 1000) - 60_000


def topics():
    admin = KafkaAdminClient(bootstrap_servers=node.bootstrap)
    admin.create_topics([NewTopic(TOPIC, 3, 1)])
    check(eventually(lambda: TOPIC in admin.list_topics(), 15), "a topic by the admin client")
    admin.close()


def produce():
    producer = KafkaProducer(bootstrap_servers=node.bootstrap, acks="all", enable_idempotence=True, compression_type="gzip", linger_ms=5)
    waiting = [producer.send(TOPIC, key=b"key-%d" % (i % 30), value=b"%d" % i, headers=[("n", b"%d" % i)], timestamp_ms=BASE_MS + i)
               for i in range(COUNT)]
    producer.flush(30)
    rows = [w.get(10) for w in waiting]
    equal(len({(r.partition, r.offset) for r in rows}), COUNT, "2000 idempotent gzip messages, each its own place")
    producer.send(TOPIC, key=b"tombstone", value=None).get(10)
    producer.close()
    check(True, "a null value")


class Reader(threading.Thread):
    """A group member that commits after each poll.

    It polls for seconds at a time: kafka-python 3.0.12 never applies an assignment whose SyncGroup answer comes after the poll that asked for it
    ended (the join goes on without it, and the next poll takes the group for joined), so that a poll of 200 ms on a busy machine reads nothing for ever.
    """

    def __init__(self, group):
        super().__init__(daemon=True)
        self.consumer = KafkaConsumer(TOPIC, bootstrap_servers=node.bootstrap, group_id=group, auto_offset_reset="earliest", enable_auto_commit=False,
                                      session_timeout_ms=9000, heartbeat_interval_ms=500)
        self.seen, self.owned, self.leaving = [], set(), threading.Event()
        self.start()

    def run(self):
        while not self.leaving.is_set():
            for messages in self.consumer.poll(5000).values():
                self.seen += messages
                self.consumer.commit()
            self.owned = {p.partition for p in self.consumer.assignment()}
        self.consumer.close()


def group():
    name = unique("kpy-group")
    one = Reader(name)
    check(eventually(lambda: len(one.seen) > COUNT, 40), "one member reads everything", len(one.seen))
    equal(len({(m.partition, m.offset) for m in one.seen}), len(one.seen), "once")
    check(all(m.timestamp == BASE_MS + int(m.value) and list(m.headers) == [("n", m.value)] for m in one.seen if m.value),
          "timestamps and headers come back")
    two = Reader(name)
    check(eventually(lambda: one.owned | two.owned == {0, 1, 2} and not one.owned & two.owned and two.owned, 40), "a second one shares", (one.owned, two.owned))
    one.leaving.set()
    check(eventually(lambda: two.owned == {0, 1, 2}, 40), "the first leaves: the second takes over", two.owned)
    time.sleep(0.5)
    equal(two.seen, [], "and gets nothing that was committed")
    two.leaving.set()
    two.join(20)


def seek():
    consumer = KafkaConsumer(bootstrap_servers=node.bootstrap, enable_auto_commit=False, consumer_timeout_ms=10000)
    place = TopicPartition(TOPIC, 1)
    consumer.assign([place])
    consumer.seek(place, 7)
    equal(next(consumer).offset, 7, "seek")
    equal((consumer.beginning_offsets([place])[place], consumer.end_offsets([place])[place] > 100), (0, True), "first and last offset")
    found = consumer.offsets_for_times({place: BASE_MS + COUNT // 2})[place]
    check(found and found.timestamp >= BASE_MS + COUNT // 2, "offsets_for_times", found)
    consumer.close()


for step in (topics, produce, group, seek):
    with part(step.__name__):
        step()
finish()
