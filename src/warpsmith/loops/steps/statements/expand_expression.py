"""Three-address statements: see ExpandExpression.

    a[i] = b[i] * c[i] + d[i] / 2.0;        double t1 = b[i] * c[i];
                                            double t2 = d[i] / 2.0;
                                            a[i] = t1 + t2;

Invariant: a temporary has the type in which C works out its expression, and is evaluated where the whole expression
was; what C evaluates only under a condition (&&, ||, ?:) stays where it is. A call that may do more than give a value
stays in its statement, and so does all that it might change or that might stop before it: only what is worked out of
variables that no call can reach goes before it.
Limits: statements with assignments inside, volatile objects or text that is not modelled are left as they are.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec.structs
from msgspec import Struct

from warpsmith.base.verdict import Proved, Verdict
from warpsmith.loops.analysis.shape import does_not_fit
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.linear import use
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.writing.storage import before
from warpsmith.poly.analyze import Facts
from warpsmith.poly.effects.effects import find_escaped
from warpsmith.poly.effects.library import is_pure
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Case,
    Cast,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    If,
    Literal,
    Loop,
    Name,
    Node,
    Stmt,
    Unary,
    VarDecl,
    VerbatimExpr,
    While,
    replace,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import Scalar, Symbol, is_float
from warpsmith.tree.walk import names, peel, rebuild, walk

__all__ = ["ExpandExpression"]

_ARITHMETIC = frozenset(("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"))


class ExpandExpression(Struct, frozen=True):
    """Split the assignments of a loop into statements with one operation each.

    Always legal: a temporary holds the value that C computes for its part of the expression (A. Aho, M. Lam, R. Sethi,
    J. Ullman: Compilers, 2nd ed., 6.2). Prepares for steps that look at single operations.

    Step: loop=f/i

    Before:
        void f(int n, double a[n], const double b[n])
        {
            for (int i = 0; i < n; i++)
                a[i] = a[i] * 0.5 + b[i] * (b[i] - 1.0);
        }

    After:
        void f(int n, double a[n], const double b[n])
        {
            for (int i = 0; i < n; i++) {
                double t1 = a[i] * 0.5;
                double t2 = b[i] - 1.0;
                double t3 = b[i] * t2;
                a[i] = t1 + t3;
            }
        }
    """

    name: ClassVar[str] = "expand-expression"

    loop: str

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Say whether there is an expression to split."""
        del facts
        place = LoopContext.of(program, self.loop)
        if _split(place, program) is place.loop:
            return does_not_fit(
                "no assignment has two operations that may be split; beside a call that may change something none is",
                place.loop,
            )
        return Proved()

    def apply(self, program: Program) -> Program:
        """Return the program with the expressions split."""
        place = LoopContext.of(program, self.loop)
        new = _split(place, program)
        return with_run(program, place.function, (place.loop,), (new,))


class _Splitter(Struct, frozen=True):
    """What splitting a statement needs: `fixed` are the statements that stay (by id), `near` a variable beside which
    new ones are declared, `reachable` what calls may read or write, `summaries` what functions do."""

    fixed: frozenset[int]
    fresh: Fresh
    near: Symbol
    reachable: frozenset[Symbol]
    summaries: Summaries


def _split(place: LoopContext, program: Program) -> Loop:
    """Return the loop with its assignments split; itself where there is none to split."""
    loop = place.loop
    fixed = frozenset(id(stmt) for node in walk(loop) if isinstance(node, Case) for stmt in node.body)
    near = next(name.symbol for name in names(loop))
    escaped = find_escaped(program, place.function)
    splitter = _Splitter(fixed, Fresh.of(program), near, escaped, Summaries.of(program))

    def change(node: Node) -> Node:
        match node:
            case Block(statements=old):
                new = tuple(part for stmt in old for part in _parts(stmt, splitter))
                return node if len(new) == len(old) else replace(node, statements=new)
            case For(body=body) | While(body=body):
                return _with_body(node, body, _parts(body, splitter))
            case If(then=then, other=other):
                then_parts = _parts(then, splitter)
                other_parts = _parts(other, splitter) if other is not None else ()
                node = node if len(then_parts) == 1 else replace(node, then=_block(then, then_parts))
                return node if len(other_parts) < 2 else replace(node, other=_block(then, other_parts))
            case _:
                return node

    return rebuild(loop, change)


