"""Runs the command it is given with a broker at RINGLOG_BOOTSTRAP: for suites in languages that can't start one.

The command prints its own checks and result line; this parent adds nothing but the broker's log when it failed.
"""

import os
import subprocess
import sys

from harness import broker, checks

node = broker.start()
code = 1
try:
    env = dict(os.environ, RINGLOG_BOOTSTRAP=node.bootstrap)
    code = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, env=env).returncode
finally:
    if node.controlled:
        if code:
            print(node.log_tail(), file=sys.stderr)
        checks._failed = code
        node.dispose()
sys.exit(code)
