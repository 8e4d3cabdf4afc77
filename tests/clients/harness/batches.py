"""Record batches, format 2: built with any field wrong on purpose, and read back from answers and segment files."""

import dataclasses
import struct
import time

CODECS = {0: "none", 1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}
HEADER_BYTES = 61
_TAIL = struct.Struct(">hiqqqhii")


def _table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ 0x82F63B78 if byte & 1 else byte >> 1
        table.append(byte)
    return table


_CRC_TABLE = _table()
try:
    from crc32c import crc32c
except ImportError:

    def crc32c(data):
        """CRC-32C in plain Python, for small inputs."""
        value = 0xFFFFFFFF
        for byte in data:
            value = _CRC_TABLE[(value ^ byte) & 0xFF] ^ (value >> 8)
        return value ^ 0xFFFFFFFF


def uvarint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def varint(value):
    """Zigzag."""
    return uvarint(((value << 1) ^ (value >> 63)) & 0xFFFFFFFFFFFFFFFF)


def _sized(data):
    return varint(-1) if data is None else varint(len(data)) + data


def record(delta, key, value, headers=(), timestamp_delta=0):
    """One record of a batch; `delta` is its offset within it."""
    body = b"\0" + varint(timestamp_delta) + varint(delta) + _sized(key) + _sized(value) + varint(len(headers))
    for name, content in headers:
        body += _sized(name) + _sized(content)
    return varint(len(body)) + body


def build(pairs, *, producer=(-1, -1), sequence=-1, attributes=0, base_offset=0, magic=2, timestamp=None, deltas=None,
          max_timestamp=None, crc=None, count=None, last_delta=None, length=None, body=None):
    """A batch of (key, value) pairs. Every keyword after `deltas` makes one field lie."""
    now = int(time.time() * 1000) if timestamp is None else timestamp
    deltas = deltas or [0] * len(pairs)
    if body is None:
        body = b"".join(record(i, k, v, timestamp_delta=deltas[i]) for i, (k, v) in enumerate(pairs))
    count = len(pairs) if count is None else count
    last_delta = len(pairs) - 1 if last_delta is None else last_delta
    latest = now + max(deltas, default=0) if max_timestamp is None else max_timestamp
    tail = _TAIL.pack(attributes, last_delta, now, latest, producer[0], producer[1], sequence, count) + body
    crc = crc32c(tail) if crc is None else crc
    middle = struct.pack(">ibI", -1, magic, crc & 0xFFFFFFFF) + tail
    return struct.pack(">qi", base_offset, len(middle) if length is None else length) + middle


@dataclasses.dataclass
class Batch:
    """A stored batch's header, and whether its CRC holds."""

    base_offset: int
    size_bytes: int
    leader_epoch: int
    magic: int
    crc_holds: bool
    attributes: int
    last_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    sequence: int
    count: int
    payload: bytes

    @property
    def codec(self):
        return CODECS.get(self.attributes & 7, "?")

    @property
    def next_offset(self):
        return self.base_offset + self.last_delta + 1


def parse(data):
    """The whole batches of `data`, in order; stops at the first that is torn, empty or not of format 2."""
    at, found = 0, []
    while at + HEADER_BYTES <= len(data):
        base, length, epoch, magic, crc = struct.unpack_from(">qiibI", data, at)
        end = at + 12 + length
        if length < HEADER_BYTES - 12 or magic != 2 or end > len(data):
            break
        fields = _TAIL.unpack_from(data, at + 21)
        holds = crc32c(data[at + 21 : end]) == crc
        found.append(Batch(base, end - at, epoch, magic, holds, *fields, payload=data[at + HEADER_BYTES : end]))
        at = end
    return found


def segments(directory):
    """Batches of all segment files of a partition directory, by base offset."""
    found = []
    for path in sorted(directory.glob("*.log")):
        found += parse(path.read_bytes())
    return found
