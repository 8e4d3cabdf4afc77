"""`ringlog produce` and `consume`: formats, files, headers, rates, places to start; and completions and manual pages."""

import json
import shutil
import subprocess
import tempfile
import pathlib
import time

from harness import broker, cli, rdkafka
from harness.checks import check, equal, finish, part, skip, unique, watchdog

watchdog(200)
node = broker.start()
WORK = pathlib.Path(tempfile.mkdtemp(prefix="records-tool-", dir=broker.TARGET))


def produce(topic, *args, **kwargs):
    return cli.run("produce", topic, *args, bootstrap=node.bootstrap, **kwargs)


def consume(topic, *args):
    """What is there from the beginning, unless told otherwise."""
    where = () if {"-f", "--tail", "-g"} & set(args) else ("-f", "beginning")
    return cli.run("consume", topic, "--exit-at-end", *where, *args, bootstrap=node.bootstrap)


def made(partitions=1):
    made.count += 1
    return rdkafka.create(node.bootstrap, unique(f"r{made.count}"), partitions)


made.count = 0


def text():
    topic = made(3)
    lines = "".join(f"k{i}:v{i}:x\n" for i in range(200))
    equal(produce(topic, "-k", ":", "-H", "h=1", "-z", "lz4", stdin=lines).code, 0, "lines of keys and values")
    done = consume(topic, "--format", "%k=%s %K %S %h\\n")
    equal(sorted(done.out.split("\n")[:-1]), sorted(f"k{i}=v{i}:x {len(f'k{i}')} {len(f'v{i}:x')} h=1" for i in range(200)), "as kcat would print them")
    done = produce(topic, "-k", ":", stdin="good:1\nbad\n")
    check(done.code == 2 and "line 2" in done.err and "key separator" in done.err, "a line without a separator is told", done.err)
    path = WORK / "lines"
    path.write_text("a\nb\n\n")
    topic = made()
    equal((produce(topic, "-F", path, "--empty-as-null").code, consume(topic, "--format", "%o:%S,").out), (0, "0:1,1:1,2:-1,"), "a file; tombstones")
    done = produce(topic, "-F", WORK / "missing")
    check(done.code == 2 and "missing" in done.err, "a missing file is told", done.err)


def json_lines():
    source, target = made(2), made(2)
    sender = rdkafka.Sender(node.bootstrap)
    for i in range(50):
        sender.producer.produce(source, b"\xff%d" % i if i % 2 else None, b"k%d" % i, partition=i % 2, timestamp=1_700_000_000_000 + i,
                                headers=[("h", b"1"), ("h", None), ("bin", b"\xfe\x00")])
    sender.flush()
    printed = consume(source, "-o", "json")
    equal(len(printed.lines()), 50, "consume prints a JSON object a record")
    equal(produce(target, "--input", "json", "--keep-partition", stdin=printed.out).code, 0, "which produce takes")
    again = consume(target, "-o", "json").lines()

    def all_but_topic(lines):
        return sorted(({k: v for k, v in line.items() if k != "topic"} for line in lines), key=lambda line: (line["partition"], line["offset"]))

    equal(all_but_topic(again), all_but_topic(printed.lines()), "and nothing but the topic is another: keys, values, headers, times, places")
    done = produce(target, "--input", "json", stdin='{"value":"v"}\n{"value":7}\n')
    check(done.code == 2 and "line 2" in done.err and "must be a string" in done.err, "what is no record is told", done.err)
    done = produce(target, "--input", "json", "--keep-partition", stdin='{"value":"v","partition":9}\n')
    check(done.code == 2 and "line 1" in done.err and "2 partitions" in done.err, "so is a partition that isn't there", done.err)


def rate():
    topic = made()
    begin = time.monotonic()
    equal(produce(topic, "--rate", 50, stdin="x\n" * 101).code, 0, "101 records at 50 a second")
    seconds = time.monotonic() - begin
    check(1.9 < seconds < 20, "take two seconds", seconds)
    stamps = [int(stamp) for stamp in consume(topic, "--format", "%T\\n").out.split()]
    check(stamps[-1] - stamps[0] > 1500 and len(stamps) == 101, "and are sent one after another", (stamps[0], stamps[-1], len(stamps)))


