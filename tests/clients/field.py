"""What went wrong in the field with brokers and clients of this protocol: one check a kind of fault, where no other suite has one."""

import re
import shutil
import subprocess
import time

from confluent_kafka import KafkaException
from confluent_kafka.admin import NewPartitions, NewTopic

from harness import batches, broker, rdkafka, wire
from harness.checks import LONG, check, equal, eventually, finish, note, part, skip, unique, watchdog
from harness.members import heartbeat, join, sync
from harness.wire import Connection, array, i8, i32, i64, string

watchdog(280)
# A group waits for all that come at once.
node = broker.start({"group.min.session.timeout.ms": "1000", "group.initial.rebalance.delay.ms": "300"})
REBALANCE_IN_PROGRESS, LOADING, NOT_COORDINATOR, FENCED_EPOCH, UNKNOWN_EPOCH = 27, 14, 16, 74, 75
COORDINATOR_NOT_AVAILABLE, UNKNOWN_TOPIC = 15, 3
# What librdkafka finds out from the versions of a Kafka 4 broker.
FEATURES = {"MsgVer2", "ApiVersion", "BrokerBalancedConsumer", "BrokerGroupCoordinator", "Sasl", "SaslHandshake", "LZ4", "OffsetTime",
            "IdempotentProducer", "ZSTD", "SaslAuthReq"}


def ready(peer, group):
    """Finds the group's coordinator, which makes the first one, and waits until it answers."""
    peer.call(wire.FIND_COORDINATOR, 2, string(group) + i8(0))
    eventually(lambda: heartbeat(peer, group, 1, "nobody") not in (LOADING, NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE), 30)


# ---- protocol

def features_by_versions():
    """Clients switch features on by which APIs and versions are there."""
    if not shutil.which("kcat"):
        skip("librdkafka's feature detection", "no kcat")
        return
    done = subprocess.run(["kcat", "-b", node.bootstrap, "-L", "-d", "feature"], capture_output=True, text=True, timeout=30)
    found = set(re.findall(r"Enabling feature (\w+)", done.stderr))
    equal(sorted(FEATURES - found), [], "librdkafka finds every feature of a Kafka 4 broker")


def leader_epochs():
    """A client with an older or newer leader epoch than the leader's is told, by each API that carries one (KIP-320)."""
    topic = rdkafka.create(node.bootstrap, unique("epochs"), 1)
    with Connection(node.bootstrap) as peer:
        equal(peer.produce(topic, batches.build([(b"k", b"v")]))[0], 0, "a record")
    if node.controlled:
        node.stop()
        node.start()
    with Connection(node.bootstrap) as peer:
        eventually(lambda: peer.list_offset(topic, -1)[0] == 0, 20)
        _, _, _, epoch = peer.list_offset(topic, -1)
        now = epoch_now(peer, topic)
        for what, asked, wanted in (("the same", now, 0), ("a newer", now + 1, UNKNOWN_EPOCH)) + ((("an older", now - 1, FENCED_EPOCH),) if now > 0 else ()):
            equal(peer.fetch(topic, {0: 0}, leader_epoch=asked)[2][0][0], wanted, f"Fetch with {what} epoch: {wanted}")
            equal(peer.list_offset(topic, -1, leader_epoch=asked)[0], wanted, f"ListOffsets with {what} epoch: {wanted}")
            equal(end_of_epoch(peer, topic, asked, epoch)[0], wanted, f"OffsetForLeaderEpoch with {what} epoch: {wanted}")
        equal(end_of_epoch(peer, topic, now, epoch), (0, epoch, 1), "and where an epoch ended")


def epoch_now(peer, topic):
    """The leader epoch by Metadata v7."""
    answer = peer.call(wire.METADATA, 7, array([string(topic)]) + i8(0))
    answer.i32()
    answer.array(lambda r: (r.i32(), r.string(), r.i32(), r.string()))
    answer.string(), answer.i32(), answer.i32()
    answer.i16(), answer.string(), answer.i8(), answer.i32()
    answer.i16(), answer.i32(), answer.i32()
    return answer.i32()


def end_of_epoch(peer, topic, current, wanted):
    """(error, epoch, end offset) by OffsetForLeaderEpoch v3."""
    answer = peer.call(23, 3, i32(-1) + array([string(topic) + array([i32(0) + i32(current) + i32(wanted)])]))
    answer.i32(), answer.i32(), answer.string(), answer.i32()
    error = answer.i16()
    answer.i32()
    return error, answer.i32(), answer.i64()


