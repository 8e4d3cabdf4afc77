"""A disk that is fuller than it may be: writes are refused, everything else goes on, and a restart with room takes writes again.

What counts as full is set so low that every disk is: filling one would disturb whoever else uses it.
"""

from confluent_kafka import TopicPartition

from harness import batches, broker, rdkafka
from harness.checks import check, equal, finish, part, unique, watchdog
from harness.wire import Connection

STORAGE_ERROR = 56
BALLAST = "ringlog-ballast"
watchdog(110)
ROOM = {"log.retention.check.interval.ms": "300"}
FULL = {**ROOM, "ringlog.disk.full.percent": "1", "ringlog.disk.enough.bytes": str(1 << 62)}

node = broker.start({**ROOM, "ringlog.disk.ballast.bytes": str(1 << 20)})
TOPIC = rdkafka.create(node.bootstrap, unique("full"), 1, {"segment.bytes": str(1 << 20)})


def produce(records):
    with Connection(node.bootstrap) as peer:
        return peer.produce(TOPIC, batches.build(records))


def restart(settings):
    node.stop()
    node.settings = {**broker.DEFAULTS, **settings}
    node.start()


def ballast_bytes():
    path = node.data_dir / BALLAST
    return path.stat().st_blocks * 512 if path.exists() else None


with part("with room"):
    equal(produce([(b"k", b"v%d" % i) for i in range(10)]), (0, 0), "a record is taken")
    check((1 << 20) <= ballast_bytes() < (1 << 20) + 65536, "the ballast has its space", ballast_bytes())

with part("too full"):
    restart({**FULL, "ringlog.disk.ballast.bytes": "0"})
    equal(ballast_bytes(), None, "a ballast of no bytes is none")
    equal(produce([(b"k", b"more")]), (STORAGE_ERROR, -1), "Produce gets KAFKA_STORAGE_ERROR")
    sender = rdkafka.Sender(node.bootstrap, **{"message.timeout.ms": 3000})
    sender.send(TOPIC, b"k", b"more")
    equal((sender.flush(20), len(sender.acked), len(sender.errors)), (0, 0, 1), "librdkafka tries until its time is over")
    equal([m.value() for m in rdkafka.read_all(node.bootstrap, TOPIC, 1)], [b"v%d" % i for i in range(10)], "reads go on")
    member = rdkafka.consumer(node.bootstrap, unique("group"))
    committed = member.commit(offsets=[TopicPartition(TOPIC, 0, 4)], asynchronous=False)
    member.close()
    equal([(item.offset, item.error) for item in committed], [(4, None)], "so do commits of offsets")
    admin = rdkafka.admin(node.bootstrap)
    other = rdkafka.create(node.bootstrap, unique("made"), 2)
    place = TopicPartition(TOPIC, 0, 3)
    equal(admin.delete_records([place])[place].result(20).low_watermark, 3, "DeleteRecords")
    equal(rdkafka.error_code(admin.delete_topics([other])[other]), None, "and deletions")
    check(node.alive() and "log directory failed" not in node.log_text(), "the directory stays in use")

with part("with room again"):
    restart({**ROOM})
    equal(produce([(b"k", b"more")]), (0, 10), "writes are taken")
    equal(len(rdkafka.read_all(node.bootstrap, TOPIC, 1, start=3)), 8, "and nothing is lost")
    check(ballast_bytes() >= 16 << 20, "there is a ballast of 16 MiB by default", ballast_bytes())
    equal(node.stop(), 0, "it stops cleanly")
finish()