def places():
    topic = made()
    sender = rdkafka.Sender(node.bootstrap)
    for i in range(100):
        sender.producer.produce(topic, b"%d" % i, timestamp=1_700_000_000_000 + i * 1000)
    sender.flush()

    def offsets(*args):
        return [int(o) for o in consume(topic, "--format", "%o ", *args).out.split()]

    equal(offsets("-f", "97"), [97, 98, 99], "from an offset")
    equal(offsets("-f", "@1700000097000"), [97, 98, 99], "from a time in ms")
    equal(offsets("-f", "@2023-11-14T22:14:57Z"), [97, 98, 99], "from a time as people write it")
    equal(offsets("--tail", "2"), [98, 99], "the last two")
    equal(len(offsets("--tail", "1000")), 100, "the last thousand: all there are")
    equal(offsets("-f", "beginning", "-n", "3"), [0, 1, 2], "no more than asked for")
    group = unique("g")
    equal(offsets("-g", group, "-f", "beginning", "-n", "10"), list(range(10)), "as a group")
    equal(offsets("-g", group, "-n", "3"), [10, 11, 12], "which goes on where it was")


def shells():
    for shell, probe in (("bash", ["bash", "-n"]), ("zsh", ["zsh", "-n"]), ("fish", ["fish", "--no-execute"])):
        path = WORK / f"completions.{shell}"
        path.write_text(cli.run("completions", shell).out)
        if not shutil.which(shell):
            skip(f"completions for {shell}", "the shell isn't there")
            continue
        done = subprocess.run([*probe, str(path)], capture_output=True, text=True, timeout=30)
        equal((done.returncode, done.stderr), (0, ""), f"{shell} reads its completions")
    script = f"""source {WORK}/completions.bash
complete_line() {{ COMP_WORDS=($1); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); COMPREPLY=(); _ringlog ringlog "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD-1]}}"; echo "${{COMPREPLY[@]}}"; }}
complete_line "ringlog gro"; complete_line "ringlog group res"; complete_line "ringlog group reset-offsets --to-ear"
"""
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=30)
    equal(done.stdout.split(), ["group", "reset-offsets", "--to-earliest"], "bash completes commands and options")


def manual():
    pages = WORK / "man"
    equal(cli.run("man", pages).code, 0, "manual pages are written")
    names = {path.name for path in pages.iterdir()}
    check({"ringlog.1", "ringlog-topic-create.1", "ringlog-group-reset-offsets.1", "ringlog-log-verify.1"} <= names, "one a command", sorted(names))
    page = (pages / "ringlog-group-reset-offsets.1").read_text()
    check(".TH" in page and "to\\-earliest" in page, "with its options", page[:300])
    if shutil.which("man"):
        done = subprocess.run(["man", "--warnings", "-l", str(pages / "ringlog.1")], capture_output=True, text=True, timeout=30, env={"PATH": "/usr/bin:/bin", "MANPAGER": "cat", "MANWIDTH": "100", "LC_ALL": "C.UTF-8"})
        check(done.returncode == 0 and "SUBCOMMANDS" in done.stdout and not done.stderr, "man prints it", (done.stderr, done.stdout[-200:]))


def configs():
    found = json.loads(cli.run("config", "explain", "retention.ms", "min.insync.replicas", "-o", "json").out)
    equal([(row["name"], row["scope"]) for row in found], [("retention.ms", "topic"), ("min.insync.replicas", "broker"), ("min.insync.replicas", "topic")], "configs are explained without a broker")
    done = cli.run("config", "explain", "retention.mss")
    check(done.code == 1 and "retention.ms" in done.err, "a name written wrong is found", done.err)
    page = (broker.ROOT / "docs" / "configuration.md").read_text()
    equal(cli.run("config", "reference").out, page, "docs/configuration.md is what `config reference` prints")


for step in (text, json_lines, rate, places, shells, manual, configs):
    with part(step.__name__):
        step()
shutil.rmtree(WORK, ignore_errors=True)
finish()
