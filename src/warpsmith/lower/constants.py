"""The numbers with which a variable of the device begins, where they are written out."""

from __future__ import annotations

import math

from warpsmith.lower.conversions import number
from warpsmith.lower.layout import NotModeled, is_object, lanes_of, size_of, stored_type
from warpsmith.lower.names import parts_of
from warpsmith.ssa.nodes import Symbol
from warpsmith.ssa.semantics.patterns import number_of
from warpsmith.tree import nodes
from warpsmith.tree import types as tree

__all__ = ["constant_number", "initial_numbers"]


def constant_number(e: nodes.Expr) -> int | float | None:
    """Return the number that an expression is, where that is plain; None elsewhere."""
    match e:
        case nodes.Literal() | nodes.SizeOf():
            return e.value
        case nodes.Name():
            return e.symbol.value
        case nodes.MacroUse():
            return constant_number(e.expansion)
        case nodes.Cast() if isinstance(e.type, tree.Scalar) and e.type.kind in ("signed", "unsigned", "float"):
            return _cast(e)
        case nodes.Unary(op="-" | "+" | "~"):
            value = constant_number(e.operand)
            if value is None or (e.op == "~" and isinstance(value, float)):
                return None
            return -value if e.op == "-" else value if e.op == "+" else ~int(value)
        case nodes.Binary():
            return _binary(e)
        case _:
            return None


def _cast(e: nodes.Cast) -> int | float | None:
    value = constant_number(e.operand)
    if value is None:
        return None
    type = stored_type(e.type)
    if type.kind != "float" and not math.isfinite(value):
        return None
    if type.kind == "float":
        return number_of(number(type, value).bits, type)
    bits = number(type, int(value)).bits
    signed = isinstance(e.type, tree.Scalar) and e.type.kind == "signed" and bits >> (type.bits - 1)
    return bits - (1 << type.bits) if signed else bits


def _binary(e: nodes.Binary) -> int | float | None:
    left, right = constant_number(e.left), constant_number(e.right)
    if left is None or right is None or not isinstance(e.type, tree.Scalar):
        return None
    if e.type.kind == "float":
        return _real(e.op, (left, right), e.type)
    if not isinstance(left, int) or not isinstance(right, int):
        return None
    if e.type.kind == "unsigned":
        mask = (1 << e.type.bits) - 1
        found = _whole(e.op, (left & mask, right & mask), 4 * e.type.bits)
        return found & mask if found is not None else None
    return _whole(e.op, (left, right), e.type.bits) if e.type.kind == "signed" else None


def _real(op: str, sides: tuple[float, float], type: tree.Scalar) -> float | None:
    """Return a sum, product or quotient rounded to `type`; a float's is exact enough in the double that Python has."""
    if type.bits > 64 or op not in "+-*/" or (op == "/" and not sides[1]):
        return None
    stored = stored_type(type)
    left, right = (number_of(number(stored, side).bits, stored) for side in sides)
    found = {"+": left + right, "-": left - right, "*": left * right}.get(op)
    return number_of(number(stored, left / right if found is None else found).bits, stored)


def _whole(op: str, sides: tuple[int, int], bits: int) -> int | None:
    """Return the value of an operator of signed integers; None where it has none."""
    left, right = sides
    found = {"+": left + right, "-": left - right, "*": left * right, "|": left | right, "&": left & right}.get(op)
    if op == "<<" and 0 <= right < bits:
        found = left << right
    if op == ">>" and 0 <= right < bits:
        found = left >> right
    if op in "/%" and right:
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        found = quotient if op == "/" else left - quotient * right
    return found if found is not None and -(1 << (bits - 1)) <= found < 1 << (bits - 1) else None


def initial_numbers(init: nodes.Expr, type: tree.Type, symbol: Symbol) -> tuple[int, ...] | None:
    """Return the elements of `symbol` as the initializer gives them; None where they are not plain numbers."""
    data = bytearray(symbol.bytes)
    try:
        known = _fill(data, 0, type, init)
    except NotModeled:
        return None
    if not known:
        return None
    size = symbol.type.bytes
    return tuple(int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size))


def _fill(data: bytearray, offset: int, type: tree.Type, init: nodes.Expr) -> bool:
    while isinstance(init, nodes.MacroUse):
        init = init.expansion
    if isinstance(init, nodes.InitList):
        if not is_object(type):
            return not init.items or _fill(data, offset, type, init.items[0])
        if isinstance(type, tree.Record) and type.lanes:
            return _fill_lanes(data, offset, type, init)
        if isinstance(type, tree.Record) and any(field.bits for field in type.fields):
            return False
        pairs = zip(parts_of(type), init.items, strict=False)
        return all(_fill(data, offset + at, part, item) for (at, part), item in pairs)
    if isinstance(init, nodes.Cast) and isinstance(type, tree.Record) and type.lanes:
        return _fill_lanes(data, offset, type, nodes.InitList(span=init.span, type=type, items=(init.operand,)))
    value = constant_number(init)
    if value is None or is_object(type):
        return False
    stored = stored_type(type)
    if stored.kind != "float" and not math.isfinite(value):
        return False
    bits = int(bool(value)) if isinstance(type, tree.Scalar) and type.kind == "bool" else number(stored, value).bits
    data[offset : offset + size_of(type)] = bits.to_bytes(stored.bytes, "little")
    return True


def _fill_lanes(data: bytearray, offset: int, type: tree.Record, init: nodes.InitList) -> bool:
    """Write the lanes of a vector: those of its items one after the other; one number stands for all."""
    element, lanes = type.fields[0].type, _lanes_of(init)
    if lanes is None:
        return False
    if len(init.items) == 1 and len(lanes) == 1:
        lanes *= type.lanes
    size = size_of(element)
    return all(_fill(data, offset + n * size, element, lane) for n, lane in enumerate(lanes[: type.lanes]))


def _lanes_of(init: nodes.InitList) -> list[nodes.Expr] | None:
    """Return the numbers of a vector literal; None where an item is a vector that is not written out."""
    found: list[nodes.Expr] = []
    for item in init.items:
        if not lanes_of(item.type):
            found.append(item)
            continue
        if not isinstance(item, nodes.InitList):
            return None
        inner = _lanes_of(item)
        if inner is None:
            return None
        found += inner * lanes_of(item.type) if len(item.items) == len(inner) == 1 else inner
    return found
