"""The Kafka protocol by hand: frames, headers and a few requests, each also sendable wrong.

Only what the suites need, at fixed versions: real clients cover the rest. Versions from a request's first flexible
version on use header 2 and compact fields.
"""

import contextlib
import select
import socket
import struct
import time

from .batches import uvarint

PRODUCE, FETCH, LIST_OFFSETS, METADATA, OFFSET_COMMIT, OFFSET_FETCH, FIND_COORDINATOR = 0, 1, 2, 3, 8, 9, 10
JOIN_GROUP, HEARTBEAT, LEAVE_GROUP, SYNC_GROUP, DESCRIBE_GROUPS, LIST_GROUPS, API_VERSIONS = 11, 12, 13, 14, 15, 16, 18
CREATE_TOPICS, DELETE_TOPICS, DELETE_RECORDS, INIT_PRODUCER_ID = 19, 20, 21, 22
DESCRIBE_CONFIGS, INCREMENTAL_ALTER_CONFIGS = 32, 44
COORDINATOR_LOAD_IN_PROGRESS = 14
FIRST_FLEXIBLE = {0: 9, 1: 12, 2: 6, 3: 9, 8: 8, 9: 6, 10: 3, 11: 6, 12: 4, 13: 4, 14: 4, 15: 5, 16: 3, 18: 3, 19: 5, 20: 4, 21: 2, 22: 2, 32: 4, 44: 1}


def i8(v):
    return struct.pack(">b", v)


def i16(v):
    return struct.pack(">h", v)


def i32(v):
    return struct.pack(">i", v)


def i64(v):
    return struct.pack(">q", v)


def string(text):
    """Nullable string with a 2-byte length."""
    if text is None:
        return i16(-1)
    data = text if isinstance(text, bytes) else text.encode()
    return i16(len(data)) + data


def compact(text):
    """Nullable compact string."""
    if text is None:
        return b"\0"
    data = text if isinstance(text, bytes) else text.encode()
    return uvarint(len(data) + 1) + data


def array(items):
    """Array with a 4-byte count; None is the null array."""
    return i32(-1) if items is None else i32(len(items)) + b"".join(items)


