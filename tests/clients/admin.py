"""Admin calls by librdkafka, kafka-python and Kafka's own tools: configs that act at once, partitions, records, offsets, cluster, quorum."""

import contextlib
import json
import os
import re
import subprocess
import tempfile

from confluent_kafka import ConsumerGroupTopicPartitions, ElectionType, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, NewPartitions, OffsetSpec, ResourceType
from kafka import KafkaAdminClient
from kafka.admin import ConfigResource as PyResource
from kafka.admin import ConfigResourceType as PyType

from harness import batches, broker, rdkafka, wire
from harness.checks import check, equal, eventually, finish, part, skip, unique, watchdog

watchdog(400)
node = broker.start()
ADMIN = rdkafka.admin(node.bootstrap)
UNKNOWN_TOPIC, OUT_OF_RANGE, TOO_LARGE, INVALID_TOPIC, INVALID_PARTITIONS, INVALID_ASSIGNMENT = 3, 1, 10, 17, 37, 39
INVALID_CONFIG, INVALID_REQUEST, POLICY, SUBSCRIBED, NOT_NEEDED = 40, 42, 44, 86, 84
OP = AlterConfigOpType


# ---- librdkafka

def describe(kind, name):
    """{config: entry}."""
    resource = ConfigResource(kind, name)
    return ADMIN.describe_configs([resource])[resource].result(20)


def alter(kind, name, *ops, **options):
    """Error code of IncrementalAlterConfigs; ops are (operation, name, value)."""
    entries = [ConfigEntry(key, value, incremental_operation=op) for op, key, value in ops]
    resource = ConfigResource(kind, name, incremental_configs=entries)
    return rdkafka.error_code(ADMIN.incremental_alter_configs([resource], **options)[resource])


def alter_all(op, name, value):
    """Error code of the same for all brokers, by raw bytes: librdkafka refuses resources without a name."""
    configs = wire.array([wire.string(name) + wire.i8({OP.SET: 0, OP.DELETE: 1}.get(op)) + wire.string(value)])
    with wire.Connection(node.bootstrap) as peer:
        answer = peer.call(wire.INCREMENTAL_ALTER_CONFIGS, 0, wire.array([wire.i8(4) + wire.string("") + configs]) + wire.i8(0))
    answer.i32(), answer.i32()
    return answer.i16() or None


def described_all():
    """{config: (value, source)} of what is set on all brokers, by raw bytes."""
    with wire.Connection(node.bootstrap) as peer:
        answer = peer.call(wire.DESCRIBE_CONFIGS, 1, wire.array([wire.i8(4) + wire.string("") + wire.i32(-1)]) + wire.i8(0))
    answer.i32(), answer.i32(), answer.i16(), answer.string(), answer.i8(), answer.string()

    def one(r):
        name, value = r.string(), r.string()
        r.i8()
        found = name, (value, r.i8())
        r.i8(), r.i32()
        return found

    return dict(answer.array(one))


def source(entry):
    return entry.value, entry.source


DEFAULT, STATIC, ON_ALL, ON_BROKER, ON_TOPIC = 5, 4, 3, 2, 1


