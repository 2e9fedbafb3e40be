"""What runs leave behind, compared in full.

A word of memory that differs between runs of the original is left out, the whole record where its size does. Two words
that differ are close where both read as floating-point numbers of a usual size and agree but for the last digits, which
sums in another order may change. (The halves of a number of 8 bytes do not agree so, read as numbers of 4 bytes.)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

__all__ = ["Left", "compare", "read_dump"]

_NUMBER = re.compile(rb"[-+]?(?:\d+\.\d*|\.?\d+)(?:[eE][-+]?\d+)?")
_CLOSE = {"f8": 1e-9, "f4": 2e-4}
Bytes = npt.NDArray[np.uint8]


class Left(Struct, frozen=True):
    """What one run leaves: `files`: those that it wrote, `memory`: records by name, `said`: its last complaint."""

    stdout: bytes
    exit_code: int
    files: Mapping[str, bytes]
    memory: Mapping[str, bytes]
    said: str = ""


def read_dump(data: bytes) -> dict[str, bytes]:
    """Return the records of a dump; one that was cut off ends it."""
    found: dict[str, bytes] = {}
    at = 0
    while (end := data.find(b"\n", at)) >= 0:
        name, count = data[at:end].decode(errors="replace").split(" ")
        at = end + 1 + int(count)
        found[name] = data[end + 1 : at]
    return found


def compare(expected: Sequence[Left], actual: Left, dead: frozenset[str] = frozenset()) -> tuple[str, str, bool]:
    """Compare a run with those of the original, the records in `dead` left out: `same`, `rounding` or `differs`, what
    differs first, whether it shows."""
    first = expected[0]
    if len({left.exit_code for left in expected}) == 1 and actual.exit_code != first.exit_code:
        return "differs", f"exit code {actual.exit_code} {actual.said}", True
    shown = {"standard output": _text([e.stdout for e in expected], actual.stdout)}
    for name in sorted({*first.files, *actual.files}):
        if all(name in e.files for e in expected) or not any(name in e.files for e in expected):
            shown[f"file {name}"] = _text([e.files.get(name, b"") for e in expected], actual.files.get(name, b""))
    for where, fate in shown.items():
        if fate == "differs":
            return fate, where, True
    hidden = {
        name: _memory([e.memory.get(name) for e in expected], actual.memory.get(name))
        for name in first.memory
        if name not in dead
    }
    hidden |= {name: "differs" for name in actual.memory if name.startswith("overrun") and name not in first.memory}
    for wanted in ("differs", "rounding"):
        for where, fate in [*shown.items(), *hidden.items()]:
            if fate == wanted:
                return wanted, where, where in shown
    return "same", "", False


def _text(expected: Sequence[bytes], actual: bytes) -> str:
    """Compare texts word by word."""
    if actual == expected[0]:
        return "same"
    words, rows = actual.split(), [text.split() for text in expected]
    if any(len(row) != len(words) for row in rows):
        return "same" if len({len(row) for row in rows}) > 1 else "differs"
    fate = "same"
    for word, *others in zip(words, *rows, strict=True):
        if word in others or len(set(others)) > 1:
            continue
        if not _near(others[0], word):
            return "differs"
        fate = "rounding"
    return fate


def _near(one: bytes, other: bytes) -> bool:
    """Whether two words are one number but for the last digit, or for 1e-5 of it."""
    if not (b"." in one and _NUMBER.fullmatch(one) and _NUMBER.fullmatch(other)):
        return False
    digits = len(one.lower().split(b"e")[0].split(b".")[1])
    power = int(one.lower().split(b"e")[1]) if b"e" in one.lower() else 0
    return abs(float(one) - float(other)) <= max(1.01 * 10.0 ** (power - digits), 1e-5 * abs(float(one)))


def _memory(expected: Sequence[bytes | None], actual: bytes | None) -> str:
    """Compare records of one name."""
    known = [record for record in expected if record is not None]
    if len(known) < len(expected) or len({len(record) for record in known}) > 1:
        return "same"
    if actual is None or len(actual) != len(known[0]):
        return "differs"
    if actual == known[0]:
        return "same"
    rows = [np.frombuffer(record, np.uint8) for record in known]
    one, other = rows[0], np.frombuffer(actual, np.uint8)
    unsteady = np.zeros(len(one), np.bool_)
    for row in rows[1:]:
        unsteady |= _words(row != one)
    unequal = _words((one != other) & ~unsteady) & ~unsteady
    if not unequal.any():
        return "same"
    return "rounding" if _close(one, other, unequal) else "differs"


def _words(marks: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Mark the whole of each word of four bytes in which a byte is marked."""
    whole = np.concatenate([marks, np.zeros(-len(marks) % 4, np.bool_)]).reshape(-1, 4)
    return np.repeat(whole.any(1), 4)[: len(marks)]


def _close(one: Bytes, other: Bytes, unequal: npt.NDArray[np.bool_]) -> bool:
    """Whether what differs is rounding, if the record is one of double or of float numbers."""
    for kind, limit in _CLOSE.items():
        size = int(kind[1])
        whole = len(one) // size * size
        if unequal[whole:].any():
            continue
        a, b = (part[:whole].view(kind).astype(np.float64) for part in (one, other))
        changed = unequal[:whole].reshape(-1, size).any(1)
        with np.errstate(all="ignore"):
            usual = (np.abs(a) > 1e-30) & (np.abs(a) < 1e30) | (a == 0)
            sizes = np.abs(a)[usual & (a != 0)]
            scale = np.maximum(np.abs(a), 1e-3 * (np.median(sizes) if len(sizes) else 0.0))
            gap = np.abs(a - b)
        if bool((usual | ~changed).all()) and bool((gap[changed] <= limit * scale[changed]).all()):
            return True
    return False
