"""Statements whose expression has a number that an algorithm of the standard library gives, as its loop and the rest.

    s = std::accumulate(b, e, 0.0) / n;        { double sum = 0.0; For(…) { sum = sum + v[v_at]; } s = sum / n; }
    const double s = std::accumulate(b, e, 0.0);      double s, and the same block in place of its initializer
    if (std::any_of(b, e, f)) stop();     { bool any = false; For(…) { if (f(v[v_at])) { any = true; break; } } if …
    *std::max_element(b, e)                    the largest element; std::max_element(b, e) - b: where it stands

Invariant: the loop does what the standard says that the algorithm does, in one of the orders that it allows, before the
statement: nothing else that the statement evaluates has an effect on it, and it is evaluated in any case.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from warpsmith.base.source import Span
from warpsmith.front.c.builders import StatementBuilder
from warpsmith.front.clang import kinds
from warpsmith.front.cxx.algorithms.found import AlgorithmNumber, FoundValues
from warpsmith.front.cxx.algorithms.loops import AlgorithmLoops
from warpsmith.front.cxx.objects import again, before, is_lvalue, is_pure
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Conditional,
    DeclStmt,
    Expr,
    ExprStmt,
    If,
    InitList,
    MacroUse,
    Name,
    Node,
    Return,
    Stmt,
    Unary,
    VarDecl,
    VerbatimExpr,
    replace,
)
from warpsmith.tree.types import Pointer, Scalar, Symbol
from warpsmith.tree.walk import children, names, peel, rebuild

__all__ = ["AlgorithmValues"]

_UNEVALUATED: Final = frozenset({"&&", "||"})


class AlgorithmValues:
    """Builds such statements of one function."""

    def __init__(self, statements: StatementBuilder, loops: AlgorithmLoops) -> None:
        self.statements = statements
        self.table = statements.table
        self.context = statements.context
        self.expressions = statements.expressions
        self.library = loops.library
        self.found = FoundValues(statements, loops)

    def statement(self, row: int, span: Span) -> Stmt | None:
        """Return an expression statement as a block; None for any other statement."""
        made = self._evaluated(row)
        if made is None:
            return None
        loops, expr = made
        place = before(span)
        return Block(span=span, intact=True, statements=(*loops, ExprStmt(span=place, expr=expr)))

    def returned(self, row: int, span: Span) -> Stmt | None:
        """Return a `return` of such a number as a block."""
        parts = self.table.expressions(row)
        made = self._evaluated(parts[0]) if len(parts) == 1 else None
        result = self.statements.result
        if made is None or not isinstance(result, Scalar) or not isinstance(made[1].type, Scalar):
            return None
        loops, expr = made
        place = before(span)
        value = self.library.convert(expr, result, place)
        return Block(span=span, intact=True, statements=(*loops, Return(span=place, value=value)))

    def tested(self, row: int, span: Span, then: Stmt, other: Stmt | None) -> Stmt | None:
        """Return an `if` whose condition has such a number as a block."""
        made = self._evaluated(self.table.parts(row)[0])
        if made is None:
            return None
        loops, expr = made
        test = If(span=before(span), condition=expr, then=then, other=other)
        return Block(span=span, intact=True, statements=(*loops, test))

    def declared(self, row: int, span: Span) -> tuple[Stmt, ...] | None:
        """Return the declaration of one variable with such an initializer, as its head and the block behind it."""
        children = self.table.children(row)
        if len(children) != 1 or self.table.kind[children[0]] != kinds.VAR_DECL or self.table.begins_in_macro(row):
            return None
        (child,), parts = children, self.table.expressions(children[0])
        if not parts or not any(self.found.rows(parts[-1])):
            return None
        number = self.table.aux[child]
        symbol = self._declare(number)
        head, rest = self._cut(span, number, self.table.range(parts[-1], self.statements.text.uses)[0])
        if symbol is None or head is None:
            return None
        made = self._evaluated(parts[-1])
        if made is None or not isinstance(made[1].type, Scalar):
            return None
        loops, expr = made
        place = before(rest)
        name = Name(span=place, type=symbol.type, symbol=symbol)
        value = self.library.convert(expr, symbol.type, place)
        given = Assign(span=place, type=symbol.type, op="=", target=name, value=value)
        declared = DeclStmt(span=head, intact=True, declarations=(VarDecl(span=head, symbol=symbol, init=None),))
        return declared, Block(span=rest, intact=True, statements=(*loops, ExprStmt(span=place, expr=given)))

    def _declare(self, number: int) -> Symbol | None:
        """Return a local variable that is a number; what says that it is constant is left to the user's text."""
        type = self.context.types.of(self.context.dump.declared[number][2])
        if not isinstance(type, Scalar) or type.volatile or type.kind == "void":
            return None
        plain = Scalar(type.name, type.bits, type.kind, spelling=type.spelling)
        symbol = self.context.declare(number, plain)
        return symbol if symbol.type == plain and symbol.storage == "local" else None

    def _cut(self, span: Span, number: int, value: int) -> tuple[Span | None, Span]:
        """Return the texts of a declaration up to the variable's name and from the `=` on."""
        _, name, _, _, _, _, start, *_ = self.context.dump.declared[number]
        end = start + len(name)
        sign = span.file.text[end:value]
        head = Span(span.file, span.start, end)
        plain = sign.strip() == "=" and span.file.text[start:end] == name and not head.text.startswith("static")
        rest = Span(span.file, end + sign.find("="), span.end)
        return (head if plain and span.start < start else None), rest

    # --- the expression

    def _evaluated(self, row: int) -> tuple[tuple[Stmt, ...], Expr] | None:
        """Return the loops that make the numbers in an expression, and the expression over these."""
        rows = list(self.found.rows(row))
        if not rows:
            return None
        self.found.begin()
        made: list[AlgorithmNumber] = []
        for one in rows:
            value = self.found.compute(one)
            if value is None:
                return None
            made.append(value)
        placed = {one: value.value for one, value in zip(rows, made, strict=True)}
        self.expressions.placed.update(placed)
        try:
            expr = self.expressions.try_expression(row)
        finally:
            for one in placed:
                del self.expressions.placed[one]
        symbols = {value.value.symbol for value in made if isinstance(value.value, Name)}
        found = {name.symbol for value in made for name in names(value.value)} | symbols
        if expr is None or not self._is_first(expr, found):
            return None
        return tuple(stmt for value in made for stmt in value.statements), _open(expr, found)

    def _is_first(self, expr: Expr, symbols: set[Symbol]) -> bool:
        """Whether evaluating the numbers before all else is evaluating them where they stand, and in any case."""
        inner = peel(expr)
        if isinstance(inner, Assign):
            target = inner.target
            known = is_lvalue(target) and is_pure(target) and isinstance(target.type, Scalar)
            shared = isinstance(root := peel(target), Name) and root.symbol.storage not in ("local", "parameter")
            return known and not shared and self._is_plain(inner.value, symbols)
        if isinstance(inner, Call) and isinstance(inner.function, Name) and not self.library.is_repeated(inner):
            return all(self._is_plain(argument, symbols) for argument in inner.arguments)
        return self._is_plain(inner, symbols)

    def _is_plain(self, expr: Expr, symbols: set[Symbol]) -> bool:
        """Whether an expression has no effect, and evaluates the numbers in it in any case."""
        if not self.library.is_repeated(expr) or any(
            isinstance(part, InitList | VerbatimExpr) for part in _parts(expr)
        ):
            return False
        for part in _parts(expr):
            chosen: Sequence[Expr] = ()
            if isinstance(part, Conditional):
                chosen = (part.then, part.other)
            elif isinstance(part, Binary) and part.op in _UNEVALUATED:
                chosen = (part.right,)
            if any(name.symbol in symbols for one in chosen for name in names(one)):
                return False
            if isinstance(part, Unary) and part.op == "*" and isinstance(part.operand.type, Pointer):
                continue
        return True


def _parts(node: Node) -> Iterator[Node]:
    yield node
    for child in children(node):
        yield from _parts(child)


def _open(expr: Expr, symbols: set[Symbol]) -> Expr:
    """Return an expression that is written out where it has one of the variables: its own text has calls there."""

    def change(part: Node) -> Node:
        if isinstance(part, MacroUse) and any(name.symbol in symbols for name in names(part)):
            return part.expansion
        return part

    def written(part: Node) -> Node:
        inside = isinstance(part, Expr) and any(name.symbol in symbols for name in names(part))
        return replace(part, span=before(part.span)) if inside else part

    return rebuild(rebuild(again(expr), change), written)
