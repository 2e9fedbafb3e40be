"""Capture logs of two programs, compared element by element.

The layout is that of run/capture/ws_log.h. An element is left out where two runs of the original differ in it, and
where the newest value is in another object's device buffer (`stale`).
"""

from __future__ import annotations

import math
import struct
from array import array

__all__ = ["compare_logs"]

_HEAD = struct.Struct("=4I5q4IQq")
_MAGIC, _FULL, _SUMMARY, _TOTAL = 0x31435357, 0, 1, 2
_CODES = {
    (1, 1): "b", (1, 2): "h", (1, 4): "i", (1, 8): "q", (2, 1): "B", (2, 2): "H", (2, 4): "I", (2, 8): "Q",
    (3, 4): "f", (3, 8): "d",
}  # fmt: skip
_CLOSE = {"d": 1e-9, "f": 2e-4}


class Record:
    """One object after one instance of a region."""

    def __init__(self, head: tuple[int, ...], stale: list[tuple[int, int]], payload: bytes) -> None:
        _, self.form, self.kind, self.size, _, self.first, self.count, *_ = head
        self.hash = head[13]
        self.stale = stale
        self.payload = payload


def read_log(data: bytes) -> tuple[dict[tuple[str, str, int], Record], dict[tuple[str, str], int]]:
    """Return the records by region, name and instance, and how many instances each stream had."""
    records: dict[tuple[str, str, int], Record] = {}
    totals: dict[tuple[str, str], int] = {}
    at = 0
    while at + _HEAD.size <= len(data):
        head = _HEAD.unpack_from(data, at)
        if head[0] != _MAGIC:
            break
        at += _HEAD.size
        region = data[at : at + head[10]].decode(errors="replace")
        at += head[10]
        name = data[at : at + head[11]].decode(errors="replace")
        at += head[11]
        stale = [struct.unpack_from("=2q", data, at + 16 * n) for n in range(head[12])]
        at += 16 * head[12]
        payload = data[at : at + head[14]]
        at += head[14]
        if head[1] in (_FULL, _SUMMARY):
            records[region, name, head[4]] = Record(head, stale, payload)
        elif head[1] == _TOTAL:
            totals[region, name] = head[4]
    return records, totals


def compare_logs(expected: bytes, again: bytes, actual: bytes) -> tuple[str, str, float, int]:
    """Return `same`, `tolerance` or `differs`, where, the largest relative error, and how many records there are."""
    (base, totals), (other, _), (found, counted) = read_log(expected), read_log(again), read_log(actual)
    fate, where, worst, seen = "same", "", 0.0, 0
    for key, record in base.items():
        one = found.get(key)
        if one is None:
            return "differs", f"{key} is missing", worst, seen
        seen += 1
        told, text, error = _compare(record, other.get(key), one)
        worst = max(worst, error)
        if told == "differs":
            return told, f"{key[0]} {key[1]} #{key[2]}: {text}", worst, seen
        if told == "tolerance" and fate == "same":
            fate, where = told, f"{key[0]} {key[1]} #{key[2]}: {text}"
    if totals != counted:
        return "differs", f"instances: {_odd(totals, counted)}", worst, seen
    return fate, where, worst, seen


def _odd(one: dict, other: dict) -> str:
    return next(
        f"{key}: {one.get(key)} for {other.get(key)}" for key in {**one, **other} if one.get(key) != other.get(key)
    )


def _compare(expected: Record, again: Record | None, actual: Record) -> tuple[str, str, float]:
    if expected.hash == actual.hash and expected.count == actual.count:
        return "same", "", 0.0
    if _SUMMARY in (expected.form, actual.form):
        return _compare_sums(expected, again, actual)
    code = _CODES.get((expected.kind, expected.size))
    step = expected.size if code else 1
    first = max(expected.first, actual.first)
    last = min(expected.first + expected.count, actual.first + actual.count)
    a, b = (_cut(r, first, last, code, step) for r in (expected, actual))
    c = _cut(again, first, last, code, step) if again is not None and again.count == expected.count else a
    unsteady = _unsteady(a, c, bool(code))
    stale = [run for record in (expected, actual) for run in record.stale]
    scale = max((abs(x) for x in a if x == x and abs(x) < 1e300), default=0.0) * 1e-6 if code in ("d", "f") else 0.0
    worst, text = 0.0, ""
    for n, (x, y) in enumerate(zip(a, b, strict=True)):
        if x == y and (code not in ("d", "f") or x != 0 or math.copysign(1, x) == math.copysign(1, y)):
            continue
        element = first + n // (1 if code else expected.size)
        if (x != x and y != y) or n in unsteady or any(s <= element < e for s, e in stale):
            continue
        error = abs(x - y) / max(abs(x), abs(y), scale, 5e-324) if code in ("d", "f") else math.inf
        if not error <= _CLOSE.get(code or "", 0.0):
            return "differs", f"element {element}: {y!r} for {x!r}", error if error == error else math.inf
        if error >= worst:
            worst, text = error, f"element {element}: {y!r} for {x!r}"
    return ("tolerance" if text else "same"), text, worst


def _unsteady(one: array, other: array, numbers: bool) -> set[int]:
    """Return the places that differ between two runs of the original; where the elements are bytes of structs, all of
    such a word, which may be an address."""
    places = {n for n, (x, y) in enumerate(zip(one, other, strict=True)) if x != y and (x == x or y == y)}
    return places if numbers else {8 * (n // 8) + k for n in places for k in range(8)}


def _cut(record: Record, first: int, last: int, code: str | None, step: int) -> array:
    size = step if code else record.size
    data = record.payload[(first - record.first) * size : (last - record.first) * size]
    return array(code or "B", data)


def _compare_sums(expected: Record, again: Record | None, actual: Record) -> tuple[str, str, float]:
    """Compare what stands for objects that are too large: sums over runs of elements."""
    if expected.form != _SUMMARY or expected.form != actual.form or len(expected.payload) != len(actual.payload):
        return "differs", "another form", math.inf
    blocks = struct.unpack_from("=q", expected.payload)[0]
    worst, limit = 0.0, _CLOSE["f" if expected.size == 4 else "d"]
    # the first and the last run stand before and after the section, where all that is stale is
    outside = (0, blocks - 1) if expected.stale or actual.stale else ()
    for n in (n for n in range(blocks) if n not in outside):
        one, other = (struct.unpack_from("=ddqQ", r.payload, 16 + 32 * n) for r in (expected, actual))
        if one[3] == other[3]:
            continue
        if again is not None and struct.unpack_from("=ddqQ", again.payload, 16 + 32 * n)[3] != one[3]:
            continue
        error = abs(one[0] - other[0]) / max(one[1], 5e-324) if expected.kind == 3 else math.inf
        if not error <= limit or one[2] != other[2]:
            return "differs", f"the sum of run {n}: {other[0]!r} for {one[0]!r}", error
        worst = max(worst, error)
    return ("tolerance" if worst else "same"), "sums", worst
