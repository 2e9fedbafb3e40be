"""A history as a PNG file (ISO/IEC 15948), written by zlib alone: a point a pixel, three bytes each."""

from __future__ import annotations

import struct
import zlib
from typing import Final

import numpy as np
import numpy.typing as npt

from warpsmith.report.history.colors import PAINTS, Paint
from warpsmith.report.history.layout import HistoryBox, HistoryDrawing, HistoryWords
from warpsmith.report.history.letters import WIDE, points

__all__ = ["history_png"]

Pixels = npt.NDArray[np.uint8]
_SCALE: Final = 2
"""Pixels a point of a letter."""


def history_png(drawing: HistoryDrawing) -> bytes:
    """Return a picture as PNG."""
    pixels = np.full((drawing.high, drawing.wide, 3), 0xEE, np.uint8)
    for box in drawing.boxes:
        _fill(pixels, box, PAINTS[box.kind])
    for words in drawing.words:
        _write(pixels, words)
    return _png(pixels)


def _color(text: str) -> list[int]:
    return list(bytes.fromhex(text[1:]))


def _fill(pixels: Pixels, box: HistoryBox, paint: Paint) -> None:
    left, top = round(box.x), round(box.y)
    part = pixels[top : max(top + 1, round(box.y + box.high)), left : max(left + 1, round(box.x + box.wide))]
    part[:] = _color(paint.fill)
    if not paint.pattern:
        return
    y, x = np.mgrid[top : top + part.shape[0], left : left + part.shape[1]]
    inked = {"rising": (x + y) % 6 == 0, "dots": (x % 4 == 1) & (y % 4 == 1), "level": y % 6 == 3}[paint.pattern]
    part[inked] = _color(paint.ink)


def _write(pixels: Pixels, words: HistoryWords) -> None:
    wide = len(words.text) * WIDE * _SCALE
    left = round(words.x) - {"start": 0, "middle": wide // 2, "end": wide}[words.anchor]
    top = round(words.y) - 5 * _SCALE
    for x, y in points(words.text):
        row, column = top + y * _SCALE, left + x * _SCALE
        if row >= 0 and column >= 0:
            pixels[row : row + _SCALE, column : column + _SCALE] = (0x1B, 0x1F, 0x24)


def _png(pixels: Pixels) -> bytes:
    high, wide, _ = pixels.shape
    lines = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", wide, high, 8, 2, 0, 0, 0)
    parts = (_chunk(b"IHDR", head), _chunk(b"IDAT", zlib.compress(lines, 9)), _chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
