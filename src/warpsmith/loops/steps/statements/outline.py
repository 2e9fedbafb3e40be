"""Outlining: see Outline.

    for (i = 0; i < n; i++) s += a[i];    →    f_loop(n, a, &s);      with a function that has the loop as its body

Invariant: the new function's variables have the names that the loop uses; those whose value is needed afterwards come
and go through a pointer, the others that it writes are its own.
Limits: loops that return, jump, or name variables whose address is kept or that live on between calls; structs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

import msgspec.structs
from msgspec import Struct

from warpsmith.base.c_lexer import NAME
from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved, Unknown, Verdict
from warpsmith.loops.analysis.shape import does_not_fit, find_marked, wrong_value
from warpsmith.loops.analysis.substitute import fixed_text, with_symbols
from warpsmith.loops.analysis.uses import find_declared_in
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.linear import use
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.writing.storage import after, before
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.pointers.control import leaves
from warpsmith.tree.nodes import (
    Assign,
    Block,
    Call,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    Function,
    Index,
    Loop,
    Name,
    Node,
    Stmt,
    Unary,
    VarDecl,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.program import Program, Unit
from warpsmith.tree.types import VOID, Array, FunctionType, Opaque, Pointer, Record, Scalar, Symbol, Type
from warpsmith.tree.walk import names, rebuild, walk, written_symbols

__all__ = ["Outline"]


class _Parts(Struct, frozen=True):
    """The variables of the loop: `given` by value or as a pointer, `kept` are written and needed later, `own` are
    written only."""

    given: tuple[Symbol, ...]
    kept: tuple[Symbol, ...]
    own: tuple[Symbol, ...]


class Outline(Struct, frozen=True):
    """Make a loop the body of a new static function, and call it in the loop's place.

    Always legal where the loop is left only at its end. Numbers and pointers are given by value, arrays by their
    address; what the loop writes and something reads later comes back through a pointer.

    Step: loop=f/i function=f_sum

    Before:
        double f(int n, const double a[n])
        {
            double s = 0.0;
            for (int i = 0; i < n; i++)
                s += a[i];
            return s;
        }

    After:
        static void f_sum(const double *a, int n, double *s_kept)
        {
            double s = *s_kept;
            for (int i = 0; i < n; i++)
                s += a[i];
            *s_kept = s;
        }

        double f(int n, const double a[n])
        {
            double s = 0.0;
            f_sum(a, n, &s);
            return s;
        }
    """

    name: ClassVar[str] = "outline"

    loop: str
    function: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether the loop can stand in a function of its own."""
        place = LoopContext.of(program, self.loop)
        loop = place.loop
        free = Fresh.of(program).name(self.function) == self.function
        if not free or re.fullmatch(NAME, self.function) is None:
            return wrong_value(f"{self.function} is no name, or is in use already", loop, "a name that is not in use")
        stop = _obstacle(place) or _find_ungiven(facts, place, _parts(facts, place))
        return stop if stop is not None else Proved()

    def apply(self, program: Program) -> Program:
        """Return the program with the new function and its call."""
        place = LoopContext.of(program, self.loop)
        parts = _parts(Facts.about(program, PolyOptions()), place)
        made, arguments = _function(self.function, place, parts, Fresh.of(program))
        span = place.loop.span
        call = Call(span=span, type=VOID, function=use(made.symbol, span), arguments=arguments)
        changed = with_run(program, place.function, (place.loop,), (ExprStmt(span=span, expr=call),))
        units = tuple(_with_item(unit, place.function.symbol, made) for unit in changed.units)
        return msgspec.structs.replace(changed, units=units)


def _obstacle(place: LoopContext) -> Unknown | None:
    """Return what of the loop does not fit, or None."""
    loop = place.loop
    if not any(item is place.function for item in place.unit.items):
        return does_not_fit("the function stands in a header", loop)
    if find_marked(place.function, loop) is not None:
        return does_not_fit("a pragma tells the compiler about this loop", loop, "remove the pragma")
    if leaves(loop):
        return does_not_fit("the loop may be left by other ways than its end", loop)
    odd: Node | None = next((n for n in walk(loop) if isinstance(n, Verbatim | VerbatimExpr)), None)
    odd = odd or fixed_text(loop, frozenset(n.symbol for n in names(loop)))
    return None if odd is None else does_not_fit("text or a size that is not modelled may name variables", odd)


