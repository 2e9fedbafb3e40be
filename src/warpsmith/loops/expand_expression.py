"""Three-address statements: see ExpandExpression.

    a[i] = b[i] * c[i] + d[i] / 2.0;        double t1 = b[i] * c[i];
                                            double t2 = d[i] / 2.0;
                                            a[i] = t1 + t2;

Invariant: a temporary has the type in which C works out its expression, and is evaluated where the whole expression
was; what C evaluates only under a condition (&&, ||, ?:) stays where it is.
Limits: statements with calls, assignments inside, volatile objects or text that is not modelled are left as they are.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

from warpsmith.base.verdict import Proved, Verdict
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.linear import use
from warpsmith.loops.place import Place, with_run
from warpsmith.loops.shape import does_not_fit
from warpsmith.loops.storage import before
from warpsmith.poly.analyze import Facts
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
from warpsmith.tree.types import Scalar, Symbol
from warpsmith.tree.walk import names, peel, rebuild, walk

__all__ = ["ExpandExpression"]

_ARITHMETIC = frozenset(("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"))


@dataclass(frozen=True, slots=True)
class ExpandExpression:
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
        place = Place.of(program, self.loop)
        if _split(place.loop, Fresh.of(program)) is place.loop:
            return does_not_fit("no assignment in the loop has more than one operation", place.loop)
        return Proved()

    def apply(self, program: Program) -> Program:
        """Return the program with the expressions split."""
        place = Place.of(program, self.loop)
        new = _split(place.loop, Fresh.of(program))
        return with_run(program, place.function, (place.loop,), (new,))


def _split(loop: Loop, fresh: Fresh) -> Loop:
    """Return the loop with its assignments split; itself where there is none to split."""
    fixed = {id(stmt) for node in walk(loop) if isinstance(node, Case) for stmt in node.body}
    near = next(name.symbol for name in names(loop))

    def change(node: Node) -> Node:
        match node:
            case Block(statements=old):
                new = tuple(part for stmt in old for part in _parts(stmt, fixed, fresh, near))
                return node if len(new) == len(old) else replace(node, statements=new)
            case For(body=body) | While(body=body):
                return _with_body(node, body, _parts(body, fixed, fresh, near))
            case If(then=then, other=other):
                then_parts = _parts(then, fixed, fresh, near)
                other_parts = _parts(other, fixed, fresh, near) if other is not None else ()
                node = node if len(then_parts) == 1 else replace(node, then=_block(then, then_parts))
                return node if len(other_parts) < 2 else replace(node, other=_block(then, other_parts))
            case _:
                return node

    return rebuild(loop, change)


def _with_body(node: For | While, body: Stmt, parts: tuple[Stmt, ...]) -> Node:
    return node if len(parts) == 1 else replace(node, body=_block(body, parts))


def _block(old: Stmt, parts: tuple[Stmt, ...]) -> Block:
    return Block(span=old.span, statements=parts)


def _parts(stmt: Stmt, fixed: set[int], fresh: Fresh, near: Symbol) -> tuple[Stmt, ...]:
    """Return the statements that a statement becomes."""
    if not isinstance(stmt, ExprStmt) or id(stmt) in fixed:
        return (stmt,)
    assign = peel(stmt.expr)
    if not isinstance(assign, Assign) or not all(_is_plain(part) for part in walk(stmt) if part is not assign):
        return (stmt,)
    made: list[Stmt] = []
    value = _operand(assign.value, made, fresh, near, keep=assign.op == "=")
    if not made:
        return (stmt,)
    return (*made, replace(stmt, expr=replace(assign, value=value)))


def _is_plain(part: Node) -> bool:
    """Whether a node has no effect, so that the order of evaluation is all one."""
    moves = isinstance(part, Unary) and ("++" in part.op or "--" in part.op)
    if moves or isinstance(part, Assign | Call | VerbatimExpr):
        return False
    type = getattr(part, "type", None)
    return not (isinstance(type, Scalar) and type.volatile)


def _operand(expr: Expr, made: list[Stmt], fresh: Fresh, near: Symbol, *, keep: bool) -> Expr:
    """Return an operand with its operations in temporaries; `keep`: its own operation may stay."""
    bare = peel(expr)
    match bare:
        case Binary(op=op, type=Scalar() as type) if op in _ARITHMETIC and not _is_constant(bare):
            left = _operand(bare.left, made, fresh, near, keep=False)
            right = _operand(bare.right, made, fresh, near, keep=False)
            same = left is bare.left and right is bare.right
            # Written out anew: the user's parentheses around what is now a name would stay otherwise.
            whole = bare if same else replace(bare, left=left, right=right, span=before(bare.span))
            return whole if keep else _temporary(whole, type, made, fresh, near)
        case Unary(op="-" | "+" | "~", operand=inner) | Cast(operand=inner):
            new = _operand(inner, made, fresh, near, keep=False)
            return expr if new is inner else replace(bare, operand=new)
        case _:
            return expr


def _is_constant(expr: Expr) -> bool:
    return not any(isinstance(part, Name) for part in walk(expr)) and any(isinstance(p, Literal) for p in walk(expr))


def _temporary(value: Expr, type: Scalar, made: list[Stmt], fresh: Fresh, near: Symbol) -> Expr:
    number = len(made) + 1
    symbol = fresh.variable(f"t{number}", dataclasses.replace(type, const=False), near)
    declared = VarDecl(span=value.span, symbol=symbol, init=value)
    made.append(DeclStmt(span=value.span, declarations=(declared,)))
    return use(symbol, value.span)
