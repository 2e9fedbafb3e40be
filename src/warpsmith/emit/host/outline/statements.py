"""Statements of a run, said in the names of the function that they become, and what a run declares, uses and writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import TypeGuard, assert_never

import msgspec.structs

from warpsmith.emit.device.prototypes import plain
from warpsmith.emit.host.outline.names import OwnNames, passable, refuse
from warpsmith.tree.allocations import is_question
from warpsmith.tree.nodes import (
    Assign,
    Block,
    Call,
    CaptureStmt,
    Cast,
    Copy,
    CopyWait,
    DataEnter,
    DataExit,
    DataRegionBoundary,
    DeclStmt,
    DeviceAlloc,
    DeviceFree,
    Empty,
    Expr,
    ExprStmt,
    For,
    If,
    Index,
    Launch,
    Literal,
    Member,
    Name,
    Node,
    Pragma,
    Stmt,
    Unary,
    Update,
    VarDecl,
    VerbatimExpr,
    While,
    replace,
)
from warpsmith.tree.types import Array, FunctionType, Opaque, Pointer, Scalar, Symbol, Type
from warpsmith.tree.walk import children, peel, walk

__all__ = [
    "Moving",
    "declared",
    "find_given",
    "find_set_anew",
    "host_uses",
    "is_final",
    "is_free",
    "is_of_all",
    "is_plain_declaration",
    "is_stop",
    "loaded_types",
    "local_symbol",
    "reads_memory",
    "tells_lifetimes",
    "uses",
    "write",
    "writes_memory",
]

Moving = Launch | DeviceAlloc | DeviceFree | Copy | CopyWait | DataEnter | DataExit | Update
"""The statements that a generated function takes out of the user's text."""


def declared(run: Iterable[Stmt]) -> Iterator[Symbol]:
    """Yield the variables that statements of a run declare, in order, those inside of them included."""
    for part in (part for stmt in run for part in walk(stmt)):
        match part:
            case DeviceAlloc(buffer=buffer) | DataEnter(buffer=buffer):
                yield buffer
            case VarDecl(symbol=symbol):
                yield symbol
            case For(variable=variable, declares=True):
                yield variable
            case _:
                continue


def uses(root: Node) -> Counter[Symbol]:
    """Count what names a variable below `root`, device statements included; a declaration names none, and where rows
    start says for itself where they lie."""
    found: Counter[Symbol] = Counter()
    pending = [root]
    while pending:
        node = pending.pop()
        found.update(_named(node))
        if not (isinstance(node, DataEnter | CaptureStmt) and node.starts is not None):
            pending += children(node)
    return found


def _named(node: Node) -> Iterator[Symbol]:
    match node:
        case Name(symbol=symbol):
            yield symbol
        case DeviceFree(buffer=buffer) | Copy(buffer=buffer) | CopyWait(buffer=buffer):
            yield buffer
        case DataExit(buffer=buffer, starts=starts):
            yield from (buffer,) if starts is None else (buffer, starts)
        case DataEnter(starts=starts):
            yield from () if starts is None else (starts,)
        case CaptureStmt(symbol=symbol, buffer=buffer, starts=starts):
            yield from (one for one in (symbol, buffer, starts) if one is not None)
        case DataRegionBoundary(lasting=lasting):
            yield from lasting
        case _:
            return


def host_uses(run: Iterable[Stmt]) -> set[Symbol]:
    """Return the variables that statements of the user's text name, those that will leave it left out."""
    found: set[Symbol] = set()
    pending: list[Node] = [*run]
    while pending:
        node = pending.pop()
        if isinstance(node, Moving):
            continue
        found.update(_named(node))
        pending += children(node)
    return found


def is_final(stmt: Stmt) -> bool:
    """Whether a statement only sets variables: what a launch leaves in the user's counters."""
    match stmt:
        case ExprStmt(expr=Assign(op="=", target=target, value=value)):
            return isinstance(peel(target), Name) and is_free(value)
        case If(condition=condition, then=then, other=None):
            return is_free(condition) and is_final(then)
        case Block(statements=statements):
            return bool(statements) and all(map(is_final, statements))
        case _:
            return False


def is_of_all(stmt: Stmt) -> bool:
    """Whether a statement updates all that is on the device, or a block that is not known before it runs."""
    return isinstance(stmt, Update) and stmt.bytes is None


def is_stop(stmt: If) -> bool:
    """Whether a test ends the program where a size cannot be had: `if (…) abort();`."""
    then = stmt.then
    if not (isinstance(then, ExprStmt) and isinstance(then.expr, Call) and stmt.other is None):
        return False
    function = then.expr.function
    return isinstance(function, Name) and function.symbol.key == "abort" and not then.expr.arguments


def is_plain_declaration(stmt: Stmt) -> bool:
    """Whether a declaration gives numbers or pointers values, and does nothing else."""
    return (
        isinstance(stmt, DeclStmt)
        and not stmt.types
        and all(
            isinstance(d.symbol.type, Scalar | Pointer) and d.init is not None and _is_pure(d.init)
            for d in stmt.declarations
        )
    )