def answers_name_what_was_asked():
    """Each topic and partition of a commit, and each group of a search, is answered once and in its place."""
    topics = [rdkafka.create(node.bootstrap, unique(f"commit-{i}"), 2) for i in range(2)]
    asked = [(topics[1], [1, 0]), (unique("nowhere"), [0, 5]), (topics[0], [0, 7, 1])]
    with Connection(node.bootstrap) as peer:
        group = unique("committer")
        ready(peer, group)
        rows = [string(name) + array([i32(p) + i64(3) + i32(-1) + string("") for p in partitions]) for name, partitions in asked]
        answer = peer.call(wire.OFFSET_COMMIT, 6, string(group) + i32(-1) + string("") + array(rows))
        answer.i32()
        found = answer.array(lambda r: (r.string(), r.array(lambda p: (p.i32(), p.i16()))))
        equal([(name, [p for p, _ in rows]) for name, rows in found], asked, "OffsetCommit names all that it was asked, in order")
        codes = {(name, p): code for name, rows in found for p, code in rows}
        wanted = {(name, p): 0 if name in topics and p < 2 else UNKNOWN_TOPIC for name, rows in asked for p in rows}
        equal(codes, wanted, "each with its own code")
        keys = [f"{group}-{i}" for i in range(10)]
        answer = peer.call(wire.FIND_COORDINATOR, 4, i8(0) + batches.uvarint(len(keys) + 1) + b"".join(map(wire.compact, keys)) + b"\0")
        answer.i32()
        count, got = answer.i8() - 1, []
        for _ in range(count):
            key = answer.raw(answer.i8() - 1).decode()
            answer.i32(), answer.raw(answer.i8() - 1), answer.i32()
            got.append((key, answer.i16()))
            if size := answer.i8():
                answer.raw(size - 1)
            answer.i8()
        equal(got, [(key, 0) for key in keys], "FindCoordinator v4 answers each of ten groups")


def not_created_when_told_so():
    """allow_auto_topic_creation=false in Metadata keeps a topic from being made; true makes it, and soon it has a leader."""
    name = unique("maybe")
    with Connection(node.bootstrap) as peer:
        equal(peer.metadata([name], create=False)[name], (UNKNOWN_TOPIC, {}), "Metadata that may not create: UNKNOWN_TOPIC_OR_PARTITION")
        first = peer.metadata([name], create=True)[name]
        check(first[0] in (0, 5, UNKNOWN_TOPIC) and (first[0] or first[1]), "one that may: made, or soon", first)
        there = eventually(lambda: (found := peer.metadata([name])[name])[0] == 0 and len(found[1]) == 4, 15)
        check(there, "then it is there with all its partitions")


# ---- groups

def silent_mid_join():
    """Of three members one joins and never syncs, as a stopped process does: the others go on without it, within the session."""
    group = unique("stuck")
    with Connection(node.bootstrap, 30) as one, Connection(node.bootstrap, 30) as two, Connection(node.bootstrap, 30) as stuck:
        ready(one, group)
        _, generation, _, _, a, _ = join(one, group, session_ms=3000)
        sync(one, group, generation, a, [(a, b"all")])
        # The second waits for the first to join again; then the third never answers.
        body = string(group) + i32(3000) + i32(4000) + string("") + string("consumer") + array([string("range") + i32(0)])
        stuck.post(wire.JOIN_GROUP, 2, body)
        time.sleep(0.3)
        two.post(wire.JOIN_GROUP, 2, body)
        begin, state = time.monotonic(), None
        while time.monotonic() - begin < 20:
            if heartbeat(one, group, generation, a) == REBALANCE_IN_PROGRESS:
                error, generation, _, leader, a, members = join(one, group, a, session_ms=3000)
                code, state = sync(one, group, generation, a, [(m, b"part") for m, _ in members] if leader == a else ())
                if leader == a and code == 0 and len(members) <= 2:
                    break
            time.sleep(0.2)
        took = time.monotonic() - begin
        check(state == b"part" and took < 15, "a member that went silent while joining is left out in time", (state, took))


def a_late_joiner():
    """Who comes after the rebalance is over begins the next one; nobody is thrown out for it."""
    group = unique("late")
    with Connection(node.bootstrap, 30) as one, Connection(node.bootstrap, 30) as two:
        ready(one, group)
        _, first, _, _, a, _ = join(one, group)
        sync(one, group, first, a, [(a, b"all")])
        two.post(wire.JOIN_GROUP, 2, string(group) + i32(8000) + i32(8000) + string("") + string("consumer") + array([string("range") + i32(0)]))
        check(eventually(lambda: heartbeat(one, group, first, a) == REBALANCE_IN_PROGRESS, 10), "the first is told to join again")
        error, second, _, _, again, members = join(one, group, a)
        equal((error, second, again, len(members) in (0, 2)), (0, first + 1, a, True), "and both are in the next generation")


