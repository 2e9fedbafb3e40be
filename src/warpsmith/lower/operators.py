"""Operators: arithmetic by the usual conversions, comparisons, shifts, addresses, assignment, ++ and -- (C17 6.5)."""

from __future__ import annotations

from typing import Final

from warpsmith.lower.conversions import convert_value, is_signed, number, resize_integer, truth
from warpsmith.lower.frame import Frame, Result
from warpsmith.lower.layout import NotModeled, is_object, lanes_of, size_of, value_type
from warpsmith.lower.places import Bits, MemoryPlace, Target, VectorLanes, load, place_pointed, pointer_to, store
from warpsmith.ssa.builder import constant
from warpsmith.ssa.nodes import Constant, NoWrap, Operand
from warpsmith.ssa.types import I1, I32, I64
from warpsmith.tree import nodes
from warpsmith.tree import types as tree
from warpsmith.tree.types import BOOL, INT, LONG

__all__ = [
    "COMPARISONS",
    "arithmetic",
    "binary",
    "cast",
    "compare_operands",
    "lower_assignment",
    "move_pointer",
    "read",
    "unary",
]

COMPARISONS: Final = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_PLAIN: Final = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor"}
_EXACT: Final = ("+", "-", "*")
"""Where signed numbers do not overflow (C17 6.5p5)."""
_FLOAT: Final = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
_SIGNED: Final = {"/": "div", "%": "rem"}


# --- numbers


def arithmetic(frame: Frame, op: str, type: tree.Type, left: Operand, right: Operand) -> Operand:
    """Return `left op right`, both of `type`, the common type."""
    builder = frame.builder
    own = value_type(type)
    if own.kind == "float":
        if op not in _FLOAT:
            raise NotModeled(f"the operator {op} of floating-point numbers")
        return builder.emit(_FLOAT[op], (left, right), own)
    if op in _SIGNED:
        return builder.emit(f"{'s' if is_signed(type) else 'u'}{_SIGNED[op]}", (left, right), own)
    if op in ("<<", ">>"):
        amount = resize_integer(builder, right, I32, signed=False)
        chosen = "shl" if op == "<<" else "ashr" if is_signed(type) else "lshr"
        return builder.emit(chosen, (left, amount), own)
    exact = op in _EXACT and is_signed(type) and own.bits >= 32 and not frame.skipped
    return builder.emit(_PLAIN[op], (left, right), own, NoWrap(signed=True) if exact else None)


def compare_operands(frame: Frame, op: str, type: tree.Type, left: Operand, right: Operand) -> Operand:
    """Return the predicate `left op right`, both of `type`."""
    test = COMPARISONS[op]
    own = value_type(type)
    if own.kind == "float":
        name = f"fu{test}" if test == "ne" else f"fo{test}"
    elif test in ("eq", "ne"):
        name = test
    else:
        name = f"{'s' if is_signed(type) else 'u'}{test}"
    return frame.builder.emit(name, (left, right), I1)


def move_pointer(frame: Frame, pointer: Operand, to: tree.Type, index: Operand, *, signed: bool) -> Operand:
    """Return the address of element `index` behind `pointer`, which points to things of type `to`."""
    offset = scale_index(frame, index, size_of(to), signed=signed)
    return frame.builder.emit("add", (pointer, offset), I64)


def scale_index(frame: Frame, index: Operand, size: int, *, signed: bool) -> Operand:
    """Return `index` times `size` as 64 bits: as nvcc has it, by one wide multiplication where it has 32."""
    builder = frame.builder
    if isinstance(index, Constant):
        wide = resize_integer(builder, index, I64, signed=signed)
        assert isinstance(wide, Constant)
        return constant(I64, wide.bits * size)
    if index.type.bits < 32:
        index, signed = resize_integer(builder, index, I32, signed=signed), True
    if index.type == I32 and size > 1:
        return builder.emit("smulwide" if signed else "umulwide", (index, constant(I32, size)), I64)
    wide = resize_integer(builder, index, I64, signed=signed)
    return wide if size == 1 else builder.emit("mul", (wide, constant(I64, size)), I64)


# --- binary operators; && || and ?: are control (control.py)


