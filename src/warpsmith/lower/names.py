"""Names, members, elements, literals: what expressions begin with, and the lvalues among them."""

from __future__ import annotations

from typing import Final

from warpsmith.lower.conversions import convert_value, is_signed, number
from warpsmith.lower.frame import Frame, Result
from warpsmith.lower.layout import NotModeled, align_of, is_object, lanes_of, leaf, size_of, stored_type, value_type
from warpsmith.lower.operators import move_pointer, read
from warpsmith.lower.places import Bits, MemoryPlace, Target, VectorLanes, place_pointed, store
from warpsmith.ssa.builder import constant
from warpsmith.ssa.nodes import Constant, Operand, Query, Text
from warpsmith.ssa.types import I32, I64
from warpsmith.tree import nodes
from warpsmith.tree import types as tree
from warpsmith.tree.types import UNSIGNED

__all__ = [
    "element_place",
    "index",
    "initialize",
    "literal",
    "lower_initializer",
    "lower_sizeof",
    "member",
    "member_place",
    "name",
    "name_place",
    "parts_of",
    "verbatim",
]

QUERIES: Final = {"threadIdx": "tid", "blockIdx": "ctaid", "blockDim": "ntid", "gridDim": "nctaid"}
"""Variables of CUDA that are special registers."""


# --- leaves


def literal(frame: Frame, e: nodes.Literal) -> Result:
    """Return a number as it stands; a string is an address of which nothing more is known."""
    if e.value is None:
        detail = Text(f"the address of {e.text[:40]}")
        return frame.builder.emit("lanewise", (), I64, detail)
    return number(value_type(frame.decay(e.type)), e.value)


def lower_sizeof(frame: Frame, e: nodes.SizeOf) -> Result:
    """Return the value of sizeof."""
    if e.value is None:
        raise NotModeled(f"{e.text}, which is no constant", e.span)
    return number(value_type(e.type), e.value)


def name(frame: Frame, e: nodes.Name) -> Result:
    """Return the value of a variable, or the number that a constant is."""
    symbol = e.symbol
    if symbol.value is not None:
        return number(value_type(e.type), symbol.value)
    if symbol.name == "warpSize":
        return constant(I32, 32)
    if symbol.storage == "function":
        raise NotModeled(f"the address of function {symbol.name}", e.span)
    if symbol.key in frame.rules.constants and not is_object(symbol.type):
        return frame.as_type(frame.rules.constants[symbol.key], symbol.type)
    return read(frame, e)


def name_place(frame: Frame, e: nodes.Name) -> Target:
    """Return where a variable lives."""
    symbol = e.symbol
    if symbol.name in QUERIES and symbol.storage in ("global", "static"):
        return _materialize(frame, e)
    if symbol.storage in ("global", "static") and not frame.has_home(symbol):
        raise NotModeled(f"{symbol.name}, which is no variable of the device", e.span)
    return frame.variable(symbol)


def _materialize(frame: Frame, e: nodes.Name) -> MemoryPlace:
    """Put the three numbers of threadIdx and the like into memory, where they are used as one object."""
    place = frame.temporary(e.type)
    for number_, axis in enumerate("xyz"):
        value = frame.builder.emit("query", (), I32, Query(f"{QUERIES[e.symbol.name]}.{axis}"))
        store(frame.builder, place.at(4 * number_), UNSIGNED, value)
    return place


# --- members


def _register(e: nodes.Member) -> str | None:
    base = e.base
    while isinstance(base, nodes.Cast):
        base = base.operand
    if (
        isinstance(base, nodes.Name)
        and base.symbol.name in QUERIES
        and e.field in ("x", "y", "z")
        and (base.symbol.storage in ("global", "static"))
    ):
        return f"{QUERIES[base.symbol.name]}.{e.field}"
    return None


