"""What a number of host code may be: a set of values, with None for any other one.

    int n = argc > 1 ? atoi(argv[1]) : 64;        {None, 64}
    n = n < 128 ? 128 : 256;                      {128, 256}
    k<<<1, n / 2>>>(…);                           {64, 128}

Invariant: what the program computes there is in the set, or the set has None. Sets are small: beyond `_MOST` values
nothing is known. Integers wrap as their type does; where a signed one overflows, nothing is known.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Iterable
from itertools import product
from typing import Final

__all__ = ["UNKNOWN", "Number", "Numbers", "call_function", "fit_type", "join", "only", "operate", "operate_one"]

Number = int | float
Numbers = frozenset[Number | None]

UNKNOWN: Final[Numbers] = frozenset({None})
_MOST: Final = 8
_LARGEST: Final = 1 << 62


def _quotient(left: Number, right: Number) -> Number | None:
    if right == 0:
        return None
    if isinstance(left, float) or isinstance(right, float):
        return left / right
    size = abs(left) // abs(right)
    return size if (left < 0) == (right < 0) else -size


def _remainder(left: Number, right: Number) -> Number | None:
    if right == 0 or isinstance(left, float) or isinstance(right, float):
        return None
    return int(math.fmod(left, right)) if max(abs(left), abs(right)) < 1 << 52 else None


def _bits(compute: Callable[[int, int], int]) -> Callable[[Number, Number], Number | None]:
    def run(left: Number, right: Number) -> Number | None:
        return compute(left, right) if isinstance(left, int) and isinstance(right, int) else None

    return run


def _shift(compute: Callable[[int, int], int]) -> Callable[[Number, Number], Number | None]:
    return _bits(lambda left, right: compute(left, right) if 0 <= right < 63 else _LARGEST)


_BINARY: Final[dict[str, Callable[[Number, Number], Number | None]]] = {
    "*": operator.mul, "/": _quotient, "%": _remainder, "+": operator.add, "-": operator.sub,
    "<<": _shift(operator.lshift), ">>": _shift(operator.rshift),
    "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
    "&": _bits(operator.and_), "|": _bits(operator.or_), "^": _bits(operator.xor),
    "&&": lambda left, right: bool(left and right), "||": lambda left, right: bool(left or right),
}  # fmt: skip
_UNARY: Final[dict[str, Callable[[Number], Number | None]]] = {
    "+": operator.pos, "-": operator.neg, "!": operator.not_, "~": lambda x: ~x if isinstance(x, int) else None,
}  # fmt: skip
_ROUNDING: Final = {"ceil": math.ceil, "ceilf": math.ceil, "floor": math.floor, "floorf": math.floor}
_CHOOSING: Final = frozenset({"min", "max", "fmin", "fmax", "fminf", "fmaxf"})
_ROOTS: Final = frozenset({"sqrt", "sqrtf"})


def join(*sets: Numbers) -> Numbers:
    """Return what is in any of the sets; nothing is known where they are too many.

    >>> sorted(join(frozenset({64}), frozenset({128})))
    [64, 128]
    """
    joined = frozenset[Number | None]().union(*sets)
    return joined if len(joined) <= _MOST else UNKNOWN


def only(numbers: Numbers) -> int | None:
    """Return the one integer that a number is known to be."""
    (value,) = numbers if len(numbers) == 1 else (None,)
    return int(value) if isinstance(value, int) else None


def operate(symbol: str, left: Numbers, right: Numbers) -> Numbers:
    """Return the values of a binary operator of C, before they are fitted into its type.

    >>> sorted(operate("/", frozenset({-7}), frozenset({2, 7})))
    [-3, -1]
    """
    compute = _BINARY.get(symbol)
    if compute is None or (None in left | right and len(left) + len(right) == 2):
        return UNKNOWN
    return join(frozenset(_checked(compute, a, b) for a, b in product(left, right)))


def operate_one(symbol: str, operand: Numbers) -> Numbers:
    """Return the values of a unary operator of C."""
    compute = _UNARY.get(symbol)
    if compute is None:
        return UNKNOWN
    return frozenset(_known(None if value is None else compute(value)) for value in operand)


def call_function(name: str, arguments: Iterable[Numbers]) -> Numbers:
    """Return the values of a function of the library: one of its arguments, or rounded."""
    given = list(arguments)
    if name in _CHOOSING and len(given) == 2:
        choose = min if name.startswith(("min", "fmin")) else max
        if all(None not in numbers for numbers in given):
            return join(frozenset(choose(a, b) for a, b in product(*given) if a is not None and b is not None))
        return join(*given)
    if len(given) != 1:
        return UNKNOWN
    if name in _ROUNDING:
        return frozenset(float(_ROUNDING[name](v)) if v is not None and abs(v) < _LARGEST else None for v in given[0])
    if name in _ROOTS:
        return frozenset(math.sqrt(v) if v is not None and v >= 0 else None for v in given[0])
    return UNKNOWN


def fit_type(numbers: Numbers, bits: int, kind: str) -> Numbers:
    """Return the values as a type of so many bits has them; `kind`: signed, unsigned, bool or float.

    >>> sorted(fit_type(frozenset({-1}), 32, "unsigned")), sorted(fit_type(frozenset({2.5}), 32, "signed"))
    ([4294967295], [2])
    """
    return frozenset(None if value is None else _fit(value, bits, kind) for value in numbers)


def _fit(value: Number, bits: int, kind: str) -> Number | None:
    if kind == "float":
        return float(struct.unpack("f", struct.pack("f", value))[0]) if bits == 32 else float(value)
    if kind == "bool":
        return int(bool(value))
    whole = int(value)
    if kind == "unsigned":
        return whole % (1 << bits) if isinstance(value, int) or whole >= 0 else None
    return whole if -(1 << bits - 1) <= whole < 1 << bits - 1 else None


def _checked(
    compute: Callable[[Number, Number], Number | None], left: Number | None, right: Number | None
) -> Number | None:
    return None if left is None or right is None else _known(compute(left, right))


def _known(value: Number | None) -> Number | None:
    if value is None or (isinstance(value, float) and not math.isfinite(value)) or abs(value) >= _LARGEST:
        return None
    return int(value) if isinstance(value, bool) else value
