"""Topics: creation and its refusals, metadata, ids, auto-creation, deletion, hundreds of partitions."""

import os
import subprocess
import time

from confluent_kafka.admin import NewTopic

from harness import batches, broker, rdkafka
from harness.checks import check, equal, eventually, finish, note, part, unique, watchdog
from harness.wire import Connection

watchdog(200)
node = broker.start()
ADMIN = rdkafka.admin(node.bootstrap)
EXISTS, INVALID_PARTITIONS, INVALID_REPLICATION, INVALID_CONFIG, UNKNOWN_TOPIC = 36, 37, 38, 40, 3


def create_codes():
    a = unique("made")

    def code(**kw):
        return rdkafka.error_code(ADMIN.create_topics([NewTopic(**kw)])[kw["topic"]])

    equal(code(topic=a, num_partitions=3), None, "CreateTopics")
    equal(code(topic=a, num_partitions=3), EXISTS, "again: TOPIC_ALREADY_EXISTS")
    equal(code(topic=unique("p0"), num_partitions=0), INVALID_PARTITIONS, "no partitions: INVALID_PARTITIONS")
    equal(code(topic=unique("r3"), num_partitions=1, replication_factor=3), INVALID_REPLICATION, "3 replicas on one node: INVALID_REPLICATION_FACTOR")
    for key, value in (("retention.ms", "soon"), ("cleanup.policy", "shred"), ("no.such.key", "1"), ("segment.bytes", "10"), ("compression.type", "rar")):
        equal(code(topic=unique("cfg"), num_partitions=1, config={key: value}), INVALID_CONFIG, f"{key}={value}: INVALID_CONFIG")
    results = ADMIN.create_topics([NewTopic(unique("many-a"), 1), NewTopic(a, 1), NewTopic(unique("many-b"), 1)])
    equal([rdkafka.error_code(f) for f in results.values()], [None, EXISTS, None], "three at once: each its own result")
    dry = unique("dry")
    equal(rdkafka.error_code(ADMIN.create_topics([NewTopic(dry, 1)], validate_only=True)[dry]), None, "validate only")
    check(dry not in ADMIN.list_topics(timeout=10).topics, "makes nothing")
    default = unique("default")
    equal(code(topic=default, num_partitions=-1), None, "-1 partitions: the broker's default")
    check(eventually(lambda: default in (found := ADMIN.list_topics(timeout=10).topics) and len(found[default].partitions) == 4, 15), "which is 4 here")


def metadata():
    a = rdkafka.create(node.bootstrap, unique("meta"), 5)
    found = ADMIN.list_topics(timeout=10)
    check(found.cluster_id and found.controller_id in found.brokers, "cluster id and controller", (found.cluster_id, found.controller_id))
    equal([(b.host, b.port) for b in found.brokers.values()], [("127.0.0.1", int(node.bootstrap.split(":")[1]))], "the broker at its advertised address")
    parts = found.topics[a].partitions
    equal((sorted(parts), {len(p.replicas) for p in parts.values()}, {tuple(p.isrs) == tuple(p.replicas) for p in parts.values()}),
          ([0, 1, 2, 3, 4], {1}, {True}), "5 partitions, one replica each, in sync")
    with Connection(node.bootstrap) as peer:
        none = unique("none")
        equal(peer.metadata([none])[none], (UNKNOWN_TOPIC, {}), "an unknown topic: UNKNOWN_TOPIC_OR_PARTITION")
        check(none not in peer.metadata(None), "and asking did not make it")
        equal(peer.metadata([]), {}, "an empty list asks for none")
        got = peer.metadata([a, none])
        equal((got[a][0], got[none][0]), (0, UNKNOWN_TOPIC), "known and unknown in one request")


def auto_creation():
    name = unique("auto")
    sender = rdkafka.Sender(node.bootstrap)
    for i in range(100):
        sender.send(name, b"%d" % i, b"x")
    equal((sender.flush(), sender.errors[:1], len(sender.acked)), (0, [], 100), "producing to an unknown topic makes it")
    equal(len(ADMIN.list_topics(name, timeout=10).topics[name].partitions), 4, "with num.partitions partitions")
    equal(len(rdkafka.read_all(node.bootstrap, name, 4)), 100, "and keeps every record")


def use_at_once():
    """No moment after CreateTopics or auto-creation answers with success and no partitions."""
    empty = []
    with Connection(node.bootstrap) as peer:
        for i in range(20):
            name = unique(f"at-once-{i}")
            peer.create_topic(name, 2)
            error, parts = peer.metadata([name])[name]
            if error == 0 and not parts:
                empty.append(name)
    equal(empty, [], "Metadata never says success with an empty partition list")


