#!/usr/bin/env python3
"""Produce and consume beside Apache Kafka, measured by Kafka's own performance tools: the figures of docs/benchmarks.md.

Both brokers run in one sitting on the same cores, one at a time, alternating round by round; each figure is the median
over the rounds. Broker CPU is utime + stime of its process over the run, per GB (10^9 bytes) of record payload.
Kafka gets `taskset`, Ringlog `--cores`; the client runs on `--client-cores`. Prints a markdown table.

    tests/bench/kafka_perf.py --rounds 5 --records-mb 400 > table.md
"""

import argparse
import datetime
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "clients"))
sys.dont_write_bytecode = True

from harness import broker, wire  # noqa: E402 - the path above comes first

PARTITIONS, BATCH_BYTES, LINGER_MS = 6, 65536, 5
CONFIG = HERE.parent / "kafka" / "log4j2.xml"


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--records-mb", type=float, default=400, help="payload of a run, in MB (10^6 bytes)")
    parser.add_argument("--sizes", default="100,1024", help="record sizes in bytes")
    parser.add_argument("--acks", default="1,all")
    parser.add_argument("--shards", default="1,2", help="numbers of cores, each a column of its own")
    parser.add_argument("--sync", default="false,true", help="values of ringlog.acks.all.sync, for acks=all")
    parser.add_argument("--client-cores", default="", help="cores of the client (default: any)")
    parser.add_argument("--heap", default="1g", help="heap of Kafka")
    parser.add_argument("--kafka-only", action="store_true", help="Kafka against itself: proves the tool without our broker")
    return parser.parse_args()


def java(opts, main, *args):
    """stdout of one of Kafka's mains."""
    prefix = ["taskset", "-c", opts.client_cores] if opts.client_cores else []
    command = [*prefix, "java", "-Xmx512m", f"-Dlog4j2.configurationFile=file:{CONFIG}", "-cp", broker.kafka_classpath(), main, *map(str, args)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900)
    if done.returncode:
        raise RuntimeError(f"{main}: {done.stdout[-800:]}\n{done.stderr[-800:]}")
    return done.stdout


def make(kind, cores, sync):
    """A fresh broker of one kind on the given number of cores, and how long it took to answer. Data goes with it."""
    names = ",".join(map(str, sorted(os.sched_getaffinity(0))[:cores]))
    # Kafka's deletion and retention stay out of the way for the minutes a run takes.
    settings = {"num.partitions": str(PARTITIONS), "ringlog.acks.all.sync": sync}
    if kind == "kafka":
        node = broker.ApacheKafka(settings, cores=names, heap=ARGS.heap)
    else:
        node = broker.Ringlog(settings, cores=names)
    node.prepare()
    begin = time.monotonic()
    node.start()
    while True:
        try:
            with wire.Connection(node.bootstrap, 1) as peer:
                peer.api_versions()
            break
        except (OSError, EOFError):
            time.sleep(0.002)
    return node, time.monotonic() - begin


def measured(node, run):
    """(result of `run`, broker CPU seconds, wall seconds, greatest RSS seen at the end)."""
    cpu, begin = node.cpu_seconds(), time.monotonic()
    result = run()
    return result, node.cpu_seconds() - cpu, time.monotonic() - begin, node.rss_bytes()


def produce(opts, node, topic, size, acks, count):
    """(messages/s, MB/s) as ProducerPerformance reports them; MB of it are 2^20 and become 10^6 here."""
    out = java(opts, "org.apache.kafka.tools.ProducerPerformance", "--topic", topic, "--num-records", count, "--record-size", size, "--throughput", -1,
               "--producer-props", f"bootstrap.servers={node.bootstrap}", f"acks={acks}", f"linger.ms={LINGER_MS}", f"batch.size={BATCH_BYTES}")
    found = re.findall(r"([\d.]+) records/sec \(([\d.]+) MB/sec\)", out)[-1]
    return float(found[0]), float(found[0]) * size / 1e6


def consume(opts, node, topic, size, count):
    """(messages/s, MB/s) over ConsumerPerformance's fetch time, without its group's rebalance."""
    out = java(opts, "org.apache.kafka.tools.ConsumerPerformance", "--bootstrap-server", node.bootstrap, "--topic", topic, "--num-records", count,
               "--timeout", 60000)
    names, values = (line.split(", ") for line in out.strip().splitlines()[-2:])
    row = dict(zip(names, values))
    per_s = float(row["data.consumed.in.nMsg"]) / (float(row["fetch.time.ms"]) / 1000)
    return per_s, per_s * size / 1e6