def topic_configs():
    topic = rdkafka.create(node.bootstrap, unique("cfg"), 1, {"retention.ms": "123456789"})
    found = describe(ResourceType.TOPIC, topic)
    equal((source(found["retention.ms"]), source(found["segment.bytes"])), (("123456789", ON_TOPIC), ("1073741824", DEFAULT)), "what is set and what isn't")
    wanted = {"max.message.bytes", "cleanup.policy", "compression.type", "min.insync.replicas", "message.timestamp.type", "delete.retention.ms", "flush.ms"}
    check(wanted <= set(found) and len(found) >= 37, "all configs are listed", sorted(found))
    check(not any(e.is_read_only or e.is_sensitive for e in found.values()), "none is read-only or sensitive")
    equal([s.value for s in found["segment.bytes"].synonyms.values()], ["1073741824"], "a synonym: log.segment.bytes")
    ops = [(OP.SET, "cleanup.policy", "compact"), (OP.SET, "max.message.bytes", "20000")]
    equal(alter(ResourceType.TOPIC, topic, *ops), None, "SET two")
    equal(alter(ResourceType.TOPIC, topic, (OP.APPEND, "cleanup.policy", "delete")), None, "APPEND")
    equal(describe(ResourceType.TOPIC, topic)["cleanup.policy"].value, "compact,delete", "both policies")
    equal(alter(ResourceType.TOPIC, topic, (OP.SUBTRACT, "cleanup.policy", "compact")), None, "SUBTRACT")
    equal(alter(ResourceType.TOPIC, topic, (OP.DELETE, "retention.ms", None)), None, "DELETE")
    found = describe(ResourceType.TOPIC, topic)
    equal([found[k].value for k in ("cleanup.policy", "max.message.bytes", "retention.ms")], ["delete", "20000", "604800000"], "changed one by one")
    equal(alter(ResourceType.TOPIC, topic, (OP.SET, "retention.ms", "5"), validate_only=True), None, "validate only")
    equal(describe(ResourceType.TOPIC, topic)["retention.ms"].value, "604800000", "changes nothing")
    codes = [
        ("no number", topic, (OP.SET, "retention.ms", "soon"), INVALID_CONFIG),
        ("an unknown name", topic, (OP.SET, "no.such", "1"), INVALID_CONFIG),
        ("out of bounds", topic, (OP.SET, "segment.bytes", "1000"), INVALID_CONFIG),
        ("APPEND to a number", topic, (OP.APPEND, "retention.ms", "1"), INVALID_CONFIG),
        ("remote storage, switched off", topic, (OP.SET, "remote.storage.enable", "true"), INVALID_CONFIG),
        ("an unknown topic", unique("none"), (OP.SET, "retention.ms", "1"), UNKNOWN_TOPIC),
        ("a bad topic name", "bad name!", (OP.SET, "retention.ms", "1"), INVALID_TOPIC),
        ("unsetting an unknown name", topic, (OP.DELETE, "no.such", None), None),
    ]
    for what, name, op, code in codes:
        equal(alter(ResourceType.TOPIC, name, op), code, f"{what}: {code}")
    clash = [(OP.SET, "min.compaction.lag.ms", "100"), (OP.SET, "max.compaction.lag.ms", "50")]
    equal(alter(ResourceType.TOPIC, topic, *clash), INVALID_CONFIG, "configs that contradict each other")
    resource = ConfigResource(ResourceType.TOPIC, unique("none"))
    equal(rdkafka.error_code(ADMIN.describe_configs([resource])[resource]), UNKNOWN_TOPIC, "describing an unknown topic")


def sent(topic, value):
    """Error code of one record, None when it was taken."""
    sender = rdkafka.Sender(node.bootstrap, **{"message.max.bytes": 10_000_000, "message.timeout.ms": 20_000})
    sender.send(topic, b"k", value)
    sender.flush(30)
    return sender.errors[0][0].code() if sender.errors else None


def on_a_topic_at_once():
    """An open log takes a new config with the next record."""
    topic = rdkafka.create(node.bootstrap, unique("live"), 1)
    equal(sent(topic, b"x" * 50_000), None, "50,000 bytes are taken")
    alter(ResourceType.TOPIC, topic, (OP.SET, "max.message.bytes", "10000"))
    check(eventually(lambda: sent(topic, b"x" * 50_000) == TOO_LARGE, 15), "max.message.bytes=10000: refused")
    equal(sent(topic, b"x" * 5_000), None, "smaller ones aren't")
    alter(ResourceType.TOPIC, topic, (OP.DELETE, "max.message.bytes", None), (OP.SET, "message.timestamp.type", "LogAppendTime"))

    def stamped():
        sent(topic, b"y")
        return rdkafka.read_all(node.bootstrap, topic, 1)[-1].timestamp()[0] == 2

    check(eventually(stamped, 15), "message.timestamp.type=LogAppendTime: the broker's time")
    alter(ResourceType.TOPIC, topic, (OP.SET, "segment.bytes", "1048576"))
    check(eventually(lambda: describe(ResourceType.TOPIC, topic)["segment.bytes"].value == "1048576", 15), "segment.bytes=1 MiB")
    for _ in range(4):
        sent(topic, b"z" * 900_000)
    if node.controlled:
        check(len(list(node.partition_dirs(topic)[0].glob("*.log"))) >= 3, "and the log rolls at it")