def binary(frame: Frame, e: nodes.Binary) -> Result:
    """Lower an operator with two operands that are both evaluated."""
    if e.op == ",":
        frame.value(e.left)
        return frame.value(e.right)
    left, right = frame.kind(e.left), frame.kind(e.right)
    if lanes_of(left) or lanes_of(right):
        return _lanewise(frame, e)
    if e.op in COMPARISONS:
        found = _comparison(frame, e, left, right)
        return convert_value(frame.builder, found, BOOL, e.type)
    if isinstance(left, tree.Pointer) or isinstance(right, tree.Pointer):
        return _pointers(frame, e, left, right)
    common = tree.promote(left) if e.op in ("<<", ">>") else tree.common_type(left, right)
    other = tree.promote(right) if e.op in ("<<", ">>") else common
    one, two = frame.as_type(e.left, common), frame.as_type(e.right, other)
    return convert_value(frame.builder, arithmetic(frame, e.op, common, one, two), common, e.type)


def _comparison(frame: Frame, e: nodes.Binary, left: tree.Type, right: tree.Type) -> Operand:
    if isinstance(left, tree.Pointer) or isinstance(right, tree.Pointer):
        common: tree.Type = left if isinstance(left, tree.Pointer) else right
    else:
        common = tree.common_type(left, right)
    return compare_operands(frame, e.op, common, frame.as_type(e.left, common), frame.as_type(e.right, common))


def _pointers(frame: Frame, e: nodes.Binary, left: tree.Type, right: tree.Type) -> Operand:
    """Lower a sum or difference of pointers."""
    if isinstance(left, tree.Pointer) and isinstance(right, tree.Pointer) and e.op == "-":
        builder = frame.builder
        bytes_ = builder.emit("sub", (frame.scalar(e.left), frame.scalar(e.right)), I64)
        size = size_of(left.to)
        apart = bytes_ if size == 1 else builder.emit("sdiv", (bytes_, constant(I64, size)), I64)
        return convert_value(builder, apart, LONG, e.type)
    pointer, index = (e.left, e.right) if isinstance(left, tree.Pointer) else (e.right, e.left)
    type = left if isinstance(left, tree.Pointer) else right
    if not isinstance(type, tree.Pointer) or e.op not in ("+", "-"):
        raise NotModeled(f"the operator {e.op} of pointers", e.span)
    base = frame.scalar(pointer)
    return _step_pointer(frame, base, type, frame.scalar(index), (index.type, e.op))


def _step_pointer(
    frame: Frame, base: Operand, type: tree.Pointer, index: Operand, how: tuple[tree.Type, str]
) -> Operand:
    kind, op = how
    signed = is_signed(tree.promote(kind))
    if op == "+":
        return move_pointer(frame, base, type.to, index, signed=signed)
    return frame.builder.emit("sub", (base, scale_index(frame, index, size_of(type.to), signed=signed)), I64)


def _lanewise(frame: Frame, e: nodes.Binary) -> tuple[Operand, ...]:
    """Lower an operator on vectors: lane by lane, a number stands for as many."""
    kind = e.left.type if lanes_of(e.left.type) else e.right.type
    element, _ = frame.lane_types(kind)
    one, two = (_spread(frame, side, kind) for side in (e.left, e.right))
    if e.op in COMPARISONS:
        own, _ = frame.lane_types(e.type)
        made = value_type(own)
        tests = [compare_operands(frame, e.op, element, a, b) for a, b in zip(one, two, strict=True)]
        return tuple(frame.builder.emit("select", (t, number(made, -1), number(made, 0)), made) for t in tests)
    if e.op in ("&&", "||"):
        return _both(frame, e, one, two)
    return tuple(_lane(frame, e.op, element, a, b) for a, b in zip(one, two, strict=True))


def _both(frame: Frame, e: nodes.Binary, one: tuple[Operand, ...], two: tuple[Operand, ...]) -> tuple[Operand, ...]:
    """Lower && or || of vectors, which skips nothing: 0 or -1 for each lane."""
    builder, made = frame.builder, frame.lane_types(e.type)[1]
    op = "and" if e.op == "&&" else "or"
    tests = [builder.emit(op, (truth(builder, a), truth(builder, b)), I1) for a, b in zip(one, two, strict=True)]
    return tuple(builder.emit("select", (t, number(made, -1), number(made, 0)), made) for t in tests)


