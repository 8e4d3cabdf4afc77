"""Kafka's own programs: console clients, the performance tools, topic and group commands, DumpLogSegments."""

import re
import subprocess
import time

from harness import batches, broker, rdkafka
from harness.checks import check, equal, finish, note, part, skip, unique, watchdog

watchdog(400)
node = broker.start()
CONFIG = broker.ROOT / "tests" / "kafka" / "log4j2.xml"


def java(main, *args, stdin="", seconds=90, fails=False):
    """stdout of one of Kafka's mains; raises with its output when it fails."""
    command = ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", f"-Dlog4j2.configurationFile=file:{CONFIG}", "-cp", broker.kafka_classpath(), main, *map(str, args)]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=seconds)
    if bool(done.returncode) != fails:
        raise RuntimeError(f"{main}: exit code {done.returncode}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}")
    return done.stdout


def topic_command():
    name = unique("jtool")
    server = ("--bootstrap-server", node.bootstrap)
    java("org.apache.kafka.tools.TopicCommand", *server, "--create", "--topic", name, "--partitions", 3, "--config", "max.message.bytes=70000")
    found = java("org.apache.kafka.tools.TopicCommand", *server, "--list").split()
    check(name in found, "TopicCommand --create, then --list names it", found)
    output = java("org.apache.kafka.tools.TopicCommand", *server, "--create", "--topic", name, fails=True)
    check("already exists" in output, "again: it says that it exists", output)
    java("org.apache.kafka.tools.TopicCommand", *server, "--delete", "--topic", name)
    check(name not in java("org.apache.kafka.tools.TopicCommand", *server, "--list").split(), "--delete, and it is gone")


def console():
    name = rdkafka.create(node.bootstrap, unique("jconsole"), 3)
    server = ("--bootstrap-server", node.bootstrap)
    lines = "".join(f"key-{i}:value {i} äöü\n" for i in range(500))
    java("org.apache.kafka.tools.ConsoleProducer", *server, "--topic", name, "--reader-property", "parse.key=true", "--reader-property", "key.separator=:",
         "--compression-codec", "zstd", stdin=lines)
    out = java("org.apache.kafka.tools.consumer.ConsoleConsumer", *server, "--topic", name, "--from-beginning", "--max-messages", 500, "--timeout-ms", 30000,
               "--formatter-property", "print.key=true", "--formatter-property", "key.separator=:", "--group", f"{name}-g")
    equal(sorted(out.splitlines()), sorted(lines.splitlines()), "console producer (idempotent, zstd) and console consumer: each line once")
    from kafka.partitioner.default import murmur2

    wrong = [m.key() for m in rdkafka.read_all(node.bootstrap, name, 3) if (murmur2(m.key()) & 0x7FFFFFFF) % 3 != m.partition()]
    equal(wrong, [], "keys lie where murmur2 puts them")
    out = java("org.apache.kafka.tools.consumer.group.ConsumerGroupCommand", *server, "--list")
    check(f"{name}-g" in out.split(), "ConsumerGroupCommand --list names the group", out)
    out = java("org.apache.kafka.tools.consumer.group.ConsumerGroupCommand", *server, "--describe", "--group", f"{name}-g")
    rows = [line.split() for line in out.splitlines() if name in line and line.split()[1] == name]
    equal((len(rows), {row[5] for row in rows}, sum(int(row[3]) for row in rows)), (3, {"0"}, 500), "--describe: three partitions, lag 0, 500 committed")
    out = java("org.apache.kafka.tools.consumer.group.ConsumerGroupCommand", *server, "--describe", "--group", f"{name}-g", "--state")
    check("Empty" in out, "--describe --state: Empty", out)
    out = java("org.apache.kafka.tools.GetOffsetShell", *server, "--topic", name)
    equal(sum(int(line.rsplit(":", 1)[1]) for line in out.split()), 500, "GetOffsetShell sums up to 500")