def find_given(run: Iterable[Stmt]) -> dict[Symbol, Expr]:
    """Return what the variables of plain declarations are that have one value."""
    parts = [part for stmt in run for part in walk(stmt)]
    anew = {*find_set_anew(parts)}
    times = Counter(part.symbol for part in parts if isinstance(part, VarDecl))
    declared = (part for part in parts if isinstance(part, DeclStmt) and is_plain_declaration(part))
    once = (one for stmt in declared for one in stmt.declarations if one.symbol not in anew and times[one.symbol] == 1)
    return {one.symbol: _converted(one.init, one.symbol) for one in once if one.init is not None}


def _converted(value: Expr, symbol: Symbol) -> Expr:
    """Return a value as a variable holds it."""
    alike = not isinstance(symbol.type, Scalar) or plain(symbol.type) == plain(value.type)
    return value if alike else Cast(span=value.span, type=plain(symbol.type), operand=value)


def find_set_anew(parts: Iterable[Node]) -> Iterator[Symbol]:
    """Yield the variables that get another value, or whose address is taken."""
    for part in parts:
        target: Expr | None = None
        match part:
            case Assign(target=target):
                pass
            case Unary(op=op, operand=operand) if op == "&" or "++" in op or "--" in op:
                target = operand
            case For(variable=variable, declares=False):
                yield variable
            case _:
                yield from getattr(part, "writes", ())
        if target is not None and isinstance(name := peel(target), Name):
            yield name.symbol


def _is_pure(expr: Expr) -> bool:
    """Whether an expression changes nothing, and calls nothing but the run time."""
    for part in walk(expr):
        if isinstance(part, VerbatimExpr | Assign) or (isinstance(part, Unary) and part.op not in "+-~!*&"):
            return False
        if isinstance(part, Call) and not is_question(part):
            return False
    return True


def is_free(expr: Expr) -> bool:
    """Whether the value of an expression depends on variables alone."""
    for part in walk(expr):
        if isinstance(part, Index | Member | VerbatimExpr) or (isinstance(part, Unary) and part.op not in "+-~!"):
            return False
        if isinstance(part, Call) and not is_question(part):
            return False
    return True


def tells_lifetimes(node: Node) -> TypeGuard[DataRegionBoundary]:
    """Whether a node begins a data region, and tells what of the stack outlives it."""
    return isinstance(node, DataRegionBoundary) and (node.callers or bool(node.lasting))


def writes_memory(stmt: Stmt) -> bool:
    """Whether a device statement may change memory of the host's."""
    return isinstance(stmt, DataExit) or (isinstance(stmt, Copy | Update) and not stmt.to_device)


def reads_memory(node: Node, exposed: Collection[Symbol]) -> bool:
    """Whether an expression of a statement reads memory, or a variable that is `exposed` to what writes memory: what it
    names the address of is not read."""
    return any(True for _ in loaded_types(node, exposed))


def loaded_types(node: Node, exposed: Collection[Symbol]) -> Iterator[Type]:
    """Yield the types of what the expressions of a statement read of memory, and of variables that are `exposed` to
    what writes memory."""
    if isinstance(node, Expr):
        yield from _loads(node, exposed)
        return
    for part in children(node):
        yield from loaded_types(part, exposed)


def _loads(expr: Expr, exposed: Collection[Symbol]) -> Iterator[Type]:
    match expr:
        case Name(symbol=symbol):
            if symbol in exposed and not isinstance(symbol.type, Array | FunctionType):
                yield symbol.type
        case Unary(op="&", operand=operand):
            yield from _place_loads(operand, exposed)
        case Unary(op="*") | Index() | Member():
            if not isinstance(expr.type, Array):
                yield expr.type
            yield from _place_loads(expr, exposed)
        case _:
            for part in children(expr):
                if isinstance(part, Expr):
                    yield from _loads(part, exposed)


def _place_loads(place: Expr, exposed: Collection[Symbol]) -> Iterator[Type]:
    """Yield the types of what is read to say where something lies."""
    place = peel(place)
    match place:
        case Index(base=base, index=index):
            of_array = isinstance(peel(base).type, Array)
            yield from (_place_loads if of_array else _loads)(base, exposed)
            yield from _loads(index, exposed)
        case Member(base=base, arrow=arrow):
            yield from (_loads if arrow else _place_loads)(base, exposed)
        case Unary(op="*", operand=operand):
            yield from _loads(operand, exposed)
        case Name():
            return
        case _:
            yield place.type


def local_symbol(symbol: Symbol, at: Node) -> Symbol:
    """Return a variable of the port's own as a generated function declares it."""
    return msgspec.structs.replace(symbol, type=passable(symbol.type, at))