def _lane(frame: Frame, op: str, element: tree.Type, a: Operand, b: Operand) -> Operand:
    """Return one lane of `a op b`: OpenCL takes shift amounts modulo the width, and promotes nothing."""
    if op in ("<<", ">>"):
        b = frame.builder.emit("and", (b, constant(b.type, b.type.bits - 1)), b.type)
    with frame.skipping():  # lanes wrap
        return arithmetic(frame, op, element, a, b)


def _spread(frame: Frame, e: nodes.Expr, kind: tree.Type) -> tuple[Operand, ...]:
    """Return the lanes of an operand, which may be a number that stands for all."""
    if lanes_of(e.type):
        return frame.lanes(e)
    element, _ = frame.lane_types(kind)
    return (frame.as_type(e, element),) * lanes_of(kind)


# --- unary operators


def unary(frame: Frame, e: nodes.Unary) -> Result:
    """Lower an operator with one operand."""
    if e.op in ("++x", "--x", "x++", "x--"):
        return _step(frame, e)
    if e.op == "*":
        return read(frame, e)
    if e.op == "&":
        return _address(frame, e.operand)
    if lanes_of(e.type):
        element, made = frame.lane_types(e.type)
        if e.op == "!":
            ways = number(made, 0), number(made, -1)
            tests = [truth(frame.builder, lane) for lane in frame.lanes(e.operand)]
            return tuple(frame.builder.emit("select", (test, *ways), made) for test in tests)
        return tuple(_sign(frame, e.op, element, lane) for lane in frame.lanes(e.operand))
    if e.op == "!":
        zero = frame.builder.emit("not", (truth(frame.builder, frame.scalar(e.operand)),), I1)
        return convert_value(frame.builder, zero, BOOL, e.type)
    kind = tree.promote(frame.kind(e.operand))
    return convert_value(frame.builder, _sign(frame, e.op, kind, frame.as_type(e.operand, kind)), kind, e.type)


def _sign(frame: Frame, op: str, kind: tree.Type, value: Operand) -> Operand:
    if op == "+" or (op == "~" and value.type == I1):
        return value
    floating = value.type.kind == "float"
    name = {"-": "fneg" if floating else "neg", "~": "not"}[op]
    if isinstance(value, Constant):
        flip = 1 << (value.type.bits - 1)
        bits = value.bits ^ flip if name == "fneg" else -value.bits if name == "neg" else ~value.bits
        return constant(value.type, bits)
    return frame.builder.emit(name, (value,), value.type)


def _address(frame: Frame, operand: nodes.Expr) -> Operand:
    while (
        isinstance(operand, nodes.Cast)
        and isinstance(operand.operand.type, type(operand.type))
        and (operand.type == operand.operand.type)
    ):
        operand = operand.operand
    if isinstance(operand, nodes.Unary) and operand.op == "*":
        return frame.scalar(operand.operand)
    return pointer_to(frame.builder, frame.place(operand))


def _step(frame: Frame, e: nodes.Unary) -> Result:
    type = e.operand.type
    if lanes_of(type):
        return _step_lanes(frame, e)
    with frame.standing(e.operand.span):
        target = frame.target(e.operand)
        before = load(frame.builder, target, type)
    sign = "+" if "+" in e.op else "-"
    after = _plus(frame, before, type, number(I32, 1), (INT, sign))
    with frame.standing(e.operand.span):
        store(frame.builder, target, type, after)
    return before if e.op.startswith("x") else after


def _step_lanes(frame: Frame, e: nodes.Unary) -> tuple[Operand, ...]:
    """Lower ++ and -- of a vector, or of some lanes of one."""
    kind = e.operand.type
    element, own = frame.lane_types(kind)
    with frame.standing(e.operand.span):
        target = frame.target(e.operand)
        before = _read_lanes(frame, target, kind)
    after = tuple(_lane(frame, e.op.strip("x")[0], element, lane, number(own, 1)) for lane in before)
    with frame.standing(e.operand.span):
        _write_lanes(frame, target, kind, after)
    return before if e.op.startswith("x") else after


