"""Classic consumer groups: eager, cooperative and static members, codes at the wire, offsets, restarts."""

import threading
import time

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaException, TopicPartition

from harness import batches, broker, rdkafka, wire
from harness.checks import among, check, equal, eventually, finish, part, skip, unique, watchdog
from harness.members import heartbeat, join, sync
from harness.wire import Connection, array, i32, i64, string

MEMBER_ID_REQUIRED, UNKNOWN_MEMBER, ILLEGAL_GENERATION, INCONSISTENT_PROTOCOL, INVALID_GROUP, INVALID_SESSION = 79, 25, 22, 23, 24, 26
REBALANCE_IN_PROGRESS, COORDINATOR_LOADING, NOT_COORDINATOR = 27, 14, 16
PARTITIONS = 6
watchdog(230)
node = broker.start()
TOPIC = rdkafka.create(node.bootstrap, unique("groups"), PARTITIONS)
ADMIN = rdkafka.admin(node.bootstrap)


class Member(threading.Thread):
    """A librdkafka consumer in a thread that notes every assignment change."""

    def __init__(self, group, **options):
        super().__init__(daemon=True)
        self.errors, self.changes, self.seen = [], [], []
        self.leaving, self.owned = threading.Event(), set()
        self.consumer = Consumer({
            "bootstrap.servers": node.bootstrap, "group.id": group, "auto.offset.reset": "earliest", "enable.auto.commit": False,
            "session.timeout.ms": 9000, "heartbeat.interval.ms": 400, "error_cb": self.errors.append, **rdkafka.QUIET, **options})
        self.consumer.subscribe([TOPIC], on_assign=lambda _c, ps: self.changes.append(("+", sorted(p.partition for p in ps))),
                                on_revoke=lambda _c, ps: self.changes.append(("-", sorted(p.partition for p in ps))))
        self.start()

    def run(self):
        while not self.leaving.is_set():
            try:
                for message in self.consumer.consume(100, 0.1):
                    if message.error():
                        self.errors.append(message.error())
                    else:
                        self.seen.append((message.partition(), message.offset()))
                self.owned = {p.partition for p in self.consumer.assignment()}
            except KafkaException as error:
                self.errors.append(error.args[0])
                time.sleep(0.1)
        self.consumer.close()

    def leave(self):
        self.leaving.set()
        self.join(20)


def shared(*members):
    """Whether the members own all partitions, each by exactly one, and none of them nothing."""
    return all(m.owned for m in members) and sorted(p for m in members for p in m.owned) == list(range(PARTITIONS))


def describe(group):
    return ADMIN.describe_consumer_groups([group])[group].result(20)


def fill(count=300):
    sender = rdkafka.Sender(node.bootstrap)
    for i in range(count):
        sender.send(TOPIC, None, b"%d" % i, partition=i % PARTITIONS)
    assert sender.flush() == 0 and not sender.errors, sender.errors


def eager():
    group = unique("eager")
    a, b = Member(group), Member(group)
    check(eventually(lambda: shared(a, b), 30), "two members share all partitions, none twice", (a.owned, b.owned))
    found = describe(group)
    equal((found.state.name, len(found.members), found.partition_assignor), ("STABLE", 2, "range"), "DescribeGroups: stable, two members, range")
    equal(sorted(p.partition for m in found.members for p in m.assignment.topic_partitions), list(range(PARTITIONS)), "and their assignments")
    check(all(m.host and m.client_id for m in found.members), "and their hosts and client ids")
    c = Member(group)
    check(eventually(lambda: shared(a, b, c), 30), "a third joins and gets its part", (a.owned, b.owned, c.owned))
    begin = time.monotonic()
    b.leave()
    check(eventually(lambda: shared(a, c), 30) and time.monotonic() - begin < 9, "one leaves: the others take over before any session expires", (a.owned, c.owned))
    eventually(lambda: len(set(a.seen + b.seen + c.seen)) >= 300, 20)
    equal(len(set(a.seen + b.seen + c.seen)), 300, "together they saw everything")
    a.leave(), c.leave()
    found = describe(group)
    equal((found.state.name, len(found.members)), ("EMPTY", 0), "all gone: the group is empty")
    equal([m.errors for m in (a, b, c)], [[], [], []], "and nobody saw an error")


