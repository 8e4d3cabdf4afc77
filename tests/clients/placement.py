"""Which core has which partition: shown, changed and evened out under load, remembered by kill -9 and by a start on another number of cores."""

import subprocess

from harness import broker, cli, rdkafka
from harness.checks import check, eventually, equal, finish, part, unique, watchdog

watchdog(290)

ADMIN = f"127.0.0.1:{broker.free_port()}"
node = broker.make({"ringlog.admin.listen": ADMIN, "ringlog.shards": "3", "offsets.topic.num.partitions": "4"})


def placement(*args, admin=ADMIN):
    return cli.run("placement", *args, "--admin", admin, "--output", "json")


def shown(topic, seconds=0):
    """{partition: what is told of it}."""
    told = placement("show", "--seconds", seconds).json()
    return {one["partition"]: one for one in told["partitions"] if one["topic"] == topic}


def core_of(topic, partition):
    return shown(topic)[partition]["core"]


def move(topic, partition, core):
    return placement("move", f"{topic}-{partition}", core)


def numbers(topic, partitions):
    return [int(message.value()) for message in rdkafka.read_all(node.bootstrap, topic, partitions, 60)]


node.start()
TOPIC = rdkafka.create(node.bootstrap, unique("placed"), 6)

with part("show"):
    told = shown(TOPIC)
    equal(sorted(one["core"] for one in told.values()), [0, 0, 1, 1, 2, 2], "new partitions go to the core with the fewest")
    equal({one["dir"] for one in told.values()}, {str(node.data_dir)}, "each tells its directory")
    sender = rdkafka.Sender(node.bootstrap)
    for number in range(100):
        sender.send(TOPIC, None, b"%d" % number, partition=4)
    equal((sender.flush(), sender.errors), (0, []), "100 records to one partition")
    equal({p: one["records_in"] for p, one in shown(TOPIC).items()}, {4: 100, **dict.fromkeys((0, 1, 2, 3, 5), 0)}, "are counted there")
    table = cli.run("placement", "show", "--seconds", 0, "--admin", ADMIN)
    check(table.code == 0 and "RECORDS-IN/S" in table.out and "on purpose" not in table.out, "the table", table.out + table.err)

