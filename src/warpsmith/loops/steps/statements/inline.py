"""Inlining: see Inline.

    x = f(a + 1, v);   →   { int p = a + 1;  …the body, v for the parameter that it never writes…  x = result; }

Invariant: arguments are evaluated once, converted to the parameters' types, before anything of the body runs; a name of
the body still means what it meant in the function (what would be captured is renamed, or refused).
Limits: a function whose only return is at its end; no static variables, no variable argument lists, no recursion.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import ClassVar

from msgspec import Struct

from warpsmith.base.verdict import Proved, Reason, Unknown, Verdict
from warpsmith.loops.analysis.called_value import called_value
from warpsmith.loops.analysis.led_to import find_object, find_value, with_objects
from warpsmith.loops.analysis.substitute import fixed_text, replace_values, with_symbols
from warpsmith.loops.fresh import Fresh, declared_symbols
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.writing.storage import before
from warpsmith.poly.aliasing.unchanged import is_direct
from warpsmith.poly.analyze import Facts
from warpsmith.poly.effects.origin import own_writes
from warpsmith.tree.nodes import (
    Assign,
    Block,
    Call,
    Case,
    Cast,
    DeclStmt,
    Expr,
    ExprStmt,
    Function,
    Loop,
    Name,
    Node,
    Pragma,
    Return,
    SizeOf,
    Stmt,
    Unary,
    VarDecl,
    Verbatim,
    VerbatimExpr,
    replace,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import VOID, Array, FunctionType, Pointer, Record, Scalar, Symbol, Type
from warpsmith.tree.walk import names, peel, rebuild, walk

__all__ = ["Inline"]

_STEPS = ("++x", "--x", "x++", "x--")


class _Site(Struct, frozen=True):
    """A statement that is a call, or that only assigns a call's value, by `op`; of one that declares a variable with
    that value, `front` is the declaration without it."""

    statement: Stmt
    call: Call
    target: Expr | None
    op: str = "="
    front: tuple[Stmt, ...] = ()


class _Sites(Struct, frozen=True):
    """The calls in a loop: statements, and those whose value is written where they stand."""

    statements: tuple[_Site, ...]
    values: tuple[Call, ...]


class Inline(Struct, frozen=True):
    """Write the body of a function in place of its calls in a loop.

    Legal for calls that are statements of their own, or the whole right side of an assignment, of a function that the
    file defines, that returns at its end only, and that calls itself by no way. Parameters become declarations; one
    that the function never changes, given a variable that it cannot change either, becomes that variable, and a pointer
    that it only follows, given the address of a variable or an element, becomes what it leads to. A function
    that does nothing but return an expression may be called anywhere, with arguments that have no effects.

    Step: loop=f/i function=scaled

    Before:
        static double scaled(double x, int k)
        {
            double y = x * k;
            return y + 1.0;
        }
        void f(int n, double a[n])
        {
            for (int i = 0; i < n; i++)
                a[i] = scaled(a[i], i);
        }

    After:
        static double scaled(double x, int k)
        {
            double y = x * k;
            return y + 1.0;
        }
        void f(int n, double a[n])
        {
            for (int i = 0; i < n; i++) {
                double x = a[i];
                double y = x * i;
                a[i] = y + 1.0;
            }
        }
    """

    name: ClassVar[str] = "inline"

    loop: str
    function: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether every call of the function in the loop can be written out."""
        place = LoopContext.of(program, self.loop)
        callee = _definition(place, self.function)
        if isinstance(callee, Reason):
            return Unknown((callee,))
        sites = _sites(place, callee)
        if isinstance(sites, Reason):
            return Unknown((sites,))
        stop = _obstacle(place, callee) or _find_captured(place, callee)
        if stop is None:
            found = (r for site in sites.statements if (r := _mismatch(site, callee, place.function)) is not None)
            stop = next(found, None)
        return Proved() if stop is None else Unknown((stop,))

    def apply(self, program: Program) -> Program:
        """Return the program with the bodies in place of the calls."""
        place = LoopContext.of(program, self.loop)
        callee = _definition(place, self.function)
        assert isinstance(callee, Function)
        sites = _sites(place, callee)
        assert not isinstance(sites, Reason)
        if sites.values:
            after = _with_values(place.loop, sites.values, callee)
            program = with_run(program, place.function, (place.loop,), (after,))
            return self.apply(program) if sites.statements else program
        fresh = Fresh.of(program)
        for site in sites.statements:
            holder = next(f for _, f in program.functions() if f.symbol == place.function.symbol)
            written = (*site.front, _expand_call(place, callee, site, fresh))
            program = with_run(program, holder, (site.statement,), written)
        return program


