"""Brokers to test: one that this suite starts and may kill, or a foreign one that it only talks to.

`start(...)` decides by the environment:
  RINGLOG_BOOTSTRAP=HOST:PORT   a broker that runs already; suites skip what needs its process or its files
  RINGLOG_BROKER=kafka          an Apache Kafka of our own from RINGLOG_KAFKA_LIBS: proves the suites right
  otherwise                     `RINGLOG_BIN serve` on a free port
Data lives under RINGLOG_TARGET (a real file system: tmpfs has no direct I/O). Processes are ended by their own pid only.
"""

import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from . import checks

ROOT = pathlib.Path(__file__).resolve().parents[3]
TARGET = pathlib.Path(os.environ.get("RINGLOG_TARGET") or ROOT / "target")
FOREIGN = os.environ.get("RINGLOG_BOOTSTRAP", "")
# Kafka knows no bound on memory and starts slowly: the suites ask less of it. A foreign broker may be one.
IS_KAFKA = bool(FOREIGN) or os.environ.get("RINGLOG_BROKER", "") == "kafka"
# What every suite assumes; a suite's own settings come on top.
DEFAULTS = {"num.partitions": "4", "auto.create.topics.enable": "true", "group.initial.rebalance.delay.ms": "0"}


def binary():
    """The broker under test."""
    return os.environ.get("RINGLOG_BIN") or str(TARGET / "release" / "ringlog")


def free_port():
    """A TCP port that nothing listens on right now, outside the range of outgoing connections."""
    low = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for _ in range(200):
        port = random.SystemRandom().randrange(20000, max(low, 20100))
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise RuntimeError("no free port found")