def cooperative():
    group = unique("coop")
    how = {"partition.assignment.strategy": "cooperative-sticky"}
    a, b = Member(group, **how), Member(group, **how)
    check(eventually(lambda: shared(a, b), 40), "two cooperative members share all partitions", (a.owned, b.owned))
    before, marks = (set(a.owned), set(b.owned)), (len(a.changes), len(b.changes))
    c = Member(group, **how)
    check(eventually(lambda: shared(a, b, c), 40), "a third joins and gets its part", (a.owned, b.owned, c.owned))
    taken = {p for m, mark in zip((a, b), marks) for sign, ps in m.changes[mark:] if sign == "-" for p in ps}
    equal(taken, set(c.owned), "only what moved was revoked")
    check(a.owned <= before[0] and b.owned <= before[1], "the others kept the rest")
    c.leave()
    check(eventually(lambda: shared(a, b), 30), "it leaves: the others take over", (a.owned, b.owned))
    a.leave(), b.leave()


def static():
    group = unique("static")
    a, b = (Member(group, **{"group.instance.id": name}) for name in ("inst-a", "inst-b"))
    check(eventually(lambda: shared(a, b), 30), "two static members share all partitions", (a.owned, b.owned))
    equal(sorted(m.group_instance_id for m in describe(group).members), ["inst-a", "inst-b"], "DescribeGroups shows their instance ids")
    had, quiet = set(b.owned), len(a.changes)
    b.leave()
    time.sleep(1.5)
    equal(len(describe(group).members), 2, "one stops: it stays a member")
    b = Member(group, **{"group.instance.id": "inst-b"})
    check(eventually(lambda: b.owned == had, 15), "it returns within its session: the same partitions", (had, b.owned))
    equal(a.changes[quiet:], [], "and the other saw no rebalance")
    double = Member(group, **{"group.instance.id": "inst-b"})
    check(eventually(lambda: any("fenced" in str(e).lower() for e in b.errors), 20), "a second holder of an instance id fences the first", b.errors)
    check(eventually(lambda: shared(a, double), 30), "and takes its partitions", (a.owned, double.owned))
    double.leave()
    check(eventually(lambda: len(a.owned) == PARTITIONS, 40), "gone past its session: the other takes over", a.owned)
    a.leave()


# ---- at the wire


def leave(peer, group, members):
    """(error, [member errors]) by LeaveGroup v3."""
    answer = peer.call(wire.LEAVE_GROUP, 3, string(group) + array([string(m) + string(None) for m in members]))
    answer.i32()
    return answer.i16(), answer.array(lambda r: (r.string(), r.string(), r.i16())[2])


def commit(peer, group, offset, generation=-1, member="", partition=0, metadata="", topic=None):
    """Error by OffsetCommit v6."""
    row = string(topic or TOPIC) + array([i32(partition) + i64(offset) + i32(-1) + string(metadata)])
    answer = peer.call(wire.OFFSET_COMMIT, 6, string(group) + i32(generation) + string(member) + array([row]))
    answer.i32(), answer.i32(), answer.string(), answer.i32(), answer.i32()
    return answer.i16()


def fetch_offsets(peer, group, partitions):
    """(group error, {partition: (offset, metadata, error)}) by OffsetFetch v5; partitions None asks for all."""
    body = i32(-1) if partitions is None else array([string(TOPIC) + array([i32(p) for p in partitions])])
    answer = peer.call(wire.OFFSET_FETCH, 5, string(group) + body)
    answer.i32()
    rows = answer.array(lambda r: (r.string(), r.array(lambda x: (x.i32(), x.i64(), x.i32(), x.string(), x.i16()))))
    return answer.i16(), {row[0]: (row[1], row[3], row[4]) for _, found in rows for row in found}