def on_a_broker_at_once():
    """A dynamic broker config counts for topics that don't say otherwise."""
    plain = rdkafka.create(node.bootstrap, unique("of-broker"), 1)
    own = rdkafka.create(node.bootstrap, unique("own"), 1, {"max.message.bytes": "500000"})
    node_id = str(sorted(ADMIN.list_topics(timeout=10).brokers)[0])
    found = describe(ResourceType.BROKER, node_id)
    equal((source(found["num.partitions"]), found["num.partitions"].is_read_only), (("4", STATIC), True), "num.partitions: from the file, read-only")
    equal((source(found["message.max.bytes"]), found["message.max.bytes"].is_read_only), (("1048588", DEFAULT), False), "message.max.bytes: default, dynamic")
    check(len(found) > 340, "all broker configs are listed", len(found))
    password = found["ssl.keystore.password"]
    equal((password.value, password.is_sensitive), (None, True), "a password isn't told")
    try:
        equal(alter_all(OP.SET, "message.max.bytes", "20000"), None, "message.max.bytes=20000 on all brokers")
        check(eventually(lambda: sent(plain, b"x" * 50_000) == TOO_LARGE, 15), "a topic without its own refuses 50,000 bytes")
        equal(sent(own, b"x" * 50_000), None, "one with its own doesn't")
        equal(alter(ResourceType.BROKER, node_id, (OP.SET, "message.max.bytes", "100000")), None, "100000 on this one")
        check(eventually(lambda: sent(plain, b"x" * 50_000) is None, 15), "beats that: 50,000 bytes are taken")
        check(eventually(lambda: source(describe(ResourceType.TOPIC, plain)["max.message.bytes"]) == ("100000", ON_BROKER), 15), "the topic tells where it comes from")
        synonyms = describe(ResourceType.TOPIC, plain)["max.message.bytes"].synonyms
        check("message.max.bytes" in synonyms, "by the broker config's name", synonyms)
        equal(described_all().get("message.max.bytes"), ("20000", ON_ALL), "what is set on all brokers")
    finally:
        alter_all(OP.DELETE, "message.max.bytes", None)
        alter(ResourceType.BROKER, node_id, (OP.DELETE, "message.max.bytes", None))
    check(eventually(lambda: sent(plain, b"x" * 500_000) is None, 15), "unset: the default again")
    codes = [
        ("a read-only config", node_id, (OP.SET, "node.id", "5"), INVALID_REQUEST),
        ("out of bounds", node_id, (OP.SET, "message.max.bytes", "-5"), INVALID_REQUEST),
        ("APPEND to a number", node_id, (OP.APPEND, "message.max.bytes", "5"), INVALID_CONFIG),
    ]
    for what, name, op, code in codes:
        equal(alter(ResourceType.BROKER, name, op, validate_only=True), code, f"{what}: {code}")
    equal(alter_all(OP.SET, "sasl.jaas.config", "x"), INVALID_REQUEST, "a config of one broker on all")
    equal(alter_all(OP.SET, "num.partitions", "5"), INVALID_REQUEST, "a read-only config on all")


def over_a_restart():
    topic = rdkafka.create(node.bootstrap, unique("again"), 1)
    alter(ResourceType.TOPIC, topic, (OP.SET, "max.message.bytes", "10000"))
    alter_all(OP.SET, "log.retention.ms", "987654321")
    node.kill9()
    node.start()

    def is_kept():
        with contextlib.suppress(KafkaException):
            return source(describe(ResourceType.TOPIC, topic)["retention.ms"]) == ("987654321", ON_ALL)

    kept = eventually(is_kept, 30)
    check(kept, "configs survive kill -9: a broker's")
    check(eventually(lambda: sent(topic, b"x" * 50_000) == TOO_LARGE, 15), "and a topic's, which acts")
    alter_all(OP.DELETE, "log.retention.ms", None)


def partitions():
    topic = rdkafka.create(node.bootstrap, unique("grow"), 2)

    def grow(name, count, **options):
        return rdkafka.error_code(ADMIN.create_partitions([NewPartitions(name, count, **options)])[name])

    equal(grow(topic, 5), None, "2 -> 5")
    check(eventually(lambda: len(ADMIN.list_topics(topic, timeout=10).topics[topic].partitions) == 5, 15), "metadata shows 5")

    def served():
        with wire.Connection(node.bootstrap) as peer:
            return peer.produce(topic, batches.build([(b"k", b"v")]), partition=4)[0] == 0

    check(eventually(served, 15), "the new ones take records")
    equal(grow(topic, 5), INVALID_PARTITIONS, "5 -> 5: INVALID_PARTITIONS")
    equal(grow(topic, 2), INVALID_PARTITIONS, "5 -> 2: INVALID_PARTITIONS")
    equal(grow(unique("none"), 2), UNKNOWN_TOPIC, "an unknown topic")
    node_id = sorted(ADMIN.list_topics(timeout=10).brokers)[0]
    equal(grow(topic, 6, replica_assignment=[[node_id]]), None, "with a replica named")
    equal(grow(topic, 8, replica_assignment=[[node_id + 77], [node_id]]), INVALID_ASSIGNMENT, "with one that doesn't exist: INVALID_REPLICA_ASSIGNMENT")