def _find_ungiven(facts: Facts, place: LoopContext, parts: _Parts) -> Unknown | None:
    """Return a variable that cannot be handed over, or None."""
    loop = place.loop
    hidden = facts.origin(place.function).hidden
    taken = {n.symbol for node in walk(loop) if isinstance(node, Unary) and node.op == "&" for n in names(node)}
    for symbol in (*parts.given, *parts.kept, *parts.own):
        if symbol.storage == "static local":
            return does_not_fit(f"{symbol.name} lives on between calls", loop)
        if symbol in taken or (symbol in hidden and not isinstance(symbol.type, Array)):
            return does_not_fit(f"the address of {symbol.name} is kept", loop)
        if not _can_be_given(symbol.type):
            return does_not_fit(f"{symbol.name} cannot be given to a function", loop)
    return None


def _can_be_given(type: Type) -> bool:
    while isinstance(type, Array | Pointer):
        type = type.of if isinstance(type, Array) else type.to
    return isinstance(type, Scalar) and not type.volatile


def _parts(facts: Facts, place: LoopContext) -> _Parts:
    """Return the variables of the function that the loop names, sorted by name within each group."""
    loop = place.loop
    inside = find_declared_in(loop)
    used = {n.symbol for n in names(loop)} | ({loop.variable} if isinstance(loop, For) else set())
    used |= {inner.variable for inner in walk(loop) if isinstance(inner, For)}
    used = {s for s in used - inside if s.storage in ("local", "parameter", "static local")}
    used |= {s for symbol in used for s in _extents(symbol.type)}
    written = {s for s in used & written_symbols(loop) if not isinstance(s.type, Array)}
    done = facts.origin(place.function).effects(loop)
    written |= {s for s in used & done.direct_writes if not isinstance(s.type, Array)}
    live = facts.liveness(place.function).after[loop]
    entry = _read_first(loop, written)
    ordered = sorted(
        used, key=lambda s: (isinstance(s.type, Array | Pointer) and bool(_extents(s.type)), s.name, s.key)
    )
    return _Parts(
        tuple(s for s in ordered if s not in written),
        tuple(s for s in ordered if s in written and (s in live or s in entry)),
        tuple(s for s in ordered if s in written and s not in live and s not in entry),
    )


def _read_first(loop: Loop, written: set[Symbol]) -> set[Symbol]:
    """Return the written variables that may have to have their value from before the loop: all but counters that a
    loop sets and nothing reads outside of it."""
    counters = {n.variable for n in walk(loop) if isinstance(n, For)}
    read: set[int] = set()
    for node in walk(loop):
        if isinstance(node, For):
            read |= {id(n) for n in names(node.body) if n.symbol == node.variable}
    free = {n.symbol for n in names(loop) if n.symbol in counters and id(n) not in read}
    return written - (counters - free)


def _extents(type: Type) -> set[Symbol]:
    """Return the variables of which the extents of a type are made."""
    found: set[Symbol] = set()
    while isinstance(type, Array | Pointer):
        if isinstance(type, Array) and type.extent is not None and type.count is None:
            found |= {n.symbol for n in names(type.extent) if n.symbol.storage in ("local", "parameter")}
        type = type.of if isinstance(type, Array) else type.to
    return found