def codes():
    with Connection(node.bootstrap, 20) as peer:
        g = unique("wire")
        eventually(lambda: join(peer, g + "x", "", session_ms=1)[0] != COORDINATOR_LOADING, 20)
        equal(join(peer, "")[0], INVALID_GROUP, "JoinGroup without a group id: INVALID_GROUP_ID")
        equal(join(peer, g, session_ms=5)[0], INVALID_SESSION, "a session of 5 ms: INVALID_SESSION_TIMEOUT")
        equal(join(peer, g, session_ms=1 << 30)[0], INVALID_SESSION, "a session of 12 days: INVALID_SESSION_TIMEOUT")
        equal(join(peer, g, "who")[0], UNKNOWN_MEMBER, "an unknown member id: UNKNOWN_MEMBER_ID")
        equal(join(peer, g, protocols=())[0], INCONSISTENT_PROTOCOL, "no protocol at all: INCONSISTENT_GROUP_PROTOCOL")
        error, _, _, _, given, _ = join(peer, g, version=4)
        check(error == MEMBER_ID_REQUIRED and given, "JoinGroup v4 without member id: MEMBER_ID_REQUIRED and one to use", (error, given))
        error, generation, protocol, leader, me, members = join(peer, g, given, version=4)
        equal((error, generation, protocol, leader, me, members), (0, 1, "range", given, given, [(given, b"")]), "with it: generation 1, leader of itself")
        among(heartbeat(peer, g, 1, me), (0, REBALANCE_IN_PROGRESS), "Heartbeat before SyncGroup")
        equal(sync(peer, g, 7, me)[0], ILLEGAL_GENERATION, "SyncGroup of another generation: ILLEGAL_GENERATION")
        equal(sync(peer, g, 1, me, [(me, b"work")]), (0, b"work"), "SyncGroup gives the leader's assignment")
        equal(sync(peer, g, 1, me), (0, b"work"), "SyncGroup again in a stable group: the same")
        equal(heartbeat(peer, g, 1, me), 0, "Heartbeat")
        equal(heartbeat(peer, g, 2, me), ILLEGAL_GENERATION, "Heartbeat of another generation: ILLEGAL_GENERATION")
        equal(heartbeat(peer, g, 1, "who"), UNKNOWN_MEMBER, "Heartbeat of nobody: UNKNOWN_MEMBER_ID")
        equal(heartbeat(peer, unique("none"), 1, "who"), UNKNOWN_MEMBER, "Heartbeat in no group: UNKNOWN_MEMBER_ID")
        equal(join(peer, g, kind="connect")[0], INCONSISTENT_PROTOCOL, "another protocol type: INCONSISTENT_GROUP_PROTOCOL")
        equal(join(peer, g, protocols=(("other", b""),))[0], INCONSISTENT_PROTOCOL, "no protocol in common: INCONSISTENT_GROUP_PROTOCOL")
        equal(commit(peer, g, 5, 1, me), 0, "OffsetCommit by the member")
        equal(commit(peer, g, 6, 3, me), ILLEGAL_GENERATION, "OffsetCommit of another generation: ILLEGAL_GENERATION")
        among(commit(peer, g, 6, -1, ""), (UNKNOWN_MEMBER,), "OffsetCommit by no member while the group lives: UNKNOWN_MEMBER_ID")
        equal(leave(peer, g, ["who"]), (0, [UNKNOWN_MEMBER]), "LeaveGroup v3 of nobody: 25 for the member, 0 on top")
        equal(leave(peer, g, [me]), (0, [0]), "LeaveGroup")
        equal(fetch_offsets(peer, g, [0])[1][0][0], 5, "what it committed stays")


def offsets():
    with Connection(node.bootstrap, 20) as peer:
        g = unique("plain")
        eventually(lambda: fetch_offsets(peer, g, [0])[0] != COORDINATOR_LOADING, 20)
        equal(fetch_offsets(peer, g, [0, 1]), (0, {0: (-1, "", 0), 1: (-1, "", 0)}), "OffsetFetch of an unknown group: no error, -1")
        equal(commit(peer, g, 17, metadata="note"), 0, "a commit without a group membership")
        equal(commit(peer, g, 0, partition=3), 0, "offset 0 is an offset")
        equal(fetch_offsets(peer, g, [0, 1, 3])[1], {0: (17, "note", 0), 1: (-1, "", 0), 3: (0, "", 0)}, "come back with metadata")
        equal(fetch_offsets(peer, g, None), (0, {0: (17, "note", 0), 3: (0, "", 0)}), "OffsetFetch of everything")
        equal(commit(peer, g, 1, metadata="x" * 5000), 12, "metadata over 4096 bytes: OFFSET_METADATA_TOO_LARGE")
        among(commit(peer, g, 1, partition=77), (3,), "a partition that isn't there: UNKNOWN_TOPIC_OR_PARTITION")
        among(commit(peer, g, 1, topic=unique("nope")), (3,), "a topic that isn't there: UNKNOWN_TOPIC_OR_PARTITION")
    found = ADMIN.list_consumer_groups().result(20)
    check(g in {x.group_id for x in found.valid}, "ListGroups names the group")
    got = ADMIN.list_consumer_group_offsets([ConsumerGroupTopicPartitions(g)])[g].result(20)
    equal({p.partition: p.offset for p in got.topic_partitions}, {0: 17, 3: 0}, "the admin client lists its offsets")
    unknown = unique("dead")
    try:
        state = describe(unknown).state.name
    except KafkaException as error:
        state = error.args[0].code()
    among(state, ("DEAD", 69), "DescribeGroups of an unknown group: dead, or GROUP_ID_NOT_FOUND from v6 on")