class Foreign:
    """A broker somebody else runs: neither its process nor its files are ours."""

    controlled = False
    data_dir = None

    def __init__(self, bootstrap):
        self.bootstrap = bootstrap

    def alive(self):
        host, port = self.bootstrap.rsplit(":", 1)
        try:
            socket.create_connection((host, int(port)), 5).close()
            return True
        except OSError:
            return False

    def rss_bytes(self):
        return 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class Owned:
    """A broker process of our own with its own data directory and port; both stay over a restart."""

    controlled = True
    start_seconds_max = 60.0

    def __init__(self, settings=None, keep_port=None, data_dir=None, extra_args=(), cores=None):
        self.settings = {**DEFAULTS, **(settings or {})}
        parent = TARGET / "test-data"
        parent.mkdir(parents=True, exist_ok=True)
        self.work_dir = pathlib.Path(tempfile.mkdtemp(prefix=f"{checks.NAME}-", dir=parent))
        self.data_dir = pathlib.Path(data_dir) if data_dir else self.work_dir / "data"
        self.port = keep_port or free_port()
        self.bootstrap = f"127.0.0.1:{self.port}"
        self.log_path = self.work_dir / "broker.log"
        self.extra_args, self.cores, self.process = list(extra_args), cores, None
        checks.at_exit(self.dispose)

    def argv(self):
        raise NotImplementedError

    def prepare(self):
        """Whatever has to happen once before the first start."""

    def is_serving(self, _since):
        raise NotImplementedError

    def environment(self):
        return dict(os.environ)

    @property
    def pid(self):
        return self.process.pid

    def start(self):
        """Starts the process and waits until it serves. Raises with the log's end when it doesn't."""
        self.prepare()
        since = self.log_path.stat().st_size if self.log_path.exists() else 0
        self.launch_unix_s = time.time()
        with open(self.log_path, "ab") as log:
            # In the suite's own process group, which tests/run ends as a whole: no broker outlives a hung suite.
            self.process = subprocess.Popen(self.argv(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment())
        end = time.monotonic() + self.start_seconds_max
        while not self.is_serving(since):
            if self.process.poll() is not None:
                raise RuntimeError(f"broker ended at once with {self.process.returncode}:\n{self.log_tail()}")
            if time.monotonic() > end:
                raise RuntimeError(f"broker did not serve within {self.start_seconds_max} s:\n{self.log_tail()}")
            time.sleep(0.01)
        return self

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def kill9(self):
        """Ends it as a power-less kernel would not: no clean-up in the process, the page cache stays."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)

    def stop(self, seconds=60):
        """Asks for a clean stop; returns the exit code, None when it had to be killed."""
        if not self.alive():
            return self.process.returncode if self.process else None
        self.process.terminate()
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill9()
            return None

    def log_text(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def log_tail(self, lines=25):
        return "\n".join(self.log_text().splitlines()[-lines:])

    def rss_bytes(self):
        """Resident memory now; 0 when the process is gone."""
        try:
            for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines():
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024
        except OSError:
            pass
        return 0

    def cpu_seconds(self):
        """User and system time the process used so far, all threads."""
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def wake_ups(self):
        """How often its threads slept and were woken so far."""
        count = 0
        for status in pathlib.Path(f"/proc/{self.pid}/task").glob("*/status"):
            lines = status.read_text().splitlines()
            count += sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches:"))
        return count

    def partition_dirs(self, topic):
        """{partition: directory} of a topic below the data directory."""
        found = {}
        for path in self.data_dir.rglob(f"{topic}-*"):
            number = path.name[len(topic) + 1 :]
            if path.is_dir() and number.isdigit():
                found[int(number)] = path
        return found

    def dispose(self):
        """Stops the process; its files stay when a check failed, for the one who looks into it."""
        if self.alive():
            self.stop(20)
        if checks._failed == 0:
            shutil.rmtree(self.work_dir, ignore_errors=True)
        else:
            print(f"        broker log and data: {self.work_dir}\n{self.log_tail(15)}", flush=True)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()


class Ringlog(Owned):
    """The broker under test."""

    def argv(self):
        # The flag would beat a setting of several.
        place = [] if "log.dirs" in self.settings else ["--data-dir", str(self.data_dir)]
        args = [binary(), "serve", *place, "--listen", self.bootstrap]
        cores = self.cores or os.environ.get("RINGLOG_CORES")
        if cores:
            args += ["--cores", cores]
        for key, value in self.settings.items():
            args += ["--override", f"{key}={value}"]
        return args + self.extra_args

    def is_serving(self, since):
        with open(self.log_path, "rb") as log:
            log.seek(since)
            return b"listening " in log.read()


class ApacheKafka(Owned):
    """A single-node Apache Kafka: what the suites are proven against, and the other side of the benchmark."""

    start_seconds_max = 120.0

    def __init__(self, *args, heap="768m", **kwargs):
        super().__init__(*args, **kwargs)
        self.heap, self.controller_port = heap, free_port()

    def java(self, *args):
        prefix = ["taskset", "-c", self.cores] if self.cores else []
        config = ROOT / "tests" / "kafka" / "log4j2.xml"
        return prefix + ["java", f"-Xms{self.heap}", f"-Xmx{self.heap}", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20",
                         f"-Dlog4j2.configurationFile=file:{config}", "-cp", kafka_classpath(), *args]

    def prepare(self):
        self.config = self.work_dir / "server.properties"
        if self.config.exists():
            return
        plain, control = f"127.0.0.1:{self.port}", f"127.0.0.1:{self.controller_port}"
        properties = {
            "process.roles": "broker,controller", "node.id": "1", "log.dirs": self.data_dir,
            "listeners": f"PLAINTEXT://{plain},CONTROLLER://{control}",
            "advertised.listeners": f"PLAINTEXT://{plain},CONTROLLER://{control}",
            "controller.listener.names": "CONTROLLER", "controller.quorum.bootstrap.servers": control,
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "inter.broker.listener.name": "PLAINTEXT", "offsets.topic.replication.factor": "1",
            "transaction.state.log.replication.factor": "1", "transaction.state.log.min.isr": "1",
            "share.coordinator.state.topic.replication.factor": "1", "share.coordinator.state.topic.min.isr": "1",
        }
        properties.update({k: v for k, v in self.settings.items() if not k.startswith("ringlog.")})
        self.config.write_text("".join(f"{k}={v}\n" for k, v in properties.items()))
        tool = ["kafka.tools.StorageTool"]
        cluster, directory = (self.run_tool(*tool, "random-uuid") for _ in range(2))
        self.run_tool(*tool, "format", "--initial-controllers", f"1@{control}:{directory}", "-t", cluster, "-c", str(self.config))

    def run_tool(self, *args):
        done = subprocess.run(self.java(*args), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)
        return done.stdout.strip().splitlines()[-1]

    def argv(self):
        return self.java("kafka.Kafka", str(self.config))

    def is_serving(self, _since):
        from . import wire

        try:
            with wire.Connection(self.bootstrap, timeout=2) as connection:
                connection.api_versions()
            return True
        except (OSError, EOFError):
            return False

    def partition_dirs(self, topic):
        return {p: d for p, d in super().partition_dirs(topic).items() if not d.name.endswith("-delete")}


def kafka_classpath():
    """Class path of Kafka's jars, '' without them."""
    libs = pathlib.Path(os.environ.get("RINGLOG_KAFKA_LIBS") or TARGET / "kafka" / "libs")
    return f"{libs}/*" if any(libs.glob("kafka-clients-*.jar")) else ""


def make(settings=None, **kwargs):
    """The broker that the environment asks for, not started."""
    if FOREIGN:
        return Foreign(FOREIGN)
    if os.environ.get("RINGLOG_BROKER", "") == "kafka":
        kwargs.pop("extra_args", None)
        return ApacheKafka(settings, **kwargs)
    return Ringlog(settings, **kwargs)


def start(settings=None, **kwargs):
    """Like `make`, but it serves already."""
    broker = make(settings, **kwargs)
    return broker.start() if broker.controlled else broker