class Reader:
    """Takes fields off an answer."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def _take(self, form):
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def i8(self):
        return self._take(">b")

    def i16(self):
        return self._take(">h")

    def i32(self):
        return self._take(">i")

    def i64(self):
        return self._take(">q")

    def raw(self, size):
        self.at += size
        return self.data[self.at - size : self.at]

    def string(self):
        size = self.i16()
        return None if size < 0 else self.raw(size).decode()

    def bytes(self):
        size = self.i32()
        return None if size < 0 else self.raw(size)

    def array(self, element):
        return [element(self) for _ in range(max(0, self.i32()))]

    def left(self):
        return len(self.data) - self.at


def header(api, version, correlation, client="ringlog-tests"):
    """Request header 1, or 2 from the first flexible version on."""
    flexible = version >= FIRST_FLEXIBLE.get(api, 1 << 15)
    return i16(api) + i16(version) + i32(correlation) + string(client) + (b"\0" if flexible else b"")


def framed(payload):
    return i32(len(payload)) + payload


def produce_body(topic, partitions, acks=-1, timeout_ms=5000, transactional_id=None):
    """Produce v3-v8; `partitions` is {partition: records}, records None for a null field."""
    rows = [i32(p) + (i32(-1) if r is None else i32(len(r)) + r) for p, r in partitions.items()]
    return string(transactional_id) + i16(acks) + i32(timeout_ms) + array([string(topic) + array(rows)])


class Connection:
    """One socket. `call` pairs an answer with its request; `send`/`frame` take any bytes."""

    def __init__(self, bootstrap, timeout=10.0):
        host, port = bootstrap.split(",")[0].rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(timeout)
        self.correlation = 0

    def send(self, data):
        self.socket.sendall(data)

    def frame(self):
        """The next answer without its size. EOFError when the peer closed first."""
        size = struct.unpack(">i", self._exactly(4))[0]
        if not 0 <= size <= 256 << 20:
            raise ValueError(f"an answer of {size} bytes")
        return self._exactly(size)

    def _exactly(self, size):
        data = bytearray()
        while len(data) < size:
            piece = self.socket.recv(min(1 << 18, size - len(data)))
            if not piece:
                raise EOFError(f"closed after {len(data)} of {size} bytes")
            data += piece
        return bytes(data)

    def post(self, api, version, body, client="ringlog-tests"):
        """Sends a request, returns its correlation id."""
        self.correlation += 1
        self.send(framed(header(api, version, self.correlation, client) + body))
        return self.correlation

    def call(self, api, version, body, client="ringlog-tests"):
        """Sends a request and returns a reader behind the answer's header."""
        wanted = self.post(api, version, body, client)
        answer = Reader(self.frame())
        got = answer.i32()
        if got != wanted:
            raise ValueError(f"correlation id {got} for request {wanted}")
        if version >= FIRST_FLEXIBLE.get(api, 1 << 15) and api != API_VERSIONS:
            answer.i8()
        return answer

    def closed(self, seconds=5.0):
        """Whether the peer closes (or resets) within the time. Bytes that arrive before are dropped."""
        with contextlib.suppress(ConnectionError, BrokenPipeError):
            while select.select([self.socket], [], [], seconds)[0]:
                if not self.socket.recv(65536):
                    return True
            return False
        return True

    def quiet(self, seconds=0.5):
        """Whether neither bytes nor a close arrive within the time."""
        return not select.select([self.socket], [], [], seconds)[0]

    def close(self):
        with contextlib.suppress(OSError):
            self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # ---- requests

    def api_versions(self):
        """{api key: (lowest, highest)} by ApiVersions v0."""
        answer = self.call(API_VERSIONS, 0, b"")
        if error := answer.i16():
            raise ValueError(f"ApiVersions: error {error}")
        return {row[0]: row[1:] for row in answer.array(lambda r: (r.i16(), r.i16(), r.i16()))}

    def produce(self, topic, records, partition=0, version=7, acks=-1):
        """(error code, base offset) of one partition, Produce v3-v8."""
        answer = self.call(PRODUCE, version, produce_body(topic, {partition: records}, acks))
        answer.i32(), answer.string(), answer.i32(), answer.i32()
        return answer.i16(), answer.i64()

    def fetch_body(self, topic, partition_offsets, *, session=(0, -1), max_wait_ms=500, min_bytes=1, max_bytes=50 << 20,
                   partition_max_bytes=1 << 20, leader_epoch=-1, forget=()):
        """Fetch v11 for one topic; `partition_offsets` is {partition: offset}."""
        rows = [i32(p) + i32(leader_epoch) + i64(o) + i64(-1) + i32(partition_max_bytes) for p, o in partition_offsets.items()]
        topics = [string(topic) + array(rows)] if rows else []
        forgotten = [string(topic) + array([i32(p) for p in forget])] if forget else []
        return (i32(-1) + i32(max_wait_ms) + i32(min_bytes) + i32(max_bytes) + i8(0) + i32(session[0]) + i32(session[1])
                + array(topics) + array(forgotten) + string(""))

    def fetch(self, topic, partition_offsets, **options):
        """(error, session id, {partition: (error, high watermark, log start, records)}) by Fetch v11."""
        answer = self.call(FETCH, 11, self.fetch_body(topic, partition_offsets, **options))
        answer.i32()
        error, session = answer.i16(), answer.i32()
        found = {}

        def one_partition(r):
            partition, code, high = r.i32(), r.i16(), r.i64()
            r.i64()
            start = r.i64()
            r.array(lambda x: (x.i64(), x.i64()))
            r.i32()
            found[partition] = (code, high, start, r.bytes() or b"")

        answer.array(lambda r: (r.string(), r.array(one_partition)))
        return error, session, found

    def list_offset(self, topic, timestamp, partition=0, leader_epoch=-1):
        """(error, timestamp, offset, leader epoch) by ListOffsets v5."""
        row = string(topic) + array([i32(partition) + i32(leader_epoch) + i64(timestamp)])
        answer = self.call(LIST_OFFSETS, 5, i32(-1) + i8(0) + array([row]))
        answer.i32(), answer.i32(), answer.string(), answer.i32(), answer.i32()
        return answer.i16(), answer.i64(), answer.i64(), answer.i32()

    def init_producer_id(self, transactional_id=None):
        """(error, producer id, epoch) by InitProducerId v1; asks again while the coordinator loads."""
        for _ in range(100):
            answer = self.call(INIT_PRODUCER_ID, 1, string(transactional_id) + i32(60000))
            answer.i32()
            error, producer, epoch = answer.i16(), answer.i64(), answer.i16()
            if error != COORDINATOR_LOAD_IN_PROGRESS:
                break
            time.sleep(0.1)
        return error, producer, epoch

    def create_topic(self, name, partitions=1, replicas=-1, configs=None):
        """Error code by CreateTopics v4."""
        settings = array([string(k) + string(v) for k, v in (configs or {}).items()])
        row = string(name) + i32(partitions) + i16(replicas) + array([]) + settings
        answer = self.call(CREATE_TOPICS, 4, array([row]) + i32(20000) + i8(0))
        answer.i32(), answer.i32(), answer.string()
        return answer.i16()

    def metadata(self, topics, create=False):
        """{topic: (error, {partition: (error, leader)})} by Metadata v7; topics None asks for all."""
        body = array(None if topics is None else [string(t) for t in topics]) + i8(1 if create else 0)
        answer = self.call(METADATA, 7, body)
        answer.i32()
        answer.array(lambda r: (r.i32(), r.string(), r.i32(), r.string()))
        answer.string(), answer.i32()

        def one_partition(r):
            code, index, leader = r.i16(), r.i32(), r.i32()
            r.i32(), r.array(Reader.i32), r.array(Reader.i32), r.array(Reader.i32)
            return index, (code, leader)

        def one_topic(r):
            code, name = r.i16(), r.string()
            r.i8()
            return name, (code, dict(r.array(one_partition)))

        return dict(answer.array(one_topic))
