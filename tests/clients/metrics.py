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
from harness.wire import Connection, produce_body

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

    def scrape(self):
        return Scrape(self.families())

    def total(self, sample, **labels):
        return self.scrape().total(sample, **labels)


class Scrape:
    """All samples of one moment."""

    def __init__(self, families):
        self.samples = [sample for family in families.values() for sample in family.samples]

    def series(self, sample, **labels):
        """The series of a sample that have these labels."""
        return [one for one in self.samples if one.name == sample and all(one.labels.get(k) == v for k, v in labels.items())]

    def total(self, sample, **labels):
        """Their sum."""
        return sum(one.value for one in self.series(sample, **labels))

    def since(self, before, sample, **labels):
        """By how much the sum grew."""
        return self.total(sample, **labels) - before.total(sample, **labels)


class Counted(Connection):
    """A connection that knows how many bytes went each way."""

    sent = received = 0

    def send(self, data):
        self.sent += len(data)
        super().send(data)

    def frame(self):
        answer = super().frame()
        self.received += 4 + len(answer)
        return answer


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
        with Connection(node.bootstrap) as peer:
            check(peer.fetch(topic, {0: 0}, session=(0, 0))[1] > 0, "a fetch session is opened")
        equal(admin.total("ringlog_fetch_sessions"), 1, "and counted")
        up = admin.families()["ringlog_shard_up"].samples
        equal({s.labels["shard"]: s.value for s in up}, {"0": 1.0, "1": 1.0}, "both shards answer the scrape")


def requests():
    """Requests, bytes, error codes and times are what one client did."""
    node, admin = start()
    with node:
        topic = rdkafka.create(node.bootstrap, unique("requests"), 4)
        # The admin client's connections have ended, or would count as well.
        check(eventually(lambda: admin.total("ringlog_connections") == 0, 20), "nobody else is connected")
        before = admin.scrape()
        stored, records, fetched, refused = 0, 0, 0, 0
        with Counted(node.bootstrap) as peer:
            for n in range(20):
                batch = batches.build([(b"key", b"v" * 100 * n) for _ in range(n + 1)])
                refused += peer.produce(topic, batch, n % 4, acks=(1, -1)[n % 2])[0] != 0
                stored, records = stored + len(batch), records + n + 1
            equal(refused, 0, "20 batches are taken")
            equal(peer.produce(topic, batches.build([(b"k", b"v")]), 99)[0], 3, "a partition that isn't there is refused")
            for p in range(4):
                _, _, found = peer.fetch(topic, {p: 0})
                fetched += len(found[p][3])
            equal(peer.fetch(topic, {0: 10_000})[2][0][0], 1, "an offset that isn't there is refused")
            after = admin.scrape()
            sent, received = peer.sent, peer.received
        grew = lambda sample, **labels: after.since(before, sample, **labels)  # noqa: E731
        equal((grew("ringlog_requests_total", api="Produce"), grew("ringlog_requests_total", api="Fetch")), (21, 5), "requests by API")
        equal(grew("ringlog_requests_total"), 26, "and no others")
        equal((grew("ringlog_request_bytes_total"), grew("ringlog_response_bytes_total")), (sent, received), "bytes in and out, to the byte")
        equal(grew("ringlog_request_errors_total", api="Produce", error="UNKNOWN_TOPIC_OR_PARTITION"), 1, "the refused partition")
        equal(grew("ringlog_request_errors_total", api="Fetch", error="OFFSET_OUT_OF_RANGE"), 1, "the refused offset")
        equal(grew("ringlog_request_errors_total"), 2, "and no other error")
        for api, count in (("Produce", 21), ("Fetch", 5)):
            equal(grew("ringlog_request_seconds_count", api=api), count, f"{api}: each request has its time")
            for stage in ("queue", "handle", "reply"):
                equal(grew("ringlog_request_stage_seconds_count", api=api, stage=stage), count, f"{api}: and its {stage} stage")
            stages = grew("ringlog_request_stage_seconds_sum", api=api)
            check(abs(grew("ringlog_request_seconds_sum", api=api) - stages) < 1e-3, f"{api}: the stages add up", stages)
        equal(grew("ringlog_request_stage_seconds_count", api="Produce", stage="route"), 21, "Produce: each was routed")
        equal((grew("ringlog_append_seconds_count"), grew("ringlog_append_durable_seconds_count")), (20, 20), "20 batches were appended, and durable")
        traffic = [after.total(f"ringlog_topic_{what}_total", topic=topic) for what in ("records_in", "bytes_in", "records_out", "bytes_out")]
        equal(traffic, [records, stored, records, fetched], "the topic's records and bytes, in and out")
        equal(fetched, stored, "all of it was read")
        equal([grew(f"ringlog_log_appended_{what}_total") for what in ("batches", "records", "bytes")], [20, records, stored], "the logs' likewise")

        def synced():
            now = admin.scrape()
            return [now.since(before, f"ringlog_log_{mark}_records_total") for mark in ("written", "synced")] == [records, records]

        check(eventually(synced, 10), "all of it is written and synced")
        now = admin.scrape()
        blocks = now.since(before, "ringlog_log_device_bytes_total")
        check(blocks >= stored and blocks % 4096 == 0, "the device got whole blocks", (blocks, stored))
        flushes, syncs = (now.since(before, f"ringlog_log_{what}_seconds_count") for what in ("flush", "sync"))
        check(1 <= flushes <= 21 and 1 <= syncs <= 21, "by group flushes", (flushes, syncs))
        equal((now.total("ringlog_log_dir_bytes"), now.total("ringlog_log_dir_partitions"), now.total("ringlog_log_segments")), (stored, 4, 4),
              "the directory's size, partitions and segments")
        equal((now.total("ringlog_log_dir_offline"), now.total("ringlog_log_dir_offline_partitions")), (0, 0), "nothing is offline")
        equal({s.labels["dir"] for s in now.series("ringlog_log_dir_bytes")}, {str(node.data_dir)}, "it is named")
        idle = [now.total("ringlog_memory_used_bytes", budget=b) for b in ("requests_small", "requests_large", "unplaced")]
        equal(idle, [0, 0, 0], "no memory is held for requests")
        check(now.total("ringlog_memory_used_bytes", budget="tail") >= stored, "the tail is")
        used = {(s.labels["shard"], s.labels["budget"]): s.value for s in now.series("ringlog_memory_used_bytes")}
        wide = {(s.labels["shard"], s.labels["budget"]): s.value for s in now.series("ringlog_memory_capacity_bytes")}
        check(used.keys() == wide.keys() and all(used[k] <= wide[k] for k in used), "every budget is told with its capacity", (used, wide))
        equal({s.value for s in now.series("ringlog_topics")}, {1.0}, "each shard knows one topic")
        equal({s.value for s in now.series("ringlog_partitions")}, {4.0}, "and four partitions")
        client = rdkafka.admin(node.bootstrap)
        client.delete_topics([topic])[topic].result(20)
        gone = admin.scrape()
        equal((gone.series("ringlog_topic_bytes_in_total", topic=topic), gone.total("ringlog_log_dir_partitions")), ([], 0), "a deleted topic has no series")
        equal(len(gone.series("ringlog_topic_bytes_in_total", topic="_other")), 1, "the sum of the others stays")


