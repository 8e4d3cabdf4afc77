"""What the suites need beyond Rust and Python, installed below target/; a reason where it can't be had."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess

from . import process

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").resolve()
LOGS = TARGET / "test-logs"
PYTHON = TARGET / "venv" / "bin" / "python"
KAFKA_LIBS = TARGET / "kafka" / "libs"
NODE_DIR = TARGET / "node"
# Programs that .ci/run builds for itself.
BIN = TARGET / "tools" / "bin"
INSTALL_SECONDS_MAX = 600
_results = {}


def missing(tool):
    """'' when `tool` is usable (installing it first where we can), else the reason it isn't. Asked once a tool."""
    if tool not in _results:
        _results[tool] = _CHECKS[tool]() if tool in _CHECKS else ("" if shutil.which(tool) else f"no {tool} on PATH")
    return _results[tool]


def _stamped(folder, source, argv):
    """Runs `argv` unless `folder` already was made from `source` as it is now; returns a reason or ''."""
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    stamp = folder / ".made-from"
    if stamp.exists() and stamp.read_text() == digest:
        return ""
    folder.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"install-{folder.name}.log"
    if process.run(argv, log, INSTALL_SECONDS_MAX, cwd=folder) != 0:
        return f"installing failed, see {log}"
    stamp.write_text(digest)
    return ""


def _venv():
    if not PYTHON.exists():
        log = LOGS / "install-venv.log"
        if process.run(["python3", "-m", "venv", str(TARGET / "venv")], log, INSTALL_SECONDS_MAX) != 0:
            return f"no venv, see {log}"
    wanted = ROOT / "tests" / "requirements.txt"
    return _stamped(TARGET / "venv", wanted, [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "-q", "-r", str(wanted)])


def _java():
    if not shutil.which("java"):
        return "no java on PATH"
    text = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr
    found = re.search(r'version "(\d+)', text)
    return "" if found and int(found.group(1)) >= 17 else f"java is older than 17: {text.splitlines()[:1]}"


def _kafka():
    if reason := missing("java"):
        return reason
    if any(KAFKA_LIBS.glob("kafka-clients-*.jar")):
        return ""
    if not shutil.which("mvn"):
        return "no mvn on PATH"
    pom = ROOT / "tests" / "kafka" / "pom.xml"
    return _stamped(TARGET / "kafka", pom, ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies",
                                            f"-DoutputDirectory={KAFKA_LIBS}", "-DincludeScope=runtime"])


def _kafkajs():
    for tool in ("node", "npm"):
        if not shutil.which(tool):
            return f"no {tool} on PATH"
    source = ROOT / "tests" / "node" / "package.json"
    NODE_DIR.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, NODE_DIR / "package.json")
    return _stamped(NODE_DIR, source, ["npm", "install", "--silent", "--no-audit", "--no-fund"])


def environment():
    """The environment of the steps: programs in BIN are found after those of PATH."""
    return dict(os.environ, PATH=f"{os.environ.get('PATH', os.defpath)}:{BIN}")


def _cargo_deny():
    found = shutil.which("cargo-deny", path=environment()["PATH"])
    return "" if found else "cargo-deny is not installed (cargo install cargo-deny --locked)"


def _advisory_db():
    """Fetched here and not by the check, because a host that can't reach it says nothing about the code."""
    log = LOGS / "install-advisory-db.log"
    code = process.run(["cargo", "deny", "fetch", "db"], log, INSTALL_SECONDS_MAX, env=environment(), cwd=ROOT)
    return "" if code == 0 else f"RustSec's advisory database can't be fetched, see {log}"


_CHECKS = {"venv": _venv, "java": _java, "kafka": _kafka, "kafkajs": _kafkajs, "cargo-deny": _cargo_deny,
           "advisory-db": _advisory_db}
