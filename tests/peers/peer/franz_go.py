"""Suite `franz_go`: the tests of franz-go's client and admin packages, which take a running broker's address from the environment."""

import json
import os
import shutil
import subprocess

from harness.checks import note, skip
from runner import process, tools

from . import outcomes, sides

FOLDER = tools.TARGET / "peers" / "franz-go"
# (module, version, package in it).
PACKAGES = (("github.com/twmb/franz-go", "v1.22.3", "./pkg/kgo"), ("github.com/twmb/franz-go/pkg/kadm", "v1.20.0", "."))
RUN_SECONDS_MAX = 900
# Records that each of its pipelines moves; its own default is for a cluster.
RECORDS = "50000"
# By parts of names: transactions, KIP-848 and share groups aren't there yet.
LEFT_OUT = "Txn|Transact|848|Share|NextGen"
# {test: why it fails on Ringlog alone}.
KNOWN = {}


def run(only):
    """The suite; `only` names tests."""
    pair = None
    try:
        for module, version, package in PACKAGES:
            folder, reason = _brought(module, version)
            if reason:
                skip(f"{module} {version}", reason)
                continue
            pair = pair or sides.start()
            kafka, ringlog = (_run_all(side, folder, package, only) for side in pair)
            outcomes.compare(kafka, ringlog, KNOWN)
    finally:
        for side in pair or ():
            side.close()


def _run_all(side, folder, package, only):
    """{test: outcome} on one broker."""
    log = tools.LOGS / f"franz-go-{folder.name}-{side.name}.log"
    chosen = ["-run", "|".join(only)] if only else ["-skip", LEFT_OUT]
    env = dict(os.environ, KGO_SEEDS=side.bootstrap, KGO_TEST_RF="1", KGO_TEST_RECORDS=RECORDS, KGO_TEST_STABLE_FETCH="1", GOFLAGS="-mod=mod")
    process.run(["go", "test", "-json", "-count=1", f"-timeout={RUN_SECONDS_MAX - 30}s", *chosen, package], log, RUN_SECONDS_MAX, env=env, cwd=folder)
    note(f"{side.name}: {log}")
    found, words = {}, {"pass": outcomes.PASSED, "fail": outcomes.FAILED, "skip": outcomes.SKIPPED}
    for line in log.read_text(errors="replace").splitlines():
        if line.startswith("{"):
            event = json.loads(line)
            if event.get("Test") and event["Action"] in words:
                found[f"{folder.name}/{event['Test']}"] = words[event["Action"]]
    return found


def _brought(module, version):
    """(folder with the module's source, ''), or (None, why not)."""
    folder = FOLDER / module.rsplit("/", 1)[-1]
    if (folder / "go.mod").exists():
        return folder, ""
    done = subprocess.run(["go", "mod", "download", "-json", f"{module}@{version}"], capture_output=True, text=True, cwd="/")
    if done.returncode != 0:
        return None, f"it can't be had: {done.stdout[-200:]}{done.stderr[-200:]}"
    # The module cache can't be written to.
    shutil.copytree(json.loads(done.stdout)["Dir"], folder)
    subprocess.run(["chmod", "-R", "u+w", str(folder)], check=True)
    return folder, ""
