"""`ringlog group`: resetting, forgetting and deleting what groups have committed, and what it refuses."""

import time

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from harness import broker, cli, rdkafka
from harness.checks import check, equal, eventually, finish, part, unique, watchdog

watchdog(200)
node = broker.start()
# The time of record n of each partition, in ms: one a second.
BASE_MS = int(time.time() * 1000) - 3_600_000
TOPIC = rdkafka.create(node.bootstrap, unique("reset"), 2)
OTHER = rdkafka.create(node.bootstrap, unique("other"), 1)
sender = rdkafka.Sender(node.bootstrap)
for n in range(100):
    for topic, partition in ((TOPIC, 0), (TOPIC, 1), (OTHER, 0)):
        sender.producer.produce(topic, b"v", partition=partition, timestamp=BASE_MS + n * 1000)
assert sender.flush() == 0
# Partition 0 starts at 20.
admin, trimmed = rdkafka.admin(node.bootstrap), TopicPartition(TOPIC, 0, 20)
admin.delete_records([trimmed])[trimmed].result(20)


def group(*args, **kwargs):
    return cli.run("group", *args, bootstrap=node.bootstrap, **kwargs)


def reset(*args):
    """What reset-offsets says, as JSON."""
    return group("reset-offsets", *args, "--output", "json").json()


def made(offsets, topic=TOPIC):
    """A new group with these committed offsets, {partition: offset}."""
    name = unique(f"g{made.count}")
    made.count += 1
    commit(name, offsets, topic)
    return name


made.count = 0


def commit(name, offsets, topic):
    consumer = rdkafka.consumer(node.bootstrap, name)
    places = [TopicPartition(topic, p, o) for p, o in offsets.items()]

    def done():
        try:
            return consumer.commit(offsets=places, asynchronous=False)
        except KafkaException as error:
            # A coordinator that is just made, or moves, says so.
            if not error.args[0].retriable() and error.args[0].code() != KafkaError.NOT_COORDINATOR:
                raise
            return None

    assert eventually(done), f"{name} can't commit"
    consumer.close()


def committed(name):
    """What is committed for the first topic, by partition."""
    found = rdkafka.committed(node.bootstrap, name, TOPIC, 2)
    return [found[partition] for partition in sorted(found)]