def one_run(opts, kind, cores, sync, size, acks, record):
    """A fresh broker, one produce, one consume; appends what it measured to `record`."""
    node, started = make(kind, cores, sync)
    try:
        time.sleep(1.0)
        count = int(opts.records_mb * 1e6 / size)
        idle = node.rss_bytes()
        # A warm-up on its own topic: the JVM's first thousands of requests are compiled meanwhile.
        with wire.Connection(node.bootstrap, 30) as peer:
            for topic in ("warm", "perf"):
                peer.create_topic(topic, PARTITIONS)
        warm_count = max(10_000, count // 10)
        produce(opts, node, "warm", size, acks, warm_count)
        consume(opts, node, "warm", size, warm_count)
        sides = (("produce", lambda: produce(opts, node, "perf", size, acks, count)), ("consume", lambda: consume(opts, node, "perf", size, count)))
        for what, run in sides:
            (per_s, mb_s), cpu, _, rss = measured(node, run)
            key = (what, size, acks, cores, kind, sync if kind == "ringlog" and acks == "all" else "")
            record.setdefault(key, []).append({"msg/s": per_s, "MB/s": mb_s, "cpu": cpu / (count * size / 1e9), "rss": rss, "idle": idle, "start": started})
            print(f"{what} {size} B acks={acks} cores={cores} {kind} {key[5]}: {per_s:,.0f} msg/s {mb_s:.1f} MB/s "
                  f"{record[key][-1]['cpu']:.2f} CPU-s/GB {rss >> 20} MiB", file=sys.stderr, flush=True)
    finally:
        node.stop(30)
        node.dispose()


def table(record):
    """The markdown table, one row a case and broker."""
    lines = ["| run | record | acks | cores | broker | msg/s | MB/s | broker CPU-s/GB | RSS idle | RSS loaded | start |", "|---|--:|---|--:|---|--:|--:|--:|--:|--:|--:|"]
    for (what, size, acks, cores, kind, sync), runs in sorted(record.items(), key=lambda item: (item[0][0] != "produce", item[0][1:])):
        mid = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
        name = kind + (f" (acks.all.sync={sync})" if sync else "")
        lines.append(f"| {what} | {size} B | {acks} | {cores} | {name} | {mid['msg/s']:,.0f} | {mid['MB/s']:.1f} | {mid['cpu']:.2f} "
                     f"| {mid['idle'] / 2**20:.0f} MiB | {mid['rss'] / 2**20:.0f} MiB | {mid['start'] * 1000:.0f} ms |")
    return "\n".join(lines)


def machine(opts):
    """Where and when, in two lines."""
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
    memory = int(re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text()).group(1)) >> 20
    kind = subprocess.run(["stat", "-f", "-c", "%T", str(broker.TARGET)], capture_output=True, text=True).stdout.strip()
    today = datetime.date.today().isoformat()
    return (f"{today}, {model}, {os.cpu_count()} cores, {memory} GiB, Linux {platform.release()}, {kind}. {opts.records_mb:.0f} MB a run, median of "
            f"{opts.rounds}; {PARTITIONS} partitions, one client, batch.size={BATCH_BYTES}, linger.ms={LINGER_MS}. GB = 10^9 bytes of payload.")


def main():
    if not broker.kafka_classpath():
        sys.exit("no Kafka jars: run `tests/run java_tools` once (needs java >= 17 and mvn)")
    kinds = ["kafka", "kafka"] if ARGS.kafka_only else ["kafka", "ringlog"]
    record = {}
    for cores in map(int, ARGS.shards.split(",")):
        for size in map(int, ARGS.sizes.split(",")):
            for acks in ARGS.acks.split(","):
                for round_number in range(ARGS.rounds):
                    # Alternating, and the first one changes, so that neither always gets the quieter half.
                    for kind in kinds if round_number % 2 == 0 else kinds[::-1]:
                        syncs = ARGS.sync.split(",") if kind == "ringlog" and acks == "all" else ["true"]
                        for sync in syncs:
                            one_run(ARGS, kind, cores, sync, size, acks, record)
                print(table(record), file=sys.stderr, flush=True)
    print(machine(ARGS) + "\n\n" + table(record))


if __name__ == "__main__":
    ARGS = options()
    main()