def _plus(frame: Frame, value: Operand, type: tree.Type, other: Operand, how: tuple[tree.Type, str]) -> Operand:
    """Return `value op other` as `value`'s type: what a compound assignment and ++ store."""
    kind, op = how
    if isinstance(type, tree.Pointer):
        return _step_pointer(frame, value, type, other, (kind, op))
    builder = frame.builder
    common = tree.promote(type) if op in ("<<", ">>") else tree.common_type(type, kind)
    right = tree.promote(kind) if op in ("<<", ">>") else common
    one, two = convert_value(builder, value, type, common), convert_value(builder, other, kind, right)
    return convert_value(builder, arithmetic(frame, op, common, one, two), common, type)


# --- assignment


def lower_assignment(frame: Frame, e: nodes.Assign) -> Result:
    """Lower = and the compound assignments."""
    type = e.target.type
    if lanes_of(type):
        return _assigned_lanes(frame, e)
    if is_object(type):
        place = frame.place(e.target)
        frame.assign(place, type, e.value)
        return place
    if e.op == "=":
        # C++17: the right side comes first, where the left one has effects
        value = frame.as_type(e.value, type)
        with frame.standing(e.target.span):
            target = frame.target(e.target)
    else:
        other = frame.scalar(e.value)
        with frame.standing(e.target.span):
            target = frame.target(e.target)
            before = load(frame.builder, target, type)
        value = _plus(frame, before, type, other, (frame.kind(e.value), e.op[:-1]))
    with frame.standing(e.target.span):
        store(frame.builder, target, type, value)
    if isinstance(target, Bits):
        return load(frame.builder, target, type)
    return value


def _assigned_lanes(frame: Frame, e: nodes.Assign) -> tuple[Operand, ...]:
    kind = e.target.type
    value = _spread(frame, e.value, kind)
    with frame.standing(e.target.span):
        target = frame.target(e.target)
    if e.op != "=":
        element, _ = frame.lane_types(kind)
        with frame.standing(e.target.span):
            before = _read_lanes(frame, target, kind)
        value = tuple(_lane(frame, e.op[:-1], element, a, b) for a, b in zip(before, value, strict=True))
    with frame.standing(e.target.span):
        _write_lanes(frame, target, kind, value)
    return value


def _write_lanes(frame: Frame, target: Target, kind: tree.Type, lanes: tuple[Operand, ...]) -> None:
    if not isinstance(target, VectorLanes):
        frame.store_lanes(target, kind, lanes)
        return
    for number_, lane in zip(target.numbers, lanes, strict=True):
        store(frame.builder, VectorLanes(target.place, target.element, (number_,)), target.element, lane)


def _read_lanes(frame: Frame, target: Target, kind: tree.Type) -> tuple[Operand, ...]:
    if isinstance(target, VectorLanes):
        return tuple(
            load(frame.builder, VectorLanes(target.place, target.element, (n,)), target.element) for n in target.numbers
        )
    return frame.read_lanes(target, kind)


# --- reading lvalues, and casts


def read(frame: Frame, e: nodes.Expr) -> Result:
    """Return the value of an lvalue: an object's is where it lies, an array's its address."""
    target = frame.target(e)
    if lanes_of(e.type):
        return _read_lanes(frame, target, e.type)
    if is_object(e.type):
        if not isinstance(target, MemoryPlace):
            raise NotModeled("an object that lies in no memory", e.span)
        return target if isinstance(e.type, tree.Record) else pointer_to(frame.builder, target)
    return load(frame.builder, target, e.type)


def cast(frame: Frame, e: nodes.Cast) -> Result:
    """Lower an explicit cast."""
    target = e.type
    if isinstance(target, tree.Scalar) and target.kind == "void":
        frame.value(e.operand)
        return None
    if lanes_of(target):
        if lanes_of(e.operand.type):
            return frame.lanes(e.operand)
        element, _ = frame.lane_types(target)
        return (frame.as_type(e.operand, element),) * lanes_of(target)
    if is_object(target):
        return frame.value(e.operand)
    return frame.as_type(e.operand, target)


def lower_dereference(frame: Frame, e: nodes.Unary) -> Target:
    """Return where `*p` lives."""
    if e.op != "*":
        return frame.place(e)
    pointer = frame.decay(e.operand.type)
    return place_pointed(frame.builder, frame.scalar(e.operand), pointer)
