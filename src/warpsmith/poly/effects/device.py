"""The blocker of a kernel: the first construct that the device cannot execute, in called functions as well.

Invariant: None is the answer only where every construct is of a kind listed here as able to run; what is not known is
refused.
"""

from __future__ import annotations

from warpsmith.base.verdict import Reason
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.pointers.accesses import Base, bases, direct_call
from warpsmith.tree.effects.effects import FunctionEffects
from warpsmith.tree.nodes import (
    Call,
    Cast,
    DeviceNode,
    Function,
    Index,
    Member,
    Name,
    Node,
    Unary,
    VarDecl,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import Array, FunctionType, Opaque, Pointer, Record, Scalar, Symbol, Type
from warpsmith.tree.walk import walk

__all__ = ["device_blocker", "host_call"]


def device_blocker(program: Program, node: Node, summaries: Summaries | None = None) -> Reason | None:
    """Return the first construct in `node`, or in what it calls, that may not run in a kernel (POR006, POR008)."""
    known = summaries if summaries is not None else Summaries.of(program)
    return _blocker(known, node.body if isinstance(node, Function) else node, frozenset())


def host_call(known: Summaries, node: Node) -> Reason | None:
    """Return the first call in `node`, or in what it calls, of a library's function that the device does not have: that
    no step helps (POR006)."""
    pending, seen = [node], set[Symbol]()
    while pending:
        for call in (part for part in walk(pending.pop()) if isinstance(part, Call)):
            name, library = direct_call(call), known.library(call)
            if name is None:
                continue
            if library is not None and not library.device:
                return _of_library(name, library, call)
            if name in known.definitions and name not in seen:
                seen.add(name)
                pending.append(known.definitions[name].body)
    return None


def _of_library(name: Symbol, library: FunctionEffects, call: Call) -> Reason:
    return Reason("POR006", f"calls {name.name}, which {library.reason or 'does not exist on the device'}", call.span)


def _blocker(known: Summaries, node: Node, calling: frozenset[Symbol]) -> Reason | None:
    callees: set[Node] = {n for call in walk(node) if isinstance(call, Call) for n in _callee_nodes(call)}
    for part in walk(node):
        found = _of_part(known, part, callees, calling)
        if found is not None:
            return found
    return None


def _callee_nodes(call: Call) -> list[Node]:
    return list(walk(call.function)) if direct_call(call) is not None else []


def _of_part(known: Summaries, part: Node, callees: set[Node], calling: frozenset[Symbol]) -> Reason | None:
    match part:
        case Verbatim() | VerbatimExpr():
            return Reason("POR008", f"{part.reason}: not in a kernel", part.span)
        case Call():
            return _of_call(known, part, calling)
        case VarDecl():
            return _of_declaration(part)
        case DeviceNode():
            return Reason("POR008", "a device statement cannot stand in a kernel", part.span)
        case Name() if isinstance(part.symbol.type, FunctionType) and part not in callees:
            return Reason("POR008", f"{part.symbol.name} is used as a function pointer", part.span)
        case Name() | Index() | Member() | Unary(op="*"):
            return _of_value(part)
        case Cast() if isinstance(part.type, Pointer) and any(base == Base(None) for base in bases(part)):
            text = "an address is made from a number: on the device it would still be a host address"
            return Reason("POR008", text, part.span, legal_if=("use the pointer that the number was made from",))
        case _:
            return _of_type(getattr(part, "type", None), part, "an operand")


def _of_value(part: Name | Index | Member | Unary) -> Reason | None:
    if isinstance(part.type, Pointer) and not isinstance(part, Name):
        text = "a pointer kept in memory is used: on the device it would still be a host address"
        return Reason("POR008", text, part.span, legal_if=("index one array instead of following pointers in memory",))
    what = part.symbol.name if isinstance(part, Name) else "an operand"
    return _of_type(part.type, part, what)


def _of_call(known: Summaries, call: Call, calling: frozenset[Symbol]) -> Reason | None:
    name = direct_call(call)
    if name is None:
        return Reason("POR008", "calls a function through a pointer", call.span)
    library = known.library(call)
    if library is not None:
        return None if library.device else _of_library(name, library, call)
    if name not in known.definitions:
        text = f"calls {name.name}, whose definition is not among the given files"
        return Reason("POR006", text, call.span, legal_if=(f"give the file that defines {name.name}",))
    if name in calling or known.is_recursive(name):
        return Reason("POR008", f"{name.name} is recursive", call.span)
    inner = _blocker(known, known.definitions[name].body, calling | {name})
    if inner is None:
        return None
    return Reason(inner.rule, f"calls {name.name}: {inner.text}", inner.span, legal_if=inner.legal_if)


def _of_declaration(declared: VarDecl) -> Reason | None:
    symbol = declared.symbol
    if symbol.storage == "static local":
        return Reason("POR008", f"{symbol.name} is a static variable of its function", declared.span)
    if isinstance(symbol.type, Array) and not _is_fixed(symbol.type):
        return Reason("POR008", f"{symbol.name} is an array of variable length", declared.span)
    return _of_type(symbol.type, declared, symbol.name)


def _is_fixed(type: Array) -> bool:
    inner: Type = type
    while isinstance(inner, Array):
        if inner.count is None:
            return False
        inner = inner.of
    return True


def _of_type(type: Type | None, part: Node, name: str) -> Reason | None:
    text = _type_problem(type)
    return Reason("POR008", f"{name} {text}", part.span) if text else None


def _type_problem(type: Type | None) -> str:
    """Return what stands against a type on the device, "" if nothing does."""
    while isinstance(type, Array | Pointer):
        type = type.of if isinstance(type, Array) else type.to
    match type:
        case Scalar(volatile=True):
            return "is volatile"
        case Scalar(kind="complex"):
            return "is a complex number"
        case Scalar(name=name, bits=bits) if name == "long double" or bits > 64:
            return f"has type {name}, which the device lacks"
        case Record(union=True, tag=tag):
            return f"is a union ({tag})"
        case Opaque(text=text):
            return f"has type {text}, which is not modelled"
        case Record(fields=fields):
            return next((p for p in (_field_problem(f.type) for f in fields) if p), "")
        case Array() | FunctionType() | Pointer() | Scalar() | None:
            return ""


def _field_problem(type: Type) -> str:
    """As for a type; pointers in a record are looked at where they are used."""
    while isinstance(type, Array):
        type = type.of
    return "" if isinstance(type, Pointer) else _type_problem(type)