def _with_body(node: For | While, body: Stmt, parts: tuple[Stmt, ...]) -> Node:
    return node if len(parts) == 1 else replace(node, body=_block(body, parts))


def _block(old: Stmt, parts: tuple[Stmt, ...]) -> Block:
    return Block(span=old.span, statements=parts)


def _parts(stmt: Stmt, splitter: _Splitter) -> tuple[Stmt, ...]:
    """Return the statements that a statement becomes."""
    if not isinstance(stmt, ExprStmt) or id(stmt) in splitter.fixed:
        return (stmt,)
    assign = peel(stmt.expr)
    if not isinstance(assign, Assign) or not all(_is_modeled(part) for part in walk(stmt) if part is not assign):
        return (stmt,)
    made: list[Stmt] = []
    beside = any(isinstance(part, Call) and not _is_without_effects(part, splitter) for part in walk(stmt))
    value = _operand(assign.value, made, splitter, keep=assign.op == "=", beside_call=beside)
    if not made:
        return (stmt,)
    return (*made, replace(stmt, expr=replace(assign, value=value)))


def _is_without_effects(call: Call, splitter: _Splitter) -> bool:
    """Whether a call changes nothing, so that it is all one what is worked out before it."""
    symbol = direct_call(call)
    known = splitter.summaries.summary(symbol) if symbol is not None else None
    if known is None:
        return is_pure(call)
    return not (known.writes or known.stores or known.calls_unknown or known.io or known.asserts or known.allocates)


def _is_modeled(part: Node) -> bool:
    """Whether nothing but calls keeps a part of a statement in its order."""
    moves = isinstance(part, Unary) and ("++" in part.op or "--" in part.op)
    if moves or isinstance(part, Assign | VerbatimExpr):
        return False
    type = getattr(part, "type", None)
    return not (isinstance(type, Scalar) and type.volatile)


def _commutes(expr: Expr, splitter: _Splitter) -> bool:
    """Whether it is all one if an expression is worked out before the calls of its statement or after them."""
    return all(_is_fixed(part, splitter) for part in walk(expr))


def _is_fixed(part: Node, splitter: _Splitter) -> bool:
    match part:
        case Name(symbol=symbol):
            held = symbol.storage in ("local", "parameter") and isinstance(symbol.type, Scalar)
            return (held and symbol not in splitter.reachable) or symbol.storage == "enumerator"
        case Binary(op="/" | "%", type=type):
            return is_float(type)
        case Literal() | Binary() | Cast():
            return True
        case Unary(op=op):
            return op in ("+", "-", "~", "!")
        case _:
            return False


def _operand(expr: Expr, made: list[Stmt], splitter: _Splitter, *, keep: bool, beside_call: bool) -> Expr:
    """Return an operand with its operations in temporaries; `keep`: its own operation may stay; `beside_call`: in a
    statement with a call that may have effects."""
    bare = peel(expr)
    match bare:
        case Binary(op=op, type=Scalar() as type) if op in _ARITHMETIC and not _is_constant(bare):
            left = _operand(bare.left, made, splitter, keep=False, beside_call=beside_call)
            right = _operand(bare.right, made, splitter, keep=False, beside_call=beside_call)
            same = left is bare.left and right is bare.right
            # Written out anew: the user's parentheses around what is now a name would stay otherwise.
            whole = bare if same else replace(bare, left=left, right=right, span=before(bare.span))
            if beside_call and not _commutes(bare, splitter):
                return expr if same else whole
            return whole if keep else _temporary(whole, type, made, splitter)
        case Unary(op="-" | "+" | "~", operand=inner) | Cast(operand=inner):
            new = _operand(inner, made, splitter, keep=False, beside_call=beside_call)
            return expr if new is inner else replace(bare, operand=new)
        case _:
            return expr


def _is_constant(expr: Expr) -> bool:
    return not any(isinstance(part, Name) for part in walk(expr)) and any(isinstance(p, Literal) for p in walk(expr))


def _temporary(value: Expr, type: Scalar, made: list[Stmt], splitter: _Splitter) -> Expr:
    number = len(made) + 1
    symbol = splitter.fresh.variable(f"t{number}", msgspec.structs.replace(type, const=False), splitter.near)
    declared = VarDecl(span=value.span, symbol=symbol, init=value)
    made.append(DeclStmt(span=value.span, declarations=(declared,)))
    return use(symbol, value.span)
