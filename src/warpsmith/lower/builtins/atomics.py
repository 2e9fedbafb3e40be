"""Atomics of CUDA: atomicAdd and its kin, for all types, with the scope that a suffix names."""

from __future__ import annotations

from typing import Final, Literal

from warpsmith.lower.builtins.rows import Rule, needs, place_argument
from warpsmith.lower.conversions import convert_value, is_signed, number
from warpsmith.lower.frame import Frame, Result
from warpsmith.lower.layout import NotModeled, value_type
from warpsmith.lower.places import MemoryPlace
from warpsmith.ssa.nodes import Memory, Operand
from warpsmith.ssa.types import I32
from warpsmith.tree import nodes
from warpsmith.tree import types as tree

__all__ = ["ATOMICS", "atomic"]

Scope = Literal["", "block", "device", "system"]


def _op(name: str, type: tree.Type) -> str:
    own = value_type(type)
    if name in ("min", "max"):
        if own.kind == "float":
            raise NotModeled(f"an atomic {name} of floating-point numbers")
        return f"atomic_{'s' if is_signed(type) else 'u'}{name}"
    return "atomic_fadd" if name == "add" and own.kind == "float" else f"atomic_{name}"


def atomic(
    frame: Frame, where: tuple[MemoryPlace, tree.Type], name: str, values: tuple[Operand, ...], scope: Scope
) -> Operand:
    """Emit an atomic op on a number at a place; return what was there."""
    place, type = where
    own = value_type(type)
    builder = frame.builder
    if name == "sub":
        minus = "fneg" if own.kind == "float" else "neg"
        name, values = "add", (builder.emit(minus, values, own),)
    detail = Memory(place.space, place.offset, own.bytes, "", "", scope)
    return builder.emit(_op(name, type), (place.address, *values), own, detail)


def _rule(name: str, scope: Scope) -> Rule:
    def rule(frame: Frame, e: nodes.Call) -> Result:
        count = 3 if name == "compare" else 2
        pointer, *others = needs(e, count)[:count]
        place, type = place_argument(frame, pointer)
        # overloads take the type of their result; a pointer to something else is converted to it
        kind = e.type if isinstance(e.type, tree.Scalar) and e.type.kind != "void" else type
        values = tuple(frame.as_type(other, kind) for other in others)
        found = atomic(frame, (place, kind), name, values, scope)
        return None if isinstance(e.type, tree.Scalar) and e.type.kind == "void" else found

    return rule


_NAMES: Final = {
    "Add": "add", "Sub": "sub", "Min": "min", "Max": "max", "And": "and", "Or": "or", "Xor": "xor", "Exch": "exchange",
    "Inc": "inc", "Dec": "dec", "CAS": "compare",
}  # fmt: skip
_SCOPES: Final[dict[str, Scope]] = {"": "", "_block": "block", "_system": "system"}
_OPENCL: Final = {
    "add": "add", "sub": "sub", "min": "min", "max": "max", "and": "and", "or": "or", "xor": "xor",
    "xchg": "exchange", "cmpxchg": "compare",
}  # fmt: skip


def _one(name: str) -> Rule:
    """Return the rule of atomic_inc and atomic_dec of OpenCL, which add and subtract one."""

    def rule(frame: Frame, e: nodes.Call) -> Result:
        place, type = place_argument(frame, needs(e, 1)[0])
        return convert_value(frame.builder, atomic(frame, (place, type), name, (number(I32, 1),), ""), type, e.type)

    return rule


ATOMICS: Final[dict[str, Rule]] = {
    **{f"atomic{name}{end}": _rule(op, scope) for name, op in _NAMES.items() for end, scope in _SCOPES.items()},
    **{f"{prefix}_{name}": _rule(op, "") for name, op in _OPENCL.items() for prefix in ("atomic", "atom")},
    **{f"{prefix}_{name}": _one(op) for name, op in (("inc", "add"), ("dec", "sub")) for prefix in ("atomic", "atom")},
}
