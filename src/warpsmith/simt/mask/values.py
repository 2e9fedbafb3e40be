"""What operations of the mask ISA compute: arrays of 32-bit words, [component, lane].

f32 is IEEE 754 binary32, rounded to nearest after every operation (mad and lerp are not fused); a result that is no
number is 0x7fc00000. u32 counts modulo 2^32. What is divided by zero is 1e23 (f32), 0xffffffff (u32).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["NAN", "Floats", "Words", "compute", "floats", "to_words"]

Words = npt.NDArray[np.uint32]
Floats = npt.NDArray[np.float32]
NAN: Final = 0x7FC00000
_ONE, _ZERO = np.float32(1), np.float32(0)
_FAR = np.float32(1e23)


def floats(words: Words) -> Floats:
    """Return words as the numbers that they are in f32."""
    return words.view(np.float32)


def to_words(numbers: Floats) -> Words:
    """Return numbers as words; all that is no number is the same word."""
    words = np.ascontiguousarray(numbers, dtype=np.float32).view(np.uint32).copy()
    words[np.isnan(numbers)] = NAN
    return words


def compute(name: str, sources: tuple[Words, ...]) -> Words:
    """Return what an operation makes of its sources, which have equally many components."""
    with np.errstate(all="ignore"):
        if name in _ON_WORDS:
            return _ON_WORDS[name](*sources).astype(np.uint32)
        numbers = tuple(floats(np.ascontiguousarray(source)) for source in sources)
        if name in _TESTS:
            return _TESTS[name](*numbers).astype(np.uint32)
        return to_words(_ON_FLOATS[name](*numbers))


def _divide_words(a: Words, b: Words) -> Words:
    return np.where(b == 0, np.uint32(0xFFFFFFFF), a // np.where(b == 0, np.uint32(1), b)).astype(np.uint32)


def _divide(a: Floats, b: Floats) -> Floats:
    return np.where(b == _ZERO, _FAR, a / b)


def _clamp(a: Floats) -> Floats:
    """0 to 1; what is no number is 0."""
    return np.where(a > _ZERO, np.where(a < _ONE, a, _ONE), _ZERO)


def _length(a: Floats) -> Floats:
    """The root of the sum of squares, added from x on."""
    total = a[0] * a[0]
    for component in a[1:]:
        total = total + component * component
    root: Floats = np.sqrt(total)[np.newaxis]
    return root


def _normalize(a: Floats) -> Floats:
    length = _length(a)
    return np.where(length == _ZERO, _ZERO, a / length)


_ON_WORDS: Final[Mapping[str, Callable[..., Words]]] = {
    "mov": lambda a: a,
    "abs.f32": lambda a: a & np.uint32(0x7FFFFFFF),
    "add.u32": lambda a, b: a + b,
    "sub.u32": lambda a, b: a - b,
    "mul.u32": lambda a, b: a * b,
    "mad.u32": lambda a, b, c: a * b + c,
    "div.u32": _divide_words,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "lt.u32": lambda a, b: a < b,
    "gt.u32": lambda a, b: a > b,
    "utof": lambda a: to_words(a.astype(np.float32)),
}
_TESTS: Final[Mapping[str, Callable[..., npt.NDArray[np.bool_]]]] = {
    "lt.f32": lambda a, b: a < b, "gt.f32": lambda a, b: a > b,
}  # fmt: skip
_ON_FLOATS: Final[Mapping[str, Callable[..., Floats]]] = {
    "add.f32": lambda a, b: a + b,
    "sub.f32": lambda a, b: a - b,
    "mul.f32": lambda a, b: a * b,
    "mad.f32": lambda a, b, c: a * b + c,
    "lerp": lambda a, b, t: a * (_ONE - t) + b * t,
    "div.f32": _divide,
    "clamp": _clamp,
    "len": _length,
    "norm": _normalize,
}
