"""Exchanges between a warp's lanes: votes, shuffles, matches, reductions; with a mask, and in the old form without.

A shuffle moves 32 bits; 64 are moved in two halves, as the hardware does it.
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec.structs import replace

from warpsmith.lower.builtins.rows import Rule, integer_argument, needs
from warpsmith.lower.conversions import convert_value, number, resize_integer, truth
from warpsmith.lower.frame import Frame, Result
from warpsmith.lower.layout import NotModeled, is_object
from warpsmith.lower.names import initialize
from warpsmith.lower.places import load, place_pointed, store
from warpsmith.ssa.builder import constant
from warpsmith.ssa.nodes import Constant, Exchange, Operand
from warpsmith.ssa.types import I1, I16, I32, I64, Type, integer
from warpsmith.tree import nodes
from warpsmith.tree import types as tree
from warpsmith.tree.types import BOOL, INT, UNSIGNED

__all__ = ["EXCHANGE"]


def _vote(how: str, *, masked: bool) -> Rule:
    def rule(frame: Frame, e: nodes.Call) -> Result:
        *mask, condition = needs(e, 1 + masked)[: 1 + masked]
        operands = tuple(integer_argument(frame, m) for m in mask)
        test = truth(frame.builder, frame.scalar(condition))
        made = I32 if how == "ballot" else I1
        found = frame.builder.emit("vote", (test, *operands), made, Exchange(how, masked))
        return convert_value(frame.builder, found, UNSIGNED if how == "ballot" else BOOL, e.type)

    return rule


def _shuffle(how: str, *, masked: bool) -> Rule:
    def rule(frame: Frame, e: nodes.Call) -> Result:
        given = needs(e, 2 + masked)
        mask = (integer_argument(frame, given[0]),) if masked else ()
        value, lane, *width = given[masked:]
        if is_object(e.type):
            raise NotModeled("a shuffle of a structure", e.span)
        moved = frame.as_type(value, e.type)
        where = (integer_argument(frame, lane), _clamp(frame, width, how), *mask)
        return _halves(frame, moved, where, Exchange(how, masked))

    return rule


def _clamp(frame: Frame, width: list[nodes.Expr], how: str) -> Operand:
    """Return the segment mask and the bound of a shuffle, as PTX has them in one operand."""
    bound = 0 if how == "up" else 0x1F
    found = integer_argument(frame, width[0]) if width else number(I32, 32)
    if isinstance(found, Constant):
        return constant(I32, (32 - found.bits) << 8 | bound)
    builder = frame.builder
    apart = builder.emit("sub", (constant(I32, 32), found), I32)
    high = builder.emit("shl", (apart, constant(I32, 8)), I32)
    return builder.emit("or", (high, constant(I32, bound)), I32)


def _halves(frame: Frame, value: Operand, where: tuple[Operand, ...], how: Exchange) -> Operand:
    builder, own = frame.builder, value.type
    if own == I1:
        moved = builder.emit("shuffle", (builder.emit("zext", (value,), I32), *where), I32, how)
        return truth(builder, moved)
    if own.bits == 32:
        return builder.emit("shuffle", (value, *where), own, how)
    if own.bits < 32:
        bits = value if own.kind == "integer" else builder.emit("bitcast", (value,), I16)
        wide = resize_integer(builder, bits, I32, signed=False)
        moved = builder.emit("shuffle", (wide, *where), I32, how)
        narrow = builder.emit("trunc", (moved,), bits.type)
        return narrow if narrow.type == own else builder.emit("bitcast", (narrow,), own)
    bits = value if own == I64 else builder.emit("bitcast", (value,), I64)
    high = builder.emit("trunc", (builder.emit("lshr", (bits, constant(I32, 32)), I64),), I32)
    parts = (builder.emit("trunc", (bits,), I32), high)
    low, top = (builder.emit("zext", (builder.emit("shuffle", (p, *where), I32, how),), I64) for p in parts)
    made = builder.emit("or", (low, builder.emit("shl", (top, constant(I32, 32)), I64)), I64)
    return made if own == I64 else builder.emit("bitcast", (made,), own)


def _bits(frame: Frame, e: nodes.Expr) -> Operand:
    """Return the bits of a number, 32 or 64 of them."""
    found = frame.scalar(e)
    own = found.type
    if own.kind == "float":
        found = frame.builder.emit("bitcast", (found,), integer(own.bits))
    wide: Type = I64 if own.bits == 64 else I32
    return resize_integer(
        frame.builder, found, wide, signed=isinstance(e.type, tree.Scalar) and e.type.kind == "signed"
    )


def _match_any(frame: Frame, e: nodes.Call) -> Result:
    mask, value = needs(e, 2)[:2]
    operands = (_bits(frame, value), integer_argument(frame, mask))
    return frame.builder.emit("match", operands, I32, Exchange("any"))


def _match_all(frame: Frame, e: nodes.Call) -> Result:
    mask, value, flag = needs(e, 3)[:3]
    operands = (_bits(frame, value), integer_argument(frame, mask))
    found, same = frame.builder.emit_many("match", operands, (I32, I1), Exchange("all"))
    place = place_pointed(frame.builder, frame.scalar(flag), frame.decay(flag.type))
    store(frame.builder, place, INT, convert_value(frame.builder, same, BOOL, INT))
    return found


def _reduce(how: str, *, signs: bool = False) -> Rule:
    def rule(frame: Frame, e: nodes.Call) -> Result:
        mask, value = needs(e, 2)[:2]
        signed = isinstance(e.type, tree.Scalar) and e.type.kind == "signed"
        name = f"{'s' if signed else 'u'}{how}" if signs else how
        operands = (integer_argument(frame, value), integer_argument(frame, mask))
        return frame.builder.emit("reduce", operands, I32, Exchange(name))

    return rule


def _active(frame: Frame, e: nodes.Call) -> Result:
    return frame.builder.emit("active", (), I32)


def _make_cached(how: Literal["", "read only", "beside"]) -> Rule:
    """Return the rule of __ldg and the like: a load that says how it is cached."""

    def rule(frame: Frame, e: nodes.Call) -> Result:
        pointer = needs(e, 1)[0]
        place = place_pointed(frame.builder, frame.scalar(pointer), frame.decay(pointer.type))
        place = replace(place, cached=how)
        return place if is_object(e.type) else load(frame.builder, place, e.type)

    return rule


def _store(frame: Frame, e: nodes.Call) -> Result:
    pointer, value = needs(e, 2)[:2]
    type = frame.decay(pointer.type)
    place = place_pointed(frame.builder, frame.scalar(pointer), type)
    assert isinstance(type, tree.Pointer)
    initialize(frame, place, type.to, value)
    return None


_SHUFFLES: Final = {"": "idx", "_up": "up", "_down": "down", "_xor": "bfly"}

EXCHANGE: Final[dict[str, Rule]] = {
    **{f"__shfl{name}_sync": _shuffle(how, masked=True) for name, how in _SHUFFLES.items()},
    **{f"__shfl{name}": _shuffle(how, masked=False) for name, how in _SHUFFLES.items()},
    **{f"__{how}_sync": _vote(how, masked=True) for how in ("any", "all", "uni", "ballot")},
    **{f"__{how}": _vote(how, masked=False) for how in ("any", "all", "ballot")},
    "__activemask": _active,
    "__match_any_sync": _match_any,
    "__match_all_sync": _match_all,
    **{f"__reduce_{how}_sync": _reduce(how) for how in ("add", "and", "or", "xor")},
    **{f"__reduce_{how}_sync": _reduce(how, signs=True) for how in ("min", "max")},
    "__ldg": _make_cached("read only"),
    "ws_load_beside": _make_cached("beside"),
    **{f"__ld{how}": _make_cached("") for how in ("ca", "cg", "cs", "lu", "cv")},
    **{f"__st{how}": _store for how in ("wb", "cg", "cs", "wt")},
}
