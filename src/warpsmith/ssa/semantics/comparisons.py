"""Ops that compare or test, of whole and of floating-point numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from warpsmith.ssa.nodes import Float, Instruction
from warpsmith.ssa.semantics.floats import flush
from warpsmith.ssa.semantics.integers import Lane, Whole
from warpsmith.ssa.semantics.patterns import number_of
from warpsmith.ssa.types import F16, F64

__all__ = ["COMPARISONS"]


def _compare(test: Callable[[int, int], bool], *, sign: bool) -> Lane:
    return Whole(test, 2 if sign else 0)


def _compare_numbers(test: Callable[[float, float], bool], *, unordered: bool) -> Lane:
    def compute(i: Instruction, operands: tuple[int, ...]) -> int:
        type = i.operands[0].type
        detail = i.detail if isinstance(i.detail, Float) else Float()
        a, b = (flush(number_of(o, type), type, detail) for o in operands)
        return int(unordered if math.isnan(a) or math.isnan(b) else test(a, b))

    return compute


def _is(test: Callable[[float, float], bool]) -> Lane:
    """Return the lane of a test of one number; it also gets the least normal one of the type."""

    def compute(i: Instruction, operands: tuple[int, ...]) -> int:
        type = i.operands[0].type
        least = {F16: 2.0**-14, F64: 2.0**-1022}.get(type, 2.0**-126)
        return int(test(number_of(operands[0], type), least))

    return compute


_ORDERS: Final[dict[str, Callable[..., bool]]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}

COMPARISONS: Final[dict[str, Lane]] = {
    "eq": _compare(_ORDERS["eq"], sign=False),
    "ne": _compare(_ORDERS["ne"], sign=False),
    **{f"{s}{name}": _compare(_ORDERS[name], sign=s == "s") for s in "su" for name in ("lt", "le", "gt", "ge")},
    **{f"fo{name}": _compare_numbers(test, unordered=False) for name, test in _ORDERS.items()},
    **{f"fu{name}": _compare_numbers(test, unordered=True) for name, test in _ORDERS.items()},
    "ordered": _compare_numbers(lambda a, b: True, unordered=False),
    "unordered": _compare_numbers(lambda a, b: False, unordered=True),
    "is_finite": _is(lambda x, least: math.isfinite(x)),
    "is_infinite": _is(lambda x, least: math.isinf(x)),
    "is_number": _is(lambda x, least: not math.isnan(x)),
    "is_notanumber": _is(lambda x, least: math.isnan(x)),
    "is_normal": _is(lambda x, least: math.isfinite(x) and abs(x) >= least),
    "is_subnormal": _is(lambda x, least: 0 < abs(x) < least),
}