def ends(topic):
    """{first, end}; none while the broker starts again."""
    with contextlib.suppress(KafkaException):
        # A client of its own: one that knows an older leader epoch gets FENCED_LEADER_EPOCH for ever, on Kafka too.
        admin = rdkafka.admin(node.bootstrap)
        return {spec: admin.list_offsets({TopicPartition(topic, 0): s})[TopicPartition(topic, 0)].result(20).offset
                for spec, s in (("first", OffsetSpec.earliest()), ("end", OffsetSpec.latest()))}
    return None


def records():
    topic = rdkafka.create(node.bootstrap, unique("trim"), 1)
    sender = rdkafka.Sender(node.bootstrap)
    for i in range(100):
        sender.send(topic, b"k", b"%d" % i)
    sender.flush()

    def delete(name, offset, p=0):
        place = TopicPartition(name, p, offset)
        admin = rdkafka.admin(node.bootstrap)
        future = admin.delete_records([place])[place]
        return rdkafka.error_code(future) or future.result(20).low_watermark

    equal(delete(topic, 40), 40, "up to 40: the new start")
    equal(ends(topic), {"first": 40, "end": 100}, "ListOffsets says so too")
    equal([m.offset() for m in rdkafka.read_all(node.bootstrap, topic, 1, start=-2)], list(range(40, 100)), "reads begin there")
    equal(delete(topic, 10), 40, "up to 10: nothing to do")
    equal((delete(topic, 101), delete(topic, -2)), (OUT_OF_RANGE, OUT_OF_RANGE), "behind the end, or before 0: OFFSET_OUT_OF_RANGE")
    with wire.Connection(node.bootstrap) as peer:
        # librdkafka asks only about partitions that Metadata knows.
        place = wire.string(topic) + wire.array([wire.i32(9) + wire.i64(0)])
        answer = peer.call(wire.DELETE_RECORDS, 1, wire.array([place]) + wire.i32(5000))
        answer.i32(), answer.i32(), answer.string(), answer.i32(), answer.i32()
        equal((answer.i64(), answer.i16()), (-1, UNKNOWN_TOPIC), "a partition that isn't there")
    compact = rdkafka.create(node.bootstrap, unique("compact"), 1, {"cleanup.policy": "compact"})
    equal(delete(compact, 0), POLICY, "compacted only: POLICY_VIOLATION")
    if node.controlled:
        node.kill9()
        node.start()
        # Kafka writes it down once a minute.
        first = eventually(lambda: ends(topic), 30)["first"]
        check(first == 40 or broker.IS_KAFKA, "the start survives kill -9", first)
    equal(delete(topic, -1), 100, "-1: all of it")
    equal(ends(topic), {"first": 100, "end": 100}, "nothing is left")
    sent(topic, b"new")
    equal([m.offset() for m in rdkafka.read_all(node.bootstrap, topic, 1, start=-2)], [100], "new records follow")


