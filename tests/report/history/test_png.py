"""A picture as PNG, read back by its definition."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import numpy.typing as npt

from tests.report.history.samples import small
from warpsmith.report.history.layout import draw_history
from warpsmith.report.history.png import history_png


def read(data: bytes) -> npt.NDArray[np.uint8]:
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, parts = 8, {}
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size]) == (zlib.crc32(kind + body),)
        parts[kind] = body
        at += 12 + size
    wide, high, depth, color, *_ = struct.unpack(">IIBBBBB", parts[b"IHDR"])
    assert (depth, color) == (8, 2)
    rows = np.frombuffer(zlib.decompress(parts[b"IDAT"]), np.uint8).reshape(high, 1 + 3 * wide)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(high, wide, 3)


def test_points_have_the_color_of_their_state() -> None:
    drawing = draw_history(small())
    pixels = read(history_png(drawing))
    assert pixels.shape == (drawing.high, drawing.wide, 3)
    for kind, color in (("masked", (0, 0, 0)), ("active", (255, 255, 255)), ("stalled", (0x2F, 0x6F, 0xDE))):
        box = next(one for one in drawing.boxes if one.kind == kind and one.title)
        part = pixels[round(box.y) : round(box.y + box.high), round(box.x) : round(box.x + box.wide)]
        shown = (part == color).all(axis=2).mean()
        assert shown == 1 if kind != "stalled" else 0.5 < shown < 1
