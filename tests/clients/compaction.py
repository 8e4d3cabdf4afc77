"""Log compaction: the last value of each key, tombstones and their time, settings that act at once, kill -9 within
passes, an offsets topic that stays small, and Kafka's DumpLogSegments on what compaction left."""

import re
import subprocess
import time

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from harness import batches, broker, rdkafka
from harness.checks import RANDOM, check, equal, eventually, finish, note, part, skip, unique, watchdog

watchdog(280)
# Passes are frequent, and slow enough to be met by a kill.
SETTINGS = {"log.cleaner.backoff.ms": "50", "log.cleaner.io.max.bytes.per.second": "8e6", "offsets.topic.num.partitions": "1",
            "offsets.topic.segment.bytes": "1048576", "log.roll.ms": "3600000"}
node = broker.start(SETTINGS)
COMPACT = {"cleanup.policy": "compact", "segment.ms": "400", "min.cleanable.dirty.ratio": "0.01", "delete.retention.ms": "0"}


def send(topic, pairs, **options):
    """Appends the pairs in order; {key: (value, offset)} of the last of each."""
    sender = rdkafka.Sender(node.bootstrap, **{"enable.idempotence": True, **options})
    for key, value in pairs:
        sender.send(topic, key, value, tag=(key, value), partition=0)
    if sender.flush() or sender.errors:
        check(False, f"{len(pairs)} records are acknowledged", sender.errors[:2])
    last = {}
    for _, offset, (key, value) in sorted(sender.acked, key=lambda acked: acked[1]):
        last[key] = (value, offset)
    return last


def roll(topic):
    """Time passes, and the active segment is closed by the record after it."""
    time.sleep(0.5)
    send(topic, [(b"roll", b"%f" % time.time())])


def read(topic):
    """[(key, value, offset)] without what `roll` wrote."""
    found = rdkafka.read_all(node.bootstrap, topic, 1)
    offsets = [m.offset() for m in found]
    if offsets != sorted(set(offsets)):
        check(False, f"{topic}: offsets ascend", offsets[:20])
    return [(m.key(), m.value(), m.offset()) for m in found if m.key() != b"roll"]


def compacted(topic, records_max, seconds=40):
    """Rolls and reads until no more than so many records are left, or the time is over."""
    end = time.monotonic() + seconds
    while True:
        roll(topic)
        found = read(topic)
        if len(found) <= records_max or time.monotonic() > end:
            return found
        time.sleep(0.3)


def last_values():
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        topic = rdkafka.create(node.bootstrap, unique(f"last-{codec}"), 1, COMPACT)
        last = send(topic, [(b"k%d" % (i % 40), b"%d" % i + b"." * (i % 200)) for i in range(4_000)], **{"compression.type": codec})
        # The last batches of the producers stay where they are; all records of the segment in use too.
        found = compacted(topic, 40)
        equal({k: (v, o) for k, v, o in found}, last, f"{codec}: each key's last value, at its first offset")
        equal(len(found), 40, f"{codec}: and no other record of 4,000")
        start, end = rdkafka.end_offsets(node.bootstrap, topic, 1)[0]
        check(start == 0 and end > 4_000, f"{codec}: the log starts and ends where it did", (start, end))
        hole = rdkafka.read_all(node.bootstrap, topic, [0], start=7)
        check(hole and hole[0].offset() == min(o for _, _, o in found), f"{codec}: a read in a hole goes on behind it", hole[:1])


def tombstones():
    topic = rdkafka.create(node.bootstrap, unique("tomb"), 1, {**COMPACT, "delete.retention.ms": "4000"})
    send(topic, [(b"k%d" % (i % 20), b"%d" % i) for i in range(2_000)])
    send(topic, [(b"k%d" % i, None) for i in range(10)])
    found = compacted(topic, 20)
    equal(sorted(k for k, v, _ in found if v is None), sorted(b"k%d" % i for i in range(10)), "tombstones stay for delete.retention.ms")
    equal(len(found), 20, "and what they delete is gone")
    found = compacted(topic, 10)
    equal(sorted(k for k, _, _ in found), sorted(b"k%d" % i for i in range(10, 20)), "then they go, and nothing comes back")


def settings_at_run_time():
    topic = rdkafka.create(node.bootstrap, unique("switch"), 1, {"segment.ms": "400", "min.cleanable.dirty.ratio": "0.01"})
    send(topic, [(b"k%d" % (i % 5), b"%d" % i) for i in range(500)])
    roll(topic)
    time.sleep(0.5)
    equal(len(read(topic)), 500, "cleanup.policy=delete: every record stays")
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[
        ConfigEntry("cleanup.policy", "compact", incremental_operation=AlterConfigOpType.SET)])
    client = rdkafka.admin(node.bootstrap)
    client.incremental_alter_configs([resource])[resource].result(20)
    equal(len(compacted(topic, 5)), 5, "set to compact while it runs: one a key")


