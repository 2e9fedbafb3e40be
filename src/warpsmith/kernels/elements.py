"""Elements of arrays that people describe by a rule.

each:i32[n]=n-1-i           element i is what the expression says; a comparison is 1 where it holds, else 0
libc:i32[n]:below=n         random() % below of the C library, from its first call on (seed 1, unless seed=N)
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

import numpy as np
import numpy.typing as npt

__all__ = ["elements_of", "libc_random"]

Array = npt.NDArray[Any]
Number = int | float

_ARITHMETIC: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}  # fmt: skip
_RELATIONS: Final[dict[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}  # fmt: skip


def elements_of(text: str, count: int, dtype: np.dtype[Any], numbers: Mapping[str, int]) -> Array:
    """Return `count` elements, of which each is what `text` says of its number i.

    Raises ValueError where it is not an expression of numbers, or what it says does not fit; KeyError for a name that
    nothing gives.
    """
    index = np.arange(count, dtype=np.float64 if dtype.kind == "f" else np.int64)
    with np.errstate(all="ignore"):
        values = np.broadcast_to(_evaluate(ast.parse(text, mode="eval").body, {**numbers, "i": index}, dtype), (count,))
    if dtype.kind in "iu" and count:
        limits = np.iinfo(dtype)
        if not limits.min <= int(values.min()) <= int(values.max()) <= limits.max:
            raise ValueError(f"from {values.min()} to {values.max()}, which does not fit")
    return values.astype(dtype)


def _evaluate(node: ast.expr, names: Mapping[str, Any], dtype: np.dtype[Any]) -> Any:
    match node:
        case ast.Constant(value=int() | float() as number) if dtype.kind == "f" or isinstance(number, int):
            return number
        case ast.Name(id=name):
            return names[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluate(operand, names, dtype)
        case ast.Compare(left=left, ops=[relation], comparators=[right]) if type(relation) in _RELATIONS:
            held = _RELATIONS[type(relation)](_evaluate(left, names, dtype), _evaluate(right, names, dtype))
            return np.asarray(held).astype(np.int64)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            divide = operator.truediv if dtype.kind == "f" else operator.floordiv
            return divide(_evaluate(left, names, dtype), _divisor(_evaluate(right, names, dtype)))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            first, second = _evaluate(left, names, dtype), _evaluate(right, names, dtype)
            return _ARITHMETIC[type(op)](first, _divisor(second) if isinstance(op, ast.FloorDiv | ast.Mod) else second)
        case _:
            raise ValueError("not an expression of numbers and of i")


def _divisor(value: Any) -> Any:
    if not np.all(value):
        raise ValueError("it divides by zero")
    return value


def libc_random(count: int, below: int, seed: int = 1) -> Array:
    """Return what `count` calls of random() give modulo `below`: glibc's additive feedback generator of 31 words
    (stdlib/random_r.c, TYPE_3)."""
    return np.fromiter((word % below for word in islice(_random(seed), count)), np.int64, count)


def _random(seed: int) -> Iterator[int]:
    words = [(seed or 1) - (1 << 32 if seed >> 31 else 0)]
    for _ in range(30):
        # 16807 * w modulo 2^31 - 1, by Schrage's method, whose division is that of C
        high = int(words[-1] / 127773)
        low = words[-1] - high * 127773
        word = 16807 * low - 2836 * high
        words.append(word + 2147483647 if word < 0 else word)
    words = [word & 0xFFFFFFFF for word in words]
    # 310 outputs are thrown away
    front, rear = 3, 0
    for number in range(1 << 62):
        words[front] = (words[front] + words[rear]) & 0xFFFFFFFF
        if number >= 310:
            yield words[front] >> 1
        front, rear = (front + 1) % 31, (rear + 1) % 31