def group_offsets():
    topic, other, group = rdkafka.create(node.bootstrap, unique("off"), 2), rdkafka.create(node.bootstrap, unique("off2"), 1), unique("off-group")
    sent(topic, b"1"), sent(other, b"2")
    reader = rdkafka.consumer(node.bootstrap, group)
    reader.subscribe([topic])
    seen = eventually(lambda: reader.poll(0.5), 30)
    check(seen and not seen.error(), "a member reads", seen)
    reader.commit(offsets=[TopicPartition(topic, 0, 1), TopicPartition(topic, 1, 1), TopicPartition(other, 0, 1)], asynchronous=False)
    python = KafkaAdminClient(bootstrap_servers=node.bootstrap)

    def delete(places):
        """{(topic, partition): code} by kafka-python: librdkafka's Python client has no OffsetDelete."""
        from kafka import TopicPartition as Place

        found = python.delete_group_offsets(group, [Place(t, p) for t, p in places])
        return {(place.topic, place.partition): getattr(error, "errno", 0) for place, error in found.items()}

    try:
        equal(delete([(topic, 0), (other, 0)]), {(topic, 0): SUBSCRIBED, (other, 0): 0}, "GROUP_SUBSCRIBED_TO_TOPIC for what is read, the other goes")
        one = ADMIN.describe_consumer_groups([group], include_authorized_operations=True)[group].result(20)
        equal({int(o.value) for o in one.authorized_operations}, {3, 6, 8, 10, 11}, "what may be done to the group")
        reader.close()
        none = unique("none")
        equal(delete([(topic, 0), (topic, 77), (none, 0)]), {(topic, 0): 0, (topic, 77): UNKNOWN_TOPIC, (none, 0): UNKNOWN_TOPIC}, "of an empty group: gone, but what doesn't exist")
        left = ADMIN.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group].result(20).topic_partitions
        equal([(p.topic, p.partition) for p in left], [(topic, 1)], "and no other one")
    finally:
        python.close()


def topics_and_cluster():
    topic = rdkafka.create(node.bootstrap, unique("seen"), 3)
    found = ADMIN.describe_topics(TopicCollection([topic]), include_authorized_operations=True)[topic].result(20)
    equal((len(found.partitions), found.is_internal, len(found.authorized_operations)), (3, False, 8), "describe_topics")
    missing = unique("none")
    equal(rdkafka.error_code(ADMIN.describe_topics(TopicCollection([missing]))[missing]), UNKNOWN_TOPIC, "of one that isn't there")
    cluster, metadata = ADMIN.describe_cluster(include_authorized_operations=True).result(20), ADMIN.list_topics(timeout=10)
    equal((cluster.cluster_id, [(n.id, n.host, n.port) for n in cluster.nodes], cluster.controller.id),
          (metadata.cluster_id, [(b.id, b.host, b.port) for b in metadata.brokers.values()], metadata.controller_id), "describe_cluster agrees with Metadata")
    equal(len(cluster.authorized_operations), 7, "everything may be done to it")
    place = TopicPartition(topic, 0)
    result = ADMIN.elect_leaders(ElectionType.PREFERRED, [place]).result(20)
    equal(result[place].code(), NOT_NEEDED, "electing the leader that is: ELECTION_NOT_NEEDED")
    equal(ADMIN.elect_leaders(ElectionType.PREFERRED, None).result(20), {}, "of all partitions: nothing changes")


def every_version():
    """Each version that is advertised answers a plain request; what a version can't say must not break its answer."""
    w = wire
    topic = rdkafka.create(node.bootstrap, unique("versions"), 1)

    def text(value, flexible):
        return w.compact(value) if flexible else w.string(value)

    def many(rows, flexible):
        return (bytes([len(rows) + 1]) + b"".join(rows)) if flexible else w.array(rows)

    def tags(flexible):
        return b"\0" if flexible else b""

    def describe_quorum(v, f):
        return many([text("__cluster_metadata", f) + many([w.i32(0) + tags(f)], f) + tags(f)], f) + tags(f)

    def describe_log_dirs(v, f):
        return many([text(topic, f) + many([w.i32(0)], f) + tags(f)], f) + tags(f)

    def describe_configs(v, f):
        return many([w.i8(2) + text(topic, f) + (b"\0" if f else w.i32(-1)) + tags(f)], f) + w.i8(1) + (w.i8(1) if v >= 3 else b"") + tags(f)

    def describe_cluster(v, f):
        return w.i8(1) + (w.i8(1) if v >= 1 else b"") + (w.i8(1) if v >= 2 else b"") + tags(f)

    def delete_records(v, f):
        return many([text(topic, f) + many([w.i32(0) + w.i64(0) + tags(f)], f) + tags(f)], f) + w.i32(1000) + tags(f)

    def elect_leaders(v, f):
        return (w.i8(0) if v >= 1 else b"") + many([text(topic, f) + many([w.i32(0)], f) + tags(f)], f) + w.i32(1000) + tags(f)

    def update_features(v, f):
        kind = w.i8(0) if v == 0 else w.i8(1)
        return w.i32(1000) + many([text("metadata.version", f) + w.i16(33) + kind + tags(f)], f) + (w.i8(1) if v >= 1 else b"") + tags(f)

    def list_config_resources(v, f):
        return (many([w.i8(2)], f) if v >= 1 else b"") + tags(f)

    def leader_epoch(v, f):
        return (w.i32(-1) if v >= 3 else b"") + many([text(topic, f) + many([w.i32(0) + w.i32(-1) + w.i32(0) + tags(f)], f) + tags(f)], f) + tags(f)

    cases = {21: (delete_records, 2), 23: (leader_epoch, 4), 32: (describe_configs, 4), 35: (describe_log_dirs, 2), 43: (elect_leaders, 2), 55: (describe_quorum, 0),
             57: (update_features, 0), 60: (describe_cluster, 0), 74: (list_config_resources, 0)}
    with w.Connection(node.bootstrap) as peer:
        served = peer.api_versions()
    silent = []
    for api, (body, first_flexible) in cases.items():
        low, high = served[api]
        w.FIRST_FLEXIBLE[api] = first_flexible
        for version in range(low, high + 1):
            try:
                with w.Connection(node.bootstrap) as peer:
                    if peer.call(api, version, body(version, version >= first_flexible)).left() < 4:
                        silent.append((api, version))
            except (OSError, EOFError):
                silent.append((api, version))
    equal(silent, [], f"every version of {len(cases)} APIs answers")
    wanted = {21: (0, 2), 23: (2, 4), 32: (1, 4), 33: (0, 2), 35: (1, 5), 37: (0, 3), 43: (0, 2), 44: (0, 1), 47: (0, 0), 55: (0, 2), 57: (0, 2), 60: (0, 2), 61: (0, 0), 74: (0, 1), 75: (0, 0)}
    equal({k: v for k, v in served.items() if k in wanted}, wanted, "advertised as Kafka does")


