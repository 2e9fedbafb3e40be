"""Loads that are certainly evaluated: to repeat one of them a little earlier is safe.

    int n = g->n;                       g was followed before the loop
    for (i = 0; i < n; i++)
        if (m[i]) s->u[i] = h->v[i];    m is followed if 0 < n; s and h perhaps never

Invariant: a place that `KnownBefore.needs` answers for is evaluated at least once, whenever control reaches the loop
and the conditions of the answer hold there; where they do not hold, none of the nodes that were given is.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from functools import reduce

from msgspec import Struct

from warpsmith.loops.counted_loops import counted_header
from warpsmith.poly.aliasing.unchanged import declared_below, is_direct, loads
from warpsmith.poly.analyze import Facts
from warpsmith.poly.effects.library import find_called_back
from warpsmith.poly.effects.origin import Origin, own_writes
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.poly.pointers.control import leaves
from warpsmith.tree.containers import CHECKS
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Case,
    Cast,
    Conditional,
    Continue,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    Function,
    If,
    Index,
    Literal,
    Loop,
    MacroUse,
    Member,
    Name,
    Node,
    Return,
    Stmt,
    Switch,
    Unary,
    VarDecl,
    Verbatim,
    VerbatimExpr,
    While,
)
from warpsmith.tree.printing.references import is_own_object, refers
from warpsmith.tree.types import INT, Array, Pointer, Scalar, Symbol
from warpsmith.tree.walk import children, peel, same, walk

__all__ = ["KnownBefore", "comes_back", "entry_test", "find_reassigned", "risks"]

Conditions = tuple[Expr, ...]

# so many loops of a nest may have a value in common that is read once before it
_MOST_PLACES = 4

# every type of a counter has the numbers below
_ANY_TYPE = 128
_STEPS = ("++x", "--x", "x++", "x--")

# library functions that do not come back, or may not
_LAST = CHECKS | {
    "exit", "_Exit", "_exit", "quick_exit", "abort", "longjmp", "siglongjmp", "pthread_exit", "__assert_fail",
    "assert",
}  # fmt: skip


def risks(load: Expr) -> Iterator[Expr]:
    """Yield the parts of a load that must be valid for it: a pointer that is followed to a struct (`s` of `s->u`), and
    elements (`a[i]`, `*p`). A constant element of a declared array is always there."""
    expr = peel(load)
    match expr:
        case Member(base=base, arrow=arrow):
            if arrow and not _is_object(base):
                yield peel(base)
            yield from risks(base)
        case Index(base=base, index=index):
            if not _is_inside(base, index):
                yield expr
            yield from risks(base)
            yield from risks(index)
        case Unary(op="*", operand=operand):
            if not _is_object(operand):
                yield expr
            yield from risks(operand)
        case _:
            for child in children(expr):
                if isinstance(child, Expr):
                    yield from risks(child)


def _is_object(pointer: Expr) -> bool:
    """Whether what a pointer points to is there in any case: what a reference was bound to, or `this`."""
    name = peel(pointer)
    if not isinstance(name, Name) or name.symbol.storage not in ("parameter", "local"):
        return False
    return refers(name) or is_own_object(name.symbol)


def _is_inside(base: Expr, index: Expr) -> bool:
    type, number = peel(base).type, peel(index)
    if not isinstance(type, Array) or type.count is None or not isinstance(number, Literal):
        return False
    return isinstance(number.value, int) and 0 <= number.value < type.count


class Entered(Struct, frozen=True):
    """The conditions under which control comes to `body`, and without which it never does; no body: always."""

    conditions: Conditions = ()
    body: Stmt | None = None

    def governs(self, nodes: Sequence[Expr]) -> bool:
        """Whether all nodes stand behind the conditions."""
        if self.body is None:
            return True
        below = {id(part) for part in walk(self.body)}
        return all(id(node) in below for node in nodes)


class KnownBefore(Struct, frozen=True):
    """What is followed before the loop (`before`, whatever happens) and in its header and first iteration (`inside`,
    each under conditions that can be evaluated before the loop)."""

    before: tuple[Expr, ...]
    inside: tuple[tuple[Expr, Entered], ...]
    stores: tuple[tuple[Expr, Entered], ...] = ()

    @classmethod
    def of(cls, facts: Facts, function: Function, loop: Loop) -> KnownBefore:
        """Look at a loop and at what is certainly run before it."""
        origin = facts.origin(function)
        moving = origin.hidden | find_reassigned(function)
        front = list(_evaluated_before(function, loop))
        before = [risk for expr in front for risk in _find_followed(expr) if _is_fixed(risk, moving)]
        inside = list(_first_pass(loop, Entered(), _Steady(origin, loop)))
        stores = [(place, Entered()) for place in map(_stored, front) if place is not None and _stays(place, moving)]
        stores += [(place, when) for expr, when in inside if (place := _stored(expr)) is not None]
        followed = tuple((risk, when) for expr, when in inside for risk in _find_followed(expr))
        return cls(tuple(before), followed, tuple(stores))

    @classmethod
    def within(cls, origin: Origin, run: tuple[Stmt, ...]) -> KnownBefore:
        """Look at a run of statements alone, as if nothing were known of what is run before it. The header of a loop
        that it begins with may read memory: it is evaluated at once."""
        first, alone = run[0], len(run) == 1
        steady = _Steady(origin, Block(span=first.span, statements=run))
        head = _find_head(first) if alone else ()
        if isinstance(first, For | While) and head and all(map(_is_repeatable, head)):
            inside = [(e, Entered()) for part in head for e in _certain(part)]
            inside += _run((first.body,), _enter(first), steady)
        else:
            inside = list(_run(run, Entered(), steady))
        stores = ((place, when) for expr, when in inside if (place := _stored(expr)) is not None)
        followed = ((risk, when) for expr, when in inside for risk in _find_followed(expr))
        return cls((), tuple(followed), tuple(stores))

    def find_stored(self, place: Expr, nodes: Sequence[Expr]) -> Conditions | None:
        """Return the conditions under which `place` is certainly stored to, before the loop or in it, and without
        which none of `nodes` is evaluated; None where there are none. The loop must not change where it is."""
        ways = [w.conditions for known, w in self.stores if same(known, peel(place)) and w.governs(nodes)]
        return min(ways, key=len, default=None)

    def needs(self, load: Expr, nodes: Sequence[Expr]) -> Conditions | None:
        """Return the conditions under which everything that `load` follows is followed anyway, and without which none
        of `nodes` is evaluated; None where there are none."""
        found: list[Expr] = []
        for risk in risks(load):
            if any(same(risk, known) for known in self.before):
                continue
            ways = [when for known, when in self.inside if same(risk, known)]
            whole = [when.conditions for when in ways if when.governs(nodes)]
            conditions = min(whole, key=len) if whole else _either(ways, nodes)
            if conditions is None:
                return None
            found += (c for c in conditions if not any(same(c, old) for old in found))
        return tuple(found)


def _either(ways: Sequence[Entered], nodes: Sequence[Expr]) -> Conditions | None:
    """Return the conditions under which control comes to one of several places, and without which it comes to none of
    them, so that together these have all nodes; None where some node stands in none of the places, or they are many."""
    chosen: list[Entered] = []
    for node in nodes:
        if any(way.governs((node,)) for way in chosen):
            continue
        found = min((way for way in ways if way.governs((node,))), key=lambda w: len(w.conditions), default=None)
        if found is None or len(chosen) == _MOST_PLACES:
            return None
        chosen.append(found)
    shared: list[Expr] = []
    for together in zip(*(way.conditions for way in chosen), strict=False):
        if not all(same(together[0], other) for other in together[1:]):
            break
        shared.append(together[0])
    rest = [way.conditions[len(shared) :] for way in chosen]
    if not all(rest):
        return tuple(shared)
    return (*shared, _join("||", [_join("&&", one) for one in rest]))


def _join(op: str, parts: Sequence[Expr]) -> Expr:
    return reduce(lambda a, b: Binary(span=a.span, type=INT, op=op, left=a, right=b), parts)


def _is_repeatable(expr: Expr) -> bool:
    """Whether evaluating an expression a second time at once changes nothing and gives the same."""
    for part in walk(expr):
        stores = isinstance(part, Assign | Call | VerbatimExpr) or (isinstance(part, Unary) and part.op in _STEPS)
        if stores or (isinstance(part, Expr) and isinstance(part.type, Scalar) and part.type.volatile):
            return False
    return True


def _find_head(stmt: Stmt) -> tuple[Expr, ...]:
    """Return what a loop evaluates first, if that is all that decides whether its body is run."""
    if isinstance(stmt, For):
        return (stmt.lower, stmt.bound)
    return (stmt.condition,) if isinstance(stmt, While) and stmt.form == "while" and stmt.condition is not None else ()


def _enter(loop: Loop) -> Entered:
    """Return when the body of a loop is entered that is run now."""
    if isinstance(loop, While):
        return Entered(_find_head(loop), loop.body)
    low, high = peel(loop.lower), peel(loop.bound)
    if isinstance(low, Literal) and isinstance(high, Literal) and _is_true(low.value, loop.relation, high.value):
        return Entered()
    return Entered((entry_test(loop),), loop.body)


def entry_test(loop: For) -> Expr:
    """Return whether a loop runs at all, in the types in which its header compares."""
    counter, lower = loop.variable.type, loop.lower
    first = peel(lower)
    fits = isinstance(first, Literal) and isinstance(first.value, int) and 0 <= first.value < _ANY_TYPE
    if lower.type != counter and not fits:
        lower = Cast(span=lower.span, type=counter, operand=lower)
    return Binary(span=loop.header, type=INT, op=loop.relation, left=lower, right=loop.bound)


class _Steady(Struct, frozen=True):
    """Whether the header of a loop inside says before the outermost one (or before a run) what it says in the first
    iteration."""

    origin: Origin
    loop: Stmt

    def holds(self, expr: Expr) -> bool:
        """Whether `expr` can be evaluated before the loop, as far as its variables go."""
        own = declared_below(self.loop)
        changed = {t for part in walk(self.loop) for t in _find_assigned(part)}
        for part in walk(expr):
            match part:
                case Name(symbol=symbol):
                    plain = symbol.storage in ("local", "parameter", "enumerator") and symbol not in self.origin.hidden
                    if symbol in own or symbol in changed or not plain:
                        return False
                case Literal() | Member() | MacroUse() | Conditional():
                    pass
                case Binary(op="+" | "-" | "*" | "<" | "<=" | ">" | ">=" | "!="):
                    pass
                case Unary(op="-" | "*"):
                    pass
                case _:
                    return False
        return True


def _find_assigned(node: Node) -> tuple[Symbol, ...]:
    match node:
        case Assign(target=target):
            root = is_direct(target)
            return (root,) if root is not None else ()
        case Unary(op=op, operand=operand) if "++" in op or "--" in op:
            root = is_direct(operand)
            return (root,) if root is not None else ()
        case For(variable=variable):
            return (variable,)
        case _:
            return tuple(getattr(node, "writes", ()))


# --- inside the loop


def _first_pass(loop: Loop, when: Entered, steady: _Steady) -> Iterator[tuple[Expr, Entered]]:
    """Yield the expressions that are certainly evaluated when `loop` is run, with the conditions for it."""
    match loop:
        case For(lower=lower, bound=bound):
            yield from ((e, when) for e in (*_certain(lower), *_certain(bound)))
        case While(init=init, condition=condition, form=form):
            yield from ((e, when) for e in (_certain_in(init) if init is not None else ()))
            if condition is not None and form != "do":
                yield from ((e, when) for e in _certain(condition))
    entered = _conditions_entered(loop, steady)
    if entered is not None:
        inner = Entered((*when.conditions, *entered), loop.body) if entered else when
        yield from _run((loop.body,), inner, steady)


def _conditions_entered(loop: Loop, steady: _Steady) -> Conditions | None:
    """Return the conditions under which the body is run at least once; None where they are not known before."""
    if isinstance(loop, While) and loop.form == "do":
        return ()
    if isinstance(loop, While) and loop.form == "while":
        return (loop.condition,) if loop.condition is not None and steady.holds(loop.condition) else None
    header = loop if isinstance(loop, For) else counted_header(loop)
    if header is None or not (steady.holds(header.lower) and steady.holds(header.bound)):
        return None
    low, high = peel(header.lower), peel(header.bound)
    if isinstance(low, Literal) and isinstance(high, Literal) and _is_true(low.value, header.relation, high.value):
        return ()
    return (Binary(span=loop.header, type=INT, op=header.relation, left=header.lower, right=header.bound),)


def _is_true(low: object, relation: str, high: object) -> bool:
    if not isinstance(low, int) or not isinstance(high, int):
        return False
    return {"<": low < high, "<=": low <= high, ">": low > high, ">=": low >= high, "!=": low != high}[relation]


def _run(run: Sequence[Stmt], when: Entered, steady: _Steady) -> Iterator[tuple[Expr, Entered]]:
    """Yield what a statement list certainly evaluates, up to where it may be left."""
    for stmt in run:
        if not comes_back(stmt, steady.origin.summaries):
            return
        match stmt:
            case Block(statements=inner):
                yield from _run(inner, when, steady)
            case For() | While():
                yield from _first_pass(stmt, when, steady)
            case _:
                yield from ((e, when) for e in _certain_in(stmt))
        if _may_skip(stmt):
            return


def _may_skip(stmt: Stmt) -> bool:
    """Whether what stands behind a statement may be left out."""
    stack: list[Node] = [stmt]
    while stack:
        node = stack.pop()
        if isinstance(node, Break | Continue | Return | Verbatim | VerbatimExpr):
            return True
        if not isinstance(node, For | While):
            stack += children(node)
        elif leaves(node):
            return True
    return False


def comes_back(node: Node, known: Summaries) -> bool:
    """Whether every call in a node returns: none of them may end the program, or jump out."""
    seen: set[Symbol] = set()
    pending: list[Node] = [node]
    while pending:
        for call in (part for part in walk(pending.pop()) if isinstance(part, Call)):
            for name in _reached(call, known):
                if name is None or name not in known.definitions:
                    return False
                if name not in seen:
                    seen.add(name)
                    pending.append(known.definitions[name].body)
    return True


def _reached(call: Call, known: Summaries) -> Sequence[Symbol | None]:
    """Return the functions of the program that a call runs, None for one that is not known or need not return."""
    name, library = direct_call(call), known.library(call)
    if name is None or name in known.definitions:
        return (name,)
    return (None,) if library is None or name.name in _LAST else find_called_back(library, call)


def _certain_in(stmt: Stmt) -> Iterator[Expr]:
    """Yield what a statement that is no loop certainly evaluates."""
    match stmt:
        case ExprStmt(expr=expr):
            yield from _certain(expr)
        case DeclStmt(declarations=declarations):
            for declaration in declarations:
                if declaration.init is not None and declaration.symbol.storage != "static local":
                    yield from _certain(declaration.init)
        case If(condition=condition):
            yield from _certain(condition)
        case Switch(value=value):
            yield from _certain(value)
        case Return(value=value) if value is not None:
            yield from _certain(value)
        case _:
            return


def _certain(expr: Expr) -> Iterator[Expr]:
    """Yield `expr` and its parts that are always evaluated, an operand of & and a plain assignment's target too: as
    places; `_find_followed` tells what of them is followed."""
    stack: list[tuple[Node, bool]] = [(expr, True)]
    while stack:
        node, accessed = stack.pop()
        node = peel(node) if isinstance(node, Expr) else node
        if isinstance(node, Expr) and accessed:
            yield node
        match node:
            case Binary(op="&&" | "||", left=left):
                stack.append((left, True))
            case Conditional(condition=condition):
                stack.append((condition, True))
            case Unary(op="&", operand=operand):
                stack.append((operand, False))
            case _:
                stack += [(child, True) for child in children(node)]


def _find_followed(expr: Expr) -> Iterator[Expr]:
    """Yield what accessing an lvalue follows; nothing where `expr` is none, or an array, which is only an address."""
    expr = peel(expr)
    is_place = isinstance(expr, Member | Index) or (isinstance(expr, Unary) and expr.op == "*")
    if is_place and not isinstance(expr.type, Array):
        yield from risks(expr)


# --- before the loop


def _evaluated_before(function: Function, loop: Loop) -> Iterator[Expr]:
    """Yield what is evaluated in every run that reaches the loop, before it; nothing where jumps may lead past it."""
    if any(isinstance(part, Verbatim) and part.control for part in walk(function.body)):
        return
    node: Node = function.body
    choices: list[Conditional] = []
    while node is not loop:
        below = next((c for c in children(node) if c is loop or any(p is loop for p in walk(c))), None)
        if below is None:
            return
        for expr in _in_front(node, below):
            yield expr
            choices += [expr] if isinstance(expr, Conditional) else []
        if isinstance(node, For) and below is node.body:
            # what was chosen by the condition under which the loop runs at all
            test = Binary(span=node.header, type=INT, op=node.relation, left=node.lower, right=node.bound)
            for choice in choices:
                if same(choice.condition, test):
                    yield from _certain(choice.then)
        node = below


def _in_front(node: Node, below: Node) -> Iterator[Expr]:
    """Yield what `node` certainly evaluates before it comes to its part `below`."""
    match node:
        case Block(statements=run) | Case(body=run):
            for stmt in run:
                if stmt is below:
                    return
                yield from _always(stmt)
        case For() | While() if below is node.body:
            yield from _always(node)
        case If(condition=condition) if below is not condition:
            yield from _certain(condition)
        case _:
            return


def _always(child: Node) -> Iterator[Expr]:
    """Yield what a statement in front evaluates whatever happens: headers of loops and conditions, not their bodies."""
    match child:
        case Block(statements=statements):
            for stmt in statements:
                yield from _always(stmt)
                if _may_skip(stmt):
                    return
        case For(lower=lower, bound=bound):
            yield from (*_certain(lower), *_certain(bound))
        case While(init=init, condition=condition, form=form):
            yield from _always(init) if init is not None else ()
            yield from _certain(condition) if condition is not None and form != "do" else ()
        case ExprStmt() | DeclStmt() | If() | Switch() | Return():
            yield from _certain_in(child)
        case _:
            return


def _stored(expr: Expr) -> Expr | None:
    """Return the place that an expression stores to."""
    if isinstance(expr, Assign):
        return peel(expr.target)
    moves = isinstance(expr, Unary) and ("++" in expr.op or "--" in expr.op)
    return peel(expr.operand) if isinstance(expr, Unary) and moves else None


def _stays(place: Expr, moving: frozenset[Symbol]) -> bool:
    """Whether a place is found through variables alone that never change in the function."""
    return all(
        isinstance(part, Name) and part.symbol.storage in ("local", "parameter") and part.symbol not in moving
        for part in list(loads(place))[1:]
    )


def _is_fixed(risk: Expr, moving: frozenset[Symbol]) -> bool:
    """Whether what is followed is a pointer variable that never changes in the function."""
    symbol = risk.symbol if isinstance(risk, Name) else None
    if symbol is None or not isinstance(symbol.type, Pointer) or symbol.storage not in ("local", "parameter"):
        return False
    return symbol not in moving


def find_reassigned(function: Function) -> frozenset[Symbol]:
    """Return the variables that are given a value other than the one of their declaration."""
    return frozenset().union(*map(_find_reassigned_in, function.body.statements))


# a step changes one statement of a function: the others are remembered
@functools.lru_cache(maxsize=4096)
def _find_reassigned_in(statement: Stmt) -> frozenset[Symbol]:
    found: set[Symbol] = set()
    for node in walk(statement):
        found |= own_writes(node)
        if isinstance(node, VarDecl) and node.init is None:
            found.add(node.symbol)
        elif isinstance(node, For):
            found.add(node.variable)
    return frozenset(found)