def unanswered():
    """acks=0 has a time and no reply; a shard's time is counted whichever connection asks."""
    node, admin = start()
    with node:
        topic = rdkafka.create(node.bootstrap, unique("unanswered"), 2)
        before = admin.scrape()
        with Connection(node.bootstrap) as peer:
            for n in range(10):
                peer.post(0, 7, produce_body(topic, {n % 2: batches.build([(b"k", b"v")])}, acks=0))
            peer.api_versions()
            after = admin.scrape()
        equal(after.since(before, "ringlog_request_seconds_count", api="Produce"), 10, "ten times")
        equal(after.since(before, "ringlog_request_stage_seconds_count", api="Produce", stage="reply"), 0, "no reply")
        equal(after.since(before, "ringlog_response_bytes_total", api="Produce"), 0, "no bytes")
        equal(after.since(before, "ringlog_append_seconds_count"), 10, "ten appends")
        equal(after.since(before, "ringlog_append_durable_seconds_count"), 0, "whose durability nobody waited for")


def groups():
    node, admin = start()
    with node:
        topic = rdkafka.create(node.bootstrap, unique("grouped"), 2)
        sender = rdkafka.Sender(node.bootstrap)
        sender.send(topic, b"k", b"v")
        sender.flush()
        name = unique("group")
        reader = rdkafka.consumer(node.bootstrap, name)
        reader.subscribe([topic])
        message = eventually(lambda: reader.poll(0.5), 30)
        check(message and not message.error(), "a member reads")
        state = lambda name: admin.total("ringlog_groups", state=name)  # noqa: E731
        equal((state("Stable"), admin.total("ringlog_groups")), (1, 1), "one stable group")
        equal(admin.total("ringlog_group_coordinators", phase="active"), 50, "50 coordinators serve")
        shards = {s.labels["shard"]: s.value for s in admin.scrape().series("ringlog_group_coordinators", phase="active")}
        equal(shards, {"0": 25.0, "1": 25.0}, "half of them on each shard")
        reader.commit(message, asynchronous=False)
        lag = lambda: admin.scrape().series("ringlog_group_lag_records", group=name, topic=topic)  # noqa: E731
        equal([s.value for s in lag()], [0.0], "after its commit it has no lag")
        with Connection(node.bootstrap) as peer:
            for p, records in ((message.partition(), 3), (message.partition(), 4), (1 - message.partition(), 50)):
                peer.produce(topic, batches.build([(b"k", b"v")] * records), p)
        # Nothing was committed of the other partition.
        equal([s.value for s in lag()], [7.0], "what was produced since then is its lag")
        ends = {s.labels["partition"]: s.value for s in admin.scrape().series("ringlog_partition_high_watermark", topic=topic)}
        equal(ends, {str(message.partition()): 8.0, str(1 - message.partition()): 50.0}, "each partition's end is told")
        reader.close()
        check(eventually(lambda: state("Empty") == 1 and admin.total("ringlog_groups") == 1, 10), "without members it is empty")
        check(admin.total("ringlog_requests_total", api="JoinGroup") >= 1 and admin.total("ringlog_requests_total", api="OffsetCommit") == 1,
              "its requests are counted")


def idle():
    node, admin = start({"connections.max.idle.ms": "1000"})
    with node:
        with Connection(node.bootstrap) as peer:
            peer.api_versions()
            check(peer.closed(10), "an idle connection is closed")
        equal(admin.total("ringlog_connections_closed_total", reason="idle"), 1, "and counted as idle")
        equal(admin.total("ringlog_connections_closed_total", reason="violation"), 0, "not as a violation")


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


for one in (pieces, requests, unanswered, groups, idle, connections, process, health, refusals):
    with part(one.__name__):
        one()
finish()
