"""Relations of OpenCL, and choices by them: of numbers they give 0 or 1, of vectors 0 or -1 for each lane.

isless(a, b)       any(v), all(v)       the top bit of each lane counts       select(a, b, c)      bitselect(a, b, c)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Final

from warpsmith.lower.builtins.rows import Rule, by_lanes, needs, of_lanes, rows_of
from warpsmith.lower.conversions import convert_value, number
from warpsmith.lower.frame import Frame, Result
from warpsmith.lower.layout import lanes_of, value_type
from warpsmith.ssa.builder import Builder
from warpsmith.ssa.nodes import Constant, Operand
from warpsmith.ssa.types import I1, integer
from warpsmith.tree import nodes
from warpsmith.tree import types as tree
from warpsmith.tree.types import BOOL

__all__ = ["RELATIONS", "relation", "top_bit"]

Test = Callable[[Builder, tuple[Operand, ...]], Operand]


def relation(test: Test) -> Rule:
    """Return the rule of a function that tests numbers, or vectors lane by lane."""

    def rule(frame: Frame, e: nodes.Call) -> Result:
        needs(e, 1)
        found = [test(frame.builder, row) for row in rows_of(frame, e)]
        if not lanes_of(e.type):
            return convert_value(frame.builder, found[0], BOOL, e.type)
        own = value_type(frame.lane_types(e.type)[0])
        ways = number(own, -1), number(own, 0)
        return tuple(frame.builder.emit("select", (one, *ways), own) for one in found)

    return rule


def top_bit(builder: Builder, value: Operand) -> Operand:
    """Return whether the top bit of an integer is set."""
    return builder.emit("slt", (value, Constant(value.type, 0)), I1)


def _op(name: str) -> Test:
    return lambda builder, row: builder.emit(name, row, I1)


def _either(builder: Builder, row: tuple[Operand, ...]) -> Operand:
    return builder.emit("or", tuple(builder.emit(name, row, I1) for name in ("folt", "fogt")), I1)


def _sign(builder: Builder, row: tuple[Operand, ...]) -> Operand:
    return top_bit(builder, builder.emit("bitcast", row, integer(row[0].type.bits)))


def _together(op: str) -> Rule:
    """Return the rule of any and all."""

    def rule(frame: Frame, e: nodes.Call) -> Result:
        builder = frame.builder
        bits = [top_bit(builder, lane) for (lane,) in rows_of(frame, e)]
        whole = reduce(lambda one, other: builder.emit(op, (one, other), I1), bits)
        return convert_value(builder, whole, BOOL, e.type)

    return rule


def _select(frame: Frame, e: nodes.Call) -> Result:
    """Lower select(a, b, c): b where c holds; of vectors, where the top bit of the lane does."""
    one, other, condition = needs(e, 3)[:3]
    builder = frame.builder
    if not lanes_of(e.type):
        test = frame.as_type(condition, tree.BOOL)
        ways = (frame.as_type(other, e.type), frame.as_type(one, e.type))
        return builder.emit("select", (test, *ways), value_type(e.type))
    rows = rows_of(frame, e)
    return of_lanes(e, [builder.emit("select", (top_bit(builder, c), b, a), a.type) for a, b, c in rows])


def _mix_bits(frame: Frame, e: nodes.Call) -> Result:
    """Lower bitselect(a, b, c): the bits of b where c has ones, of a elsewhere."""
    needs(e, 3)
    builder = frame.builder

    def one(type: tree.Type, row: tuple[Operand, ...]) -> Operand:
        own = value_type(type)
        bits = integer(own.bits)
        a, b, c = (v if own == bits else builder.emit("bitcast", (v,), bits) for v in row[:3])
        kept = builder.emit("and", (a, builder.emit("not", (c,), bits)), bits)
        made = builder.emit("or", (kept, builder.emit("and", (b, c), bits)), bits)
        return made if own == bits else builder.emit("bitcast", (made,), own)

    return by_lanes(frame, e, one)


_TESTS: Final = {
    "isequal": "foeq", "isnotequal": "fune", "isless": "folt", "islessequal": "fole", "isgreater": "fogt",
    "isgreaterequal": "foge", "isordered": "ordered", "isunordered": "unordered", "isnormal": "is_normal",
}  # fmt: skip

RELATIONS: Final[dict[str, Rule]] = {
    **{name: relation(_op(op)) for name, op in _TESTS.items()},
    **{f"{prefix}{name}": relation(_op(op))
       for name, op in (("isnan", "is_notanumber"), ("isinf", "is_infinite"), ("isfinite", "is_finite"))
       for prefix in ("", "std::", "__", "__builtin_")},
    **dict.fromkeys(("isnanf", "__isnanf", "__isnand"), relation(_op("is_notanumber"))),
    **dict.fromkeys(("isinff", "__isinff", "__isinfd"), relation(_op("is_infinite"))),
    **dict.fromkeys(("signbit", "__signbit", "__signbitf", "__signbitd", "std::signbit"), relation(_sign)),
    "islessgreater": relation(_either),
    "any": _together("or"),
    "all": _together("and"),
    "select": _select,
    "bitselect": _mix_bits,
}  # fmt: skip