# ---- kafka-python

def kafka_python():
    topic = rdkafka.create(node.bootstrap, unique("py"), 2)
    for i in range(3):
        sent(topic, b"%d" % i)
    client = KafkaAdminClient(bootstrap_servers=node.bootstrap)
    try:
        client.alter_configs([PyResource(PyType.TOPIC, topic, configs={"retention.ms": "4000000"})], incremental=True)
        found = client.describe_configs([PyResource(PyType.TOPIC, topic)], config_filter="all")
        check("4000000" in json.dumps(found, default=str), "alter_configs, describe_configs", str(found)[:300])
        dirs = client.describe_log_dirs()
        check(topic in json.dumps(dirs, default=str), "describe_log_dirs names the topic", str(dirs)[:300])
        cluster = client.describe_cluster()
        check(cluster["cluster_id"] == ADMIN.list_topics(timeout=10).cluster_id, "describe_cluster", cluster)
        quorum = client.describe_metadata_quorum()
        check("leader_id" in json.dumps(quorum, default=str), "describe_metadata_quorum", str(quorum)[:300])
        features = client.describe_features()
        check("metadata.version" in json.dumps(features, default=str), "describe_features", str(features)[:300])
    finally:
        client.close()


# ---- Kafka's tools

def java(main, *args, fails=False, stdin=""):
    """stdout and stderr of one of Kafka's mains; raises with them when it fails."""
    config = broker.ROOT / "tests" / "kafka" / "log4j2.xml"
    command = ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", f"-Dlog4j2.configurationFile=file:{config}", "-cp", broker.kafka_classpath(), main, *map(str, args)]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=90)
    if bool(done.returncode) != fails:
        raise RuntimeError(f"{main}: exit code {done.returncode}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}")
    return done.stdout + done.stderr


