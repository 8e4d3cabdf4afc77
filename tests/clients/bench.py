"""`ringlog bench` against a running broker: loads of every kind, verified; a kill -9 and a clean restart in between; the sink."""

import json
import subprocess
import threading
import time

from harness import broker
from harness.checks import LONG, check, equal, finish, note, part, skip, watchdog

SECONDS = 30 if LONG else 8
watchdog(600 if LONG else 300)


def tool():
    """The command that runs the load generator."""
    return [broker.binary(), "bench"]


def bench(bootstrap, *flags, command="run"):
    """Exit code and the result's lines."""
    argv = [*tool(), command, "--bootstrap-server", bootstrap, *flags, "--quiet", "--json", "-"]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240)
    try:
        return done.returncode, json.loads(done.stdout)["lines"]
    except ValueError:
        raise RuntimeError(f"exit code {done.returncode}\n{done.stdout[-500:]}\n{done.stderr[-1000:]}") from None


def verified(what, bootstrap, *flags, delivery="once", records=None):
    """One load, read back and proven."""
    code, (line,) = bench(bootstrap, *flags, f"--verify={delivery}")
    verify = line["verify"] or {}
    equal((code, line["outcome"], verify.get("unfinished")), (0, {"state": "done"}, None), f"{what}: it ran and is verified")
    check(verify["acked"] == (records or verify["acked"]) and verify["read"] >= verify["acked"] > 0, f"{what}: every record was acknowledged and read", verify)
    return line


node = broker.start()

with part("loads of every kind"):
    verified("closed loop", node.bootstrap, "-n", "200000", "--partitions", "6", records=200_000)
    verified("idempotent", node.bootstrap, "-n", "100000", "-p", "3", "--partitions", "6", "--idempotent", "-s", "32-2000", records=100_000)
    for codec in ("gzip", "snappy", "lz4", "zstd"):
        verified(codec, node.bootstrap, "-n", "20000", "-z", codec, "--keys", "zipf:100", "--partitions", "4", records=20_000)
    line = verified("open loop", node.bootstrap, "-d", "4", "-r", "3000", "-p", "2", "-c", "1", "--linger", "2")
    check(2700 < line["produced"]["records_per_s"] < 3300, "the rate is kept", line["produced"])
    check(2500 < line["consumed"]["records_per_s"] < 3500, "the consumer keeps up", line["consumed"])
    check(line["end_to_end_latency"]["p50_ms"] >= line["produce_latency"]["p50_ms"] * 0.3, "end-to-end latency is there", line["end_to_end_latency"])
    line = verified("two groups", node.bootstrap, "-d", "6", "-r", "2000", "-c", "2", "--groups", "2", "--partitions", "4")
    check(line["consumed"]["records_per_s"] > 1.5 * line["produced"]["records_per_s"], "each group reads everything", line["consumed"])
    code, (line,) = bench(node.bootstrap, "-n", "100000", "--prebuilt", "-a", "0")
    equal((code, line["produced"]["records"]), (0, 100_000), "prebuilt batches with acks=0 are sent")

with part("suites"):
    code, lines = bench(node.bootstrap, "kreps2014", "--scale", "0.0001", "--verify", command="suite")
    states = [line["outcome"]["state"] for line in lines]
    equal((code, states.count("not_run"), states.count("failed")), (0, 3, 0), "kreps2014: all lines run but those that need three brokers")
    proven = [line for line in lines if line["verify"]]
    check(len(proven) >= 5 and all(not line["verify"]["missing"] for line in proven), "kreps2014: lines that can be are verified", len(proven))
    code, lines = bench(node.bootstrap, "churn", "--scale", "0.002", command="suite")
    equal((code, {line["outcome"]["state"] for line in lines}), (0, {"done"}), "churn: every line runs")
    check(any(line["events"].get("connections", 0) > 10 for line in lines), "churn: connections came and went", [line["events"] for line in lines])

with part("restarts under load"):
    if not node.controlled:
        skip("restarts under load", "the broker isn't ours")
    else:

        def disturb():
            time.sleep(SECONDS / 4)
            node.kill9()
            node.start()
            time.sleep(SECONDS / 4)
            node.stop()
            node.start()

        thread = threading.Thread(target=disturb)
        thread.start()
        line = verified("kill -9 and a restart", node.bootstrap, "-d", str(SECONDS * 2), "-r", "2000", "-p", "2", "-c", "1", "--idempotent", "--partitions", "4", "--linger", "5")
        thread.join()
        check(line["errors"].get("disconnect", 0) > 0, "the load noticed", line["errors"])
        note(f"errors met: {line['errors']}")

with part("the sink"):
    sink = subprocess.Popen([*tool(), "sink", "--listen", "127.0.0.1:0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        address = sink.stdout.readline().split()[-1]
        code, (line,) = bench(address, "-n", "100000")
        equal((code, line["produced"]["records"]), (0, 100_000), "the sink acknowledges")
        code, (line,) = bench(address, "-n", "1000", "--verify")
        equal((code, line["verify"]["missing"]), (2, 1000), "what the sink acknowledges is missing: exit code 2")
    finally:
        sink.terminate()
        sink.wait(10)

with part("what can't be done"):
    code = subprocess.run([*tool(), "run", "-b", f"127.0.0.1:{broker.free_port()}"], capture_output=True, timeout=60).returncode
    equal(code, 1, "no broker there: exit code 1")
    code = subprocess.run([*tool(), "run", "-z", "lzma"], capture_output=True, timeout=60).returncode
    equal(code, 2, "a wrong flag: exit code 2")

finish()