def expiry():
    """A member that goes silent is out after its session; its group goes on."""
    with Connection(node.bootstrap, 20) as one, Connection(node.bootstrap, 20) as two:
        g = unique("silent")
        _, generation, _, _, me, _ = join(one, g, session_ms=6000)
        sync(one, g, generation, me, [(me, b"a")])
        begin = time.monotonic()
        error, generation, _, leader, other, members = join(two, g, session_ms=6000)
        took = time.monotonic() - begin
        equal((error, [m for m, _ in members], leader), (0, [other], other), "who joins gets the group alone")
        check(4 < took < 12, "after the silent one's session", took)
        equal(heartbeat(one, g, generation, me), UNKNOWN_MEMBER, "and the silent one is unknown")


def over_restart():
    """Members and generation survive a broker's death: nobody has to join again."""
    group = unique("survivor")
    a, b = Member(group, **{"session.timeout.ms": 30000}), Member(group, **{"session.timeout.ms": 30000})
    check(eventually(lambda: shared(a, b), 30), "two members share all partitions")
    with Connection(node.bootstrap, 20) as peer:
        g = unique("raw-survivor")
        _, generation, _, _, me, _ = join(peer, g, session_ms=30000)
        sync(peer, g, generation, me, [(me, b"mine")])
        commit(peer, g, 4, generation, me)
    before, marks = (set(a.owned), set(b.owned)), (len(a.changes), len(b.changes))
    for how in ("kill -9", "a clean stop"):
        (node.kill9 if how == "kill -9" else node.stop)()
        node.start()
        with Connection(node.bootstrap, 20) as peer:
            # Heartbeats are answered with success while the group still loads.
            eventually(lambda: sync(peer, g, generation, me)[0] not in (COORDINATOR_LOADING, NOT_COORDINATOR), 25)
            equal(heartbeat(peer, g, generation, me), 0, f"after {how}: the member's generation still counts")
            equal(sync(peer, g, generation, me), (0, b"mine"), f"after {how}: and its assignment")
            equal(fetch_offsets(peer, g, [0])[1][0][0], 4, f"after {how}: and its offset")
        seen = len(a.seen) + len(b.seen)
        fill(60)
        check(eventually(lambda: len(a.seen) + len(b.seen) >= seen + 60, 40), f"after {how}: members go on reading")
        equal(((a.owned, b.owned), a.changes[marks[0] :] + b.changes[marks[1] :]), (before, []), f"after {how}: without a rebalance")
    a.leave(), b.leave()


def many_names():
    """DescribeGroups of very many groups: answered or refused, and nobody else waits meanwhile. One byte of the request names a group."""
    def ask(peer, count):
        peer.post(15, 5, batches.uvarint(count + 1) + b"\1" * count + b"\0\0")

    with Connection(node.bootstrap, timeout=60) as peer, Connection(node.bootstrap) as other:
        peer.api_versions(), other.api_versions()
        ask(peer, 20_000)
        slowest = 0
        for _ in range(20):
            begin = time.monotonic()
            other.api_versions()
            slowest = max(slowest, time.monotonic() - begin)
            time.sleep(0.02)
        check(len(peer.frame()) > 20_000 * 10, "20,000 groups are described")
        check(slowest < 2, "while another connection is served", slowest)
    with Connection(node.bootstrap, timeout=60) as peer:
        ask(peer, 1_000_000)
        if not broker.IS_KAFKA:
            check(peer.closed(30), "a million groups in one request: the connection is closed")
    with Connection(node.bootstrap) as peer:
        check(peer.api_versions(), "and the broker goes on")


with part("fill"):
    fill()
for step in (eager, cooperative, static, codes, offsets, expiry, many_names, over_restart):
    with part(step.__name__):
        if step is over_restart and not node.controlled:
            skip("groups over a restart", "the broker isn't ours")
            continue
        step()
finish()
