"""`ringlog log adopt`: a real Kafka's directory taken over, record by record, group and configs included; what is refused; and
the way back: Kafka reads a partition directory of ours in the place of its own."""

import os
import shutil
import subprocess
import time

from confluent_kafka import TopicPartition
from confluent_kafka.admin import ConfigResource, ConfigSource, ResourceType

from harness import broker, cli, rdkafka
from harness.checks import check, equal, eventually, finish, part, unique, watchdog

watchdog(400)
COMPACTED, CODECS, WIDE, GONE, GROUP = (unique(name) for name in ("compacted", "codecs", "wide", "gone", "group"))
PARTITIONS = {COMPACTED: 1, CODECS: 1, WIDE: 3}
kafka = broker.ApacheKafka({"log.cleaner.backoff.ms": "200", "offsets.topic.num.partitions": "5", "log.retention.ms": "-1",
                            "log.segment.delete.delay.ms": "100"})
# Its records are of another year.
KEEP = {"log.retention.ms": "-1"}
ours = broker.Ringlog(KEEP)
STAMP_MS = 1_700_000_000_000
seen = {}
# Kafka's records as they were adopted.
first = {}


def adopt(source, target, *args):
    return cli.run("log", "adopt", source, "--data-dir", target, *args)


def read(node, topic):
    """All that a reader can see of each record."""
    found = rdkafka.read_all(node.bootstrap, topic, PARTITIONS[topic])
    return sorted((m.partition(), m.offset(), m.key(), m.value(), m.timestamp(), tuple(m.headers() or ())) for m in found)


def configs(node, topic):
    """What is set on the topic itself."""
    resource = ConfigResource(ResourceType.TOPIC, topic)
    client = rdkafka.admin(node.bootstrap)
    found = client.describe_configs([resource])[resource].result(30)
    return {entry.name: entry.value for entry in found.values() if entry.source == ConfigSource.DYNAMIC_TOPIC_CONFIG.value}


def send(node, topic, count, stamp_ms=STAMP_MS, **options):
    sender = rdkafka.Sender(node.bootstrap, **options)
    for i in range(count):
        sender.send(topic, b"key-%d" % (i % 50), b"%d" % i * 30, partition=i % PARTITIONS[topic], timestamp=stamp_ms + i, headers=[("n", b"%d" % i), ("empty", None)])
    equal((sender.flush(), len(sender.acked)), (0, count), f"{count} records to {topic} {options}")


def fill():
    kafka.start()
    rdkafka.create(kafka.bootstrap, COMPACTED, 1, {"cleanup.policy": "compact", "segment.ms": "300", "min.cleanable.dirty.ratio": "0.01"})
    rdkafka.create(kafka.bootstrap, CODECS, 1, {"segment.bytes": "1048576"})
    rdkafka.create(kafka.bootstrap, WIDE, 3, {"max.message.bytes": "700000", "retention.ms": "-1", "message.timestamp.type": "LogAppendTime"})
    rdkafka.create(kafka.bootstrap, GONE, 2)
    send(kafka, WIDE, 6_000)
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        send(kafka, CODECS, 8_000, **{"compression.type": codec, "enable.idempotence": True, "batch.size": 20_000})
    # Segments are closed by the records' own time.
    for step in range(4):
        send(kafka, COMPACTED, 500 if step < 3 else 1, STAMP_MS + step * 10_000)
    check(eventually(lambda: len(read(kafka, COMPACTED)) < 200, 30), "Kafka has compacted a log")
    client = rdkafka.admin(kafka.bootstrap)
    client.delete_records([TopicPartition(CODECS, 0, 12_345)])[TopicPartition(CODECS, 0)].result(30)
    client.delete_topics([GONE], operation_timeout=20)[GONE].result(30)
    reader = rdkafka.consumer(kafka.bootstrap, GROUP)
    reader.subscribe([WIDE])
    taken = 0
    while taken < 2_000:
        taken += sum(1 for m in reader.consume(500, 5) if not m.error())
    reader.commit(asynchronous=False)
    reader.close()
    for topic in PARTITIONS:
        seen[topic] = read(kafka, topic), configs(kafka, topic), rdkafka.end_offsets(kafka.bootstrap, topic, PARTITIONS[topic])
    seen[GROUP] = rdkafka.committed(kafka.bootstrap, GROUP, WIDE, 3)
    check(sum(max(offset, 0) for offset in seen[GROUP].values()) >= 2_000, "a group has committed", seen[GROUP])
    check(seen[CODECS][2][0][0] == 12_345, "records were deleted at a log's start", seen[CODECS][2])