def performance():
    name = rdkafka.create(node.bootstrap, unique("jperf"), 6)
    for acks in ("1", "all"):
        out = java("org.apache.kafka.tools.ProducerPerformance", "--topic", name, "--num-records", 100_000, "--record-size", 100, "--throughput", -1,
                   "--producer-props", f"bootstrap.servers={node.bootstrap}", f"acks={acks}", "linger.ms=5", "batch.size=65536")
        check(re.search(r"100000 records sent", out), f"ProducerPerformance, acks={acks}", out[-300:])
        note(out.strip().splitlines()[-1])
    out = java("org.apache.kafka.tools.ConsumerPerformance", "--bootstrap-server", node.bootstrap, "--topic", name, "--num-records", 200_000, "--timeout", 30000)
    rows = out.strip().splitlines()
    check(len(rows) >= 2 and int(float(rows[1].split(", ")[4])) == 200_000, "ConsumerPerformance reads all of it", rows[-2:])


def dump(when):
    """DumpLogSegments over each segment, offsets topic too: no error, no gap, as many records as the log holds."""
    java_main = "org.apache.kafka.tools.DumpLogSegments"
    bad, records = [], 0
    paths = sorted(p for p in node.data_dir.rglob("*.log") if p.parent.name[-1].isdigit() and not p.parent.name.startswith("__cluster") and p.stat().st_size)
    paths = [p for p in paths if "offsets" not in p.parent.name or batches.segments(p.parent)]
    groups = [paths[i : i + 8] for i in range(0, len(paths), 8)]
    for group in groups:
        out = java(java_main, "--deep-iteration", "--skip-record-metadata", "--files", ",".join(map(str, group)))
        records += sum(int(m) for m in re.findall(r"^baseOffset: \d+ .* count: (\d+) ", out, re.M))
        bad += [line for line in out.splitlines() if re.search("isvalid: false|mismatch|invalid|non-consecutive|Found \\d+ (?!bytes: )", line, re.I)]
    wanted = sum(b.count for p in {p.parent for p in paths} for b in batches.segments(p))
    equal((bad[:3], records), ([], wanted), f"DumpLogSegments {when}: {len(paths)} segments, all records, no complaint")
    indexes = sorted(p for p in node.data_dir.rglob("*") if p.suffix in (".index", ".timeindex") and p.stat().st_size and p.parent.name.startswith("jperf"))
    bad = []
    for i in range(0, len(indexes), 12):
        out = java(java_main, "--index-sanity-check", "--files", ",".join(map(str, indexes[i : i + 12])))
        bad += [line for line in out.splitlines() if re.search("mismatch|out of order|error", line, re.I)]
    equal(bad[:3], [], f"its index check {when}: {len(indexes)} indexes, no complaint")
    offsets = sorted(p for p in paths if p.parent.name.startswith("__consumer_offsets"))
    if offsets:
        out = java(java_main, "--offsets-decoder", "--files", ",".join(map(str, offsets)))
        check("offset_commit" in out or "offset" in out.lower() and "group" in out.lower(), f"its offsets decoder {when} reads the offsets topic", out[-400:])


def files():
    if not node.controlled:
        skip("DumpLogSegments", "the broker's files aren't ours")
        return
    equal(node.stop() in (0, 143), True, "a clean stop")
    dump("after a clean stop")
    node.start()
    name = rdkafka.create(node.bootstrap, unique("jdead"), 3)
    sender = rdkafka.Sender(node.bootstrap, **{"enable.idempotence": True, "compression.type": "lz4", "message.timeout.ms": 120_000})
    for i in range(40_000):
        sender.send(name, b"%d" % i, b"some value %d" % i)
        if i == 25_000:
            node.kill9()
    time.sleep(0.2)
    node.start()
    equal((sender.flush(60), len(sender.acked)), (0, 40_000), "40,000 records over a kill -9")
    node.stop()
    dump("after a recovery from kill -9")


for step in (topic_command, console, performance, files):
    with part(step.__name__):
        step()
finish()