# --- which function, which calls


def _definition(place: LoopContext, name: str) -> Function | Reason:
    """Return the function that is called `name`, or what does not fit."""
    found = next((f for f in place.unit.functions if f.symbol.name == name), None)
    if found is None:
        called = sorted({n.symbol.name for n in names(place.loop) if n.symbol.storage == "function"})
        text = f"this file defines no function {name}" + (f" (the loop calls {', '.join(called)})" if called else "")
        return Reason("STP003", text, place.loop.header)
    return found


def _sites(place: LoopContext, callee: Function) -> _Sites | Reason:
    """Return the calls in the loop, innermost last, or the one that is not a statement of its own."""
    found: list[_Site] = []
    for node in walk(place.loop.body):
        site = _site(node, callee) if isinstance(node, ExprStmt) else None
        declared = (_declared_site(stmt, callee) for stmt in node.statements) if isinstance(node, Block) else ()
        found += [one for one in (site, *declared) if one is not None]
    known = {id(site.call) for site in found}
    inside = {id(node) for node in walk(place.loop.body)}
    values: list[Call] = []
    for node in walk(place.loop):
        if isinstance(node, Call) and _calls(node, callee) and id(node) not in known:
            if id(node) not in inside or called_value(node, callee) is None:
                text = f"{callee.symbol.name} is called inside an expression"
                return Reason("STP002", text, node.span, legal_if=("the call is a statement, or all that is assigned",))
            values.append(node)
        stop = _find_binding(node, found)
        if stop is not None:
            return stop
    if not found and not values:
        return Reason("STP002", f"the loop does not call {callee.symbol.name}", place.loop.header)
    return _Sites(tuple(found), tuple(values))


def _site(stmt: ExprStmt, callee: Function) -> _Site | None:
    """Return the call that a statement is, or that is all that it assigns; a value that is an expression is written
    where a variable gets it."""
    expr = peel(stmt.expr)
    if _calls(expr, callee):
        return _Site(stmt, _call(expr), None)
    if not isinstance(expr, Assign) or not _calls(peel(expr.value), callee):
        return None
    call = _call(peel(expr.value))
    plain = expr.op == "=" and isinstance(peel(expr.target), Name)
    return None if plain and called_value(call, callee) is not None else _Site(stmt, call, expr.target, expr.op)


def _declared_site(stmt: Stmt, callee: Function) -> _Site | None:
    """Return the call whose value a declaration gives to the one variable that it declares, which may change later, so
    that the value can be assigned."""
    if not isinstance(stmt, DeclStmt) or len(stmt.declarations) != 1 or stmt.types:
        return None
    (variable,) = stmt.declarations
    symbol, value = variable.symbol, None if variable.init is None else peel(variable.init)
    type = symbol.type
    plain = isinstance(type, Scalar | Pointer) and not type.const and not (isinstance(type, Pointer) and type.reference)
    if value is None or not plain or symbol.storage != "local" or not _calls(value, callee):
        return None
    call = _call(value)
    if called_value(call, callee) is not None:
        return None
    front = replace(stmt, declarations=(replace(variable, init=None),))
    target = Name(span=variable.span, type=type, symbol=symbol)
    return _Site(stmt, call, target, front=(front,))


def _find_binding(node: Node, found: Sequence[_Site]) -> Reason | None:
    """Return why a statement of `node` cannot become a block, or None."""
    if isinstance(node, Case) and any(s is site.statement for s in node.body for site in found):
        return Reason("STP002", "a call stands in a switch", node.span)
    if isinstance(node, Block):
        behind = {id(s) for p, s in pairwise(node.statements) if isinstance(p, Pragma) and not p.choice}
        marked = next((site for site in found if id(site.statement) in behind), None)
        if marked is not None:
            return Reason("STP002", "a pragma speaks of the statement with the call", marked.statement.span)
    return None


def _with_values(loop: Loop, calls: Sequence[Call], callee: Function) -> Loop:
    """Return the loop with the values of calls in their places."""
    spans = {call.span for call in calls}

    def change(node: Node) -> Node:
        wanted = isinstance(node, Call) and node.span in spans and _calls(node, callee)
        value = called_value(node, callee) if wanted and isinstance(node, Call) else None
        return node if value is None else value

    return rebuild(loop, change)


