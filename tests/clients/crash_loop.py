"""kill -9 at random points, over and over, under produce and consume load.

One idempotent acks=all producer, one plain acks=1 producer and a consumer group run through all rounds without being
told of any death. Afterwards the log is read whole: nothing acknowledged is missing, nothing idempotent is doubled,
offsets are contiguous, and no group position ever fell behind an acknowledged commit.
"""

import collections
import threading
import time

from confluent_kafka import KafkaException

from harness import batches, broker, rdkafka
from harness.checks import LONG, RANDOM, SEED, check, equal, eventually, finish, note, part, unique, watchdog

ROUNDS = 200 if LONG else 10
PARTITIONS, PER_S = 3, 4000
GROUP = "crash-group"


class Load(threading.Thread):
    """A producer that never stops by itself; value = key + running number of that key."""

    def __init__(self, bootstrap, topic, **options):
        super().__init__(daemon=True)
        # Deaths take seconds each on a busy machine; a message may wait through several.
        self.sender = rdkafka.Sender(bootstrap, **{"message.timeout.ms": 600_000, "retry.backoff.ms": 100, "reconnect.backoff.max.ms": 500, **options})
        self.topic, self.stopping, self.sent = topic, threading.Event(), 0

    def run(self):
        begin = time.monotonic()
        while not self.stopping.is_set():
            key = f"key-{self.sent % 41}"
            self.sender.send(self.topic, key.encode(), f"{key} {self.sent // 41}".encode() + b"." * (self.sent % 300), tag=(key, self.sent // 41))
            self.sent += 1
            if self.sent % 50 == 0:
                self.sender.poll()
                time.sleep(max(0.0, self.sent / PER_S - (time.monotonic() - begin)) if len(self.sender.producer) < 20_000 else 0.2)

    def finish(self):
        """How many messages stayed unsettled."""
        self.stopping.set()
        self.join()
        return self.sender.flush(120)


class Member(threading.Thread):
    """A group member: sees, commits every 100 messages, remembers what the broker acknowledged."""

    def __init__(self, bootstrap, topic):
        super().__init__(daemon=True)
        self.consumer = rdkafka.consumer(bootstrap, GROUP, **{"reconnect.backoff.max.ms": 500, "session.timeout.ms": 8000, "heartbeat.interval.ms": 500})
        self.topic, self.stopping = topic, threading.Event()
        self.seen, self.acked_commits, self.fallbacks = collections.Counter(), {}, []

    def run(self):
        self.consumer.subscribe([self.topic])
        since = 0
        while not self.stopping.is_set():
            message = self.consumer.poll(0.2)
            if message and not message.error():
                place = (message.partition(), message.offset())
                if place[1] < self.acked_commits.get(place[0], 0):
                    self.fallbacks.append((place, self.acked_commits[place[0]]))
                self.seen[place] += 1
                since += 1
            if since >= 100 or (since and not message):
                since = 0
                try:
                    for item in self.consumer.commit(asynchronous=False) or []:
                        if not item.error:
                            self.acked_commits[item.partition] = max(item.offset, self.acked_commits.get(item.partition, 0))
                except KafkaException:
                    pass  # the broker is dead or the group rebalances: what wasn't acknowledged may come again
        self.consumer.close()


def die_and_return(node, round_number):
    """One death at a random moment of the load, and the way back."""
    time.sleep(RANDOM.uniform(0.3, 3.0))
    node.kill9()
    time.sleep(RANDOM.uniform(0.0, 0.5))
    begin = time.monotonic()
    node.start()
    note(f"round {round_number}: serves again after {time.monotonic() - begin:.2f} s")


def check_log(node, topic, load, idempotent):
    """Reads the topic whole and holds it against the acknowledgements."""
    label = "acks=all, idempotent" if idempotent else "acks=1"
    messages = rdkafka.read_all(node.bootstrap, topic, PARTITIONS, 90)
    places = {(m.partition(), m.offset()): m.value().split(b".")[0].decode() for m in messages}
    equal(len(places), len(messages), f"{label}: no offset comes twice")
    wrong = [(p, o) for p, o, (key, number) in load.sender.acked if places.get((p, o)) != f"{key} {number}"]
    equal(wrong[:5], [], f"{label}: each of {len(load.sender.acked)} acknowledged records is where its acknowledgement says")
    ends = rdkafka.end_offsets(node.bootstrap, topic, PARTITIONS)
    equal({p: sum(1 for q, _ in places if q == p) for p in ends}, {p: end for p, (_, end) in ends.items()}, f"{label}: offsets are contiguous from 0")
    if idempotent:
        counts = collections.Counter(places.values())
        equal([v for v, n in counts.items() if n > 1][:5], [], f"{label}: no record is doubled")
        last, disorder = {}, []
        for (_, _), value in sorted(places.items()):
            key, number = value.split(" ")
            if int(number) != last.get(key, -1) + 1:
                disorder.append(value)
            last[key] = int(number)
        equal(disorder[:5], [], f"{label}: each key's records are complete and in order")
    return places


def main():
    watchdog(6000 if LONG else 400)
    note(f"seed {SEED}, {ROUNDS} rounds")
    node = broker.start()
    safe, plain = unique("crash-all"), unique("crash-one")
    for topic in (safe, plain):
        rdkafka.create(node.bootstrap, topic, PARTITIONS)
    loads = [Load(node.bootstrap, safe, **{"enable.idempotence": True, "compression.type": "lz4"}),
             Load(node.bootstrap, plain, acks="1", **{"max.in.flight": 5})]
    members = [Member(node.bootstrap, safe) for _ in range(2)]
    for thread in loads + members:
        thread.start()
    with part("rounds"):
        for number in range(ROUNDS):
            die_and_return(node, number)
            before = len(loads[0].sender.acked), sum(len(m.seen) for m in members)
            promised = {p: max(m.acked_commits.get(p, 0) for m in members) for p in range(PARTITIONS)}
            place = eventually(lambda: _committed(node, safe), 30)
            lost = {p: (promised[p], place.get(p)) for p in promised if promised[p] > max(0, place.get(p, 0))}
            equal(lost, {}, f"round {number}: the group's place is not behind an acknowledged commit")
            moved = eventually(lambda: len(loads[0].sender.acked) > before[0] + 200 and sum(len(m.seen) for m in members) > before[1] + 100, 60)
            check(moved, f"round {number}: clients go on by themselves", (before, len(loads[0].sender.acked)))
    with part("end"):
        equal([load.finish() for load in loads], [0, 0], "both producers settle everything")
        equal([load.sender.errors[:2] for load in loads], [[], []], "and nothing failed")
        note(f"{loads[0].sent} + {loads[1].sent} records")
        places = check_log(node, safe, loads[0], True)
        check_log(node, plain, loads[1], False)

        def group_is_done():
            return not places.keys() - set().union(*(m.seen for m in members))

        check(eventually(group_is_done, 90, 0.5), "the group saw every record")
        for m in members:
            m.stopping.set()
        for m in members:
            m.join(30)
        equal([m.fallbacks[:3] for m in members], [[], []], "no member got again what it had committed")
    with part("files"):
        node.stop()
        for topic in (safe, plain):
            for number, folder in sorted(node.partition_dirs(topic).items()):
                stored = batches.segments(folder)
                good = stored and all(b.crc_holds for b in stored)
                good = good and [b.base_offset for b in stored] == [0] + [b.next_offset for b in stored[:-1]]
                epochs = [b.leader_epoch for b in stored]
                check(good and epochs == sorted(epochs), f"{folder.name}: CRCs hold, offsets are contiguous, leader epochs never fall")
                if number == 0:
                    check(epochs[-1] > epochs[0], f"{folder.name}: deaths raised the leader epoch", (epochs[0], epochs[-1]))
    finish()


def _committed(node, topic):
    try:
        return rdkafka.committed(node.bootstrap, GROUP, topic, PARTITIONS)
    except KafkaException:
        return None


main()