def write(stmt: Stmt, names: OwnNames) -> Stmt:
    """Return a statement in the names of its function."""
    match stmt:
        case Launch(arguments=arguments):
            return replace(stmt, arguments=tuple(names.value(argument) for argument in arguments))
        case DeviceAlloc(buffer=buffer, bytes=bytes):
            return replace(stmt, buffer=names.local[buffer], bytes=names.value(bytes))
        case DeviceFree(buffer=buffer) | CopyWait(buffer=buffer):
            return replace(stmt, buffer=_buffer(buffer, stmt, names))
        case Copy():
            return _copy(stmt, names)
        case DataEnter() | DataExit() | Update():
            return _present(stmt, names)
        case CaptureStmt():
            return _capture(stmt, names)
        case DeclStmt(declarations=declarations):
            return replace(stmt, declarations=tuple(_declaration(d, names) for d in declarations))
        case _:
            return _compound(stmt, names)


def _compound(stmt: Stmt, names: OwnNames) -> Stmt:
    match stmt:
        case ExprStmt(expr=expr):
            return replace(stmt, expr=names.value(expr))
        case If() if is_stop(stmt):
            return replace(stmt, condition=names.value(stmt.condition))
        case If(condition=condition, then=then, other=other):
            rest = None if other is None else write(other, names)
            return replace(stmt, condition=names.value(condition), then=write(then, names), other=rest)
        case Block(statements=statements):
            kept = (part for part in statements if not isinstance(part, Pragma))
            return replace(stmt, statements=tuple(write(part, names) for part in kept))
        case For(variable=variable, lower=lower, bound=bound, body=body):
            if variable not in names.local:
                raise refuse("the counter of a loop is the user's", stmt)
            bounds = names.value(lower), names.value(bound)
            own = names.local[variable]
            return replace(stmt, variable=own, lower=bounds[0], bound=bounds[1], body=write(body, names))
        case While():
            return _while(stmt, names)
        case Empty():
            return stmt
        case _:
            raise refuse("a statement of the user's cannot leave his text", stmt)


def _while(stmt: While, names: OwnNames) -> While:
    init = None if stmt.init is None else write(stmt.init, names)
    condition, advance = (None if e is None else names.value(e) for e in (stmt.condition, stmt.advance))
    return replace(stmt, init=init, condition=condition, advance=advance, body=write(stmt.body, names))


def _copy(stmt: Copy, names: OwnNames) -> Copy:
    if not (isinstance(stmt.offset, Literal) and stmt.offset.value == 0):
        raise refuse("a copy into the middle of a buffer cannot leave the user's text", stmt)
    buffer = _buffer(stmt.buffer, stmt, names)
    return replace(stmt, buffer=buffer, host=names.value(stmt.host), bytes=names.value(stmt.bytes))


def _present(stmt: DataEnter | DataExit | Update, names: OwnNames) -> Stmt:
    match stmt:
        case DataExit():
            return replace(stmt, buffer=_buffer(stmt.buffer, stmt, names), starts=_starts(stmt.starts, stmt, names))
        case Update():
            address = None if stmt.address is None else names.value(stmt.address)
            return replace(stmt, address=address, bytes=None if stmt.bytes is None else names.value(stmt.bytes))
        case DataEnter(starts=None):
            own = names.local[stmt.buffer]
            return replace(stmt, buffer=own, address=names.value(stmt.address), bytes=names.value(stmt.bytes))
        case DataEnter():
            starts = _starts(stmt.starts, stmt, names)
            variable = starts if stmt.starts == stmt.variable and starts is not None else stmt.variable
            return replace(stmt, buffer=names.local[stmt.buffer], starts=starts, variable=variable)
        case _:
            assert_never(stmt)


def _capture(stmt: CaptureStmt, names: OwnNames) -> CaptureStmt:
    if isinstance(stmt.element, Opaque):
        raise refuse("what only the compiler knows the size of cannot leave the user's text", stmt)
    buffer = None if stmt.buffer is None else _buffer(stmt.buffer, stmt, names)
    if stmt.starts is not None:
        return replace(stmt, buffer=buffer, starts=_starts(stmt.starts, stmt, names))
    return replace(
        stmt,
        symbol=names.variable(stmt.symbol, stmt),
        name=stmt.symbol.name,
        lower=names.value(stmt.lower),
        upper=names.value(stmt.upper),
        extent=None if stmt.extent is None else names.value(stmt.extent),
        buffer=buffer,
    )


def _declaration(declaration: VarDecl, names: OwnNames) -> VarDecl:
    own = names.local[declaration.symbol]
    init = declaration.init
    return replace(declaration, symbol=own, init=None if init is None else names.value(init))


def _buffer(buffer: Symbol, at: Node, names: OwnNames) -> Symbol:
    if buffer not in names.local:
        raise refuse("a buffer that the user's text declares cannot be named in generated code", at)
    return names.local[buffer]


def _starts(starts: Symbol | None, at: Node, names: OwnNames) -> Symbol | None:
    if starts is None:
        return None
    said = names.value(Name(span=at.span, type=starts.type, symbol=starts))
    assert isinstance(said, Name)
    return said.symbol
