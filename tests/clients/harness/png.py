"""Pixels of a PNG as browsers write them: 8 bits a channel, RGB or RGBA, not interlaced."""

import struct
import zlib


def rows(path):
    """(width, height, iterator over rows of (r, g, b))."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG"
    at, body, head = 8, b"", None
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        chunk = data[at + 8 : at + 8 + size]
        if kind == b"IHDR":
            head = struct.unpack(">IIBBBBB", chunk)
        elif kind == b"IDAT":
            body += chunk
        at += 12 + size
    width, height, depth, colour, _, _, interlaced = head
    assert depth == 8 and colour in (2, 6) and not interlaced, head
    step = 3 if colour == 2 else 4
    return width, height, _unfiltered(zlib.decompress(body), width * step, height, step)


def _unfiltered(raw, stride, height, step):
    above = bytearray(stride)
    for y in range(height):
        start = y * (stride + 1)
        kind, row = raw[start], bytearray(raw[start + 1 : start + 1 + stride])
        for i in range(stride):
            left = row[i - step] if i >= step else 0
            corner = above[i - step] if i >= step else 0
            if kind == 1:
                row[i] = (row[i] + left) & 255
            elif kind == 2:
                row[i] = (row[i] + above[i]) & 255
            elif kind == 3:
                row[i] = (row[i] + (left + above[i]) // 2) & 255
            elif kind == 4:
                p = left + above[i] - corner
                pa, pb, pc = abs(p - left), abs(p - above[i]), abs(p - corner)
                row[i] = (row[i] + (left if pa <= pb and pa <= pc else above[i] if pb <= pc else corner)) & 255
        yield [tuple(row[i : i + 3]) for i in range(0, stride, step)]
        above = row
