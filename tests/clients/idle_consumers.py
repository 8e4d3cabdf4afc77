"""Two thousand consumers that nobody sends anything to: what their polls and heartbeats cost."""

import selectors
import time

from harness import broker, wire
from harness.checks import check, equal, eventually, finish, note, part, unique, watchdog
from harness.wire import Connection, array, i8, i32, string

watchdog(200)
CONSUMERS, PARTITIONS, SECONDS = 2_000, 100, 15
# What is held, also beside other work on the machine. The aim is a tenth of a core; what is left is memory that is cold at each fetch, and the
# kernel's send, receive and wake-up.
SHARE_MAX, WAKE_UPS_MAX = 0.40, 0.9
node = broker.start()


def mib(size):
    return f"{size / 2**20:.0f} MiB"


# COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR.
NOT_YET = (14, 15, 16)


def answered(answer):
    """The error code of an answer that has one behind its throttle time."""
    answer.i32()
    return answer.i16()


class Idle:
    """A consumer that is alone in its group: a parked Fetch on one connection, a heartbeat each 3 s on another."""

    def __init__(self, topic, number):
        self.topic, self.group, self.partition = topic, f"{topic}-g{number}", number % PARTITIONS
        self.data, self.group_link = Connection(node.bootstrap, timeout=30), Connection(node.bootstrap, timeout=30)
        joined = self.group_link.call(wire.JOIN_GROUP, 3, string(self.group) + i32(30_000) + i32(60_000) + string("") + string("consumer")
                                      + array([string("range") + i32(0)]))
        joined.i32()
        self.error = joined.i16()
        self.generation, _, _, self.member = joined.i32(), joined.string(), joined.string(), joined.string()
        synced = self.group_link.call(wire.SYNC_GROUP, 1, string(self.group) + i32(self.generation) + string(self.member)
                                      + array([string(self.member) + i32(0)]))
        synced.i32()
        self.error = self.error or synced.i16()
        self.next_beat = 0.0
        self.fetch = wire.framed(wire.header(wire.FETCH, 11, 1) + self.data.fetch_body(topic, {self.partition: 0}, max_wait_ms=500))

    def ask(self):
        self.data.send(self.fetch)

    def beat(self, now):
        self.next_beat = now + 3
        self.group_link.call(wire.HEARTBEAT, 1, string(self.group) + i32(self.generation) + string(self.member))


def idle_consumers():
    topic = unique("idle")
    with Connection(node.bootstrap) as peer:
        equal(peer.create_topic(topic, PARTITIONS), 0, "a topic that nobody writes to")
        for _ in range(100):
            if peer.list_offset(topic, -1)[0] == 0:
                break
            time.sleep(0.1)
    before = node.rss_bytes()
    with Connection(node.bootstrap, timeout=30) as peer:
        # Finding the first coordinator makes them.
        find = lambda: peer.call(wire.FIND_COORDINATOR, 2, string(topic) + i8(0))  # noqa: E731
        beat = lambda: peer.call(wire.HEARTBEAT, 1, string(topic) + i32(1) + string("nobody"))  # noqa: E731
        check(eventually(lambda: (find(), answered(beat()))[1] not in NOT_YET, 30), "group coordinators serve")
    crowd = [Idle(topic, i) for i in range(CONSUMERS)]
    equal({c.error for c in crowd}, {0}, f"{CONSUMERS} consumers, each in its group")
    chosen = selectors.DefaultSelector()
    for i, consumer in enumerate(crowd):
        consumer.data.socket.setblocking(True)
        chosen.register(consumer.data.socket, selectors.EVENT_READ, consumer)
        consumer.next_beat = time.monotonic() + 3 * i / CONSUMERS
        consumer.ask()
    answers = run_idle(chosen, crowd, 3)
    cpu, wake_ups = (node.cpu_seconds(), node.wake_ups()) if node.controlled else (0, 0)
    begin = time.monotonic()
    answers = run_idle(chosen, crowd, SECONDS)
    took = time.monotonic() - begin
    check(answers > CONSUMERS * took / 0.5 * 0.5, "their fetches are answered, empty, twice a second", answers)
    if node.controlled:
        share = (node.cpu_seconds() - cpu) / took
        woken = (node.wake_ups() - wake_ups) / answers
        note(f"{answers / took:.0f} fetches/s, {share * 100:.1f} % of a core, {woken:.2f} wake-ups each")
        note(f"RSS {mib(before)} to {mib(node.rss_bytes())}")
        check(share < SHARE_MAX or broker.IS_KAFKA, f"which takes less than {SHARE_MAX * 100:.0f} % of a core", share)
        check(woken < WAKE_UPS_MAX or broker.IS_KAFKA, f"and less than {WAKE_UPS_MAX} wake-ups each, heartbeats included", woken)
    for consumer in crowd:
        consumer.data.close()
        consumer.group_link.close()


def run_idle(chosen, crowd, seconds):
    """Answers within the time; each is followed by the next request, as a consumer's poll would."""
    answers, end, at = 0, time.monotonic() + seconds, 0
    while (now := time.monotonic()) < end:
        for key, _ in chosen.select(0.02):
            frame = key.data.data.frame()
            # Correlation id, throttle time, error, session, topics.
            if frame[:10] != b"\0\0\0\1\0\0\0\0\0\0":
                raise ValueError(f"an answer with an error: {frame[:40]!r}")
            answers += 1
            key.data.ask()
        while crowd[at].next_beat <= now:
            crowd[at].beat(now)
            at = (at + 1) % len(crowd)
    return answers


with part("idle consumers"):
    idle_consumers()
finish()
