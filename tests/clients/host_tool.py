"""`ringlog cluster`, `check` and `tune`: the cluster as a whole, and the host below it. Sets nothing on this machine."""

import pathlib

from harness import broker, cli, rdkafka
from harness.checks import among, check, equal, finish, part, unique, watchdog

watchdog(120)
node = broker.start()


def cluster(*args):
    return cli.run("cluster", *args, bootstrap=node.bootstrap)


def describe():
    found = cluster("describe", "-o", "json").json()
    host, port = node.bootstrap.rsplit(":", 1)
    equal([(b["host"], b["port"], b["fenced"]) for b in found["brokers"]], [(host, int(port), False)], "the broker, by its address")
    equal(len(found["cluster_id"]), 22, "the cluster's id")
    features = {f["feature"]: f for f in found["features"]}
    level = features["metadata.version"]
    check(level["supported_min"] <= level["level"] <= level["supported_max"], "the metadata version is in force", level)
    quorum = found["quorum"]
    among(quorum["leader"], [m["node"] for m in quorum["members"] if m["role"] == "voter"], "the quorum's leader is one of its voters")
    check(quorum["high_watermark"] > 0 and all(m["lag"] >= 0 for m in quorum["members"]), "and how far they are", quorum)
    text = cluster("describe").out
    check(found["cluster_id"] in text and "metadata.version" in text and "quorum: leader" in text, "the same in words", text)


def log_dirs():
    topic = rdkafka.create(node.bootstrap, unique("dirs"), 3)
    sender = rdkafka.Sender(node.bootstrap)
    for i in range(3000):
        sender.send(topic, None, b"x" * 1000, partition=i % 3)
    sender.flush()
    found = cluster("log-dirs", "-o", "json").json()
    sizes = {p["partition"]: p["bytes"] for d in found for p in d["partitions"] if p["topic"] == topic}
    check(sorted(sizes) == [0, 1, 2] and all(1_000_000 <= size < 1_500_000 for size in sizes.values()), "sizes of partitions", sizes)
    check(all(d["error"] is None and d["bytes"] >= sum(sizes.values()) and 0 < d["usable_bytes"] <= d["total_bytes"] for d in found), "and of directories", [{**d, "partitions": 0} for d in found])
    text = cluster("log-dirs", "--partitions").out
    check(sum(topic in line for line in text.splitlines()) == 3, "a line a partition", text[-400:])
    done = cluster("log-dirs", "--broker", "99")
    check(done.code == 2 and "no broker has id 99" in done.err, "a broker that isn't there is told", done.err)


def host():
    directory = broker.TARGET / "test-data"
    done = cli.run("check", "--data-dir", directory, "-o", "json")
    found = done.json()
    by_what = {f["what"].split(" /")[0]: f for f in found["findings"]}
    wanted = {"kernel", "io_uring", "locked memory", "direct I/O", "cores", "open files", "file system", "governor", "NUMA", "clock", "interrupts"}
    equal(wanted - set(by_what), set(), "check looks at all of it")
    worst = max((f["verdict"] for f in found["findings"]), key=["ok", "warn", "fail"].index)
    equal((found["verdict"], done.code), (worst, int(worst == "fail")), "the verdict is that of the worst, and the exit code goes with it")
    check(all(len(f["text"]) > 2 for f in found["findings"]), "each says what was found", found)
    done = cli.run("check", "--data-dir", "/dev/shm")
    check(done.code == 1 and "fail" in done.out and "ext4 or xfs" in done.out, "a file system without direct I/O fails, and it says what to do", done.out)
    equal(cli.run("check", "--data-dir", "/dev/shm", "--no-direct-io").code in (0, 1), True, "--no-direct-io")


def tune():
    state = broker.TARGET / "test-data" / unique("tune.json")
    found = cli.run("tune", "--data-dir", broker.TARGET, "--state", state, "-o", "json").json()
    for setting in found:
        now = pathlib.Path(setting["file"]).read_text().strip()
        check(setting["state"] in ("already", "would") and (now == setting["was"] or f"[{setting['was']}]" in now), f"tune would set {setting['what']}", (setting, now))
    equal((state.exists(), len({s["file"] for s in found})), (False, len(found)), "and nothing is kept, as nothing was set")
    done = cli.run("tune", "--undo", "--state", state, "-o", "json")
    equal((done.code, done.json()), (0, []), "nothing to undo")
    state.write_text("{}")
    done = cli.run("tune", "--undo", "--state", state)
    check(done.code == 1 and "--state" in done.err, "a file that isn't its own is refused", done.err)
    state.unlink()


for step in (describe, log_dirs, host, tune):
    with part(step.__name__):
        step()
finish()