def java_tools():
    if not broker.kafka_classpath():
        skip("kafka-configs, kafka-topics and the like", "no jars of Kafka")
        return
    server, topic = ("--bootstrap-server", node.bootstrap), rdkafka.create(node.bootstrap, unique("jadm"), 2)
    configs, topics = "org.apache.kafka.tools.ConfigCommand", "org.apache.kafka.tools.TopicCommand"
    on_topic = ("--entity-type", "topics", "--entity-name", topic)
    java(configs, *server, "--alter", *on_topic, "--add-config", "retention.ms=5000000,cleanup.policy=[compact,delete]")
    out = java(configs, *server, "--describe", *on_topic)
    check("retention.ms=5000000" in out and "cleanup.policy=compact,delete" in out and "DYNAMIC_TOPIC_CONFIG:retention.ms=5000000" in out, "kafka-configs sets and shows a topic's", out)
    out = java(configs, *server, "--describe", *on_topic, "--all")
    check("DEFAULT_CONFIG:log.segment.bytes=1073741824" in out, "--all shows synonyms", out[-400:])
    java(configs, *server, "--alter", *on_topic, "--delete-config", "retention.ms")
    check("retention.ms=" not in java(configs, *server, "--describe", *on_topic), "and unsets it")
    out = java(configs, *server, "--alter", *on_topic, "--add-config", "retention.ms=soon", fails=True)
    check("Invalid value soon for configuration retention.ms: Not a number of type LONG" in out, "a bad value is told as Kafka tells it", out[-400:])
    on_all = ("--entity-type", "brokers", "--entity-default")
    java(configs, *server, "--alter", *on_all, "--add-config", "log.cleaner.backoff.ms=14000")
    check("log.cleaner.backoff.ms=14000" in java(configs, *server, "--describe", *on_all), "kafka-configs on all brokers")
    java(configs, *server, "--alter", *on_all, "--delete-config", "log.cleaner.backoff.ms")
    on_group = ("--entity-type", "groups", "--entity-name", unique("jgroup"))
    java(configs, *server, "--alter", *on_group, "--add-config", "consumer.session.timeout.ms=50000")
    check("consumer.session.timeout.ms=50000" in java(configs, *server, "--describe", *on_group), "on a group")
    java(configs, *server, "--alter", *on_group, "--delete-config", "consumer.session.timeout.ms")

    java(topics, *server, "--alter", "--topic", topic, "--partitions", 4)
    out = java(topics, *server, "--describe", "--topic", topic)
    check("PartitionCount: 4" in out and re.search(r"Partition: 3\s+Leader: 1\s+Replicas: 1\s+Isr: 1", out), "kafka-topics --alter, then --describe", out)
    out = java(topics, *server, "--alter", "--topic", topic, "--partitions", 2, fails=True)
    check("would not be an increase" in out, "fewer: refused", out[-300:])

    for i in range(20):
        sent(topic, b"%d" % i)
    with tempfile.NamedTemporaryFile("w", suffix=".json", dir=broker.TARGET / "test-data" if node.controlled else None) as file:
        json.dump({"version": 1, "partitions": [{"topic": topic, "partition": p, "offset": -1} for p in range(4)]}, file)
        file.flush()
        out = java("org.apache.kafka.tools.DeleteRecordsCommand", *server, "--offset-json-file", file.name)
    check(out.count("low_watermark") == 4, "kafka-delete-records", out)
    out = java("org.apache.kafka.tools.GetOffsetShell", *server, "--topic", topic, "--time", "earliest")
    equal(sum(int(line.rsplit(":", 1)[1]) for line in out.split()), 20, "all 20 records are gone")

    out = java("org.apache.kafka.tools.LogDirsCommand", *server, "--describe", "--topic-list", topic)
    found = json.loads(next(line for line in out.splitlines() if line.startswith("{")))
    dirs = found["brokers"][0]["logDirs"]
    equal((len(dirs), dirs[0]["error"], sorted(p["partition"] for p in dirs[0]["partitions"])), (1, None, [f"{topic}-{p}" for p in range(4)]), "kafka-log-dirs")
    check(sum(p["size"] for p in dirs[0]["partitions"]) > 0, "with sizes", dirs)
    out = java("org.apache.kafka.tools.MetadataQuorumCommand", *server, "describe", "--status")
    check(re.search(r"LeaderId:\s+1\b", out) and re.search(r"HighWatermark:\s+[1-9]", out), "kafka-metadata-quorum describe --status", out)
    check(re.search(r"Leader\s*$", java("org.apache.kafka.tools.MetadataQuorumCommand", *server, "describe", "--replication"), re.M), "--replication")
    check("Cluster ID: " in java("org.apache.kafka.tools.ClusterTool", "cluster-id", *server), "kafka-cluster cluster-id")
    check("127.0.0.1" in java("org.apache.kafka.tools.ClusterTool", "list-endpoints", *server), "list-endpoints")
    out = java("org.apache.kafka.tools.FeatureCommand", *server, "describe")
    check("metadata.version" in out, "kafka-features describe", out)
    out = java("org.apache.kafka.tools.FeatureCommand", *server, "downgrade", "--feature", "metadata.version=7", fails=True)
    check("Refusing to perform the requested downgrade" in out, "downgrade of the metadata: refused", out)
    out = java("org.apache.kafka.tools.LeaderElectionCommand", *server, "--election-type", "preferred", "--topic", topic, "--partition", 0)
    check("already" in out or "Valid replica already elected" in out, "kafka-leader-election: nothing to do", out)
    out = java("org.apache.kafka.tools.TransactionsCommand", *server, "describe-producers", "--topic", topic, "--partition", 0)
    check("ProducerId" in out, "kafka-transactions describe-producers", out)
    java("org.apache.kafka.tools.ClientMetricsCommand", *server, "--alter", "--name", "jmetrics", "--metrics", "org.apache.kafka.producer.", "--interval", 10000)
    check("jmetrics" in java("org.apache.kafka.tools.ClientMetricsCommand", *server, "--list"), "kafka-client-metrics --alter, --list")
    check("interval.ms=10000" in java("org.apache.kafka.tools.ClientMetricsCommand", *server, "--describe", "--name", "jmetrics"), "--describe")
    java("org.apache.kafka.tools.ClientMetricsCommand", *server, "--delete", "--name", "jmetrics")


