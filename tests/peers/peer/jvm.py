"""Kafka's tools: many commands in one JVM (`java/Tools.java`), or one in a JVM of its own where it ends its process by itself."""

import base64
import dataclasses
import pathlib
import subprocess
import threading

from harness import broker

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "java" / "Tools.java"
LOG_CONFIG = broker.ROOT / "tests" / "kafka" / "log4j2.xml"
OPTIONS = ["-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", f"-Dlog4j2.configurationFile=file:{LOG_CONFIG}"]


@dataclasses.dataclass
class Done:
    """What a command left: exit code (-1: not done in its time), standard output, standard error."""

    code: int
    out: str
    err: str


class Jvm:
    """One JVM that runs command after command. One that is not done in its time ends it; the next command starts another."""

    def __init__(self, log_path):
        self.log_path, self.process, self.lock = log_path, None, threading.Lock()

    def run(self, main, args, stdin="", seconds=60):
        """Runs a tool's main to its end."""
        with self.lock:
            if self.process is None or self.process.poll() is not None:
                self._start()
            words = [main, stdin, *map(str, args)]
            self.process.stdin.write(" ".join([str(seconds), *map(_encoded, words)]) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline().split(" ")
            if len(answer) != 3:
                raise RuntimeError(f"the JVM ended in {main}: see {self.log_path}")
            code = int(answer[0])
            if code < 0:
                self.process.wait(10)
            return Done(code, _decoded(answer[1]), _decoded(answer[2]))

    def _start(self):
        with open(self.log_path, "ab") as log:
            argv = ["java", *OPTIONS, "-cp", broker.kafka_classpath(), str(SOURCE)]
            self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)

    def close(self):
        """Ends it."""
        if self.process is not None and self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(10)


def alone(main, args, stdin="", seconds=60):
    """The same in a JVM of its own."""
    argv = ["java", *OPTIONS, "-cp", broker.kafka_classpath(), main, *map(str, args)]
    try:
        done = subprocess.run(argv, input=stdin, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired as late:
        return Done(-1, str(late.stdout or ""), str(late.stderr or ""))
    return Done(done.returncode, done.stdout, done.stderr)


def _encoded(word):
    return "." + base64.b64encode(word.encode()).decode()


def _decoded(field):
    return base64.b64decode(field.strip()[1:]).decode(errors="replace")