def a_crowd():
    """Many members of one group join, sync and stay: no time that grows with their square."""
    count = 2000 if LONG else 500
    group = unique("crowd")
    links = [Connection(node.bootstrap, 60) for _ in range(count)]
    ready(links[0], group)
    begin = time.monotonic()
    body = string(group) + i32(60_000) + i32(60_000) + string("") + string("consumer") + array([string("range") + i32(100) + b"m" * 100])
    for link in links:
        link.post(wire.JOIN_GROUP, 3, body)
    answers = [joined(link) for link in links]
    members, leader, generation = [answer[4] for answer in answers], answers[0][3], answers[0][1]
    equal({(answer[0], answer[1], answer[3]) for answer in answers}, {(0, generation, leader)}, f"{count} members are in one generation, with one leader")
    note(f"joined in {time.monotonic() - begin:.1f} s")
    for at, link in enumerate(links):
        rows = [string(m) + i32(4) + b"part" for m in members] if members[at] == leader else []
        link.post(wire.SYNC_GROUP, 2, string(group) + i32(generation) + string(members[at]) + array(rows))
    codes = {}
    for link in links:
        answer = wire.Reader(link.frame())
        answer.i32(), answer.i32()
        code = answer.i16()
        codes[code] = codes.get(code, 0) + 1
    took = time.monotonic() - begin
    note(f"SyncGroup answers {codes}, {took:.1f} s in all")
    check(took < 30 and set(codes) == {0}, f"{count} members of one group are answered within 30 s", (took, codes))
    begin = time.monotonic()
    answer = links[0].call(wire.DESCRIBE_GROUPS, 1, array([string(group)]))
    answer.i32()

    def one(r):
        r.i16(), r.string(), r.string(), r.string(), r.string()
        return r.array(lambda m: (m.string(), m.string(), m.string(), m.bytes(), m.bytes())[0])

    found = answer.array(one)[0]
    check(sorted(found) == sorted(members) and time.monotonic() - begin < 5, "and described within 5 s", (len(found), time.monotonic() - begin))
    for link in links:
        link.close()


def joined(link):
    """(error, generation, protocol, leader, member) of a JoinGroup v3 that was posted."""
    answer = wire.Reader(link.frame())
    answer.i32(), answer.i32()
    return answer.i16(), answer.i32(), answer.string(), answer.string(), answer.string()


# ---- admin

def an_exporter_is_not_kept_waiting():
    """Descriptions and offsets of 500 groups, as lag exporters ask for them, never park."""
    topic = rdkafka.create(node.bootstrap, unique("scraped"), 4)
    groups = [unique(f"scraped-{i}") for i in range(500)]
    with Connection(node.bootstrap, 30) as peer:
        ready(peer, groups[0])
        for group in groups:
            row = string(topic) + array([i32(p) + i64(0) + i32(-1) + string("") for p in range(4)])
            peer.post(wire.OFFSET_COMMIT, 6, string(group) + i32(-1) + string("") + array([row]))
        for _ in groups:
            peer.frame()
        begin = time.monotonic()
        peer.call(wire.DESCRIBE_GROUPS, 1, array([string(group) for group in groups]))
        for group in groups:
            peer.post(wire.OFFSET_FETCH, 5, string(group) + i32(-1))
        for _ in groups:
            peer.frame()
        took = time.monotonic() - begin
        check(took < 5, "500 groups are described and their offsets fetched within 5 s", took)


def refusals_say_why():
    """Error texts of admin calls reach the client."""
    topic = rdkafka.create(node.bootstrap, unique("why"), 1)
    client = rdkafka.admin(node.bootstrap)
    texts = []
    for futures in (client.create_topics([NewTopic(unique("bad"), 1, config={"retention.ms": "soon"})]), client.create_topics([NewTopic(topic, 1)]),
                    client.create_partitions([NewPartitions(topic, 1)])):
        try:
            next(iter(futures.values())).result(20)
        except KafkaException as error:
            texts.append(error.args[0].str())
    equal([bool(re.search(wanted, text)) for wanted, text in zip(("Not a number of type LONG", f"Topic '{topic}' already exists", "already has 1 partition"), texts)],
          [True] * 3, "a bad config, a topic that is there, no more partitions: each in words")


STEPS = (features_by_versions, leader_epochs, answers_name_what_was_asked, not_created_when_told_so, silent_mid_join, a_late_joiner, a_crowd,
         an_exporter_is_not_kept_waiting, refusals_say_why)
for step in STEPS:
    with part(step.__name__):
        step()
finish()
