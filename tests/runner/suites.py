"""Every suite by name: what it runs, what it needs, how long it may take."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Suite:
    """`script` is relative to tests/clients; `cargo` steps have none. Seconds are (short form, long form)."""

    name: str
    what: str
    script: str = ""
    needs: tuple = ("venv",)
    # Brought when they can be had; without them the suite skips a part of itself.
    wishes: tuple = ()
    seconds: tuple = (240, 480)
    # Starts and kills its own broker, so a foreign one is of no use to it.
    own_broker: bool = False


CARGO = (
    Suite("fmt", "cargo fmt --check", needs=("cargo",)),
    Suite("clippy", "cargo clippy, warnings are errors", needs=("cargo",), seconds=(1200, 1200)),
    Suite("doc", "cargo doc, warnings are errors", needs=("cargo",), seconds=(1200, 1200)),
    Suite("deny", "cargo deny check: licences, bans, sources", needs=("cargo", "cargo-deny")),
    Suite("advisories", "cargo deny check: RustSec's advisories", needs=("cargo", "cargo-deny", "advisory-db")),
    Suite("unit", "cargo test of the whole workspace, simulation and crash model included", needs=("cargo",), seconds=(1800, 3600)),
    Suite("build", "cargo build --release", needs=("cargo",), seconds=(1800, 1800)),
    Suite("no_simulator", "the release binary holds nothing of the simulator", needs=("cargo",)),
)

CLIENTS = (
    Suite("main_job", "100,000 orders by librdkafka, groups, a killed member, a killed broker", "main_job.py", seconds=(900, 900)),
    Suite("crash_loop", "kill -9 at random points under load", "crash_loop.py", seconds=(420, 1500), own_broker=True),
    Suite("idempotence", "sequences, epochs, duplicates, pipelining, by raw bytes and librdkafka", "idempotence.py"),
    Suite("groups", "classic groups: eager, cooperative, static, offsets, admin's view", "groups.py"),
    Suite("group_tool", "ringlog group: offsets reset, forgotten, exported; groups deleted; what is refused", "group_tool.py"),
    Suite("big_records", "limits at the byte, large records, small fetch limits", "big_records.py"),
    Suite("compression", "every codec by every Python client", "codec_matrix.py"),
    Suite("topics", "creation, metadata, ids, deletion, auto-creation, many partitions", "topics.py"),
    Suite("admin", "configs that act at once, partitions, records, offsets, cluster, by librdkafka, kafka-python and Kafka's tools", "admin.py",
          wishes=("kafka",), seconds=(420, 480)),
    Suite("retention", "old segments go by time, size and log start, by settings changed at once, and under kill -9", "retention.py", seconds=(240, 600)),
    Suite("scale", "10,000 partitions; topics made and deleted over and over", "scale.py", seconds=(420, 3600)),
    Suite("idle_consumers", "what 2,000 consumers without anything to read cost", "idle_consumers.py"),
    Suite("field", "kinds of fault that brokers and clients had in the field", "field.py", seconds=(300, 300)),
    Suite("reading", "seek, time queries, limits, long polls, fetch sessions", "reading.py"),
    Suite("compaction", "last values, tombstones, settings at run time, kill -9 within passes, a small offsets topic, DumpLogSegments", "compaction.py",
          wishes=("kafka",), seconds=(300, 300)),
    Suite("aiokafka", "round trip by aiokafka", "aiokafka_client.py"),
    Suite("kafka_python", "round trip by kafka-python", "kafka_python_client.py"),
    Suite("kafkajs", "round trip by kafkajs", "kafkajs_client.mjs", needs=("kafkajs",)),
    Suite("kcat", "round trip by kcat", "kcat_client.py", needs=("venv", "kcat")),
    Suite("bad_input", "what bad input gets", "bad_input.py", seconds=(300, 600)),
    Suite("stopping", "SIGTERM under load, waits and deaf clients: answered, clean, in time", "stopping.py", seconds=(300, 720), own_broker=True),
    Suite("disk_full", "a disk fuller than it may be: writes refused, the rest goes on, and back", "disk_full.py", seconds=(120, 120), own_broker=True),
    Suite("log_dirs", "several log directories: dealt out, kill -9, moves under load and cut short, one that can't be used, one whose disk fails", "log_dirs.py", wishes=("kafka",), seconds=(300, 300), own_broker=True),
    Suite("placement", "which core has which partition: shown, moved under load, remembered, on other numbers of cores", "placement.py", seconds=(300, 300), own_broker=True),
    Suite("outside", "O_DIRECT, affinity, locks, exit codes, settings: the process seen from outside", "outside.py", own_broker=True),
    Suite("metrics", "the admin endpoint: metrics against what clients did, health, readiness", "metrics.py", own_broker=True),
    Suite("bench", "ringlog bench: every kind of load, verified; restarts under load; the sink", "bench.py", seconds=(300, 600)),
    Suite("dashboard", "every panel of deploy/grafana-dashboard.json by a real Prometheus", "dashboard.py", needs=("venv", "prometheus"), own_broker=True),
    Suite("records_tool", "ringlog produce and consume: formats, files, rates, places; completions, manual pages, explained configs", "records_tool.py"),
    Suite("host_tool", "ringlog cluster, check and tune: the cluster as a whole, the host below it", "host_tool.py"),
    Suite("tour", "docs/tour.md: every command of it, with the output that it states", "tour.py", own_broker=True),
    Suite("deploy", "deploy/: sample settings that all act, the container file, the systemd unit", "deploy.py", own_broker=True),
    Suite("log_tool", "ringlog log: dump, verify and repair of a stopped broker's files", "log_tool.py", seconds=(420, 480)),
    Suite("adopt", "ringlog log adopt: a real Kafka's directory taken over and served; what is refused; our directory read by Kafka", "adopt.py",
          needs=("venv", "kafka"), seconds=(420, 480), own_broker=True),
    Suite("java_tools", "Kafka's own console clients and tools, DumpLogSegments", "java_tools.py", needs=("venv", "kafka"), seconds=(420, 600)),
    Suite("peers", "the same commands of Kafka's tools on Kafka and on Ringlog: same output, same exit code", "../peers/run",
          needs=("venv", "kafka", "javac"), seconds=(420, 420), own_broker=True),
    Suite("compare", "ringlog-loadgen compare and peer kafka: figures of both, nothing left behind", "compare.py", needs=("venv", "kafka"), seconds=(560, 560),
          own_broker=True),
    Suite("html_report", "the page of a comparison in a headless browser", "html_report.py", needs=("venv", "chromium"), own_broker=True),
    Suite("instructions", "instructions of a produced and a fetched message by callgrind, and their change", "../bench/instructions.py",
          needs=("venv", "valgrind"), seconds=(1800, 1800), own_broker=True),
)

ALL = CARGO + CLIENTS

# Client suites that are known not to pass yet against our own broker, each with its reason: one counted, printed skip.
# The one place for that; a suite comes off the list with the change that makes it pass.
NOT_PASSING_YET: dict[str, str] = {}
