"""Several log directories: partitions are dealt out, kill -9, moves under load, one that can't be used, and one that fails while the broker runs.

The failing one is a small file system of its own, on a loop device, that is told to stop (ext4's shutdown): that takes root, and is skipped without.
"""

import contextlib
import fcntl
import json
import os
import shutil
import struct
import subprocess

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from harness import batches, broker, rdkafka, wire
from harness.checks import at_exit, check, equal, eventually, finish, part, skip, unique, watchdog
from harness.wire import Connection, Reader, array, i32, string

STORAGE_ERROR, NO_LEADER, NOT_FOUND, NOT_AVAILABLE = 56, 5, 57, 9
RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
EXT4_SHUTDOWN = 0x8004587D
watchdog(280)

node = broker.make({"offsets.topic.num.partitions": "4"})
A, B = node.data_dir / "a", node.data_dir / "b"
node.settings["log.dirs"] = f"{A},{B}"


def describe():
    """{directory: (error, {(topic, partition, is future): (size, lag)})} by DescribeLogDirs v1."""

    def partition(r):
        return r.i32(), r.i64(), r.i64(), r.i8()

    def directory(r):
        error, path = r.i16(), r.string()
        topics = r.array(lambda r: (r.string(), r.array(partition)))
        return path, (error, {(name, index, bool(future)): (size, lag) for name, rows in topics for index, size, lag, future in rows})

    with Connection(node.bootstrap) as peer:
        answer = peer.call(35, 1, i32(-1))
        answer.i32()
        return dict(answer.array(directory))


def move(topic, partition, path):
    """Error code by AlterReplicaLogDirs v1."""
    with Connection(node.bootstrap) as peer:
        answer = peer.call(34, 1, array([string(str(path)) + array([string(topic) + array([i32(partition)])])]))
        answer.i32()
        return answer.array(lambda r: (r.string(), r.array(lambda r: (r.i32(), r.i16()))))[0][1][0][1]


def is_moving(topic, partition):
    return any((topic, partition, True) in logs for _, logs in describe().values())


def is_in(topic, partition, path):
    return (topic, partition, False) in describe()[str(path)][1] and not is_moving(topic, partition)


def set_rate(value):
    resource = ConfigResource(ResourceType.BROKER, "1", incremental_configs=[ConfigEntry(RATE, value, incremental_operation=AlterConfigOpType.SET)])
    admin = rdkafka.admin(node.bootstrap)
    admin.incremental_alter_configs([resource])[resource].result(20)


def held(path, topic):
    """Partitions of the topic below a directory."""
    return sorted(int(entry.name[len(topic) + 1 :]) for entry in path.glob(f"{topic}-*") if entry.name[len(topic) + 1 :].isdigit())


def offline_replicas(topic):
    """{partition: (error, offline replicas)} by Metadata v7."""
    with Connection(node.bootstrap) as peer:
        answer = peer.call(wire.METADATA, 7, array([string(topic)]) + b"\0")
        answer.i32()
        answer.array(lambda r: (r.i32(), r.string(), r.i32(), r.string()))
        answer.string(), answer.i32()

        def one(r):
            error, index = r.i16(), r.i32()
            r.i32(), r.i32(), r.array(Reader.i32), r.array(Reader.i32)
            return index, (error, r.array(Reader.i32))

        return {name: dict(rows) for _, name, _, rows in answer.array(lambda r: (r.i16(), r.string(), r.i8(), r.array(one)))}[topic]


def produce(topic, partition, value):
    with Connection(node.bootstrap) as peer:
        return peer.produce(topic, batches.build([(b"k", value)]), partition)[0]


def values(topic, partitions):
    return sorted(message.value() for message in rdkafka.read_all(node.bootstrap, topic, partitions))


node.start()
TOPIC = rdkafka.create(node.bootstrap, unique("dealt"), 4)
WANTED = [b"%d" % number for number in range(400)]

with part("partitions are dealt out"):
    equal((len(held(A, TOPIC)), len(held(B, TOPIC))), (2, 2), "two in each")
    sender = rdkafka.Sender(node.bootstrap)
    for number in range(400):
        sender.send(TOPIC, b"k%d" % number, b"%d" % number)
    equal((sender.flush(), sender.errors), (0, []), "all is taken")
    told = describe()
    equal({path: (error, sorted(p for t, p, f in logs if t == TOPIC)) for path, (error, logs) in told.items()},
          {str(A): (0, held(A, TOPIC)), str(B): (0, held(B, TOPIC))}, "DescribeLogDirs tells where each is")