def deletion():
    a = rdkafka.create(node.bootstrap, unique("gone"), 2)
    sender = rdkafka.Sender(node.bootstrap)
    sender.send(a, b"k", b"old", partition=0)
    sender.flush()
    equal(rdkafka.error_code(ADMIN.delete_topics([a])[a]), None, "DeleteTopics")
    check(eventually(lambda: a not in ADMIN.list_topics(timeout=10).topics, 15), "it leaves the list")
    equal(rdkafka.error_code(ADMIN.delete_topics([a])[a]), UNKNOWN_TOPIC, "again: UNKNOWN_TOPIC_OR_PARTITION")
    with Connection(node.bootstrap) as peer:
        gone = eventually(lambda: peer.fetch(a, {0: 0})[2][0][0] == UNKNOWN_TOPIC, 15)
        check(gone, "Fetch finds it no more")
        equal(peer.produce(a, batches.build([(b"k", b"v")]))[0], UNKNOWN_TOPIC, "nor does Produce")
    rdkafka.create(node.bootstrap, a, 1)
    equal(rdkafka.read_all(node.bootstrap, a, 1), [], "a new topic of the same name is empty")
    equal(rdkafka.end_offsets(node.bootstrap, a, 1), {0: (0, 0)}, "and starts at 0")
    if node.controlled:
        check(eventually(lambda: 1 not in node.partition_dirs(a), 90 if broker.IS_KAFKA else 15, 0.5), "the old partition's directory goes away", node.partition_dirs(a))


def many_partitions():
    names = [unique(f"wide-{i}") for i in range(60)]
    begin = time.monotonic()
    results = ADMIN.create_topics([NewTopic(n, 10) for n in names], operation_timeout=60)
    equal({rdkafka.error_code(f, 90) for f in results.values()}, {None}, "60 topics of 10 partitions in one request")
    note(f"created in {time.monotonic() - begin:.1f} s")
    served = eventually(lambda: all(len(t.partitions) == 10 and all(p.leader >= 0 for p in t.partitions.values())
                                    for n, t in ADMIN.list_topics(timeout=20).topics.items() if n in names), 60)
    check(served, "each partition has a leader")
    begin = time.monotonic()
    ADMIN.list_topics(timeout=20)
    check(time.monotonic() - begin < 2, "Metadata of all of them within 2 s", time.monotonic() - begin)
    sender = rdkafka.Sender(node.bootstrap)
    for name in names:
        for p in range(10):
            for i in range(3):
                sender.send(name, b"k", b"%d" % i, partition=p)
    equal((sender.flush(90), sender.errors[:1], len(sender.acked)), (0, [], 1800), "a record or three to each of 600 partitions")
    reader = rdkafka.consumer(node.bootstrap)
    reader.subscribe(names)
    got, end = [], time.monotonic() + 60
    while len(got) < 1800 and time.monotonic() < end:
        got += [m for m in reader.consume(500, 0.5) if not m.error()]
    equal(len({(m.topic(), m.partition(), m.offset()) for m in got}), 1800, "one group member reads all 600 partitions")
    reader.close()
    equal({rdkafka.error_code(f, 90) for f in ADMIN.delete_topics(names, operation_timeout=60).values()}, {None}, "and they are deleted at once")


def tool(*args, text=""):
    return subprocess.run([broker.binary(), "--bootstrap-server", node.bootstrap, *args], input=text, capture_output=True, text=True, timeout=60)


def command_line():
    """`ringlog topic describe` and `ringlog produce`, against whatever broker this is."""
    name = unique("cli")
    equal(rdkafka.error_code(ADMIN.create_topics([NewTopic(name, 4, config={"max.message.bytes": "2000"})])[name]), None, "a topic")
    described = tool("topic", "describe", name)
    check(described.returncode == 0 and name in described.stdout, "topic describe", (described.returncode, described.stderr))
    keys = [f"key{i}" for i in range(40)]
    equal(tool("produce", name, "-k", "=", text="".join(f"{key}=small\n" for key in keys)).returncode, 0, "produce")
    reader = rdkafka.consumer(node.bootstrap)
    reader.subscribe([name])
    partition_of, end = {}, time.monotonic() + 30
    while len(partition_of) < 40 and time.monotonic() < end:
        partition_of.update({m.key().decode(): m.partition() for m in reader.consume(100, 0.5) if not m.error()})
    # A batch that is refused doesn't take along those that were read with it for other partitions.
    refused, others = (next(k for k in keys if (partition_of[k] == 0) == first) for first in (True, False))
    done = tool("produce", name, "-k", "=", text=f"{others}=late\n{refused}={'x' * 3000}\n")
    check(done.returncode != 0, "a record above max.message.bytes is refused", done.stdout)
    late, end = [], time.monotonic() + 15
    while not late and time.monotonic() < end:
        late = [m for m in reader.consume(100, 0.5) if not m.error() and m.value() == b"late"]
    equal(len(late), 1, "and the others are sent")
    reader.close()


def over_restart():
    a = rdkafka.create(node.bootstrap, unique("kept"), 3)
    node.kill9()
    node.start()
    found = eventually(lambda: a in (t := ADMIN.list_topics(timeout=10).topics) and len(t[a].partitions) == 3, 30)
    check(found, "a topic created just before kill -9 is there after it")


for step in (create_codes, metadata, auto_creation, use_at_once, deletion, many_partitions) + ((command_line,) if os.path.exists(broker.binary()) else ()) + ((over_restart,) if node.controlled else ()):
    with part(step.__name__):
        step()
finish()
