"""docs/tour.md is walked: each of its commands is run as it stands there, and its output matches what is stated.

With RINGLOG_TOUR_SHOW=1 what each command said is printed, to write the page by.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from harness import broker, checks, network
from harness.checks import check, finish, note, part, skip, watchdog

PAGE = broker.ROOT / "docs" / "tour.md"
SHOW = os.environ.get("RINGLOG_TOUR_SHOW", "") == "1"
# Ports that the page uses: a new user's are free, and a host that runs checks may have others on them.
PORTS = (9092, 9644)


def steps(text):
    """(line, command, stated output) of every command in a block of the kind `console`; a command goes on after a backslash."""
    found = []
    for block in re.finditer(r"^```console\n(.*?)^```", text, re.M | re.S):
        at = text.count("\n", 0, block.start(1)) + 1
        goes_on = False
        for number, line in enumerate(block.group(1).splitlines(), at):
            if goes_on:
                found[-1][1] += "\n" + line
            elif line.startswith("$ "):
                found.append([number, line[2:], []])
            else:
                found[-1][2].append(line)
            goes_on = (goes_on or line.startswith("$ ")) and line.endswith("\\")
    return found


def pattern(stated):
    """What the stated lines match: `…` within a line is any text, alone any lines; the width of columns doesn't count."""
    parts = []
    for line in stated:
        if line.strip() == "…":
            parts.append(r"(?:.*\n)*?")
            continue
        words = [r"[^\n]*?".join(map(re.escape, word.split("…"))) for word in line.split()]
        parts.append(r"[ \t]*" + r"[ \t]+".join(words) + r"[ \t]*\n")
    return re.compile("".join(parts))


class Shell:
    """One shell for the whole page: its directory, variables and background jobs stay from block to block."""

    def __init__(self, folder):
        programs = folder / "bin"
        programs.mkdir()
        (programs / "ringlog").symlink_to(pathlib.Path(broker.binary()).resolve())
        env = dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}", LC_ALL="C.UTF-8")
        self.process = subprocess.Popen(["bash", "--norc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env,
                                        cwd=folder)
        self.count = 0

    def run(self, command):
        """(exit code, what it printed)."""
        self.count += 1
        mark = f"-- done {os.getpid()} {self.count}"
        self.process.stdin.write(f"{{ {command}\n}} </dev/null; echo \"{mark} $?\"\n" if not command.rstrip().endswith("&") else f"{command}\necho \"{mark} 0\"\n")
        self.process.stdin.flush()
        lines = []
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f"the shell ended in: {command}")
            if line.startswith(mark):
                return int(line.split()[-1]), "".join(lines)
            lines.append(line)

    def close(self):
        """Ends what the page left running, by the shell's own list of jobs."""
        if self.process.poll() is None:
            self.process.stdin.write("kill $(jobs -p) 2>/dev/null; wait; exit\n")
            self.process.stdin.close()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()


def walk():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tour-", dir=(broker.TARGET / "test-data")))
    shell = Shell(folder)
    checks.at_exit(lambda: (shell.close(), shutil.rmtree(folder, ignore_errors=True)))
    found = steps(PAGE.read_text())
    check(len(found) > 20, "the page has commands", len(found))
    for line, command, stated in found:
        code, output = shell.run(command)
        if SHOW:
            print(f"$ {command}\n{output}", end="", flush=True)
        if output and not output.endswith("\n"):
            output += "\n"
        matches = pattern(stated).fullmatch(output)
        # A command that is meant to fail says so by its code: `; echo $?`.
        good = code == 0 and matches
        check(good, f"line {line}: {command.splitlines()[0]}", f"exit code {code}, it said:\n{output}\nthe page says:\n" + "\n".join(stated))


OWN = network.own()
watchdog(240)
(broker.TARGET / "test-data").mkdir(parents=True, exist_ok=True)
with part("the tour"):
    if busy := network.taken(PORTS):
        skip("the tour", f"something listens on {busy}")
    else:
        note(f"in a network of its own: {OWN}")
        walk()
finish()