with part("kill -9"):
    member = rdkafka.consumer(node.bootstrap, GROUP := unique("group"))
    member.commit(offsets=[TopicPartition(TOPIC, 1, 7)], asynchronous=False)
    member.close()
    node.kill9()
    node.start()
    equal(values(TOPIC, 4), sorted(WANTED), "every record is there once")
    equal(rdkafka.committed(node.bootstrap, GROUP, TOPIC, 2), {0: -1001, 1: 7}, "and the group's offset")
    equal(node.stop(), 0, "it stops cleanly")
    check(all((path / ".kafka_cleanshutdown").exists() for path in (A, B)), "which each directory tells")

with part("moves"):
    node.alive() or node.start()
    equal((move(TOPIC, 0, "/nowhere"), move(TOPIC, 99, A), move(unique("none"), 0, A)), (NOT_FOUND, NOT_AVAILABLE, NOT_AVAILABLE), "what isn't there can't be moved")
    busy = rdkafka.create(node.bootstrap, unique("busy"), 1)
    place, other = (A, B) if held(A, busy) else (B, A)
    sender = rdkafka.Sender(node.bootstrap, **{"enable.idempotence": True})
    sent = 0
    for goal in (other, place, other):
        equal(move(busy, 0, goal), 0, f"{busy} is to go to {goal.name}")
        done = False
        while not done or sent % 5000:
            sender.send(busy, b"k", b"%d" % sent)
            sent += 1
            if sent % 500 == 0:
                sender.poll()
                done = done or is_in(busy, 0, goal)
        equal((held(goal, busy), held(place if goal == other else other, busy)), ([0], []), "and is there, and nowhere else")
    equal((sender.flush(), sender.errors), (0, []), f"{sent} records were taken meanwhile")
    equal([int(m.value()) for m in rdkafka.read_all(node.bootstrap, busy, 1, 60)], list(range(sent)), "each is there once, in order")
    node.kill9()
    node.start()
    equal([int(m.value()) for m in rdkafka.read_all(node.bootstrap, busy, 1, 60)], list(range(sent)), "also after kill -9")

with part("a move that is cut short"):
    sender = rdkafka.Sender(node.bootstrap)
    for number in range(40):
        sender.send(busy, b"k", os.urandom(100_000))
    equal((sender.flush(), sender.errors), (0, []), "4 MB more")
    set_rate("200000")
    equal(move(busy, 0, place), 0, "it is to go back, slowly")
    check(eventually(lambda: is_moving(busy, 0), 20) and not is_in(busy, 0, place), "it is on its way")
    node.kill9()
    node.start()
    equal(len(rdkafka.read_all(node.bootstrap, busy, 1, 60)), sent + 40, "kill -9: everything is there once")
    set_rate("1000000000")
    equal(move(busy, 0, place), 0, "once more, fast")
    check(eventually(lambda: is_in(busy, 0, place), 60), "it gets there", describe())
    equal(len(rdkafka.read_all(node.bootstrap, busy, 1, 60)), sent + 40, "whole")
    check(not list(other.glob(f"{busy}-0.*-future")), "nothing is left of the other move")
    node.stop()

def java(main, *args):
    """stdout of one of Kafka's mains."""
    config = broker.ROOT / "tests" / "kafka" / "log4j2.xml"
    command = ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", f"-Dlog4j2.configurationFile=file:{config}", "-cp", broker.kafka_classpath(), main,
               "--bootstrap-server", node.bootstrap, *map(str, args)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90)
    if done.returncode:
        raise RuntimeError(f"{main}: exit code {done.returncode}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}")
    return done.stdout


with part("Kafka's tools"):
    if not broker.kafka_classpath() or not shutil.which("java"):
        skip("kafka-log-dirs, kafka-reassign-partitions", "there is no java, or no jars of Kafka's")
    else:
        node.alive() or node.start()
        goal = other if held(place, busy) else place
        plan = node.work_dir / "plan.json"
        plan.write_text(json.dumps({"version": 1, "partitions": [{"topic": busy, "partition": 0, "replicas": [1], "log_dirs": [str(goal)]}]}))
        tool = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
        out = java(tool, "--reassignment-json-file", plan, "--execute", "--replica-alter-log-dirs-throttle", 500_000_000)
        check("Successfully started" in out, "kafka-reassign-partitions --execute", out)
        check(eventually(lambda: is_in(busy, 0, goal), 60), "the partition gets there")
        out = java(tool, "--reassignment-json-file", plan, "--verify")
        check(f"Reassignment of replica {busy}-0-1 completed successfully" in out, "--verify says so", out)
        out = java("org.apache.kafka.tools.LogDirsCommand", "--describe", "--topic-list", busy)
        told = json.loads(out.splitlines()[-1])["brokers"][0]["logDirs"]
        equal({d["logDir"]: [p["partition"] for p in d["partitions"]] for d in told if d["partitions"]}, {str(goal): [f"{busy}-0"]}, "kafka-log-dirs tells where it is")
        node.stop()