def refused():
    done = adopt(kafka.data_dir, kafka.work_dir / "none")
    check(done.code == 1 and "running broker" in done.err, "a running Kafka's directory is refused", (done.code, done.err))
    kafka.kill9()
    done = adopt(kafka.data_dir, kafka.work_dir / "none")
    check(done.code == 1 and "wasn't stopped cleanly" in done.err, "one that was killed too", (done.code, done.err))
    kafka.start()
    for topic in (CODECS, WIDE):
        equal(read(kafka, topic) == seen[topic][0], True, f"Kafka has recovered {topic}")
    # Its compaction went on.
    time.sleep(1)
    seen[COMPACTED] = (read(kafka, COMPACTED), *seen[COMPACTED][1:])
    first.update({topic: seen[topic][0] for topic in PARTITIONS})
    kafka.stop()
    check((kafka.data_dir / ".kafka_cleanshutdown").exists(), "Kafka is stopped cleanly")
    copy = kafka.work_dir / "copy"
    shutil.copytree(kafka.data_dir, copy)
    shutil.rmtree(copy / f"{WIDE}-1")
    done = adopt(copy, kafka.work_dir / "none")
    check(done.code == 1 and f"{WIDE}-1" in done.err and "log.dirs" in done.err, "a directory without all partitions", (done.code, done.err))
    shutil.rmtree(copy)
    check(not (kafka.work_dir / "none").exists(), "nothing was made")


def state(directory):
    """Every file with its size and time."""
    return {str(p): (p.stat().st_size, p.stat().st_mtime_ns) for p in directory.rglob("*") if p.is_file()}


def adopted():
    before = state(kafka.data_dir)
    done = adopt(kafka.data_dir, ours.data_dir, "--dry-run", "-o", "json")
    equal((done.code, done.json()["topics"], done.json()["partitions"], ours.data_dir.exists()), (0, 4, 10, False), "--dry-run counts, and makes nothing")
    done = adopt(kafka.data_dir, ours.data_dir)
    check(done.code == 0 and "4 topics, 10 partitions" in done.out and "node.id=1" in done.out, "taken over", (done.code, done.out, done.err))
    equal(state(kafka.data_dir), before, "Kafka's files are as they were")
    found = cli.run("log", "verify", ours.data_dir, "-o", "json").json()
    equal([f for f in found["findings"] if f["wrong"]], [], "`log verify` finds nothing wrong")
    done = adopt(kafka.data_dir, ours.data_dir)
    check(done.code == 1 and "isn't empty" in done.err, "a second time is refused", (done.code, done.err))


def served():
    ours.start()
    for topic, partitions in PARTITIONS.items():
        records, settings, ends = seen[topic]
        equal(rdkafka.end_offsets(ours.bootstrap, topic, partitions), ends, f"{topic} starts and ends where it did")
        equal(read(ours, topic) == records, True, f"{topic}: {len(records)} records, each with its offset, key, value, time and headers")
        equal(configs(ours, topic), settings, f"{topic}: its configs")
    check(GONE not in rdkafka.admin(ours.bootstrap).list_topics(timeout=10).topics, "a deleted topic is no topic")
    equal(rdkafka.committed(ours.bootstrap, GROUP, WIDE, 3), seen[GROUP], "the group's offsets")
    reader = rdkafka.consumer(ours.bootstrap, GROUP)
    reader.subscribe([WIDE])
    rest, end = [], time.monotonic() + 30
    wanted = sorted((p, o) for p, o, *_ in seen[WIDE][0] if o >= max(seen[GROUP][p], 0))
    while len(rest) < len(wanted) and time.monotonic() < end:
        rest += [(m.partition(), m.offset()) for m in reader.consume(500, 1) if not m.error()]
    reader.close()
    equal(sorted(rest) == wanted, True, f"the group goes on where it stood: {len(wanted)} records")
    for topic in PARTITIONS:
        send(ours, topic, 900)
        records = read(ours, topic)
        check(set(records) >= set(seen[topic][0]) or topic == COMPACTED, f"{topic}: new records come behind the old", len(records))
    equal(ours.stop(), 0, "a clean stop")
    ours.start()
    for topic in (CODECS, WIDE):
        equal(len(read(ours, topic)), len(seen[topic][0]) + 900, f"{topic}: all there after a restart")
        seen[topic] = (read(ours, topic), *seen[topic][1:])
    equal(ours.stop(), 0, "and another one")