def targets():
    name = made({0: 50, 1: 60})
    for what, wanted in (
        (["--to-earliest"], [20, 0]),
        (["--to-latest"], [100, 100]),
        (["--to-offset", 70], [70, 70]),
        (["--shift-by", -5], [65, 65]),
        (["--shift-by", 10], [75, 75]),
        (["--to-current"], [75, 75]),
        (["--to-datetime", f"@{BASE_MS + 30_000}"], [30, 30]),
        (["--to-datetime", time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(BASE_MS // 1000 + 41))], [41, 41]),
        (["--by-duration", "P1D"], [20, 0]),
    ):
        before = committed(name)
        planned = reset(name, "-t", TOPIC, *what)
        equal((planned["executed"], committed(name)), (False, before), f"{what}: without --execute nothing is changed")
        done = reset(name, "-t", TOPIC, *what, "--execute")
        equal(([o["new"] for o in done["offsets"]], done["executed"]), ([o["new"] for o in planned["offsets"]], True), f"{what}: what was planned is done")
        equal(committed(name), wanted, f"{what}: and committed")


def clamped():
    name = made({0: 50, 1: 60})
    done = reset(name, "-t", TOPIC, "--to-offset", 5, "--execute")
    equal([(o["new"], bool(o["warning"])) for o in done["offsets"]], [(20, True), (5, False)], "an offset below the start is the start, with a warning")
    done = reset(name, "-t", TOPIC, "--to-offset", 500, "--execute")
    equal([(o["new"], bool(o["warning"])) for o in done["offsets"]], [(100, True), (100, True)], "one above the end is the end")
    done = group("reset-offsets", name, "-t", TOPIC, "--shift-by", -1000)
    check("below the start" in done.err and "--execute" in done.err, "the table's warnings are told, and how to do it", done.err)
    done = reset(name, "-t", f"{TOPIC}:1", "--to-datetime", "2100-01-01", "--execute")
    equal([(o["partition"], o["new"], bool(o["warning"])) for o in done["offsets"]], [(1, 100, True)], "a time behind all records is the end; one partition alone")


def scopes():
    name = made({0: 50, 1: 60})
    commit(name, {0: 10}, OTHER)
    done = reset(name, "-t", OTHER, "-t", f"{TOPIC}:0", "--to-latest")
    equal(sorted((o["topic"], o["partition"]) for o in done["offsets"]), sorted([(OTHER, 0), (TOPIC, 0)]), "several topics, some partitions")
    done = reset(name, "--all-topics", "--to-earliest", "--execute")
    equal(sorted((o["topic"], o["partition"], o["new"]) for o in done["offsets"]), sorted([(OTHER, 0, 0), (TOPIC, 0, 20), (TOPIC, 1, 0)]), "all topics: what the group has committed")
    second = made({0: 30, 1: 30})
    done = reset(name, second, "-t", TOPIC, "--to-latest", "--execute")
    equal({o["group"] for o in done["offsets"]}, {name, second}, "several groups")
    equal((committed(name), committed(second)), ([100, 100], [100, 100]), "both at the end")
    done = reset("--all-groups", "--all-topics", "--to-current")
    check({name, second} <= {o["group"] for o in done["offsets"]}, "all groups", done)
    new = unique("new")
    done = reset(new, "-t", TOPIC, "--to-earliest", "--execute")
    equal((done["offsets"][0]["current"], committed(new)), (None, [20, 0]), "a group that wasn't there is made")
    done = group("reset-offsets", name, "-t", unique("missing"), "--to-earliest")
    check(done.code == 1 and "UNKNOWN_TOPIC_OR_PARTITION" in done.err, "a missing topic is an error", (done.code, done.err))
    done = group("reset-offsets", name, "-t", f"{TOPIC}:7", "--to-earliest")
    check(done.code == 2 and "has no partition 7" in done.err, "so is a missing partition", (done.code, done.err))
    done = group("reset-offsets", unique("none"), "--all-topics", "--to-earliest")
    check(done.code == 1 and "no committed offsets" in done.err, "so is a group without offsets", (done.code, done.err))
    done = group("reset-offsets", new, "-t", OTHER, "--shift-by", 1)
    check(done.code == 1 and "nothing for" in done.err, "and shifting where nothing is committed", (done.code, done.err))


def csv():
    first, second = made({0: 40, 1: 41}), made({0: 42, 1: 43})
    one = group("reset-offsets", first, "-t", TOPIC, "--to-current", "--export")
    equal(one.out.split(), [f"{TOPIC},0,40", f"{TOPIC},1,41"], "the plan of one group as CSV")
    both = group("reset-offsets", first, second, "-t", TOPIC, "--to-current", "--export")
    equal(both.out.split(), sorted(f"{g},{TOPIC},{p},{o}" for g, p, o in ((first, 0, 40), (first, 1, 41), (second, 0, 42), (second, 1, 43))), "of two, with the groups")
    file = broker.TARGET / "test-data" / unique("plan.csv")
    try:
        reset(first, second, "-t", TOPIC, "--to-latest", "--execute")
        file.write_text(both.out)
        done = reset(first, second, "--from-file", file, "--execute")
        equal((len(done["offsets"]), committed(first), committed(second)), (4, [40, 41], [42, 43]), "and back from the file")
        file.write_text(f"{TOPIC},1,7\n{TOPIC},0,7\n")
        done = reset(second, "--from-file", file, "--execute")
        equal(committed(second), [20, 7], "a file of one group; its offsets are brought into the range too")
        done = group("reset-offsets", first, second, "--from-file", file)
        check(done.code == 2 and "tells no group" in done.err, "a file without groups for two is refused", (done.code, done.err))
    finally:
        file.unlink(missing_ok=True)


def live():
    name, quiet = unique("live"), made({0: 50, 1: 60})
    consumer = Consumer({"bootstrap.servers": node.bootstrap, "group.id": name, "auto.offset.reset": "earliest", **rdkafka.QUIET})
    consumer.subscribe([TOPIC])
    check(eventually(lambda: consumer.poll(0.2) and consumer.assignment(), 30), "a member reads")
    consumer.commit(asynchronous=False)
    done = group("reset-offsets", name, quiet, "-t", TOPIC, "--to-earliest", "--execute", "-o", "json")
    found = done.json()
    equal((done.code, [f["group"] for f in found["failures"]], {o["group"] for o in found["offsets"]}), (1, [name], {quiet}), "a live group is refused, the other one is done")
    check("stop them first" in found["failures"][0]["error"], "and it is told why", found["failures"])
    done = group("delete", name)
    check(done.code == 1 and "NON_EMPTY_GROUP" in done.err and "Stop the group's members" in done.err, "it isn't deleted", done.err)
    done = group("delete-offsets", name, "-t", TOPIC)
    check(done.code == 1 and "GROUP_SUBSCRIBED_TO_TOPIC" in done.err, "nor are offsets of what it reads", done.err)
    consumer.close()


def forgetting():
    name = made({0: 50, 1: 60})
    commit(name, {0: 10}, OTHER)
    found = group("delete-offsets", name, "-t", f"{TOPIC}:1", "-o", "json").json()
    equal([(o["topic"], o["partition"], o["committed"], o["deleted"]) for o in found], [(TOPIC, 1, 60, True)], "delete-offsets of a partition")
    left = {(p["topic"], p["partition"]) for p in group("describe", name, "-o", "json").json()["partitions"] if p["committed"] is not None}
    equal(left, {(TOPIC, 0), (OTHER, 0)}, "the others stay")
    found = group("delete-offsets", name, "-t", TOPIC, "-t", OTHER, "-o", "json").json()
    equal(len(found), 2, "of whole topics: all that is committed")
    done = group("delete-offsets", unique("none"), "-t", TOPIC)
    check(done.code == 1 and "committed nothing" in done.err, "of a group without offsets: an error", (done.code, done.err))
    name, other = made({0: 50}), made({0: 50})
    equal(group("delete", name, other, "-o", "json").json(), {"deleted": [name, other]}, "delete takes several groups")
    listed = {g["group"] for g in group("list", "-o", "json").json()}
    equal(listed & {name, other}, set(), "and they are gone")
    done = group("delete", name)
    check(done.code == 1 and "GROUP_ID_NOT_FOUND" in done.err, "again: an error", (done.code, done.err))
    equal(group("delete", name, "--if-exists").code, 0, "that --if-exists takes")


for step in (targets, clamped, scopes, csv, live, forgetting):
    with part(step.__name__):
        step()
finish()