with part("a directory that can't be used"):
    node.stop()
    aside = node.data_dir / "aside"
    B.rename(aside)
    B.write_text("no directory")
    node.start()
    equal(describe()[str(B)], (STORAGE_ERROR, {}), "it is told to be offline")
    equal(offline_replicas(TOPIC), {p: (0, []) if p in held(A, TOPIC) else (NO_LEADER, [1]) for p in range(4)}, "its partitions have no leader, their replica is offline")
    equal([produce(TOPIC, p, b"more") for p in held(A, TOPIC)], [0, 0], "the others' take records")
    equal((len(held(A, TOPIC)), held(aside, TOPIC)), (2, sorted(set(range(4)) - set(held(A, TOPIC)))), "nothing was made anew elsewhere")
    equal(node.stop(), 0, "it stops cleanly")
    B.unlink()
    aside.rename(B)
    node.start()
    equal(values(TOPIC, 4), sorted(WANTED + [b"more"] * 2), "with the directory back all is there")
    equal(offline_replicas(TOPIC), {p: (0, []) for p in range(4)}, "and led")
    node.stop()


def loop_mount(path):
    """Puts a small ext4 in the directory's place; the reason if that can't be done here."""
    image = node.work_dir / "loop.img"
    with open(image, "wb") as file:
        file.truncate(256 << 20)
    path.mkdir()
    for command in (["mkfs.ext4", "-q", str(image)], ["mount", "-o", "loop", str(image), str(path)]):
        if not shutil.which(command[0]):
            return f"there is no {command[0]}"
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return f"{command[0]}: {done.stderr.strip()}"
    at_exit(lambda: subprocess.run(["umount", "-l", str(path)], capture_output=True))
    return None


def shut_down(path):
    """All further I/O of the file system fails with EIO."""
    place = os.open(path, os.O_RDONLY)
    try:
        # 2: without flushing the journal.
        fcntl.ioctl(place, EXT4_SHUTDOWN, struct.pack("I", 2))
    finally:
        os.close(place)


with part("a disk that fails"):
    C = node.data_dir / "c"
    why = loop_mount(C)
    if why:
        skip("a file system that fails", why)
        with contextlib.suppress(OSError):
            C.rmdir()
    else:
        # ext4 makes it; Kafka takes no directory that it doesn't know.
        with contextlib.suppress(OSError):
            (C / "lost+found").rmdir()
        D = C / "d"
        node.settings["log.dirs"] = f"{A},{B},{D}"
        node.start()
        # As many as level the three: nine each, or one more.
        topic = rdkafka.create(node.bootstrap, unique("failing"), COUNT := 16)
        victims = held(D, topic)
        others = [p for p in range(COUNT) if p not in victims]
        check(len(victims) > len(held(A, topic)) > 0, "an empty directory gets most of the new partitions", (held(A, topic), held(B, topic), victims))
        equal([produce(topic, p, b"before") for p in range(COUNT)], [0] * COUNT, "all take records")
        shut_down(C)
        check(eventually(lambda: all(produce(topic, p, b"lost") != 0 for p in victims), 20), "its disk fails: records are refused")
        equal([produce(topic, p, b"after") for p in others], [0] * len(others), "the others go on")
        check(eventually(lambda: describe()[str(D)] == (STORAGE_ERROR, {}), 20), "DescribeLogDirs tells it", describe())
        check(eventually(lambda: offline_replicas(topic) == {p: (NO_LEADER, [1]) if p in victims else (0, []) for p in range(COUNT)}, 20),
              "and Metadata", offline_replicas(topic))
        check(node.alive(), "the broker lives")
        equal(node.stop(), 0, "and stops cleanly")
        subprocess.run(["umount", str(C)], check=True)
        subprocess.run(["mount", "-o", "loop", str(node.work_dir / "loop.img"), str(C)], check=True)
        node.start()
        found = values(topic, COUNT)
        equal((found.count(b"before"), found.count(b"after")), (COUNT, len(others)), "with the disk back what was acknowledged is there")
        equal([produce(topic, p, b"again") for p in victims], [0] * len(victims), "and it takes records")
        equal(node.stop(), 0, "it stops cleanly")
finish()