def _calls(expr: Expr, callee: Function) -> bool:
    function = peel(expr.function) if isinstance(expr, Call) else None
    return isinstance(function, Name) and function.symbol == callee.symbol


def _call(expr: Expr) -> Call:
    assert isinstance(expr, Call)
    return expr


# --- what cannot be written out


def _obstacle(place: LoopContext, callee: Function) -> Reason | None:
    """Return what of the function does not fit, or None."""
    name, span = callee.symbol.name, callee.symbol.span
    type = callee.symbol.type
    returns = [node for node in walk(callee.body) if isinstance(node, Return)]
    last = callee.body.statements[-1] if callee.body.statements else None
    if any(node is not last for node in returns):
        return Reason("STP002", f"{name} returns before its end", returns[0].span)
    if isinstance(type, FunctionType) and type.variadic:
        return Reason("STP002", f"{name} takes any number of arguments", span)
    if isinstance(type, FunctionType) and type.method:
        return Reason("STP002", f"{name} is a method: what it names is its object's alone", span)
    if isinstance(type, FunctionType) and type.result != VOID and not returns:
        return Reason("STP002", f"{name} may end without a value", span)
    for node in walk(callee.body):
        if isinstance(node, VarDecl) and node.symbol.storage != "local":
            return Reason("STP002", f"{name} keeps {node.symbol.name} between calls", node.span)
        if isinstance(node, Verbatim | VerbatimExpr):
            return Reason("STP002", f"{name} has text that is not modelled: {node.reason}", node.span)
    if callee is place.function or _reaches(place, callee, callee.symbol):
        return Reason("STP002", f"{name} may call itself", span)
    own = frozenset((*callee.parameters, *declared_symbols(callee.body)))
    fixed = fixed_text(callee.body, own)
    if fixed is None:
        return None
    return Reason("STP002", f"{name} has a type whose size depends on its variables", fixed.span)


def _reaches(place: LoopContext, start: Function, goal: Symbol) -> bool:
    """Whether calls that can be followed lead from a function to `goal`."""
    known = {f.symbol: f for f in place.unit.functions}
    pending, seen = [start], {start.symbol}
    while pending:
        for name in names(pending.pop().body):
            if name.symbol == goal:
                return True
            if name.symbol in known and name.symbol not in seen:
                seen.add(name.symbol)
                pending.append(known[name.symbol])
    return False


def _find_captured(place: LoopContext, callee: Function) -> Reason | None:
    """Return a name of the function that means something else where the loop stands, or None."""
    own = {*callee.parameters, *declared_symbols(callee.body)}
    taken = {s.name: s for s in (*place.function.parameters, *declared_symbols(place.function.body))}
    for name in names(callee.body):
        if name.symbol not in own and name.symbol.name in taken and taken[name.symbol.name] != name.symbol:
            text = f"{name.symbol.name} of {callee.symbol.name} is another variable in {place.function.symbol.name}"
            return Reason("STP002", text, name.span)
    return None


def _mismatch(site: _Site, callee: Function, caller: Function) -> Reason | None:
    """Return why the call does not fit the function, or None."""
    name = callee.symbol.name
    if len(site.call.arguments) != len(callee.parameters):
        return Reason("STP002", f"{name} is called with another number of arguments", site.call.span)
    for parameter, argument in zip(callee.parameters, site.call.arguments, strict=True):
        direct = _stands_for(parameter, argument, callee, caller)
        direct = direct or find_object(parameter, argument, callee, caller) is not None
        if not direct and not _is_declarable(parameter.type):
            text = f"the parameter {parameter.name} of {name} cannot be declared as a variable"
            return Reason("STP002", text, argument.span, legal_if=("the argument is a variable",))
    if site.target is not None and _has_effect(site.target):
        return Reason("STP002", "where the result goes has effects of its own", site.target.span)
    return None


def _has_effect(expr: Expr) -> bool:
    return any(
        isinstance(part, Call | Assign | VerbatimExpr) or (isinstance(part, Unary) and part.op in _STEPS)
        for part in walk(expr)
    )


def _is_declarable(type: Type) -> bool:
    """Whether a variable of the type can be declared where its size does not depend on other parameters."""
    while isinstance(type, Pointer | Array):
        if isinstance(type, Array) and type.count is None:
            return False
        type = type.of if isinstance(type, Array) else type.to
    return True


# --- the text