def _function(name: str, place: LoopContext, parts: _Parts, fresh: Fresh) -> tuple[Function, tuple[Expr, ...]]:
    """Return the new function and the arguments of its call."""
    span, loop = place.loop.span, place.loop
    symbols: dict[Symbol, Symbol] = {}
    parameters: list[Symbol] = []
    arguments: list[Expr] = []
    for symbol in parts.given:
        symbols[symbol] = msgspec.structs.replace(
            fresh.again(symbol), storage="parameter", type=_parameter_type(symbol.type, symbols)
        )
        parameters.append(symbols[symbol])
        arguments.append(use(symbol, span))
    first: list[Stmt] = []
    last: list[Stmt] = []
    for symbol in parts.kept:
        own = msgspec.structs.replace(fresh.again(symbol), storage="local", type=_parameter_type(symbol.type, symbols))
        symbols[symbol] = own
        pointer = msgspec.structs.replace(
            fresh.variable(f"{symbol.name}_kept", Pointer(own.type), symbol), storage="parameter"
        )
        parameters.append(pointer)
        arguments.append(Unary(span=span, type=pointer.type, op="&", operand=use(symbol, span)))
        value = Unary(span=before(span), type=own.type, op="*", operand=use(pointer, before(span)))
        first.append(_declare(own, value, span))
        target = Unary(span=after(span), type=own.type, op="*", operand=use(pointer, after(span)))
        stored = Assign(span=after(span), type=own.type, op="=", target=target, value=use(own, after(span)))
        last.append(ExprStmt(span=after(span), expr=stored))
    for symbol in parts.own:
        symbols[symbol] = msgspec.structs.replace(fresh.again(symbol), storage="local")
        first.append(_declare(symbols[symbol], None, span))
    body = Block(span=before(place.function.span), statements=(*first, _move_loop(loop, symbols), *last))
    type = FunctionType(VOID, tuple(p.type for p in parameters))
    symbol = Symbol(name, fresh.key(f"{place.unit.file.path}:{name}"), type, "function")
    start = before(place.function.span)
    made = Function(span=start, symbol=symbol, parameters=tuple(parameters), body=body, static=True)
    return made, tuple(arguments)


def _move_loop(loop: Loop, symbols: Mapping[Symbol, Symbol]) -> Loop:
    """Return the loop over the new function's variables, the types of their uses included."""
    made = set(symbols.values())

    def change(node: Node) -> Node:
        if isinstance(node, Name) and node.symbol in made:
            return msgspec.structs.replace(node, type=node.symbol.type)
        if isinstance(node, Index) and isinstance(node.base.type, Pointer | Array):
            to = node.base.type.to if isinstance(node.base.type, Pointer) else node.base.type.of
            return msgspec.structs.replace(node, type=to)
        return node

    return rebuild(with_symbols(loop, symbols), change)


def _declare(symbol: Symbol, value: Expr | None, span: Span) -> Stmt:
    place = before(span)
    return DeclStmt(span=place, declarations=(VarDecl(span=place, symbol=symbol, init=value),))


def _parameter_type(type: Type, symbols: Mapping[Symbol, Symbol]) -> Type:
    """Return the type of a parameter that stands for a variable of `type`."""
    if isinstance(type, Array):
        return Pointer(_rename_type(type.of, symbols))
    if isinstance(type, Scalar):
        return msgspec.structs.replace(type, const=False)
    if isinstance(type, Pointer):
        return msgspec.structs.replace(type, to=_rename_type(type.to, symbols), const=False)
    return type


def _rename_type(type: Type, symbols: Mapping[Symbol, Symbol]) -> Type:
    """Return a type whose extents name the new function's variables."""
    match type:
        case Array(extent=extent):
            new = None if extent is None else with_symbols(extent, symbols)
            return msgspec.structs.replace(type, of=_rename_type(type.of, symbols), extent=new)
        case Pointer():
            return msgspec.structs.replace(type, to=_rename_type(type.to, symbols), restrict=False)
        case FunctionType() | Opaque() | Record() | Scalar():
            return type


def _with_item(unit: Unit, holder: Symbol, made: Function) -> Unit:
    """Return the unit with the new function before the one that has the call."""
    position = next((k for k, item in enumerate(unit.items) if getattr(item, "symbol", None) == holder), None)
    if position is None:
        return unit
    items = (*unit.items[:position], made, *unit.items[position:])
    at = next(k for k, function in enumerate(unit.functions) if function.symbol == holder)
    functions = (*unit.functions[:at], made, *unit.functions[at:])
    return msgspec.structs.replace(unit, items=items, functions=functions)
