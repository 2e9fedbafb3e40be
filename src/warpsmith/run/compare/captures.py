"""The logs of the capture runtime: objects as they stood after a region, read back as arrays.

    log     = record*                          written by capture/ws_log.c
    record  = head region name stale payload
    payload = every element (full) | block sums and sampled elements (summary) | nothing (total, mark)

Invariant: reading never trusts the file. A program under test may be killed in the middle of a record, or may write
into the log itself; what does not parse ends the log, and `complete` is then False.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

__all__ = ["CaptureLog", "CaptureRecord", "ElementSummary", "ElementSums", "StreamKey", "read_log"]

ExtentFrom = Literal["type", "allocation", "section"]
StreamKey = tuple[str, str]

_HEAD = struct.Struct("=4I5q4IQq")
_BLOCK = struct.Struct("=ddqQ")
_MAGIC = 0x31435357
_FULL, _SUMMARY, _TOTAL, _MARK, _DISTURBED_FULL, _DISTURBED_SUMMARY = range(6)
_EXTENTS: tuple[ExtentFrom, ...] = ("type", "allocation", "section")
_MAX_NAME = 1 << 16
_DTYPES: dict[tuple[int, int], str] = {
    (1, 1): "i1", (1, 2): "i2", (1, 4): "i4", (1, 8): "i8",
    (2, 1): "u1", (2, 2): "u2", (2, 4): "u4", (2, 8): "u8",
    (3, 2): "f2", (3, 4): "f4", (3, 8): "f8", (3, 16): "g",
}  # fmt: skip


class ElementSums(Struct, frozen=True):
    """A run of elements: their sum and the sum of their magnitudes (floating point; the finite ones), how many are not
    finite, and the hash of their bits."""

    sum: float
    magnitude: float
    not_finite: int
    hash: int


class ElementSummary(Struct, frozen=True):
    """What stands in for the elements: the run before the section, the runs of the section, the run after it; and
    sampled elements. `positions` count elements from the start of the extent."""

    blocks: tuple[ElementSums, ...]
    positions: npt.NDArray[np.int64]
    samples: npt.NDArray[np.generic]


class CaptureRecord(Struct, frozen=True):
    """One object at one instance of a region.

    Elements are counted from the object's own pointer: `first` may be negative. [lower, upper) is the section that the
    region works on. `values` holds every element, `summary` stands in for it; `stale` are runs of elements outside the
    section whose newest values are in another object's device buffer.
    """

    region: str
    name: str
    instance: int
    first: int
    count: int
    lower: int
    upper: int
    extent_from: ExtentFrom
    stride: int
    hash: int
    stale: tuple[tuple[int, int], ...]
    values: npt.NDArray[np.generic] | None
    summary: ElementSummary | None


class CaptureLog(Struct):
    """All records of one run by stream, how many instances each stream had, and the marks; `disturbed`: records as they
    would be if the kernels had written other values."""

    records: dict[StreamKey, dict[int, CaptureRecord]] = field(default_factory=dict)
    totals: dict[StreamKey, int] = field(default_factory=dict)
    marks: dict[StreamKey, int] = field(default_factory=dict)
    disturbed: dict[StreamKey, dict[int, CaptureRecord]] = field(default_factory=dict)
    complete: bool = True


class _Head(Struct, frozen=True):
    form: int
    kind: int
    element_size: int
    instance: int
    first: int
    count: int
    lower: int
    upper: int
    extent: int
    region_length: int
    name_length: int
    stale_count: int
    hash: int
    payload: int


def read_log(path: Path) -> CaptureLog:
    """Return the log at `path`; an absent file is an empty log."""
    log = CaptureLog()
    data = path.read_bytes() if path.exists() else b""
    position = 0
    while position < len(data):
        head = _head(data, position)
        if head is None:
            log.complete = False
            return log
        body = position + _HEAD.size
        position = body + _body_bytes(head)
        try:
            _store(log, head, data[body:position])
        except (ValueError, struct.error):
            log.complete = False
            return log
    return log


def _head(data: bytes, position: int) -> _Head | None:
    if position + _HEAD.size > len(data):
        return None
    magic, *rest = _HEAD.unpack_from(data, position)
    head = _Head(*rest)
    if magic != _MAGIC or head.form > _DISTURBED_SUMMARY or head.extent >= len(_EXTENTS):
        return None
    if max(head.region_length, head.name_length, head.stale_count) > _MAX_NAME or min(head.payload, head.count) < 0:
        return None
    if position + _HEAD.size + _body_bytes(head) > len(data):
        return None
    return head


def _body_bytes(head: _Head) -> int:
    return head.region_length + head.name_length + 16 * head.stale_count + head.payload


def _store(log: CaptureLog, head: _Head, body: bytes) -> None:
    region = body[: head.region_length].decode("utf-8", "replace")
    name = body[head.region_length : head.region_length + head.name_length].decode("utf-8", "replace")
    key = (region, name)
    if head.form == _TOTAL:
        log.totals[key] = head.instance
        return
    if head.form == _MARK:
        log.marks[key] = head.instance
        return
    at = head.region_length + head.name_length
    stale = tuple(_pairs(body[at : at + 16 * head.stale_count]))
    payload = body[at + 16 * head.stale_count :]
    full = head.form in (_FULL, _DISTURBED_FULL)
    kept = log.records if head.form in (_FULL, _SUMMARY) else log.disturbed
    kept.setdefault(key, {})[head.instance] = CaptureRecord(
        region, name, head.instance, head.first, head.count, head.lower, head.upper, _EXTENTS[head.extent],
        1 if _is_known(head) else head.element_size, head.hash, stale,
        _elements(head, payload) if full else None, None if full else _summary(head, payload),
    )  # fmt: skip


def _pairs(data: bytes) -> Iterator[tuple[int, int]]:
    yield from struct.iter_unpack("=2q", data)


def _elements(head: _Head, payload: bytes) -> npt.NDArray[np.generic]:
    return np.frombuffer(payload, np.dtype(_DTYPES[head.kind, head.element_size]) if _is_known(head) else np.uint8)


def _is_known(head: _Head) -> bool:
    spelling = _DTYPES.get((head.kind, head.element_size))
    return spelling is not None and np.dtype(spelling).itemsize == head.element_size


def _summary(head: _Head, payload: bytes) -> ElementSummary:
    blocks, samples = struct.unpack_from("=2q", payload)
    at = 16 + _BLOCK.size * blocks
    sums = tuple(ElementSums(*fields) for fields in _BLOCK.iter_unpack(payload[16:at]))
    positions = np.frombuffer(payload, np.int64, samples, at)
    return ElementSummary(sums, positions, _elements(head, payload[at + 8 * samples :]))