def kills():
    if not node.controlled:
        skip("kill -9 within passes", "the broker's process isn't ours")
        return
    topic = rdkafka.create(node.bootstrap, unique("kill"), 1, {**COMPACT, "segment.bytes": "1048576"})
    sender = rdkafka.Sender(node.bootstrap, **{"enable.idempotence": True, "message.timeout.ms": 200_000, "reconnect.backoff.max.ms": 300})
    sent, met = 0, 0
    for _ in range(6):
        until = time.monotonic() + 1 + RANDOM.random()
        while time.monotonic() < until:
            for _ in range(200):
                key = b"k%d" % RANDOM.randrange(500)
                value = None if RANDOM.random() < 0.1 else b"%d" % sent + b"." * RANDOM.randrange(400)
                sender.send(topic, key, value, tag=(key, value), partition=0)
                sent += 1
            sender.poll()
            time.sleep(0.01)
        directory = node.partition_dirs(topic)[0]
        # Best within a pass.
        eventually(lambda: any(directory.glob("*.cleaned")) or any(directory.glob("*.swap")), 3, 0.002)
        node.kill9()
        met += any(directory.glob("*.cleaned")) or any(directory.glob("*.swap"))
        node.start()
    check(met > 0, "a kill met a pass under way", met)
    note(f"{met} of 6 kills met a pass, {sent} records")
    equal((sender.flush(120), len(sender.acked)), (0, sent), "every record is acknowledged over six kills")
    last = {}
    for _, offset, (key, value) in sorted(sender.acked, key=lambda acked: acked[1]):
        last[key] = (value, offset)
    alive = {k: v for k, v in last.items() if v[0] is not None}
    found = compacted(topic, len(alive))
    equal({k: (v, o) for k, v, o in found}, alive, "afterwards each key's last value, and nothing that was deleted")


def offsets_topic():
    partitions, rounds = 100, 1_200
    topic = rdkafka.create(node.bootstrap, unique("commits"), partitions)
    group = unique("committer")
    reader = rdkafka.consumer(node.bootstrap, group)
    for at in range(rounds):
        reader.commit(offsets=[TopicPartition(topic, p, at * 1000 + p) for p in range(partitions)], asynchronous=False)
    reader.close()
    if not node.controlled:
        skip("the size of __consumer_offsets", "the broker's files aren't ours")
        return

    def size():
        directory = next(iter(node.partition_dirs("__consumer_offsets").values()))
        return sum(b.size_bytes for b in batches.segments(directory))

    small = eventually(lambda: size() < 3 << 20, 30, 0.5)
    check(small, f"{partitions * rounds} commits leave an offsets topic of less than 3 MiB", size())
    note(f"{size() >> 10} KiB")
    node.kill9()
    node.start()
    got = rdkafka.committed(node.bootstrap, group, topic, partitions)
    equal(got, {p: (rounds - 1) * 1000 + p for p in range(partitions)}, "and the last commit of each partition, after a kill -9 too")


def dump():
    """Kafka's own reader finds nothing wrong with compacted segments."""
    if not node.controlled or not broker.kafka_classpath():
        skip("DumpLogSegments", "Kafka's jars aren't here, or the broker's files aren't ours")
        return
    equal(node.stop() in (0, 143), True, "a clean stop")
    check((node.data_dir / "cleaner-offset-checkpoint").exists() or broker.IS_KAFKA, "it leaves Kafka's cleaner-offset-checkpoint")
    config = broker.ROOT / "tests" / "kafka" / "log4j2.xml"
    paths = [p for p in node.data_dir.rglob("*.log") if re.search(r"(last-|tomb|kill|__consumer).*-\d+$", p.parent.name) and p.stat().st_size]
    wanted = sum(b.count for p in {p.parent for p in paths} for b in batches.segments(p))
    holds = all(b.crc_holds for p in {p.parent for p in paths if p.stat().st_size < 1 << 18} for b in batches.segments(p))
    check(holds, "CRCs hold")
    records, bad = 0, []
    for kind, files in (("--deep-iteration", paths), ("--index-sanity-check", [i for p in paths for i in (p.with_suffix(".index"), p.with_suffix(".timeindex"))])):
        for at in range(0, len(files), 20):
            command = ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", f"-Dlog4j2.configurationFile=file:{config}", "-cp", broker.kafka_classpath(),
                       "org.apache.kafka.tools.DumpLogSegments", kind, "--files", ",".join(map(str, files[at : at + 20]))]
            if kind == "--deep-iteration":
                command.insert(-2, "--skip-record-metadata")
            done = subprocess.run(command, capture_output=True, text=True, timeout=90)
            bad += [done.stderr[-300:]] if done.returncode else []
            bad += [line for line in done.stdout.splitlines() if re.search(r"isvalid: false|mismatch|out of order|invalid|Found \d+ (?!bytes: )", line, re.I)]
            records += sum(int(m) for m in re.findall(r"^baseOffset: \d+ .* count: (\d+) ", done.stdout, re.M))
    # Offsets have gaps now, which is what it means by non-consecutive.
    equal((bad[:3], records), ([], wanted), f"DumpLogSegments: {len(paths)} compacted segments and their indexes, no complaint")


for step in (last_values, tombstones, settings_at_run_time, kills, offsets_topic, dump):
    with part(step.__name__):
        step()
finish()
