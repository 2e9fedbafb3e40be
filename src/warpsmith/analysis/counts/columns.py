"""Pure ops on whole columns: one number for each thread, kept in a numpy integer of the op's own width.

    add, i32    int32 column + int32 column, wrapped as the hardware does
    i1          bool column                       floats are bit patterns
    f32 + f32, rounded to nearest                 the same, read as floats
    anything else of the op table                 lane by lane, by its meaning (ssa/semantics)

Invariant: a column is what `ssa.semantics.lane` computes in each lane; the random test beside it says so.
Limits: numbers wider than 64 bits have no columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from warpsmith.ssa.nodes import Constant, Convert, Float, Instruction
from warpsmith.ssa.ops import OPS
from warpsmith.ssa.semantics.lane import lanes
from warpsmith.ssa.types import F32, F64, Type

__all__ = ["Column", "apply", "column_of", "dtype_of", "has_columns"]

Column = npt.NDArray[Any]
"""A number a thread; of one element where all threads have the same."""

_FEW_LANES: Final = 64
_SIGNED: Final = {8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}
_UNSIGNED: Final = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}


def dtype_of(type: Type) -> npt.DTypeLike:
    """Return how a column of this type is kept; raises KeyError for a type that has no columns."""
    return np.bool_ if type.bits == 1 else _SIGNED[type.bits]


@lru_cache(maxsize=4096)
def column_of(constant: Constant) -> Column:
    """Return a constant as a column of one element."""
    bits = constant.bits
    if constant.type.bits == 1:
        return np.array([bool(bits)])
    half = 1 << (constant.type.bits - 1)
    return np.array([bits - 2 * half if bits >= half else bits], _SIGNED[constant.type.bits])


def has_columns(i: Instruction) -> bool:
    """Whether `apply` computes this op."""
    types = [*(o.type for o in i.operands), *(v.type for v in i.results)]
    return OPS[i.op].pure and len(i.results) == 1 and all(type.bits == 1 or type.bits in _SIGNED for type in types)


def apply(i: Instruction, columns: Sequence[Column]) -> Column:
    """Return the result of a pure op; raises KeyError for one that has none. Numbers wrap: numpy's warnings of that
    are to be ignored by who calls."""
    fast = _FAST.get(i.op)
    if fast is not None and i.operands[-1].type.kind != "float":
        return fast(i, *columns)
    if i.op in _FLOATS and i.result.type in (F32, F64) and i.operands[0].type.bits > 1 and _is_plain(i.detail):
        return _canonical(_FLOATS[i.op](i, *columns))
    return _slowly(i, columns)


def _is_plain(detail: object) -> bool:
    """Whether an op of floating point rounds to nearest, and does nothing else to its result."""
    if detail is None:
        return True
    if isinstance(detail, Float):
        return detail.rounding in ("", "nearest") and not (detail.flush or detail.saturate)
    return isinstance(detail, Convert) and detail.rounding in ("", "nearest") and not detail.saturate


def _canonical(made: Column) -> Column:
    """Return floating-point numbers as bits; there is one pattern that is not a number."""
    quiet = np.float32(np.nan) if made.dtype == np.float32 else np.float64(np.nan)
    pattern = 0x7FFFFFFF if made.dtype == np.float32 else 0x7FF8000000000000
    bits = np.where(np.isnan(made), quiet, made).view(_SIGNED[made.dtype.itemsize * 8])
    return np.where(np.isnan(made), bits.dtype.type(pattern), bits)


def _on_floats(function: Callable[..., Column]) -> Callable[..., Column]:
    """Return an op on numbers of floating point."""
    return lambda i, *columns: function(*(c.view(f"f{c.dtype.itemsize}") for c in columns))


def _to_float(*, sign: bool) -> Callable[..., Column]:
    """Return a conversion of whole numbers."""
    return lambda i, a: (a if sign else _unsigned(a)).astype(f"f{i.result.type.bytes}")


_FLOATS: Final[Mapping[str, Callable[..., Column]]] = {
    "fadd": _on_floats(np.add), "fsub": _on_floats(np.subtract), "fmul": _on_floats(np.multiply),
    "sitof": _to_float(sign=True), "uitof": _to_float(sign=False),
}  # fmt: skip


def _slowly(i: Instruction, columns: Sequence[Column]) -> Column:
    """Compute lane by lane, each set of operands once."""
    length = max((len(c) for c in columns), default=1)
    bits = [np.broadcast_to(_bits(c), length) for c in columns]
    if len(bits) == 1:
        distinct, place = np.unique(bits[0], return_inverse=True)
        numbers = [distinct.tolist()]
    elif length > _FEW_LANES and bits:
        rows, place = np.unique(np.stack([b.astype(np.uint64) for b in bits]), axis=1, return_inverse=True)
        numbers = rows.tolist()
    else:
        numbers, place = [b.tolist() for b in bits], np.arange(length)
    made = np.array(lanes(i, numbers), dtype=np.uint64)[place.reshape(-1)]
    return _as_type(made, i.result.type)


def _bits(column: Column) -> Column:
    """Return the bit patterns of a column as numbers without a sign."""
    return column.astype(np.uint8) if column.dtype == np.bool_ else _unsigned(column)


def _unsigned(column: Column) -> Column:
    return column.view(_UNSIGNED[column.dtype.itemsize * 8])


def _as_type(column: Column, type: Type) -> Column:
    if type.bits == 1:
        return column.astype(np.bool_) if column.dtype == np.bool_ else (column & column.dtype.type(1)) != 0
    return column.astype(_UNSIGNED[type.bits]).view(_SIGNED[type.bits])


# --- ops that are computed at once


def _plain(function: Callable[..., Column]) -> Callable[..., Column]:
    return lambda i, *columns: function(*columns)


def _without_sign(function: Callable[..., Column]) -> Callable[..., Column]:
    """Return an op on numbers without a sign."""

    def compute(i: Instruction, *columns: Column) -> Column:
        made = function(*map(_unsigned, columns))
        return made if made.dtype == np.bool_ else made.view(_SIGNED[made.dtype.itemsize * 8])

    return compute


def _divide(a: Column, b: Column) -> Column:
    """Return quotients rounded toward zero; by zero: all ones."""
    divisor = np.where(b == 0, b.dtype.type(1), b)
    quotient = a // divisor
    if a.dtype.kind == "i":
        wrong = (quotient * divisor != a) & ((a < 0) != (divisor < 0))
        quotient = quotient + wrong.astype(a.dtype)
    return np.where(b == 0, ~np.zeros_like(b), quotient)


def _remainder(a: Column, b: Column) -> Column:
    return np.where(b == 0, a, a - b * _divide(a, np.where(b == 0, b.dtype.type(1), b)))


def _shift(function: Callable[[Column, Column], Column], *, sign: bool = False) -> Callable[..., Column]:
    """Return a shift: what goes beyond the width is out."""

    def compute(i: Instruction, a: Column, amount: Column) -> Column:
        width = i.operands[0].type.bits
        by = _unsigned(amount).astype(np.uint64)
        beyond = by >= width
        value = a if sign else _unsigned(a)
        inside = np.minimum(by, width - 1).astype(value.dtype)
        made = function(value, inside)
        if not sign:
            made = np.where(beyond, made.dtype.type(0), made)
        return made if sign else made.view(a.dtype)

    return compute


def _widened(*, sign: bool) -> Callable[..., Column]:
    def compute(i: Instruction, *columns: Column) -> Column:
        bits = i.result.type.bits
        wide = [c.astype(_SIGNED[bits]) if sign else _unsigned(c).astype(_UNSIGNED[bits]) for c in columns]
        made = wide[0] if len(wide) == 1 else wide[0] * wide[1]
        return made.view(_SIGNED[bits])

    return compute


def _extended(*, sign: bool) -> Callable[..., Column]:
    def compute(i: Instruction, a: Column) -> Column:
        bits = i.result.type.bits
        if a.dtype == np.bool_:
            return -a.astype(_SIGNED[bits]) if sign else a.astype(_SIGNED[bits])
        return a.astype(_SIGNED[bits]) if sign else _unsigned(a).astype(_UNSIGNED[bits]).view(_SIGNED[bits])

    return compute


def _high(*, sign: bool) -> Callable[..., Column]:
    def compute(i: Instruction, a: Column, b: Column) -> Column:
        if i.operands[0].type.bits > 32:
            return _slowly(i, (a, b))
        bits = i.operands[0].type.bits
        if sign:
            return (a.astype(np.int64) * b.astype(np.int64) >> bits).astype(a.dtype)
        made = _unsigned(a).astype(np.uint64) * _unsigned(b).astype(np.uint64) >> np.uint64(bits)
        return _as_type(made, i.result.type)

    return compute


def _truncate(i: Instruction, a: Column) -> Column:
    return _as_type(_bits(a), i.result.type)


def _select(i: Instruction, condition: Column, one: Column, other: Column) -> Column:
    return np.where(condition, one, other)


_COMPARED: Final[Mapping[str, Callable[..., Column]]] = {
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip

_FAST: Final[Mapping[str, Callable[..., Column]]] = {
    "add": _plain(np.add),
    "sub": _plain(np.subtract),
    "mul": _plain(np.multiply),
    "neg": _plain(np.negative),
    "not": _plain(np.invert),
    "and": _plain(np.bitwise_and),
    "or": _plain(np.bitwise_or),
    "xor": _plain(np.bitwise_xor),
    "smin": _plain(np.minimum),
    "smax": _plain(np.maximum),
    "umin": _without_sign(np.minimum),
    "umax": _without_sign(np.maximum),
    "sdiv": _plain(_divide),
    "udiv": _without_sign(_divide),
    "srem": _plain(_remainder),
    "urem": _without_sign(_remainder),
    "shl": _shift(np.left_shift),
    "lshr": _shift(np.right_shift),
    "ashr": _shift(np.right_shift, sign=True),
    "smulwide": _widened(sign=True),
    "umulwide": _widened(sign=False),
    "smulhi": _high(sign=True),
    "umulhi": _high(sign=False),
    "zext": _extended(sign=False),
    "sext": _extended(sign=True),
    "trunc": _truncate,
    "select": _select,
    "eq": _plain(np.equal),
    "ne": _plain(np.not_equal),
    **{f"s{name}": _plain(function) for name, function in _COMPARED.items()},
    **{f"u{name}": _without_sign(function) for name, function in _COMPARED.items()},
}
