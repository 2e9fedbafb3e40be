"""What two programs print, compared word by word."""

from __future__ import annotations

import re

__all__ = ["compare_files", "compare_texts"]

_NUMBER = re.compile(rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_SPLIT = re.compile(rb"[\s,;=():]+")
_CLOSE, _DIGIT, _LOST = 1e-5, 1e-3, 1e-15


def compare_texts(expected: bytes, again: bytes, actual: bytes) -> tuple[str, str]:
    """Return `same`, `tolerance` or `differs`, and the first word that is not the same; words that differ between two
    runs of the original count for nothing."""
    if expected == actual:
        return "same", ""
    one, other, found = (_SPLIT.split(text) for text in (expected, again, actual))
    if len(one) != len(found):
        return ("same", "") if len(one) != len(other) else ("differs", f"{len(found)} words for {len(one)}")
    fate = "same", ""
    size = max((abs(float(word)) for word in one if _NUMBER.fullmatch(word)), default=0.0)
    for n, (word, own) in enumerate(zip(one, found, strict=True)):
        if word == own or (len(other) == len(one) and other[n] != word):
            continue
        text = f"word {n}: {own.decode(errors='replace')[:40]} for {word.decode(errors='replace')[:40]}"
        if not _near(word, own, size):
            return "differs", text
        fate = ("tolerance", text) if fate[0] == "same" else fate
    return fate


def compare_files(one: dict[str, bytes], other: dict[str, bytes], found: dict[str, bytes]) -> tuple[str, str]:
    """Compare the files that programs wrote: bit for bit, or as texts."""
    if one.keys() != found.keys():
        return "differs", f"files {sorted(found)} for {sorted(one)}"
    for name in one:
        fate, where = compare_texts(one[name], other.get(name, one[name]), found[name])
        if fate != "same":
            return fate, f"file {name}: {where}"
    return "same", ""


def _near(word: bytes, other: bytes, size: float) -> bool:
    """Whether two words are one number but for its last digit of four or more, or for 1e-5 of it, or for what is
    rounding beside the largest number, of `size`."""
    if not (_NUMBER.fullmatch(word) and _NUMBER.fullmatch(other)) or b"." not in word + other:
        return False
    a, b = float(word), float(other)
    digits = word.lower().partition(b"e")
    after = len(digits[0].partition(b".")[2])
    last = 1.01 * 10.0 ** ((int(digits[2]) if digits[2] else 0) - after)
    last = last if last <= _DIGIT * max(abs(a), abs(b)) else 0.0
    return abs(a - b) <= max(last, _CLOSE * max(abs(a), abs(b)), _LOST * size)
