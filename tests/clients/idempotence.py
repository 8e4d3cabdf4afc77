"""The idempotent producer at the wire: ids, sequences, the window of five, epochs, pipelining; and librdkafka's."""

from harness import batches, broker, rdkafka, wire
from harness.checks import among, check, equal, eventually, finish, part, unique, watchdog
from harness.wire import Connection

OUT_OF_ORDER, DUPLICATE, INVALID_EPOCH, INVALID_RECORD = 45, 46, 47, 87
watchdog(200)
node = broker.start()
TOPIC = rdkafka.create(node.bootstrap, unique("idem"), 3)


class Producer:
    """One producer id, sending batches with any sequence and epoch."""

    def __init__(self, connection):
        self.connection = connection
        self.error, self.id, self.epoch = connection.init_producer_id()

    def batch(self, sequence, records=1, epoch=None, **fields):
        pairs = [(b"k", b"%d" % (sequence + i)) for i in range(records)]
        return batches.build(pairs, producer=(self.id, self.epoch if epoch is None else epoch), sequence=sequence, **fields)

    def send(self, sequence, records=1, epoch=None, partition=0):
        return self.connection.produce(TOPIC, self.batch(sequence, records, epoch), partition)


def ids():
    with Connection(node.bootstrap) as connection:
        producers = [Producer(connection) for _ in range(50)]
    check(all(p.error == 0 and p.id >= 0 and p.epoch == 0 for p in producers), "InitProducerId: no error, epoch 0")
    equal(len({p.id for p in producers}), 50, "50 ids, all different")


def sequences():
    with Connection(node.bootstrap) as connection:
        p = Producer(connection)
        equal(p.send(0, 4), (0, 0), "sequences 0-3 at offset 0")
        equal(p.send(4, 2), (0, 4), "sequences 4-5 at offset 4")
        equal(p.send(4, 2), (0, 4), "the last batch again: the offset it got, nothing appended")
        equal(p.send(0, 4), (0, 0), "the one before again: the offset it got")
        among(p.send(4, 3)[0], (OUT_OF_ORDER,), "same first sequence but more records is no duplicate")
        equal(p.send(8)[0], OUT_OF_ORDER, "a gap")
        equal(p.send(6), (0, 6), "the next one after refusals")
        for sequence in range(7, 15):
            equal(p.send(sequence), (0, sequence), f"sequence {sequence}")
        equal(p.send(10), (0, 10), "the fifth-last batch again: its offset")
        among(p.send(9)[0], (OUT_OF_ORDER, DUPLICATE), "older than the window of five: refused")
        equal(p.send(0, partition=1), (0, 0), "another partition has its own sequence")
        equal(p.send(-1)[0], INVALID_RECORD, "an id without a sequence")
        equal(p.send(0, epoch=1), (0, 15), "the next epoch starts at 0")
        equal(p.send(15, epoch=0)[0], INVALID_EPOCH, "the former epoch is fenced")
        equal(p.send(1, epoch=1), (0, 16), "and did no harm")
        equal(p.send(4, epoch=2)[0], OUT_OF_ORDER, "a new epoch that doesn't start at 0")
        equal(connection.list_offset(TOPIC, -1)[2], 17, "17 records in all")


def wrap():
    """Sequences wrap from 2^31-1 to 0. A producer the partition doesn't know may start anywhere, as after expiry."""
    with Connection(node.bootstrap) as connection:
        p = Producer(connection)
        top = 2**31 - 1
        error, first = p.send(top - 1, 2, partition=2)
        if not among(error, (0,), "an unknown producer starts at 2^31-2"):
            return
        equal(p.send(0, partition=2), (0, first + 2), "sequence 0 follows 2^31-1")
        q = Producer(connection)
        p2 = q.send(top - 2, 1, partition=2)[1]
        equal(q.connection.produce(TOPIC, q.batch(top - 1, 4), 2), (0, p2 + 1), "a batch over the wrap")
        equal(q.send(2, partition=2), (0, p2 + 5), "and the next after it")


def pipelined():
    with Connection(node.bootstrap) as connection:
        p = Producer(connection)
        base = connection.list_offset(TOPIC, -1, 1)[2]
        for sequence in range(5):
            connection.post(wire.PRODUCE, 7, wire.produce_body(TOPIC, {1: p.batch(sequence)}))
        # A second copy of each, as after a lost answer.
        for sequence in range(5):
            connection.post(wire.PRODUCE, 7, wire.produce_body(TOPIC, {1: p.batch(sequence)}))
        got = []
        for _ in range(10):
            answer = wire.Reader(connection.frame())
            answer.i32(), answer.i32(), answer.string(), answer.i32(), answer.i32()
            got.append((answer.i16(), answer.i64()))
        equal(got, [(0, base + i) for i in range(5)] * 2, "five in flight and their copies: in order, the copies answered alike")
        equal(connection.list_offset(TOPIC, -1, 1)[2], base + 5, "and five appended")


