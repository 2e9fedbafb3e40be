"""The numbers with which a variable of the device begins, where they are written out."""

from __future__ import annotations

from warpsmith.lower.conversions import number
from warpsmith.lower.layout import NotModeled, is_object, size_of, stored_type
from warpsmith.lower.names import parts_of
from warpsmith.ssa.nodes import Symbol
from warpsmith.ssa.semantics import number_of
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
        case nodes.Binary(op="+" | "-" | "*" | "<<" | "|"):
            return _binary(e)
        case _:
            return None


def _cast(e: nodes.Cast) -> int | float | None:
    value = constant_number(e.operand)
    if value is None:
        return None
    type = stored_type(e.type)
    if type.kind == "float":
        return number_of(number(type, value).bits, type)
    bits = number(type, int(value)).bits
    signed = isinstance(e.type, tree.Scalar) and e.type.kind == "signed" and bits >> (type.bits - 1)
    return bits - (1 << type.bits) if signed else bits


def _binary(e: nodes.Binary) -> int | float | None:
    left, right = constant_number(e.left), constant_number(e.right)
    if left is None or right is None:
        return None
    if isinstance(left, int) and isinstance(right, int) and isinstance(e.type, tree.Scalar) and e.type.kind == "signed":
        found = {"+": left + right, "-": left - right, "*": left * right, "|": left | right}.get(e.op)
        if found is None and e.op == "<<" and 0 <= right < e.type.bits:
            found = left << right
        return found if found is not None and abs(found) < 1 << (e.type.bits - 1) else None
    return None


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
        pairs = zip(parts_of(type), init.items, strict=False)
        return all(_fill(data, offset + at, part, item) for (at, part), item in pairs)
    value = constant_number(init)
    if value is None or is_object(type):
        return False
    stored = stored_type(type)
    bits = int(bool(value)) if isinstance(type, tree.Scalar) and type.kind == "bool" else number(stored, value).bits
    data[offset : offset + size_of(type)] = bits.to_bytes(stored.bytes, "little")
    return True