def continued():
    """One that the limit of file sizes cuts short amid a segment's copy, and that goes on unless Kafka ran in between."""
    target = ours.work_dir / "again"
    limited = ["bash", "-c", 'ulimit -f 100; exec "$@"', "-", str(broker.binary()), "log", "adopt", str(kafka.data_dir), "--data-dir", str(target)]
    check(subprocess.run(limited, capture_output=True, timeout=60).returncode != 0, "an adoption is cut short")
    check((target / "ringlog-adopting").exists() and not (target / "ringlog-raft.log").exists(), "and leaves its mark")
    marker = kafka.data_dir / ".kafka_cleanshutdown"
    stopped = marker.stat().st_mtime_ns
    os.utime(marker, ns=(stopped, stopped + 1))
    done = adopt(kafka.data_dir, target)
    check(done.code == 1 and "Kafka ran since" in done.err and "begin again" in done.err, "another stop of Kafka's is refused", (done.code, done.err))
    os.utime(marker, ns=(stopped, stopped))
    done = adopt(kafka.data_dir, target, "--link")
    check(done.code == 1 and "go on with that" in done.err, "so is another way", (done.code, done.err))
    half = broker.Ringlog(KEEP, data_dir=target)
    try:
        half.start()
        check(False, "a broker refuses half of it")
    except RuntimeError as error:
        check("adoption" in str(error), "a broker refuses half of it", str(error)[-300:])
    done = adopt(kafka.data_dir, target)
    equal(done.code, 0, "the same command goes on")
    half.start()
    equal(sum(len(read(half, topic)) for topic in PARTITIONS), sum(len(records) for records in first.values()), "and all is there")
    half.stop()
    linked = ours.work_dir / "linked"
    equal(adopt(kafka.data_dir, linked, "--link").code, 0, "--link")
    names = [log.relative_to(linked) for log in linked.glob("*-*/*.log")]
    check(any((kafka.data_dir / name).samefile(linked / name) for name in names), "gives closed segments a second name")
    shutil.rmtree(linked)


def moved():
    source, target = kafka.work_dir / "moved", ours.work_dir / "moved"
    shutil.copytree(kafka.data_dir, source)
    done = adopt(source, target, "--move")
    equal((done.code, [p.name for p in source.glob("*-[0-9]") if p.name != "__cluster_metadata-0"]), (0, []), "--move leaves no partition behind")
    node = broker.Ringlog(KEEP, data_dir=target)
    node.start()
    equal(sum(len(read(node, topic)) for topic in PARTITIONS), sum(len(records) for records in first.values()), "all is there")
    node.stop()


def back():
    """Partition directories of ours, with what came here since, in the place of Kafka's."""
    for topic in (CODECS, WIDE):
        for number in range(PARTITIONS[topic]):
            theirs = kafka.data_dir / f"{topic}-{number}"
            shutil.rmtree(theirs)
            shutil.copytree(ours.data_dir / theirs.name, theirs)
    kafka.start()
    for topic in (CODECS, WIDE):
        equal(read(kafka, topic) == seen[topic][0], True, f"Kafka reads {len(seen[topic][0])} records of {topic} from our directory")
        send(kafka, topic, 300)
        equal(len(read(kafka, topic)), len(seen[topic][0]) + 300, "and appends to it")
    kafka.stop()


for step in (fill, refused, adopted, served, continued, moved, back):
    with part(step.__name__):
        step()
finish()
