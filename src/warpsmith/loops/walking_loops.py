"""Loops that walk: variables of theirs move by a constant in every iteration, until one of them meets a bound.

    for (p = a; p != end; ++p) …                  p walks by 1 to end
    while (i < n && a[i] != x) i++;               i walks by 1 to n; the loop may be left before, where a[i] == x
    while (n-- > 0) *q++ = *p++;                  n walks by -1 to 0, moved by the test; p and q walk by 1

Invariant: while the loop runs, a walker w is written by its moves alone, each of which every iteration that is not left
makes exactly once. So in iteration k = 0, 1, … it starts as w + k * step.
Limits: moves by numbers, in the header or in statements at the top of the body.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from msgspec import Struct

from warpsmith.base.verdict import Reason
from warpsmith.loops.writing.storage import before
from warpsmith.poly.dependences.updates import has_effect
from warpsmith.poly.effects.origin import own_writes
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Break,
    Conditional,
    DeclStmt,
    Empty,
    Expr,
    ExprStmt,
    For,
    If,
    Literal,
    Name,
    Node,
    Relation,
    Return,
    Stmt,
    Unary,
    VarDecl,
    While,
    replace,
)
from warpsmith.tree.types import INT, Pointer, Scalar, Symbol, is_integer
from warpsmith.tree.walk import children, names, peel, statements_of, walk

__all__ = ["Bound", "WalkingLoop", "moved_by", "read_walk", "unconditional_moves"]

_MOVES = {"x++": 1, "++x": 1, "x--": -1, "--x": -1}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}
_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!="}


class Bound(Struct, frozen=True):
    """The loop goes on while `walker relation expr` holds, of what the walker was before the test moved it; `ahead`
    where it is compared after that move."""

    walker: Symbol
    relation: Relation
    expr: Expr
    moves: int = 0
    ahead: bool = False


class WalkingLoop(Struct, frozen=True):
    """A walking loop in parts.

    `setup`: what is done once, in front; `steps`: the walkers, and by how much an iteration moves each; `goes_on`: what
    else must hold for an iteration to begin; `body`: the statements of an iteration, without moves in the header;
    `last`: what is done where the bound is met, with which the loop is left.
    """

    setup: tuple[Stmt, ...]
    steps: dict[Symbol, int]
    bound: Bound
    goes_on: tuple[Expr, ...]
    body: tuple[Stmt, ...]
    last: tuple[Stmt, ...] = ()

    @property
    def step(self) -> int:
        """How far an iteration moves the walker that meets the bound."""
        return self.steps[self.bound.walker]


def read_walk(loop: While, kept: frozenset[Symbol]) -> WalkingLoop | Reason:
    """Return the parts of a loop, or why it does not walk; `kept`: variables that something else may read or change."""
    found = _read_steps(loop, kept)
    steps, blame = found
    if not steps:
        return blame or Reason("STP002", "no variable moves by a number in every iteration", loop.header)
    tests = [*_conjuncts(loop.condition)] if loop.condition is not None else []
    tests = [t for t in tests if not (isinstance(t, Literal) and t.value)]
    at, bound = next(((k, b) for k, t in enumerate(tests) if (b := _bound(t, steps)) is not None), (0, None))
    body, last = tuple(s for s in statements_of(loop.body) if not isinstance(s, Empty)), ()
    if bound is None and not tests and loop.form != "do" and body:
        bound, body, last = _leading_test(body, steps)
    if bound is None:
        return blame or Reason("STP002", "its condition compares no variable that moves with a bound", loop.header)
    rest = tuple(tests[:at] + tests[at + 1 :])
    if any(has_effect(n) for t in rest[:at] for n in walk(t)) or (bound.moves and at):
        return Reason("STP002", "its condition changes something", loop.header)
    if loop.form == "do":
        if rest or (bound.moves and not bound.ahead):
            return Reason("STP002", "its last test does more than to compare what has moved with a bound", loop.header)
        # as if the last statement of the body moved it
        bound = Bound(bound.walker, bound.relation, bound.expr)
    if any(n.symbol in steps for n in names(bound.expr)):
        return Reason("STP002", "its bound moves as well", bound.expr.span)
    return WalkingLoop(_setup(loop), steps, bound, rest, body, last)


def moved_by(node: Node) -> tuple[Symbol, int] | None:
    """Return what an expression moves, and how far: `p++`, `i -= 2`, `i = i + 1`."""
    if isinstance(node, Unary) and node.op in _MOVES:
        operand = peel(node.operand)
        return (operand.symbol, _MOVES[node.op]) if isinstance(operand, Name) else None
    target = peel(node.target) if isinstance(node, Assign) else None
    if not isinstance(node, Assign) or not isinstance(target, Name):
        return None
    if node.op in ("+=", "-="):
        by = _number(node.value)
        return None if by is None else (target.symbol, by if node.op == "+=" else -by)
    value = peel(node.value)
    if node.op != "=" or not isinstance(value, Binary) or value.op not in ("+", "-"):
        return None
    if _is(value.left, target.symbol):
        by = _number(value.right)
        return None if by is None else (target.symbol, by if value.op == "+" else -by)
    by = _number(value.left) if value.op == "+" and _is(value.right, target.symbol) else None
    return None if by is None else (target.symbol, by)


def unconditional_moves(stmt: Stmt) -> Iterator[Node]:
    """Yield the moves that a statement makes each time that it runs, before anything in it that it may leave out."""
    pending: list[Node] = []
    match stmt:
        case ExprStmt(expr=expr):
            pending = [expr]
        case DeclStmt(declarations=declarations):
            pending = [d.init for d in declarations if d.init is not None]
        case If(condition=condition):
            pending = [condition]
        case _:
            return
    while pending:
        node = pending.pop()
        if moved_by(node) is not None:
            yield node
        elif isinstance(node, Binary) and node.op in ("&&", "||"):
            pending.append(node.left)
        elif isinstance(node, Conditional):
            pending.append(node.condition)
        else:
            pending += children(node)


def _read_steps(loop: While, kept: frozenset[Symbol]) -> tuple[dict[Symbol, int], Reason | None]:
    """Return the walkers with their steps, and what is in the way of a variable that the header moves."""
    parts = [p for p in (loop.condition, loop.body, loop.advance) if p is not None]
    writes: dict[Symbol, list[Node]] = {}
    for node in (n for part in parts for n in walk(part)):
        own = own_writes(node)
        if isinstance(node, For | VarDecl):
            own = {node.variable if isinstance(node, For) else node.symbol}
        for symbol in own:
            writes.setdefault(symbol, []).append(node)
    sure = [*_header_moves(loop), *(m for s in statements_of(loop.body) for m in unconditional_moves(s))]
    steps: dict[Symbol, int] = {}
    blame: Reason | None = None
    for symbol, nodes in writes.items():
        odd = next((n for n in nodes if not any(n is m for m in sure)), None)
        if odd is None and _may_walk(symbol) and symbol not in kept:
            steps[symbol] = sum(cast(tuple[Symbol, int], moved_by(n))[1] for n in nodes)
        elif any(n is m for n in nodes for m in _header_moves(loop)) and blame is None:
            text = "may be read or changed elsewhere" if odd is None else "is written in the body"
            blame = Reason("STP002", f"{symbol.name} {text}", loop.header if odd is None else odd.span)
    return {s: by for s, by in steps.items() if by}, blame


def _header_moves(loop: While) -> Iterator[Node]:
    """Yield the moves in the header of a loop: those of its advance, and one of the first comparison in its test."""
    for part in _comma_parts(loop.advance) if loop.advance is not None else ():
        if moved_by(part) is not None:
            yield part
    first = next(_conjuncts(loop.condition), None) if loop.condition is not None else None
    sides = (first,) if not isinstance(first, Binary) else (peel(first.left), peel(first.right))
    yield from (side for side in sides if isinstance(side, Unary) and moved_by(side) is not None)


def _may_walk(symbol: Symbol) -> bool:
    type = symbol.type
    if symbol.storage not in ("local", "parameter"):
        return False
    if isinstance(type, Pointer):
        return not type.reference
    plain = isinstance(type, Scalar) and is_integer(type) and type.kind in ("signed", "unsigned")
    return plain and isinstance(type, Scalar) and type.bits >= INT.bits and not type.volatile


def _bound(test: Expr, steps: dict[Symbol, int]) -> Bound | None:
    """Return what a part of the condition says of a walker."""
    if isinstance(test, Name | Unary):
        zero = Literal(span=test.span, type=INT, text="0", value=0)
        near = _walker(test, steps)
        return None if near is None or isinstance(near[0].type, Pointer) else _directed(near, "!=", zero, steps)
    if not isinstance(test, Binary) or test.op not in _MIRRORED:
        return None
    for side, other, op in ((test.left, test.right, test.op), (test.right, test.left, _MIRRORED[test.op])):
        near = _walker(peel(side), steps)
        if near is not None:
            return _directed(near, op, other, steps)
    return None


def _walker(side: Expr, steps: dict[Symbol, int]) -> tuple[Symbol, int, bool] | None:
    """Return the walker, by how much the test moves it, and whether that is before the comparison."""
    if isinstance(side, Name):
        return (side.symbol, 0, False) if side.symbol in steps else None
    moved = moved_by(side) if isinstance(side, Unary) else None
    if moved is None or moved[0] not in steps or not isinstance(side, Unary):
        return None
    return (*moved, side.op in ("++x", "--x"))


def _directed(near: tuple[Symbol, int, bool], op: str, bound: Expr, steps: dict[Symbol, int]) -> Bound | None:
    """Return the bound, where the walker walks towards it and cannot step over it."""
    symbol, moves, ahead = near
    step = steps[symbol]
    towards = abs(step) == 1 if op == "!=" else (step > 0) == (op in ("<", "<="))
    return Bound(symbol, cast(Relation, op), bound, moves, ahead) if towards and moves in (0, step) else None


def _leading_test(
    body: tuple[Stmt, ...], steps: dict[Symbol, int]
) -> tuple[Bound | None, tuple[Stmt, ...], tuple[Stmt, ...]]:
    """Return the bound in `if (i >= n) break;` at the head of the body, the rest, and what is done at the bound."""
    first = body[0]
    test = peel(first.condition) if isinstance(first, If) and first.other is None else None
    if not isinstance(first, If) or not isinstance(test, Binary) or test.op not in _NEGATED:
        return None, body, ()
    run = statements_of(first.then)
    if not run or not isinstance(run[-1], Break | Return) or any(True for _ in unconditional_moves(first)):
        return None, body, ()
    bound = _bound(replace(test, op=_NEGATED[test.op]), steps)
    return bound, body[1:], run[:-1] if isinstance(run[-1], Break) else run


def _setup(loop: While) -> tuple[Stmt, ...]:
    """Return the first part of a `for` as statements, one for each variable."""
    init, at = loop.init, before(loop.header)
    if isinstance(init, DeclStmt) and len(init.declarations) > 1 and not init.types:
        return tuple(DeclStmt(span=at, declarations=(declared,)) for declared in init.declarations)
    if not isinstance(init, ExprStmt):
        return () if init is None or isinstance(init, Empty) else (init,)
    parts = [*_comma_parts(init.expr)]
    return (init,) if len(parts) == 1 else tuple(ExprStmt(span=at, expr=part) for part in parts)


def _comma_parts(expr: Expr) -> Iterator[Expr]:
    bare = peel(expr)
    if isinstance(bare, Binary) and bare.op == ",":
        yield from _comma_parts(bare.left)
        yield from _comma_parts(bare.right)
    else:
        yield bare


def _conjuncts(expr: Expr) -> Iterator[Expr]:
    bare = peel(expr)
    if isinstance(bare, Binary) and bare.op == "&&":
        yield from _conjuncts(bare.left)
        yield from _conjuncts(bare.right)
    else:
        yield bare


def _number(expr: Expr) -> int | None:
    expr = peel(expr)
    return expr.value if isinstance(expr, Literal) and isinstance(expr.value, int) else None


def _is(expr: Expr, symbol: Symbol) -> bool:
    expr = peel(expr)
    return isinstance(expr, Name) and expr.symbol == symbol
