"""What stands in deploy/ for operators: sample settings that all act, the container file, the systemd unit."""

import json
import os
import re
import shutil
import subprocess

from harness import broker, cli, network
from harness.checks import check, equal, eventually, finish, part, skip, watchdog

OWN = network.own()
watchdog(170)
DEPLOY = broker.ROOT / "deploy"
# What a sample says of the host it is for, which isn't this one.
OF_THE_HOST = {"listeners", "advertised.listeners", "log.dirs", "ringlog.admin.listen"}
# On this one there may be less memory and disk: what is taken at once is asked for in small.
SMALL = {"ringlog.disk.ballast.bytes": "1048576", "ringlog.disk.enough.bytes": "1"}
INSTRUCTIONS = {"FROM", "WORKDIR", "COPY", "RUN", "USER", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT", "CMD"}


def properties(path):
    """{name: value}."""
    lines = [line.strip() for line in path.read_text().splitlines()]
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def sample(path):
    wanted = properties(path)
    node = broker.Ringlog(extra_args=[str(path)])
    # Flags beat the file: the rest is as the file says.
    node.settings = {"listeners": f"PLAINTEXT://{node.bootstrap}", "advertised.listeners": f"PLAINTEXT://{node.bootstrap}",
                     "ringlog.admin.listen": f"127.0.0.1:{broker.free_port()}", **{k: v for k, v in SMALL.items() if k in wanted}}
    with node:
        text = node.log_text()
        warned = [line for line in text.splitlines() if re.search("WARN|ERROR", line) and any(name in line for name in wanted)]
        equal(warned, [], f"{path.name}: no warning about any of its settings")
        done = cli.run("config", "describe", "--broker", wanted.get("node.id", "1"), "--all", "-o", "json", bootstrap=node.bootstrap)
        found = {entry["name"]: str(entry["value"]) for entry in done.json()}
        wrong = {k: (v, found.get(k)) for k, v in wanted.items() if k not in OF_THE_HOST | set(node.settings) and not same(v, found.get(k))}
        equal(wrong, {}, "each is in force")
        equal(cli.run("topic", "create", "made", bootstrap=node.bootstrap).code, 0, "and it serves")
        equal(node.stop(), 0, "and stops")


def same(one, other):
    """Equal as text or as numbers."""
    try:
        return one == other or float(one) == float(other)
    except (TypeError, ValueError):
        return False


def instructions(text):
    """[(instruction, its arguments as text)]; a line goes on after a backslash."""
    text = re.sub(r"\\\n\s*", " ", "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#")))
    return [tuple(line.split(None, 1)) for line in text.splitlines() if line.strip()]


def container():
    found = instructions((DEPLOY / "Containerfile").read_text())
    equal([word for word, _ in found if word not in INSTRUCTIONS], [], "the container file has known instructions only")
    stages = [rest for word, rest in found if word == "FROM"]
    equal(len(stages), 2, "one stage builds, one runs")
    equal(len({re.search("bookworm|trixie", stage).group() for stage in stages}), 1, "both on the same release, for the libc's sake")
    version = re.search(r'^rust-version = "([\d.]+)"', (broker.ROOT / "Cargo.toml").read_text(), re.M).group(1)
    check(f"rust:{version}" in stages[0], "it builds with the oldest Rust that is promised to do", (stages[0], version))
    copied = [word for what, rest in found if what == "COPY" and "--from" not in rest for word in rest.split()[:-1]]
    equal([path for path in copied if not (broker.ROOT / path).exists()], [], "what it copies is there")
    members = re.search(r"^members = \[(.*?)\]", (broker.ROOT / "Cargo.toml").read_text(), re.M | re.S).group(1)
    equal({m.split("/")[0] for m in re.findall(r'"(.*?)"', members)} - set(copied), set(), "and every package of the workspace is")
    entry, command = (json.loads(next(rest for word, rest in found if word == which)) for which in ("ENTRYPOINT", "CMD"))
    health = json.loads(re.search(r"CMD (\[.*\])", next(rest for word, rest in found if word == "HEALTHCHECK")).group(1))
    equal((entry, health[0]), (["ringlog"], "ringlog"), "it runs the one binary")
    if busy := network.taken([9092]):
        skip("what the container runs", f"something listens on {busy}")
    else:
        runs(command, health)
    engine = next((name for name in ("buildah", "podman", "docker") if shutil.which(name)), "")
    if not engine or subprocess.run([engine, "info"], capture_output=True).returncode != 0:
        skip("building the image", f"{engine or 'no container engine'} doesn't run here")
    elif not os.environ.get("RINGLOG_LONG"):
        skip("building the image", "in the long form only")
    else:
        done = subprocess.run([engine, "build", "-f", str(DEPLOY / "Containerfile"), "-t", "ringlog-test", str(broker.ROOT)], capture_output=True, text=True)
        check(done.returncode == 0, f"{engine} builds it", done.stderr[-500:])


def runs(command, health):
    """The container's command on this host, with its data elsewhere."""
    node = broker.Ringlog(keep_port=9092)
    node.argv = lambda: [broker.binary(), *(str(node.data_dir) if word == "/var/lib/ringlog" else word for word in command)]
    with node:
        done = cli.run(*health[1:])
        check(done.code == 0 and re.search(r"127\.0\.0\.1\s+9092", done.out), "its command serves, and its health check succeeds", (done.code, done.out, done.err))
        equal(node.stop(), 0, "it stops at the container's signal")
    check(eventually(lambda: cli.run(*health[1:]).code != 0, 10), "then the health check fails")


def unit():
    if not shutil.which("systemd-analyze"):
        skip("the systemd unit", "no systemd-analyze")
        return
    folder = broker.TARGET / "test-data"
    copy = folder / "ringlog.service"
    copy.write_text((DEPLOY / "ringlog.service").read_text().replace("/usr/local/bin/ringlog", str(broker.binary())))
    done = subprocess.run(["systemd-analyze", "verify", str(copy)], capture_output=True, text=True)
    copy.unlink()
    # It also looks at what this host's own units want.
    said = [line for line in (done.stdout + done.stderr).splitlines() if "ringlog.service" in line]
    equal(said, [], "systemd has nothing against the unit")


for path in sorted(DEPLOY.glob("*.properties")):
    with part(path.name):
        sample(path)
for step in (container, unit):
    with part(step.__name__):
        step()
finish()
