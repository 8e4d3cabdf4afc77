"""`ringlog-loadgen compare` and `peer kafka`: figures of both, and nothing left running or lying about, however it ends."""

import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

from harness import broker, loadgen, wire
from harness.checks import check, equal, finish, part, skip, watchdog

watchdog(500)
PARENT = broker.TARGET / "test-data"
LINE = "record size 100 B"


def brokers_below(folder):
    """Processes whose command line names the folder."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
            except OSError:
                continue
            if str(folder) in command and state != "Z" and "ringlog-loadgen" not in command.split(" ")[0]:
                found.append((int(entry.name), command[:120]))
    return found


def eventually(condition, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.1)
    return False


def compared(folder):
    """One short round of both: the table and the JSON say the same."""
    out, page = folder / "out.json", folder / "out.html"
    work = folder / "work"
    done = loadgen.run("compare", "--only", LINE, "--scale", "0.002", "--rounds", "1", "--heap", "512m", "--ringlog", broker.binary(), "--work-dir", work,
                       "--json", out, "--html", page)
    if not equal(done.returncode, 0, "Kafka and Ringlog are compared"):
        print(done.stderr[-2000:])
        return
    result = json.loads(out.read_text())
    equal([target["name"] for target in result["targets"]], ["kafka", "ringlog"], "the default targets")
    equal([line["name"] for line in result["lines"]], [LINE], "the line that was asked for")
    rows = {row["metric"]: row["sides"] for row in result["lines"][0]["rows"]}
    for metric in ("messages_per_s", "p99_ms", "cpu_s_per_gb", "rss_mib", "switches_per_thousand", "written_per_byte"):
        sides = rows.get(metric) or [None, None]
        check(all(side and side["median"] > 0 for side in sides), f"{metric} of both", sides)
    if result["syscalls_not_counted"]:
        skip("system calls", result["syscalls_not_counted"])
        check("system calls: not measured" in done.stdout, "and the table says so")
    else:
        check(all(side["median"] > 0 for side in rows["syscalls_per_thousand"]), "system calls of both", rows.get("syscalls_per_thousand"))
    check(rows["rss_mib"][0]["median"] > 400, "Kafka's heap is touched from the start", rows["rss_mib"][0])
    check(re.search(r"^  msg/s +[\d,.]+ +[\d,.]+ +[\d.]+ x$", done.stdout, re.M), "a row of the table", done.stdout)
    check("not to be quoted" in done.stdout, "one round isn't enough, and the table says so")
    check("<svg" in page.read_text(), "a page with plots")
    equal((brokers_below(work), sorted(p.name for p in work.iterdir())), ([], []), "both brokers and their data are gone")


HALF = """name = "half"
[defaults]
warmup_s = 0.2
duration_s = 2
[[line]]
name = "peak"
produce = { records = 100_000, acks = "1" }
[[line]]
name = "half of it"
rate_of = { line = "peak", share = 0.5 }
produce = { acks = "1" }
"""


def equal_load(folder):
    """A line at a share of the first broker's peak puts the same rate on both, in every round."""
    scenario, out, work = folder / "half.toml", folder / "half.json", folder / "work-half"
    scenario.write_text(HALF)
    done = loadgen.run("compare", "ringlog", "ringlog", "--suite", scenario, "--only", "half of it", "--rounds", "2", "--ringlog", broker.binary(),
                       "--work-dir", work, "--no-syscalls", "--json", out)
    if not equal(done.returncode, 0, "a line whose rate depends on another"):
        print(done.stderr[-2000:])
        return
    lines = {line["name"]: line["rows"][0] for line in json.loads(out.read_text())["lines"]}
    peak = lines["peak"]["sides"][0]["values"][0]
    for name, side in zip("AB", lines["half of it"]["sides"]):
        # Never more; a busy machine may send less.
        check(all(0 < value <= 0.55 * peak for value in side["values"]), f"{name} gets half of A's first peak", (peak, side))


