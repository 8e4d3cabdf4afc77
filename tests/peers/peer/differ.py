"""Two outputs as lines that can be compared: what differs between any two clusters is replaced by what it is."""

import difflib
import re

_UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
# A topic's, directory's or cluster's id: 16 bytes in base64, so that the last letter has only two of its bits. One without both cases is taken for a word.
_ID = re.compile(r"(?<![\w-])(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{21}[AQgw](?![\w-])")
_MS = re.compile(r"\b1[6-9]\d{11}\b")
_DATE = re.compile(r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,]\d{3}(?:Z|[+-]\d\d:?\d\d)?")
_GROUP = re.compile(r"\bconsole-consumer-\d+")
_SPACES = re.compile(r"[ \t]+")


def lines(text, side, hide=(), sort=False):
    """`text` as lines without what is the cluster's own: addresses, paths, ids, times, the width of columns."""
    node = side.node
    for found, name in ((node.bootstrap, "BROKER"), (str(node.data_dir), "DATA"), (str(node.port), "PORT"), (node.work_dir.name, "WORK")):
        text = text.replace(found, name)
    if controller := getattr(node, "controller_port", None):
        text = text.replace(f"127.0.0.1:{controller}", "CONTROLLER")
    for pattern, name in ((_UUID, "UUID"), (_ID, "ID"), (_DATE, "DATE"), (_MS, "MS"), (_GROUP, "GROUP")):
        text = pattern.sub(name, text)
    for pattern in hide:
        text = re.sub(pattern, "…", text, flags=re.M)
    found = [_SPACES.sub(" ", line).strip() for line in text.splitlines()]
    # Where in a tool an exception came from is nothing that a broker said.
    found = [line for line in found if line and not line.startswith(("at ", "... "))]
    return sorted(found) if sort else found


def difference(one, other):
    """(lines of `one` alone, lines of `other` alone); both empty when they are the same."""
    gone, come = [], []
    for kind, from_a, to_a, from_b, to_b in difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if kind != "equal":
            gone += one[from_a:to_a]
            come += other[from_b:to_b]
    return gone, come


def unexplained(found, patterns):
    """Those of `found` that match none of `patterns` as a whole."""
    return [line for line in found if not any(re.fullmatch(pattern, line) for pattern in patterns)]
