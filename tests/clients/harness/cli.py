"""The `ringlog` command line as a suite drives it."""

import json
import subprocess

from . import broker


class Done:
    """What a command printed, and its exit code."""

    def __init__(self, completed):
        self.code, self.out, self.err = completed.returncode, completed.stdout, completed.stderr

    def json(self):
        """stdout as one JSON document; raises with everything it said when it isn't one."""
        try:
            return json.loads(self.out)
        except ValueError:
            raise RuntimeError(f"exit code {self.code}\n{self.out[-800:]}\n{self.err[-800:]}") from None

    def lines(self):
        """stdout as one JSON document a line."""
        return [json.loads(line) for line in self.out.splitlines()]


def run(*args, bootstrap=None, stdin="", seconds=60):
    """Runs one command to its end; `stdin` is text or bytes, and stdout is what it is."""
    argv = [broker.binary(), *map(str, args)]
    if bootstrap:
        argv += ["--bootstrap-server", bootstrap]
    text = isinstance(stdin, str)
    return Done(subprocess.run(argv, input=stdin, capture_output=True, text=text, timeout=seconds))