def interrupted(folder, kind):
    """A comparison that is ended by a signal takes its broker with it."""
    work = folder / f"work-{kind}"
    args = [loadgen.binary(), "compare", "ringlog", "ringlog", "--ringlog", broker.binary(), "--work-dir", str(work), "--no-syscalls"]
    child = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        check(eventually(lambda: any(" serve " in command for _, command in brokers_below(work)), 60), f"{kind.name}: a broker runs")
        time.sleep(1.0)
    finally:
        child.send_signal(kind)
        child.wait(20)
    check(eventually(lambda: not brokers_below(work) and not list(work.iterdir()), 30), f"{kind.name}: it is gone with its data",
          (brokers_below(work), list(work.iterdir())))


def failing(folder):
    work = folder / "work-failing"
    done = loadgen.run("compare", "cmd:exit 3 # {listen}", "ringlog", "--ringlog", broker.binary(), "--work-dir", work, "--only", LINE, "--rounds", "1")
    check(done.returncode == 1 and "ended before it served" in done.stderr, "a target that doesn't start is told", done.stderr)
    equal((brokers_below(work), list(work.iterdir())), ([], []), "and nothing is left")
    done = loadgen.run("compare", "kafka")
    equal(done.returncode, 2, "one target alone is wrong usage")


def transactional(address, folder):
    """Transactions of the load generator, by the broker that has them: committed, and all records there once."""
    out = folder / "transactions.json"
    done = loadgen.run("run", "-b", address, "-n", 50_000, "--partitions", 3, "-p", 2, "--transaction-ms", 50, "-c", 1, "--read-committed", "--verify",
                       "--json", out)
    if not equal(done.returncode, 0, "records in transactions are verified"):
        print(done.stdout[-1500:], done.stderr[-1500:])
        return
    line = json.loads(out.read_text())["lines"][0]
    check(line["events"].get("transactions committed", 0) >= 2, "and were committed, of each producer at least one", line["events"])
    equal(line["verify"]["read"], 50_000, "whoever reads only what is committed gets all, and no markers")
    # Beside the producers, as far as it came while these ran.
    check((line["consumed"] or {"records": 0})["records"] <= 50_000, "and a consumer beside them gets no more", line["consumed"])


def peer(folder):
    """Kafka in the foreground: serves once it says so, keeps a named directory, goes when told."""
    data = folder / "kafka"
    args = [loadgen.binary(), "peer", "kafka", "--data-dir", str(data), "--listen", "127.0.0.1:0", "--heap", "512m"]
    child = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = child.stdout.readline()
        found = re.match(r"listening (127\.0\.0\.1:\d+)$", line)
        if not check(found, "it says where it listens", line or child.stderr.read()[-1500:]):
            return
        with wire.Connection(found.group(1), timeout=10) as connection:
            check(connection.api_versions(), "and answers there")
        heap = [command for _, command in brokers_below(data)]
        check(heap, "a Java process of that directory", heap)
        with part("transactions"):
            transactional(found.group(1), folder)
        check("socket.send.buffer.bytes=-1" in (data / "server.properties").read_text(), "its settings lie beside its data")
    finally:
        child.send_signal(signal.SIGTERM)
        code = child.wait(90)
    equal(code, 0, "it ends when told")
    equal(brokers_below(data), [], "and Kafka with it")
    check((data / "log" / "meta.properties").exists(), "a named directory stays")
    done = loadgen.run("peer", "kafka", "--data-dir", data)
    check(done.returncode == 1 and "empty" in done.stderr, "which isn't taken a second time", done.stderr)


def main():
    if broker.FOREIGN or broker.IS_KAFKA:
        skip("compare", "it starts both brokers itself")
        return
    PARENT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="compare-", dir=PARENT) as name:
        folder = pathlib.Path(name)
        with part("compare"):
            compared(folder)
        with part("a rate of another line"):
            equal_load(folder)
        for kind in (signal.SIGINT, signal.SIGKILL):
            with part(f"ended by {kind.name}"):
                interrupted(folder, kind)
        with part("targets that don't start"):
            failing(folder)
        with part("peer kafka"):
            peer(folder)


main()
finish()