def two_connections():
    """A copy that comes by another connection while the first may still be under way."""
    with Connection(node.bootstrap) as one, Connection(node.bootstrap) as two:
        p = Producer(one)
        base = one.list_offset(TOPIC, -1, 1)[2]
        wrong = []
        for sequence in range(100):
            body = wire.produce_body(TOPIC, {1: p.batch(sequence)})
            got = []
            for connection in (one, two):
                connection.post(wire.PRODUCE, 7, body)
            for connection in (one, two):
                answer = wire.Reader(connection.frame())
                answer.i32(), answer.i32(), answer.string(), answer.i32(), answer.i32()
                got.append((answer.i16(), answer.i64()))
            if got != [(0, base + sequence)] * 2:
                wrong.append((sequence, got))
        equal(wrong[:3], [], "100 batches by two connections at once: both answered with the one offset")
        equal(one.list_offset(TOPIC, -1, 1)[2], base + 100, "and each appended once")


def several_partitions():
    with Connection(node.bootstrap) as connection:
        p = Producer(connection)
        body = wire.produce_body(TOPIC, {0: p.batch(0), 1: p.batch(5, crc=7), 2: p.batch(0)})
        answer = connection.call(wire.PRODUCE, 7, body)
        answer.i32(), answer.string()
        rows = answer.array(lambda r: (r.i32(), r.i16(), r.i64(), r.i64(), r.i64())[:2])
        equal(sorted(rows), [(0, 0), (1, 2), (2, 0)], "one request, three partitions: each its own result")


def over_restart():
    """Producer state survives: the window still knows its duplicates, and ids are not given twice."""
    with Connection(node.bootstrap) as connection:
        p = Producer(connection)
        first = [p.send(i, partition=1)[1] for i in range(7)]
    for how in ("a clean stop", "kill -9"):
        if how == "kill -9":
            node.kill9()
        else:
            node.stop()
        node.start()
        with Connection(node.bootstrap) as connection:
            eventually(lambda: connection.list_offset(TOPIC, -1, 1)[0] == 0, 30)
            p.connection = connection
            equal(p.send(6, partition=1), (0, first[6]), f"after {how}: the last batch is known, a copy of it gets its offset")
            # Kafka's snapshots keep one batch a producer: what it no longer knows it must refuse, never append.
            copies = [(p.send(i, partition=1), first[i]) for i in range(2, 6)]
            check(all(got in ((0, offset), (OUT_OF_ORDER, -1), (DUPLICATE, -1)) for got, offset in copies), f"after {how}: nor is any older one taken again", copies)
            equal(connection.list_offset(TOPIC, -1, 1)[2], first[6] + 1, f"after {how}: nothing was appended")
            equal(p.send(9, partition=1)[0], OUT_OF_ORDER, f"after {how}: a gap is still a gap")
            check(Producer(connection).id > p.id, f"after {how}: no producer id comes again")
    with Connection(node.bootstrap) as connection:
        p.connection = connection
        equal(p.send(7, partition=1), (0, first[-1] + 1), "and the sequence goes on")


def by_librdkafka():
    topic = rdkafka.create(node.bootstrap, unique("idem-rd"), 2)
    sender = rdkafka.Sender(node.bootstrap, **{"enable.idempotence": True, "linger.ms": 0, "compression.type": "zstd"})
    for i in range(5000):
        sender.send(topic, b"%d" % (i % 100), b"%d" % i, tag=i)
        if i % 7 == 0:
            sender.poll()
    equal((sender.flush(), sender.errors[:2], len(sender.acked)), (0, [], 5000), "5000 records by librdkafka")
    got = rdkafka.read_all(node.bootstrap, topic, 2)
    equal(sorted(int(m.value()) for m in got), list(range(5000)), "each once")
    for partition in (0, 1):
        numbers = [int(m.value()) for m in got if m.partition() == partition]
        equal(numbers == sorted(numbers), True, f"in order in partition {partition}")


for step in (ids, sequences, wrap, pipelined, two_connections, several_partitions, by_librdkafka) + ((over_restart,) if node.controlled else ()):
    with part(step.__name__):
        step()
finish()
