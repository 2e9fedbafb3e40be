"""One function of the tree becomes one of the IR.

Kernel parameters are read by `param`, as in PTX: a struct in pieces into a copy of the thread's own, a pointer as an
address in global memory (where host code lets nothing else come from). A device function gets objects by address.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from warpsmith.base.findings import Finding
from warpsmith.lower.calls import call, is_void
from warpsmith.lower.control import logical, lower_conditional
from warpsmith.lower.conversions import truth
from warpsmith.lower.frame import Frame, ModuleNames, Result, Rules, key_of
from warpsmith.lower.layout import NotModeled, align_of, is_object, member_at, pieces, size_of, stored_type, value_type
from warpsmith.lower.names import (
    element_place,
    index,
    literal,
    lower_initializer,
    lower_sizeof,
    member,
    member_place,
    name,
    name_place,
    verbatim,
)
from warpsmith.lower.operators import cast, lower_assignment, lower_dereference, unary
from warpsmith.lower.places import MemoryPlace, Target, store
from warpsmith.lower.statements import end_labels, run
from warpsmith.ssa.builder import Builder
from warpsmith.ssa.nodes import Function, Limits, Operand, Param, Parameter, Return, Text, Undefined
from warpsmith.ssa.types import I1, I64, Type
from warpsmith.tree import nodes
from warpsmith.tree import types as tree
from warpsmith.tree.walk import walk

__all__ = ["TARGETS", "VALUES", "lower_function"]

RESULT: Final = ".result"
"""The parameter by which a function that returns an object gets room for it."""


def _macro(frame: Frame, e: nodes.MacroUse) -> Result:
    return frame.value(e.expansion)


def _macro_place(frame: Frame, e: nodes.MacroUse) -> Target:
    return frame.target(e.expansion)


def _assigned_place(frame: Frame, e: nodes.Assign) -> Target:
    frame.value(e)
    return frame.target(e.target)


def _cast_place(frame: Frame, e: nodes.Cast) -> Target:
    if is_object(e.type):
        return frame.object(e.operand)
    if e.type == e.operand.type and type(e.operand) in TARGETS:
        return frame.target(e.operand)
    return _hold_temporary(frame, e)


def _hold_temporary(frame: Frame, e: nodes.Expr) -> MemoryPlace:
    """Put a value that has no place into a temporary."""
    value = frame.scalar(e)
    place = frame.temporary(e.type)
    store(frame.builder, place, e.type, value)
    return place


def _stepped_place(frame: Frame, e: nodes.Unary) -> Target:
    if e.op in ("++x", "--x"):
        frame.value(e)
        return frame.target(e.operand)
    return lower_dereference(frame, e) if e.op == "*" else _hold_temporary(frame, e)


def _comma_place(frame: Frame, e: nodes.Binary) -> Target:
    if e.op != ",":
        return frame.object(e) if is_object(e.type) else _hold_temporary(frame, e)
    frame.value(e.left)
    return frame.target(e.right)


VALUES: Final[dict[type, Callable[[Frame, Any], Result]]] = {
    nodes.Literal: literal,
    nodes.Name: name,
    nodes.Unary: unary,
    nodes.Binary: logical,
    nodes.Assign: lower_assignment,
    nodes.Conditional: lower_conditional,
    nodes.Call: call,
    nodes.Index: index,
    nodes.Member: member,
    nodes.Cast: cast,
    nodes.SizeOf: lower_sizeof,
    nodes.InitList: lower_initializer,
    nodes.MacroUse: _macro,
    nodes.VerbatimExpr: verbatim,
}
TARGETS: Final[dict[type, Callable[[Frame, Any], Target]]] = {
    nodes.Name: name_place,
    nodes.Unary: _stepped_place,
    nodes.Binary: _comma_place,
    nodes.Index: element_place,
    nodes.Member: member_place,
    nodes.Assign: _assigned_place,
    nodes.Cast: _cast_place,
    nodes.MacroUse: _macro_place,
}


def lower_function(
    rules: Rules, names: ModuleNames, function: nodes.Function, called: str
) -> tuple[Function, tuple[Finding, ...]]:
    """Return `function` under the name `called`, and what was not modeled. Where control is lost, it has no blocks."""
    type = function.symbol.type
    assert isinstance(type, tree.FunctionType)
    kernel = function.device is not None and function.device.kernel
    result = tree.VOID if kernel else type.result
    ours = function.device is not None and function.device.ours
    frame = Frame(rules, names, Builder(), frozenset(_find_addressed(function)), result, kernel, ours=ours)
    frame.at(function.span)
    parameters = tuple(_parameters(function, kernel, result))
    try:
        _enter(frame, function, parameters)
    except NotModeled as problem:
        frame.blame(problem, function.span)
        frame.lost = True
    if not frame.lost:
        run(frame, function.body)
        end_labels(frame, function.body.span)
    if not frame.builder.ended:
        frame.at(function.body.span)
        _end(frame)
    results = () if is_void(result) or is_object(result) else (stored_type(result),)
    blocks = () if frame.lost else frame.builder.finish()
    limits = _limits(function)
    span = None if ours else function.symbol.span or function.span
    made = Function(called, kernel, parameters, results, blocks, tuple(frame.symbols), limits, span)
    return made, tuple(frame.findings)


def _find_addressed(function: nodes.Function) -> Iterator[str]:
    """Yield the keys of the variables whose address somebody may take."""
    for node in walk(function.body):
        match node:
            case nodes.Unary(op="&", operand=operand):
                root = operand
                while isinstance(root, nodes.MacroUse | nodes.Cast):
                    root = root.expansion if isinstance(root, nodes.MacroUse) else root.operand
                if isinstance(root, nodes.Name):
                    yield root.symbol.key
                elif isinstance(root, nodes.Binary | nodes.Assign | nodes.Unary | nodes.Conditional):
                    yield from (part.symbol.key for part in walk(root) if isinstance(part, nodes.Name))
            case nodes.VerbatimExpr() | nodes.Verbatim():
                named = (*node.reads, *node.writes) if node.kept is None and "&" in node.text else node.kept or ()
                yield from (symbol.key for symbol in named)
            case _:
                pass


def _limits(function: nodes.Function) -> Limits:
    traits = function.device
    if traits is None:
        return Limits()
    return Limits(traits.max_threads, traits.block, traits.min_blocks)


# --- parameters


def _names(function: nodes.Function) -> Iterator[str]:
    """Yield a name for each parameter: its own, or its number where it has none."""
    for number, symbol in enumerate(function.parameters):
        yield symbol.name or f".{number}"


def _parameters(function: nodes.Function, kernel: bool, result: tree.Type) -> Iterator[Parameter]:
    if is_object(result):
        yield Parameter(RESULT, 8, 8, I64)
    for label, symbol in zip(_names(function), function.parameters, strict=True):
        try:
            yield _parameter(label, symbol.type, kernel)
        except NotModeled:
            yield Parameter(label, 8, 8, None)


def _parameter(label: str, type: tree.Type, kernel: bool) -> Parameter:
    if not is_object(type):
        stored = stored_type(type)
        return Parameter(label, stored.bytes, stored.bytes, stored)
    if kernel:
        return Parameter(label, size_of(type), align_of(type))
    return Parameter(label, 8, 8, I64)


def _enter(frame: Frame, function: nodes.Function, parameters: tuple[Parameter, ...]) -> None:
    """Give the parameters their values."""
    if is_object(frame.result):
        frame.returned = MemoryPlace(_read(frame, RESULT, I64), "generic")
    for label, symbol in zip(_names(function), function.parameters, strict=True):
        if is_object(symbol.type) and frame.kernel:
            _unpack(frame, symbol, label)
        elif is_object(symbol.type):
            frame.places[symbol.key] = MemoryPlace(_read(frame, label, I64), "generic")
        else:
            frame.declared.add(symbol.key)
            value = _read_given(frame, symbol, label)
            if symbol.key in frame.addressed:
                store(frame.builder, frame.declare(symbol, "local"), symbol.type, value)
            else:
                frame.builder.write(key_of(symbol), value)


def _read(frame: Frame, label: str, type: Type, offset: int = 0, member: str = "") -> Operand:
    return frame.builder.emit("param", (), type, Param(label, offset, member), label)


_SPACES: Final = {"shared": "shared", "constant": "constant", "private": "local"}


def _read_given(frame: Frame, symbol: tree.Symbol, label: str) -> Operand:
    value = _read(frame, label, stored_type(symbol.type))
    if frame.kernel and isinstance(symbol.type, tree.Pointer):
        space = _SPACES.get(symbol.type.space, "global")
        return frame.builder.emit("to_generic", (value,), I64, Text(space), label)
    return truth(frame.builder, value) if value_type(symbol.type) == I1 else value


def _unpack(frame: Frame, symbol: tree.Symbol, label: str) -> None:
    """Copy a struct that the launch gives into a variable of the thread's own."""
    place = frame.declare(symbol, "local")
    for piece in pieces(symbol.type):
        for number in range(piece.count):
            offset = piece.offset + number * piece.type.bytes
            value = _read(frame, label, piece.type, offset, member_at(symbol.type, offset))
            if isinstance(piece.leaf, tree.Pointer):
                value = frame.builder.emit("to_generic", (value,), I64, Text("global"), label)
            if value_type(piece.leaf) == I1:
                value = truth(frame.builder, value)
            store(frame.builder, place.at(offset), piece.leaf, value)


def _end(frame: Frame) -> None:
    """Return where control comes to the end of the body; a function that owes a result gives any."""
    builder = frame.builder
    if is_void(frame.result) or is_object(frame.result):
        builder.end(Return((), builder.span))
    else:
        builder.end(Return((Undefined(stored_type(frame.result)),), builder.span))
