"""A clean stop under load, from outside: SIGTERM while clients produce, wait and are deaf.

What a client was promised: whatever was answered is there, and, new with a stop, whatever is there was answered. A wait
holds nothing up, a client that reads nothing does so for a bounded time, and a second signal ends the patience.
"""

import re
import signal
import threading
import time
import urllib.request

from harness import batches, broker, rdkafka
from harness.checks import LONG, RANDOM, SEED, check, equal, eventually, finish, note, part, skip, unique, watchdog
from harness.wire import FETCH, FIND_COORDINATOR, JOIN_GROUP, PRODUCE, Connection, Reader, array, i8, i32, produce_body, string

ROUNDS, PRODUCERS, PARTITIONS, IN_FLIGHT = (10, 8, 4, 8) if LONG else (3, 8, 4, 8)
NOT_COORDINATOR = 16
# What requests that were begun may take (server/stop.rs), and what a stop takes besides on a busy machine.
DRAIN_SECONDS, SLACK_SECONDS = 5, 4


class Producer(threading.Thread):
    """acks=all over one connection, several requests under way, until the stream ends."""

    def __init__(self, bootstrap, topic, name):
        super().__init__(daemon=True)
        self.connection, self.topic, self.name = Connection(bootstrap, timeout=30), topic, name
        self.answered, self.errors, self.posted = {}, [], []
        self.start()

    def run(self):
        try:
            number = 0
            while True:
                while len(self.posted) < IN_FLIGHT:
                    value, partition = b"%s %d" % (self.name.encode(), number), number % PARTITIONS
                    # Noted first: it may arrive though the send fails.
                    self.posted.append((self.connection.correlation + 1, partition, value))
                    self.connection.post(PRODUCE, 7, produce_body(self.topic, {partition: batches.build([(b"k", value)])}))
                    number += 1
                self.take()
        except (EOFError, OSError):
            pass
        try:
            while self.posted:
                self.take()
        except (EOFError, OSError):
            pass

    def take(self):
        answer = Reader(self.connection.frame())
        got, (wanted, partition, value) = answer.i32(), self.posted.pop(0)
        answer.i32(), answer.string(), answer.i32(), answer.i32()
        error, offset = answer.i16(), answer.i64()
        if got != wanted or error:
            self.errors.append((got, wanted, error))
        else:
            self.answered[partition, offset] = value


def stopped(node, began, bound, what):
    """Exit code 0 and the clean marker, within the time."""
    code = node.process.wait(60)
    took = time.monotonic() - began
    check(code == 0 and took < bound, f"{what}: exit code 0 within {bound} s", (code, took, node.log_tail()))
    check((node.data_dir / ".kafka_cleanshutdown").exists(), f"{what}: the directory is marked as cleanly stopped")
    note(f"{what}: {took:.2f} s")


def under_load():
    """Every answered record is in the log, and every record in the log was answered."""
    node = broker.make({"ringlog.shards": "2"})
    for number in range(ROUNDS):
        node.start()
        topic = unique(f"load{number}")
        rdkafka.create(node.bootstrap, topic, PARTITIONS)
        producers = [Producer(node.bootstrap, topic, f"p{i}") for i in range(PRODUCERS)]
        time.sleep(RANDOM.uniform(0.3, 1.5))
        began = time.monotonic()
        node.process.send_signal(signal.SIGTERM)
        stopped(node, began, SLACK_SECONDS, f"round {number}")
        for producer in producers:
            producer.join(30)
        check(not any(p.is_alive() for p in producers), f"round {number}: every client saw the end of its stream")
        equal([e for p in producers for e in p.errors][:3], [], f"round {number}: no answer is an error")
        answered = {place: value for p in producers for place, value in p.answered.items()}
        node.start()
        there = {(m.partition(), m.offset()): m.value() for m in rdkafka.read_all(node.bootstrap, topic, PARTITIONS, 60)}
        equal([place for place in answered if there.get(place) != answered[place]][:5], [], f"round {number}: none of {len(answered)} answered records is missing")
        equal([there[place] for place in there if place not in answered][:5], [], f"round {number}: none in the log was left unanswered")
        node.stop()


def real_clients():
    """librdkafka over a stop and a start: nothing is lost, nothing comes twice, nobody is told."""
    with broker.make({"ringlog.shards": "2"}) as node:
        topic = rdkafka.create(node.bootstrap, unique("real"), PARTITIONS)
        sender = rdkafka.Sender(node.bootstrap, **{"enable.idempotence": True, "message.timeout.ms": 120_000})
        count = 0
        for _ in range(3):
            until = time.monotonic() + 1
            while time.monotonic() < until:
                sender.send(topic, b"k%d" % (count % 50), b"%d" % count, tag=count)
                count += 1
                if count % 20 == 0:
                    sender.poll()
                    time.sleep(0.005)
            began = time.monotonic()
            node.process.send_signal(signal.SIGTERM)
            stopped(node, began, SLACK_SECONDS, "librdkafka producing")
            node.start()
        equal(sender.flush(60), 0, "the producer settles everything")
        equal(sender.errors[:2], [], "and nothing failed")
        values = sorted(int(m.value()) for m in rdkafka.read_all(node.bootstrap, topic, PARTITIONS, 60))
        equal(values == list(range(count)), True, f"each of {count} records is there once")


