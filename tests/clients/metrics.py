"""The admin endpoint: metrics against what clients did, health, readiness, and what it refuses."""

import contextlib
import http.client
import re
import signal
import socket
import threading
import time

from prometheus_client.parser import text_string_to_metric_families

from harness import batches, broker, rdkafka
from harness.checks import check, equal, eventually, finish, note, part, unique, watchdog
from harness.wire import Connection

watchdog(230)


class Admin:
    """The endpoint of a broker."""

    def __init__(self, port):
        self.port = port

    def request(self, path, method="GET", seconds=10):
        """(status, headers, body)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            connection.request(method, path)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()
        finally:
            connection.close()

    def status(self, path):
        """The status; None when nobody listens."""
        try:
            return self.request(path)[0]
        except (OSError, http.client.HTTPException):
            return None

    def families(self):
        """{family: metric} of a scrape, by Prometheus' own parser."""
        status, headers, text = self.request("/metrics")
        if status != 200 or not headers.get("content-type", "").startswith("text/plain; version=0.0.4"):
            raise ValueError(f"{status} {headers}")
        return {family.name: family for family in text_string_to_metric_families(text)}

    def total(self, sample, **labels):
        """Sum of a sample's series that have these labels."""
        found = 0.0
        for family in self.families().values():
            for one in family.samples:
                if one.name == sample and all(one.labels.get(k) == v for k, v in labels.items()):
                    found += one.value
        return found


def start(settings=None):
    port = broker.free_port()
    node = broker.Ringlog({"ringlog.shards": "2", "ringlog.admin.listen": f"127.0.0.1:{port}", **(settings or {})})
    return node, Admin(port)


def pieces():
    """With two shards, a connection's pieces go to its own shard and to the other."""
    node, admin = start()
    with node:
        topic = rdkafka.create(node.bootstrap, unique("pieces"), 8)
        local, remote = (admin.total("ringlog_pieces_total", kind=kind) for kind in ("local", "remote"))
        connections = 6
        for _ in range(connections):
            with Connection(node.bootstrap) as peer:
                for p in range(8):
                    peer.produce(topic, batches.build([(b"k", b"v")]), p)
                peer.fetch(topic, dict.fromkeys(range(8), 0))
        moved = {kind: admin.total("ringlog_pieces_total", kind=kind) - before for kind, before in (("local", local), ("remote", remote))}
        note(f"pieces: {moved}")
        # Four of the eight partitions are the connection's own shard's, whichever it lands on.
        check(moved["local"] >= connections * 4 and moved["remote"] >= connections * 4, "local and remote pieces are counted", moved)
        equal(moved["local"] + moved["remote"] >= connections * 8, True, "each batch is a piece")
        up = admin.families()["ringlog_shard_up"].samples
        equal({s.labels["shard"]: s.value for s in up}, {"0": 1.0, "1": 1.0}, "both shards answer the scrape")


def connections():
    node, admin = start()
    with node:
        before = admin.total("ringlog_connections_adopted_total")
        with contextlib.ExitStack() as stack:
            for _ in range(10):
                stack.enter_context(Connection(node.bootstrap)).api_versions()
            equal(admin.total("ringlog_connections_adopted_total") - before, 10, "ten connections are adopted")
            equal(admin.total("ringlog_connections"), 10, "and open")
            shards = {s.labels["shard"]: s.value for s in admin.families()["ringlog_connections"].samples}
            equal(shards, {"0": 5.0, "1": 5.0}, "half of them on each shard")
        check(eventually(lambda: admin.total("ringlog_connections") == 0, 10), "none is open when all are closed")
        with Connection(node.bootstrap) as peer:
            peer.send(b"\xff\xff\xff\xff garbage")
            check(peer.closed(), "garbage is closed")
        equal(admin.total("ringlog_connections_closed_total", reason="violation"), 1, "and counted as a violation")


def process():
    node, admin = start()
    with node:
        before = time.time()
        cpu, rss = admin.total("process_cpu_seconds_total"), admin.total("process_resident_memory_bytes")
        check(abs(cpu - node.cpu_seconds()) < 0.2, "CPU time is the kernel's", (cpu, node.cpu_seconds()))
        check(abs(rss - node.rss_bytes()) < 8 << 20, "so is resident memory", (rss, node.rss_bytes()))
        check(abs(admin.total("process_start_time_seconds") - node.launch_unix_s) < 5, "it knows when it started", before)
        check(admin.total("process_open_fds") > 10, "it counts its descriptors")
        build = admin.families()["ringlog_build_info"].samples[0]
        check(re.fullmatch(r"\d+\.\d+\.\d+", build.labels["version"]) and build.value == 1, "its version is told", build)


def health():
    """Healthy and ready while it serves; not ready from SIGTERM on, and never again."""
    node, admin = start()
    node.start()
    equal(admin.request("/healthz")[::2], (200, "ok\n"), "healthy as soon as it listens")
    equal(admin.request("/readyz")[::2], (200, "serving\n"), "and ready")
    seen, done = [], threading.Event()

    def watch():
        while not done.is_set():
            seen.append(admin.status("/readyz"))

    watcher = threading.Thread(target=watch)
    watcher.start()
    time.sleep(0.2)
    asked = len(seen)
    node.process.send_signal(signal.SIGTERM)
    code = node.process.wait(30)
    after = len(seen)
    time.sleep(0.1)
    done.set()
    watcher.join(10)
    equal(code, 0, "SIGTERM: exit code 0")
    check(asked and set(seen[:asked]) == {200}, "ready all the time before", seen[:asked])
    first = next((i for i, status in enumerate(seen) if status != 200), len(seen))
    check(asked <= first <= after + 1 and set(seen[first:]) <= {503, None}, "not ready from the stop on, and never again", seen[max(0, first - 3):])
    equal(admin.status("/healthz"), None, "gone with the process")


def refusals():
    node, admin = start()
    with node:
        equal(admin.request("/")[0], 404, "unknown paths get 404")
        status, headers, _ = admin.request("/metrics", "POST")
        equal((status, headers.get("allow")), (405, "GET, HEAD"), "other methods get 405, and which are allowed")
        with socket.create_connection(("127.0.0.1", admin.port), 10) as peer:
            peer.sendall(b"GET /metrics HTTP/1.1\r\n" + b"X: y\r\n" * 4000)
            with contextlib.suppress(ConnectionError):
                check(re.match(rb"HTTP/1\.1 431 |$", peer.recv(100)), "a head beyond the limit is refused")
        with Connection(node.bootstrap) as peer:
            check(peer.api_versions(), "clients are served all the while")
        second = broker.Ringlog({"ringlog.admin.listen": f"127.0.0.1:{admin.port}"})
        try:
            second.start()
            check(False, "a second broker on the same admin port is refused")
        except RuntimeError as error:
            check(second.process.returncode == 1 and str(admin.port) in str(error) and "ringlog.admin.listen" in str(error),
                  "a second broker on the same admin port ends with 1 and names it", str(error)[-300:])
    with broker.Ringlog() as first, broker.Ringlog() as other:
        check(first.alive() and other.alive(), "two brokers without a configured endpoint don't meet")


for one in (pieces, connections, process, health, refusals):
    with part(one.__name__):
        one()
finish()