def member(frame: Frame, e: nodes.Member) -> Result:
    """Return the value of a member; of one of threadIdx, a special register."""
    register = _register(e)
    if register is not None:
        found = frame.builder.emit("query", (), I32, Query(register), register)
        return convert_value(frame.builder, found, UNSIGNED, e.type)
    if not e.arrow and lanes_of(e.base.type):
        lanes = frame.lanes(e.base)
        chosen = tuple(lanes[n] for n in _numbers(e))
        return chosen if lanes_of(e.type) else chosen[0]
    return read(frame, e)


def _numbers(e: nodes.Member) -> tuple[int, ...]:
    """Return the lanes that a swizzle names: `s0`, `s13`, `sa`."""
    return tuple(int(digit, 16) for digit in e.field[1:])


def member_place(frame: Frame, e: nodes.Member) -> Target:
    """Return where a member lives."""
    if e.arrow:
        type = frame.decay(e.base.type)
        base = place_pointed(frame.builder, frame.scalar(e.base), type)
        record = type.to if isinstance(type, tree.Pointer) else type
    else:
        record = e.base.type
        base = frame.place(e.base)
    if lanes_of(record):
        element, _ = frame.lane_types(record)
        numbers = _numbers(e)
        if len(numbers) == 1:
            return base.with_alignment(align_of(record)).at(numbers[0] * stored_type(element).bytes)
        return VectorLanes(base, element, numbers)
    field = _field(record, e.field)
    if field is None:
        raise NotModeled(f"the member {e.field}", e.span)
    inside = base.with_alignment(align_of(record)).at(field.offset)
    return _bits(inside, field) if field.bits else inside


def _bits(place: MemoryPlace, field: tree.Field) -> Bits:
    """Return a bit-field of the unit at a place; a boolean one lies in a byte."""
    boolean = isinstance(field.type, tree.Scalar) and field.type.kind == "bool"
    unit = tree.Scalar("unsigned char", 8, "unsigned") if boolean else field.type
    return Bits(place, unit, field.shift, field.bits)


def _field(record: tree.Type, name: str) -> tree.Field | None:
    if not isinstance(record, tree.Record):
        return None
    return next((field for field in record.fields if field.name == name), None)


# --- elements


def index(frame: Frame, e: nodes.Index) -> Result:
    """Return the value of an element."""
    return read(frame, e)


def element_place(frame: Frame, e: nodes.Index) -> Target:
    """Return where an element lives: of an array in its own space, behind a pointer anywhere."""
    base = e.base
    if lanes_of(base.type):
        return _element(frame, frame.place(base), e, frame.lane_types(base.type)[0])
    if isinstance(base.type, tree.Array):
        return _element(frame, frame.place(base), e, base.type.of)
    pointer, number_ = (base, e.index) if isinstance(base.type, tree.Pointer) else (e.index, base)
    type = frame.decay(pointer.type)
    address = frame.scalar(pointer)
    place = place_pointed(frame.builder, address, type)
    return _move_place(frame, place, number_, e.type)


def _element(frame: Frame, place: MemoryPlace, e: nodes.Index, type: tree.Type) -> MemoryPlace:
    return _move_place(frame, place, e.index, type)


def _move_place(frame: Frame, place: MemoryPlace, expr: nodes.Expr, type: tree.Type) -> MemoryPlace:
    """Return the place of element `expr` behind `place`; a constant goes into the offset."""
    found = frame.scalar(expr)
    signed = is_signed(tree.promote(expr.type))
    if isinstance(found, Constant):
        bits = found.bits
        if signed and bits >> (found.type.bits - 1):
            bits -= 1 << found.type.bits
        return place.at(bits * size_of(type))
    address = move_pointer(frame, place.address, type, found, signed=signed)
    return MemoryPlace(address, place.space, place.offset, place.volatile, place.cached)


# --- initializers


def lower_initializer(frame: Frame, e: nodes.InitList) -> Result:
    """Return the value of `{ … }`: an object, a vector, or the one number in it."""
    if lanes_of(e.type):
        return _vector(frame, e)
    if is_object(e.type):
        place = frame.temporary(e.type)
        initialize(frame, place, e.type, e)
        return place
    if not e.items:
        return number(value_type(e.type), 0)
    return frame.as_type(e.items[0], e.type)