# ---- our own command line

def ringlog(*args, fails=False):
    """stdout and stderr of a command, JSON where it succeeds."""
    command = [broker.binary(), *map(str, args), "-b", node.bootstrap, "-o", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if bool(done.returncode) != fails:
        raise RuntimeError(f"{command}: exit code {done.returncode}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}")
    return done.stderr if fails else json.loads(done.stdout)


def command_line():
    if not os.path.exists(broker.binary()):
        skip("ringlog config, topic alter, add-partitions, trim", "no binary")
        return
    topic = rdkafka.create(node.bootstrap, unique("cli"), 2)
    node_id = sorted(ADMIN.list_topics(timeout=10).brokers)[0]
    equal(ringlog("topic", "alter", topic, "--set", "retention.ms=6000000", "--set", "cleanup.policy=compact"), {"topic": topic, "altered": True}, "topic alter --set")
    ringlog("topic", "alter", topic, "--append", "cleanup.policy=delete", "--unset", "retention.ms")

    def is_there():
        return {c["name"]: (c["value"], c["source"]) for c in ringlog("config", "describe", "--topic", topic)}.get("cleanup.policy") == ("compact,delete", "topic")

    check(eventually(is_there, 15), "config describe --topic shows what is set")
    equal([c["name"] for c in ringlog("config", "describe", "--topic", topic, "segment.ms", "flush.ms")], ["flush.ms", "segment.ms"], "or what is named")
    check(len(ringlog("config", "describe", "--broker", node_id, "--all")) > 340, "--broker --all: everything")
    equal(ringlog("config", "alter", "--all-brokers", "--set", "log.cleaner.backoff.ms=13000", "--dry-run")["changed"], False, "config alter --dry-run")
    error = ringlog("config", "alter", "--topic", topic, "--set", "retention.ms=soon", fails=True)
    check("Not a number of type LONG" in error and "INVALID_CONFIG" in error, "a refusal says why", error)
    equal(ringlog("topic", "add-partitions", topic, "--to", 3)["partitions"], 3, "topic add-partitions")
    check("would not be an increase" in ringlog("topic", "add-partitions", topic, "--to", 1, fails=True), "fewer: refused")
    sender = rdkafka.Sender(node.bootstrap)
    for i in range(10):
        sender.send(topic, b"k", b"%d" % i, partition=0)
    sender.flush()
    equal(ringlog("topic", "trim", topic, "--partitions", 0, "--before-offset", 4, "--dry-run"), [{"partition": 0, "before_offset": 4, "start_offset": None}], "topic trim --dry-run")
    equal(ringlog("topic", "trim", topic, "--partitions", 0, "--before-offset", 4), [{"partition": 0, "before_offset": 4, "start_offset": 4}], "--before-offset")
    equal([p["start_offset"] for p in ringlog("topic", "trim", topic, "--all")], [10, 0, 0], "--all")
    check("OFFSET_OUT_OF_RANGE" in ringlog("topic", "trim", topic, "--partitions", 0, "--before-offset", 99, fails=True), "behind the end: refused")


STEPS = (topic_configs, on_a_topic_at_once, on_a_broker_at_once, partitions, records, group_offsets, topics_and_cluster, every_version, kafka_python, command_line, java_tools)
for step in STEPS + ((over_a_restart,) if node.controlled else ()):
    with part(step.__name__):
        step()
finish()
