"""A network of its own for a suite that uses ports which others may hold."""

import os
import shutil
import socket
import subprocess
import sys

_MARK = "RINGLOG_OWN_NETWORK"


def own():
    """Whether this process is in a network of its own, where only it has ports. It goes on in one, from its beginning, where that can be had."""
    if os.environ.get(_MARK):
        return True
    if not shutil.which("unshare") or not shutil.which("ip"):
        return False
    if subprocess.run(["unshare", "--net", "ip", "link", "set", "lo", "up"], capture_output=True).returncode != 0:
        return False
    os.environ[_MARK] = "1"
    os.execvp("unshare", ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", sys.executable, *sys.argv])


def taken(ports):
    """Those of these ports of 127.0.0.1 that something listens on."""
    found = []
    for port in ports:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                found.append(port)
    return found