def _vector(frame: Frame, e: nodes.InitList) -> tuple[Operand, ...]:
    """Return the lanes of a vector literal: its items one after the other; one number stands for all."""
    element, own = frame.lane_types(e.type)
    found: list[Operand] = []
    for item in e.items:
        found += frame.lanes(item) if lanes_of(item.type) else [frame.as_type(item, element)]
    if len(e.items) == 1 and len(found) == 1:
        found *= lanes_of(e.type)
    return tuple(found + [number(own, 0)] * (lanes_of(e.type) - len(found)))


def initialize(frame: Frame, place: MemoryPlace, type: tree.Type, init: nodes.Expr) -> None:
    """Give an object its first value."""
    while isinstance(init, nodes.MacroUse):
        init = init.expansion
    if not is_object(type):
        store(frame.builder, place, type, frame.as_type(init, type))
    elif not isinstance(init, nodes.InitList) or lanes_of(type):
        _initialize_whole(frame, place, type, init)
    elif isinstance(type, tree.Record) and any(field.bits for field in type.fields):
        _initialize_bits(frame, place, type, init)
    else:
        for (offset, part), item in zip(parts_of(type), init.items, strict=False):
            initialize(frame, place.at(offset), part, item)
        _zero(frame, place, type, len(init.items))


_MOST_OBJECTS: Final = 64


def _initialize_whole(frame: Frame, place: MemoryPlace, type: tree.Type, init: nodes.Expr) -> None:
    """Give an object the value of another one, or each object of an array what a constructor makes for it."""
    objects = [(0, type)]
    while isinstance(objects[0][1], tree.Array):
        objects = [(offset + inside, part) for offset, array in objects for inside, part in parts_of(array)]
        made = isinstance(init, nodes.Call) and isinstance(init.type, tree.Record)
        if not made or not 0 < len(objects) <= _MOST_OBJECTS:
            raise NotModeled("an array that is initialized as a whole", init.span)
    for offset, part in objects:
        frame.assign(place.at(offset), part, init)


def _initialize_bits(frame: Frame, place: MemoryPlace, type: tree.Record, init: nodes.InitList) -> None:
    """Give a struct with bit-fields its first value: several lie in one unit, so that all is zero at first."""
    _zero(frame, place, type, 0)
    fields = [field for field in type.fields if field.name]
    for field, item in zip(fields, init.items, strict=False):
        inside = place.at(field.offset)
        if field.bits:
            value = frame.as_type(item, field.type)
            store(frame.builder, _bits(inside, field), field.type, value)
        else:
            initialize(frame, inside, field.type, item)


def parts_of(type: tree.Type) -> list[tuple[int, tree.Type]]:
    """Return the members of a struct, or the elements of an array, with their offsets."""
    if isinstance(type, tree.Array):
        size = size_of(type.of)
        return [(number_ * size, type.of) for number_ in range(type.count or 0)]
    assert isinstance(type, tree.Record)
    fields = type.fields[:1] if type.union else type.fields
    return [(field.offset, field.type) for field in fields]


def _zero(frame: Frame, place: MemoryPlace, type: tree.Type, after: int) -> None:
    """Write zeros to the parts of an object from number `after` on."""
    if not is_object(type):
        store(frame.builder, place, type, number(value_type(type), 0))
        return
    if isinstance(type, tree.Array) and (type.count or 0) * _scalars(leaf(type)) > _MOST_ZEROS:
        raise NotModeled("an array of this size that is set to zero where it is declared")
    for offset, part in parts_of(type)[after:]:
        _zero(frame, place.at(offset), part, 0)


_MOST_ZEROS = 4096


def _scalars(type: tree.Type) -> int:
    return len(type.fields) if isinstance(type, tree.Record) else 1


# --- what the tree keeps as text


def verbatim(frame: Frame, e: nodes.VerbatimExpr) -> Result:
    """Return something unknown; what the text names is read, and what it may write is unknown after it."""
    frame.blame(NotModeled(e.reason), e.span)
    return frame.unknown_text(e)
