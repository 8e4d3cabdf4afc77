"""Members of classic groups by raw bytes: JoinGroup, SyncGroup, Heartbeat."""

from . import wire
from .wire import array, i32, string


def join(peer, group, member="", *, version=2, session_ms=8000, kind="consumer", protocols=(("range", b""),), instance=None):
    """(error, generation, protocol, leader, member id, members) by JoinGroup v2-v5."""
    body = string(group) + i32(session_ms) + i32(8000) + string(member)
    body += string(instance) if version >= 5 else b""
    body += string(kind) + array([string(n) + i32(len(m)) + m for n, m in protocols])
    answer = peer.call(wire.JOIN_GROUP, version, body)
    answer.i32()
    error, generation, protocol, leader, given = answer.i16(), answer.i32(), answer.string(), answer.string(), answer.string()

    def one(r):
        name = r.string()
        if version >= 5:
            r.string()
        return name, r.bytes()

    return error, generation, protocol, leader, given, answer.array(one)


def sync(peer, group, generation, member, assignments=()):
    """(error, assignment) by SyncGroup v2."""
    body = string(group) + i32(generation) + string(member) + array([string(m) + i32(len(a)) + a for m, a in assignments])
    answer = peer.call(wire.SYNC_GROUP, 2, body)
    answer.i32()
    return answer.i16(), answer.bytes()


def heartbeat(peer, group, generation, member):
    answer = peer.call(wire.HEARTBEAT, 2, string(group) + i32(generation) + string(member))
    answer.i32()
    return answer.i16()
