"""`ringlog log`: dumping, verifying and repairing the files of a stopped broker, ours and (with --kafka) Apache Kafka's."""

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
    full.update({p: end for p, (_, end) in rdkafka.end_offsets(node.bootstrap, TOPIC, 2).items()})
    node.stop()
    code, found = verify(node.data_dir)
    equal((code, wrong(found)), (0, []), "and after that start and a clean stop nothing is wrong")


def files(directory):
    return {str(p): (p.stat().st_size, p.stat().st_mtime_ns) for p in directory.rglob("*") if p.is_file()}


def repaired():
    """A log damaged below what was synced: offline while the others serve, mended, and served again."""
    name = node.partition_dirs(TOPIC)[0].name
    for options, all_kept in (((), False), (("--skip-damaged",), True)):
        copy = broker.Ringlog({"log.segment.bytes": "1048576"}, data_dir=node.work_dir / "copy")
        shutil.copytree(node.data_dir, copy.data_dir)
        # As after a crash: the last segment is looked at, and its first batch isn't what it was.
        (copy.data_dir / ".kafka_cleanshutdown").unlink()
        last = sorted((copy.data_dir / name).glob("*.log"))[-1]
        content = bytearray(last.read_bytes())
        content[200] ^= 1
        last.write_bytes(content)
        copy.start()
        refused = rdkafka.Sender(copy.bootstrap, **{"message.timeout.ms": 3_000})
        for partition in (0, 1):
            refused.send(TOPIC, None, b"more", tag=partition, partition=partition)
        refused.flush()
        equal(([a[0] for a in refused.acked], [tag for _, tag in refused.errors]), ([1], [0]), "the damaged partition is offline, the other one serves")
        done = cli.run("log", "repair", copy.data_dir)
        check(done.code == 1 and "running broker" in done.err, "a running broker's directory isn't repaired", (done.code, done.err))
        copy.stop()
        before = files(copy.data_dir)
        done = cli.run("log", "repair", copy.data_dir, *options)
        check(done.code == 1 and "--execute" in done.out and name in done.out, "what would be done is printed", (done.code, done.out[-600:], done.err))
        equal(files(copy.data_dir), before, "and nothing is changed")
        done = cli.run("log", "repair", copy.data_dir, *options, "--execute", "-o", "json")
        found = done.json()
        equal((done.code, found["wrong_after"]), (0, 0), "--execute mends it")
        repair = [r for r in found["repairs"] if (r["topic"], r["partition"]) == (TOPIC, 0)][0]
        check(list((copy.data_dir / name).glob("ringlog-damaged-*")), "what went is kept beside", repair)
        copy.start()
        offsets = [m.offset() for m in rdkafka.read_all(copy.bootstrap, TOPIC, [0])]
        lost = set(range(full[0])) - set(offsets)
        said = {o for r in repair["lost"] for o in range(r["from"], r["upto"])}
        check(lost and lost == said, "what is gone is what was told", (len(lost), len(said), repair))
        check((max(offsets) == full[0] - 1) == all_kept, "the end stays only where damaged batches alone are taken out", (max(offsets), full))
        sender = rdkafka.Sender(copy.bootstrap)
        sender.send(TOPIC, None, b"again", partition=0)
        sender.flush()
        equal([offset for _, offset, _ in sender.acked], [max(offsets) + 1], "and the log goes on behind it")
        equal(len(rdkafka.read_all(copy.bootstrap, TOPIC, [1])), full[1] + 1, "the other partition has all it had")
        equal(copy.stop(), 0, "a clean stop")
        equal(wrong(verify(copy.data_dir)[1]), [], "behind which nothing is wrong")
        shutil.rmtree(copy.data_dir)


full = {}
with part("fill"):
    fill()
if not node.controlled:
    skip("log", "the broker's files aren't ours")
else:
    steps = (running, stopped, dump, damaged, killed)
    # Kafka cuts such a log off by itself.
    for step in steps if broker.IS_KAFKA else (*steps, repaired):
        with part(step.__name__):
            step()
finish()