with part("moves under load"):
    busy = rdkafka.create(node.bootstrap, unique("busy"), 1)
    sender = rdkafka.Sender(node.bootstrap, **{"enable.idempotence": True})
    reader = rdkafka.consumer(node.bootstrap, unique("followers"))
    reader.subscribe([busy])
    sent, read, refused = 0, [], []
    for turn in range(1, 16):
        core = (core_of(busy, 0) + 1) % 3
        mover = subprocess.Popen([broker.binary(), "placement", "move", f"{busy}-0", str(core), "--admin", ADMIN], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        while mover.poll() is None or sent < turn * 1000:
            sender.send(busy, b"k", b"%d" % sent)
            sent += 1
            if sent % 100 == 0:
                sender.poll()
                read += reader.consume(500, 0.01)
        if mover.returncode:
            refused.append(mover.stdout.read())
        equal(core_of(busy, 0), core, f"move {turn}: it is on core {core}")
    equal(refused, [], "no move is refused")
    equal((sender.flush(), [str(error) for error, _ in sender.errors]), (0, []), f"{sent} records were taken meanwhile")
    end = eventually(lambda: read.extend(reader.consume(5000, 0.2)) or len(read) >= sent, 60)
    reader.close()
    check(end and not [message.error() for message in read if message.error()], "the consumer saw no error", [str(m.error()) for m in read if m.error()][:3])
    equal([int(message.value()) for message in read], list(range(sent)), "and each record once, in order")
    node.kill9()
    node.start()
    equal(numbers(busy, 1), list(range(sent)), "so they are after kill -9")
    equal(core_of(busy, 0), core, "on the same core")

with part("the load generator"):
    topic = rdkafka.create(node.bootstrap, unique("verified"), 3)
    argv = [broker.binary(), "bench", "run", "--bootstrap-server", node.bootstrap, "-t", topic, "--partitions", "3", "-p", "2", "-c", "1", "-s", "200",
            "-r", "4000", "-d", "12", "--idempotent", "--verify=once", "--quiet", "--json", "-"]
    load = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    moves = 0
    while load.poll() is None:
        moves += move(topic, moves % 3, (moves + 1) % 3).code == 0
    out, err = load.communicate()
    equal(load.returncode, 0, f"verifies all under {moves} moves")
    check(moves > 10, "there were moves", (moves, out[-300:], err[-300:]))

with part("balance"):
    skewed = rdkafka.create(node.bootstrap, unique("skewed"), 6)
    for partition in range(6):
        equal(move(skewed, partition, 0).code, 0, f"{skewed}-{partition} goes to core 0")
    # Without keys a producer stays with a partition until a batch is full: the load would wander.
    argv = [broker.binary(), "bench", "run", "--bootstrap-server", node.bootstrap, "-t", skewed, "--partitions", "6", "-p", "2", "-s", "1000",
            "-r", "2000", "-d", "40", "--keys", "uniform:1000", "--idempotent", "--verify=once", "--quiet", "--json", "-"]
    load = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def carried():
        told = placement("show", "--seconds", 1).json()
        return sum(core["per_second"]["bytes_in"] for core in told["cores"])

    check(eventually(lambda: carried() > 500_000, 20), "there is load")
    dry = placement("balance", "--seconds", 3).json()
    equal((dry["executed"], {one["from"] for one in dry["moves"]}), (False, {0}), "it proposes moves from core 0")
    equal([one["result"] for one in dry["moves"]], [None] * len(dry["moves"]), "and makes none")
    equal({one["core"] for one in shown(skewed).values()}, {0}, "all are where they were")
    table = cli.run("placement", "balance", "--seconds", 2, "--admin", ADMIN)
    check(table.code == 0 and "EXPECTED" in table.out and "--execute makes" in table.out, "the table", table.out + table.err)
    done = placement("balance", "--seconds", 3, "--execute")
    made = done.json()
    equal((done.code, made["executed"]), (0, True), "--execute makes them")
    check(made["moves"] and all("is on core" in one["result"] for one in made["moves"]), "and tells each result", made["moves"])
    equal({one["partition"]: one["to"] for one in made["moves"]},
          {p: one["core"] for p, one in shown(skewed).items() if one["core"]}, "they are there, and nothing else moved")
    again = placement("balance", "--seconds", 3).json()
    check(again["skew"] < dry["skew"] and again["skew"] <= again["skew_max"], "the cores are about even", (dry["skew"], again["skew"], again["cores"]))
    equal(again["moves"], [], "so nothing is proposed then")
    out, err = load.communicate()
    equal(load.returncode, 0, "the load verifies all")

with part("other numbers of cores"):
    for partition in (0, 1):
        equal(move(TOPIC, partition, 1).code, 0, f"{TOPIC}-{partition} goes to core 1")
    before = {p: one["core"] for p, one in shown(TOPIC).items()}
    equal(node.stop(), 0, "it stops cleanly")
    node.start()
    equal({p: one["core"] for p, one in shown(TOPIC).items()}, before, "a restart leaves all where they were")
    for shards in (2, 1, 4):
        node.stop()
        node.settings["ringlog.shards"] = str(shards)
        node.start()
        now = shown(TOPIC)
        check(all(one["core"] < shards for one in now.values()), f"{shards}: each is on a core that is there", now)
        if shards == 2:
            equal((now[0]["core"], now[1]["core"]), (1, 1), "what was put there stays")
        equal(numbers(busy, 1), list(range(sent)), "all records are there")

with part("what can't be"):
    for args, words in (((unique("none"), 0, 0), "no such topic"), ((TOPIC, 6, 0), "no such topic"), ((TOPIC, 0, 4), "no such core"),
                        (("__consumer_offsets", 0, (core_of("__consumer_offsets", 0) + 1) % 4), "stay where they are")):
        done = move(*args)
        check(done.code == 1 and words in done.err, f"{args[0]}-{args[1]} to {args[2]}: {words}", done.err)
    equal(placement("move", "nothing", 0).code, 2, "a name without a number is wrong usage")
    done = placement("show", admin=f"127.0.0.1:{broker.free_port()}")
    check(done.code == 1 and "ringlog.admin.listen" in done.err, "no endpoint: what to set", done.err)
    equal(placement("balance", "--seconds", 0).code, 2, "balance has to measure")
    done = placement("show", admin=node.bootstrap)
    check(done.code == 1 and "not a Kafka listener" in done.err, "a Kafka listener: that it is one", done.err)
    equal(node.stop(), 0, "it stops cleanly")
finish()
