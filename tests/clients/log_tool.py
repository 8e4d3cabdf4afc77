"""`ringlog log`: dumping and verifying the files of a stopped broker, ours and (with --kafka) Apache Kafka's."""

import collections
import json
import shutil

from harness import batches, broker, cli, rdkafka
from harness.checks import check, equal, finish, part, skip, unique, watchdog

watchdog(400)
node = broker.start({"log.segment.bytes": "1048576"})
TOPIC = unique("log")


def verify(directory, *args):
    done = cli.run("log", "verify", directory, "-o", "json", *args)
    return done.code, done.json()


def wrong(found):
    """What is wrong, without what is only worth knowing."""
    return [(f["path"], f["what"]) for f in found["findings"] if f["wrong"]]


def fill():
    """Two partitions of several segments each, two codecs, one group."""
    rdkafka.create(node.bootstrap, TOPIC, 2)
    for codec in ("none", "zstd"):
        sender = rdkafka.Sender(node.bootstrap, **{"compression.type": codec, "enable.idempotence": True, "batch.size": 16_000})
        for i in range(8000):
            sender.send(TOPIC, b"key-%d" % i, b"%d" % i * 200, partition=i % 2)
        equal((sender.flush(), len(sender.acked)), (0, 8000), f"8,000 records, {codec}")
    reader = rdkafka.consumer(node.bootstrap, unique("g"))
    reader.subscribe([TOPIC])
    reader.poll(5)
    reader.close()


def running():
    done = cli.run("log", "verify", node.data_dir)
    check(done.code == 1 and "--force-read" in done.err, "a running broker's directory is refused", (done.code, done.err))
    done = cli.run("log", "dump", node.data_dir)
    check(done.code == 1 and "running broker" in done.err, "dump refuses it too", (done.code, done.err))
    code, found = verify(node.data_dir, "--force-read")
    check(code in (0, 1) and found["partitions"] > 1, "--force-read reads it all the same", found)


def stopped():
    node.stop()
    code, found = verify(node.data_dir)
    equal((code, wrong(found)), (0, []), "after a clean stop nothing is wrong")
    counted = sum(b.count for d in node.partition_dirs(TOPIC).values() for b in batches.segments(d))
    check(found["records"] >= counted == 16_000, "all records were looked at", (found["records"], counted))
    done = cli.run("log", "verify", node.data_dir)
    check("nothing is wrong" in done.out, "and in words", done.out)
    before = {p: p.stat().st_mtime_ns for p in node.data_dir.rglob("*")}
    for directory in node.partition_dirs(TOPIC).values():
        code, found = verify(directory)
        equal((code, found["partitions"]), (0, 1), f"{directory.name} alone")
    equal({p: p.stat().st_mtime_ns for p in node.data_dir.rglob("*")}, before, "nothing was written")


def dump():
    directory = node.partition_dirs(TOPIC)[0]
    done = cli.run("log", "dump", directory, "--records", "-o", "json")
    lines = done.lines()
    kinds = collections.Counter(line["kind"] for line in lines)
    equal((done.code, kinds["damaged"], kinds["record"]), (0, 0, 8000), "dump of a partition: every record, no damage")
    records = [line for line in lines if line["kind"] == "record"]
    equal([r["offset"] for r in records], list(range(8000)), "in order")
    equal([(r["key"], r["value"]) for r in records[:2]], [("key-0", "0" * 200), ("key-2", "2" * 200)], "keys and values")
    seen = sum(line["records"] for line in lines if line["kind"] == "batch")
    equal(seen, 8000, "batches say how many they hold")
    check({line["compression"] for line in lines if line["kind"] == "batch"} == {"none", "zstd"}, "and their codec")
    check(kinds["entry"] > 4 and kinds["epoch"] >= 1 and kinds["topic"] == 1 and kinds["producer"] >= 1, "indexes, epochs, topic id, producers", kinds)
    done = cli.run("log", "dump", node.data_dir)
    check(done.code == 0 and "cluster_id=" in done.out and "leader_epoch=" in done.out, "dump of the whole directory", (done.code, done.out[-300:]))
    log = sorted(directory.glob("*.log"))[0]
    done = cli.run("log", "dump", log)
    check(done.code == 0 and "base_offset=0" in done.out, "dump of one file", done.out[:300])


def damaged():
    copy = node.work_dir / "copy"
    directory = node.partition_dirs(TOPIC)[1].name

    def after(change):
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(node.data_dir, copy)
        change(copy / directory)
        return verify(copy)

    def flip(path, at):
        content = bytearray(path.read_bytes())
        content[at] ^= 0x10
        path.write_bytes(content)

    segments = sorted(p.name for p in node.partition_dirs(TOPIC)[1].glob("*.log"))
    check(len(segments) > 2, "there are several segments", segments)
    for what, change, words in (
        ("a flipped bit in a batch", lambda d: flip(d / segments[0], 500), "corrupt"),
        ("an index of another segment", lambda d: shutil.copy(d / segments[1].replace(".log", ".index"), d / segments[0].replace(".log", ".index")), ""),
        ("a missing segment", lambda d: (d / segments[1]).unlink(), ""),
        ("a cut segment", lambda d: (d / segments[0]).write_bytes((d / segments[0]).read_bytes()[:-7]), "ends after"),
    ):
        code, found = after(change)
        hits = wrong(found)
        check(code == 1 and hits and all(path.startswith(directory) for path, _ in hits) and words in json.dumps(hits), f"{what} is found", (code, hits))
    done = cli.run("log", "dump", copy / directory / segments[0])
    check(done.code == 1 and "damaged position=" in done.out, "dump tells where", done.out[-300:])
    done = cli.run("log", "verify", node.work_dir)
    check(done.code == 2 and "no log directory" in done.err, "another directory is refused", done.err)
    shutil.rmtree(copy)


def killed():
    node.start()
    sender = rdkafka.Sender(node.bootstrap)
    for i in range(4000):
        sender.send(TOPIC, None, b"%d" % i * 20, partition=i % 2)
    sender.flush()
    node.kill9()
    code, found = verify(node.data_dir)
    equal((code, wrong(found)), (0, []), "after a kill -9: only what the next start mends")
    check(any("wasn't stopped cleanly" in f["what"] for f in found["findings"]), "which it says", found["findings"])
    node.start()
    node.stop()
    code, found = verify(node.data_dir)
    equal((code, wrong(found)), (0, []), "and after that start and a clean stop nothing is wrong")


with part("fill"):
    fill()
if not node.controlled:
    skip("log", "the broker's files aren't ours")
else:
    for step in (running, stopped, dump, damaged, killed):
        with part(step.__name__):
            step()
finish()