def waits():
    """Long polls and a forming group are answered, and hold nothing up."""
    with broker.make({"ringlog.shards": "2", "group.initial.rebalance.delay.ms": "30000"}) as node:
        topic = rdkafka.create(node.bootstrap, unique("wait"), PARTITIONS)
        polls = [Connection(node.bootstrap) for _ in range(6)]
        for poll in polls:
            poll.post(FETCH, 11, poll.fetch_body(topic, dict.fromkeys(range(PARTITIONS), 0), max_wait_ms=300_000))
        group, idle = Connection(node.bootstrap), Connection(node.bootstrap)
        idle.api_versions()

        def found():
            answer = group.call(FIND_COORDINATOR, 2, string("stop-group") + i8(0))
            answer.i32()
            return answer.i16() == 0

        check(eventually(found, 30), "the group has a coordinator")
        join = string("stop-group") + i32(10000) + i32(60000) + string("") + string("consumer") + array([string("range") + i32(0)])

        def joins():
            group.post(JOIN_GROUP, 3, join)
            if group.quiet(1):
                return True
            answer = Reader(group.frame())
            answer.i32(), answer.i32()
            note(f"JoinGroup: error {answer.i16()}, asked again")
            return False

        check(eventually(joins, 30), "a JoinGroup waits for other members")
        began = time.monotonic()
        node.process.send_signal(signal.SIGTERM)
        for number, poll in enumerate(polls):
            answer = Reader(poll.frame())
            answer.i32(), answer.i32()
            equal((answer.i16(), poll.closed()), (0, True), f"long poll {number}: answered, then the end of the stream")
        answer = Reader(group.frame())
        answer.i32(), answer.i32()
        equal((answer.i16(), group.closed()), (NOT_COORDINATOR, True), "JoinGroup: NOT_COORDINATOR, then the end of the stream")
        check(idle.closed(), "an idle connection is closed")
        stopped(node, began, SLACK_SECONDS, "waits")


def deaf_clients(node):
    """Connections that ask for much and read nothing."""
    topic = rdkafka.create(node.bootstrap, unique("deaf"), 1)
    with Connection(node.bootstrap) as peer:
        for _ in range(48):
            peer.produce(topic, batches.build([(b"k", bytes(RANDOM.randbytes(500_000)))]))
    deaf = []
    for _ in range(6):
        peer = Connection(node.bootstrap)
        for _ in range(4):
            peer.post(FETCH, 11, peer.fetch_body(topic, {0: 0}, partition_max_bytes=50 << 20))
        deaf.append(peer)
    time.sleep(1)
    return deaf


def deadline():
    with broker.make() as node:
        deaf = deaf_clients(node)
        began = time.monotonic()
        node.process.send_signal(signal.SIGTERM)
        stopped(node, began, DRAIN_SECONDS + SLACK_SECONDS, "a client that doesn't read")
        check(time.monotonic() - began > DRAIN_SECONDS - 1, "it was waited for")
        for peer in deaf:
            peer.close()


def second_signal():
    for last in (signal.SIGTERM, signal.SIGINT):
        with broker.make() as node:
            deaf = deaf_clients(node)
            node.process.send_signal(signal.SIGTERM)
            time.sleep(0.5)
            check(node.alive(), "the first signal lets requests end")
            began = time.monotonic()
            node.process.send_signal(last)
            stopped(node, began, DRAIN_SECONDS - 1.5, f"a second signal, {last.name}")
            for peer in deaf:
                peer.close()


def unread_answers():
    """What a shard holds for clients that don't read is bounded, and the others are served."""
    with broker.make({"ringlog.shards": "1", "ringlog.memory.max.bytes": str(64 << 20)}) as node:
        deaf = deaf_clients(node)
        topic = rdkafka.create(node.bootstrap, unique("hears"), 1)
        before = node.rss_bytes()
        more = deaf_clients(node)
        grown = node.rss_bytes() - before
        check(grown < 64 << 20, "memory stays within its budget", f"{grown >> 20} MiB")
        with Connection(node.bootstrap, timeout=90) as peer:
            equal(peer.produce(topic, batches.build([(b"k", b"v")])), (0, 0), "a producer is served at once")
            began = time.monotonic()
            _, _, found = peer.fetch(topic, {0: 0})
            equal([b.count for b in batches.parse(found[0][3])], [1], "a consumer that reads is served")
            note(f"after {time.monotonic() - began:.1f} s")
        for peer in deaf + more:
            peer.close()
        equal(node.stop(20), 0, "SIGTERM: exit code 0")


def connections(admin):
    """{shard: open connections} as the metrics tell."""
    with urllib.request.urlopen(f"http://{admin}/metrics", timeout=10) as page:
        text = page.read().decode()
    return {int(shard): int(float(count)) for shard, count in re.findall(r'^ringlog_connections\{shard="(\d+)"\} (\S+)$', text, re.M)}


def spread():
    """New connections go to the shard with the fewest, not to each in turn."""
    admin = f"127.0.0.1:{broker.free_port()}"
    with broker.make({"ringlog.shards": "2", "ringlog.admin.listen": admin}) as node:
        held = []
        for _ in range(20):
            held.append(Connection(node.bootstrap))
            held[-1].api_versions()
        equal(connections(admin), {0: 10, 1: 10}, "20 connections: 10 on each shard")
        # Those of one shard: every other one, as they were handed out in turn.
        for peer in held[::2]:
            peer.close()
        left = eventually(lambda: sorted(connections(admin).values()) == [0, 10], 10)
        check(left, "those of one shard are closed", connections(admin))
        more = [Connection(node.bootstrap) for _ in range(6)]
        for peer in more:
            peer.api_versions()
        equal(sorted(connections(admin).values()), [6, 10], "the next ones all go to that shard")
        equal(node.stop(20), 0, "SIGTERM: exit code 0")


def main():
    watchdog(700 if LONG else 280)
    note(f"seed {SEED}")
    if broker.IS_KAFKA:
        skip("stopping", "how we stop, not how Kafka does")
        finish()
    for what in (under_load, real_clients, waits, deadline, second_signal, unread_answers, spread):
        with part(what.__name__):
            what()
    finish()


main()