def _stands_for(parameter: Symbol, argument: Expr, callee: Function, caller: Function) -> bool:
    """Whether the argument can be written wherever the parameter is: a variable that nothing of the body changes, for a
    parameter that is never written."""
    bare = peel(argument)
    if not isinstance(bare, Name) or bare.symbol.storage not in ("local", "parameter"):
        return False
    if any(isinstance(n, Unary) and n.op == "&" and is_direct(n.operand) == bare.symbol for n in walk(caller.body)):
        return False
    if _has_array(bare.type):
        return False  # its name is an address, which needs no & to be handed on
    for node in walk(callee.body):
        if parameter in own_writes(node) or _changes_part(node, parameter):
            return False
        if isinstance(node, Unary) and node.op == "&" and is_direct(node.operand) == parameter:
            return False
        if isinstance(node, SizeOf) and parameter.name in node.text:
            return False
    if isinstance(bare.type, Array):
        return isinstance(parameter.type, Pointer) and bare.type.of == parameter.type.to
    if isinstance(bare.type, Pointer) and isinstance(parameter.type, Pointer):
        return bare.type.to == parameter.type.to
    return bare.type == parameter.type and not _is_volatile(bare.type)


def _is_volatile(type: Type) -> bool:
    return isinstance(type, Scalar) and type.volatile


def _changes_part(node: Node, symbol: Symbol) -> bool:
    """Whether a node writes a member of a struct."""
    target = node.target if isinstance(node, Assign) else None
    target = node.operand if isinstance(node, Unary) and node.op in _STEPS else target
    return target is not None and is_direct(target) == symbol


def _has_array(type: Type) -> bool:
    """Whether a struct has an array in it."""
    parts = (part.type for part in type.fields) if isinstance(type, Record) else ()
    return any(isinstance(part, Array) or _has_array(part) for part in parts)


def _expand_call(place: LoopContext, callee: Function, site: _Site, fresh: Fresh) -> Stmt:
    """Return the statement, or the block, that does what the call does."""
    span, caller = site.statement.span, place.function
    values: dict[Symbol, Expr] = {}
    symbols: dict[Symbol, Symbol] = {}
    declared: list[Stmt] = []
    taken = {name.symbol.name for name in names(place.function)}
    objects: dict[Symbol, Expr] = {}
    for parameter, argument in zip(callee.parameters, site.call.arguments, strict=True):
        if _stands_for(parameter, argument, callee, caller):
            values[parameter] = argument
            continue
        led = find_object(parameter, argument, callee, caller)
        if led is not None:
            objects[parameter] = led
            continue
        value = find_value(parameter, argument, callee)
        if value is not None:
            values[parameter] = value
            continue
        symbols[parameter] = _own(parameter, taken, fresh)
        declaration = VarDecl(span=before(span), symbol=symbols[parameter], init=argument)
        declared.append(DeclStmt(span=before(span), declarations=(declaration,)))
    for symbol in declared_symbols(callee.body):
        symbols[symbol] = _own(symbol, taken, fresh)
    parts = tuple(with_objects(with_symbols(part, symbols), objects) for part in callee.body.statements)
    parts = tuple(replace_values(part, values) for part in parts)
    whole = (*declared, *_with_result(parts, site, callee))
    if len(whole) == 1 and isinstance(whole[0], ExprStmt):
        return replace(whole[0], span=span)
    return replace(Block(span=span, statements=()), statements=whole)


def _own(symbol: Symbol, taken: set[str], fresh: Fresh) -> Symbol:
    """Return the caller's variable for one of the function's: with its name, where the caller has no use for that."""
    if symbol.name in taken:
        made = fresh.variable(symbol.name, symbol.type, symbol)
        return Symbol(made.name, made.key, symbol.type, "local", symbol.span)
    again = fresh.again(symbol)
    return Symbol(again.name, again.key, again.type, "local", again.span)


def _with_result(parts: tuple[Stmt, ...], site: _Site, callee: Function) -> Iterator[Stmt]:
    """Yield the statements, the return at the end replaced by what is done with the value."""
    type = callee.symbol.type
    result = type.result if isinstance(type, FunctionType) else VOID
    for part in parts:
        if not isinstance(part, Return):
            yield part
        elif part.value is not None:
            value: Expr = part.value
            if peel(value).type != result:
                value = Cast(span=value.span, type=result, operand=value)
            if site.target is None and not _has_effect(value):
                continue
            if site.target is not None:
                value = Assign(span=part.span, type=site.target.type, op=site.op, target=site.target, value=value)
            yield ExprStmt(span=part.span, expr=value)
