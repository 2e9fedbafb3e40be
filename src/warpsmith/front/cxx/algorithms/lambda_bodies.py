"""The statements of a lambda's body where its call stands, each without text of its own.

    if (c) return x;          if (c) value = x; else { …the rest… }
    return y;

Invariant: every variable of the body is a new one, whose name the file does not have; what is not modelled raises
CannotPlaceError. A path through the body that gives a value ends with its assignment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from warpsmith.base.source import Span
from warpsmith.front.c.builders import ExpressionBuilder, StatementBuilder
from warpsmith.front.c.counted.canonical import recognize
from warpsmith.front.clang import kinds
from warpsmith.front.cxx.library import CxxLibrary
from warpsmith.front.cxx.objects import again
from warpsmith.tree.nodes import (
    Assign,
    Block,
    Break,
    Call,
    Continue,
    DeclStmt,
    Empty,
    Expr,
    ExprStmt,
    For,
    If,
    InitList,
    Name,
    Stmt,
    VarDecl,
    VerbatimExpr,
    While,
)
from warpsmith.tree.types import Array, Scalar, Symbol, Type
from warpsmith.tree.walk import walk

__all__ = ["BodyStatements", "CannotPlaceError"]


class CannotPlaceError(Exception):
    """A body that cannot stand in place of its call."""


class BodyStatements:
    """Builds the statements of one body at one call; `own` are its variables."""

    def __init__(
        self,
        statements: StatementBuilder,
        there: ExpressionBuilder,
        bound: dict[int, Expr],
        new: Callable[[str, Scalar | Array], Symbol],
    ) -> None:
        self.context = statements.context
        self.table = statements.table
        self.text = statements.text
        self.knowledge = statements.knowledge
        self.there = there
        self.library = CxxLibrary(there)
        self.bound = bound
        self.own: set[Symbol] = set()
        self._new = new
        assert there.site is not None
        self.place: Span = there.site
        self._makers: dict[int, Callable[[int], Stmt]] = {
            kinds.IF: self._if,
            kinds.FOR: self._for,
            kinds.WHILE: self._while,
            kinds.BREAK: lambda _: Break(span=self.place),
            kinds.CONTINUE: lambda _: Continue(span=self.place),
            kinds.NULL_STMT: lambda _: Empty(span=self.place),
        }

    def run(self, rows: Sequence[int], value: Name | None) -> list[Stmt]:
        """Return the statements of a body; `value` gets what it gives back on every path."""
        made, ends = self._sequence(list(rows), value)
        if value is not None and not ends:
            raise CannotPlaceError
        return made

    # --- returns

    def _sequence(self, rows: list[int], value: Name | None) -> tuple[list[Stmt], bool]:
        """Return statements up to the first `return`, and whether there is one on every path."""
        made: list[Stmt] = []
        for number, row in enumerate(rows):
            kind, rest = self.table.kind[row], rows[number + 1 :]
            if kind == kinds.RETURN:
                return [*made, *self._return(row, value)], True
            if not self._returns(row):
                made += self._statement(row)
            elif kind == kinds.COMPOUND:
                inner, ends = self._sequence([*self.table.parts(row), *rest], value)
                return [*made, *inner], ends
            elif kind == kinds.IF:
                test, ends = self._branches(row, rest, value)
                return [*made, test], ends
            else:
                raise CannotPlaceError
        return made, False

    def _branches(self, row: int, rest: list[int], value: Name | None) -> tuple[Stmt, bool]:
        """Return an `if` of which a branch returns: what stands behind it belongs to the other one."""
        parts = self._parts_of_if(row)
        condition = self._expression(parts[0])
        then, then_ends = self._sequence([parts[1]], value)
        other, other_ends = self._sequence([*parts[2:]], value)
        if then_ends and not other_ends:
            more, other_ends = self._sequence(rest, value)
            other += more
        elif other_ends and not then_ends:
            more, then_ends = self._sequence(rest, value)
            then += more
        elif not then_ends:
            raise CannotPlaceError  # a return in one of its own branches only
        blocks = self._block(then), self._block(other) if other else None
        return If(span=self.place, condition=condition, then=blocks[0], other=blocks[1]), then_ends and other_ends

    def _return(self, row: int, value: Name | None) -> list[Stmt]:
        parts = self.table.expressions(row)
        if value is None or len(parts) != 1:
            if value is not None or parts:
                raise CannotPlaceError
            return []
        made = self._expression(parts[0])
        if not isinstance(made.type, Scalar):
            raise CannotPlaceError
        given = self.library.convert(made, value.type, self.place)
        assign = Assign(span=self.place, type=value.type, op="=", target=again(value), value=given)
        return [ExprStmt(span=self.place, expr=assign)]

    def _returns(self, row: int) -> bool:
        return kinds.RETURN in self.table.kind[row : self.table.after[row]]

    # --- the forms

    def _statement(self, row: int) -> list[Stmt]:
        """Return a statement that returns nowhere; a declaration may be several."""
        table, kind = self.table, self.table.kind[row]
        if table.begins_in_macro(row) and kind > kinds.LAST_EXPR:
            raise CannotPlaceError
        if kinds.UNEXPOSED_EXPR <= kind <= kinds.LAST_EXPR:
            return [ExprStmt(span=self.place, expr=self._expression(row))]
        if kind == kinds.DECL_STMT:
            return [self._declare(child) for child in table.children(row)]
        if kind == kinds.COMPOUND:
            return [self._block([one for part in table.parts(row) for one in self._statement(part)])]
        maker = self._makers.get(kind)
        if maker is None:
            raise CannotPlaceError
        return [maker(row)]

    def _if(self, row: int) -> Stmt:
        parts = self._parts_of_if(row)
        condition = self._expression(parts[0])
        then, *other = (self._block(self._statement(part)) for part in parts[1:])
        return If(span=self.place, condition=condition, then=then, other=other[0] if other else None)

    def _block(self, statements: Sequence[Stmt]) -> Block:
        if len(statements) == 1 and isinstance(statements[0], Block):
            return statements[0]
        return Block(span=self.place, statements=tuple(statements))

    def _parts_of_if(self, row: int) -> list[int]:
        """Return the condition and the branches of a plain `if`."""
        parts, text = self.table.parts(row), self.text.file.text
        start, first = self.table.start[row], self.table.start[parts[0]] if parts else 0
        plain = len(parts) in (2, 3) and kinds.UNEXPOSED_EXPR <= self.table.kind[parts[0]] <= kinds.LAST_EXPR
        head = text[start:first].replace("(", "").split()
        if not plain or head not in (["if"], ["if", "!"]) or self._declares(row):
            raise CannotPlaceError
        return parts

    def _declares(self, row: int) -> bool:
        return any(self.table.kind[child] == kinds.VAR_DECL for child in self.table.children(row))

    def _expression(self, row: int) -> Expr:
        """Return an expression that calls nothing but functions of mathematics."""
        made = self.there.try_expression(row)
        if made is None:
            raise CannotPlaceError
        for part in walk(made):
            if isinstance(part, VerbatimExpr | InitList) or (isinstance(part, Call) and not self._is_pure(part)):
                raise CannotPlaceError
        return made

    def _is_pure(self, call: Call) -> bool:
        """Whether a call does nothing but give a value; its arguments are looked at as parts of their own."""
        return self.library.is_repeated(Call(
            span=call.span, type=call.type, function=call.function, arguments=()
        ))  # fmt: skip

    def _declare(self, row: int) -> Stmt:
        """Return the declaration of a number, or of an array of numbers without an initializer."""
        if self.table.kind[row] != kinds.VAR_DECL:
            raise CannotPlaceError
        number = self.table.aux[row]
        symbol, inits = self.context.symbol(number), self.table.expressions(row)
        type = self._own_type(symbol.type)
        if symbol.storage != "local" or type is None or (isinstance(type, Array) and self._is_set(row, symbol)):
            raise CannotPlaceError
        init = None
        if isinstance(type, Scalar) and inits:
            given = self._expression(inits[-1])
            if not isinstance(given.type, Scalar):
                raise CannotPlaceError
            init = self.library.convert(given, type, self.place)
        made = self._new(symbol.name, type)
        self.own.add(made)
        self.bound[number] = Name(span=self.place, type=type, symbol=made)
        return DeclStmt(span=self.place, declarations=(VarDecl(span=self.place, symbol=made, init=init),))

    def _is_set(self, row: int, symbol: Symbol) -> bool:
        """Whether an array has an initializer."""
        text = self.text.file.text[self.table.start[row] : self.table.end[row]]
        return "=" in text or "{" in text or not text.rstrip().endswith("]")

    def _own_type(self, type: Type) -> Scalar | Array | None:
        """Return the type of a variable of the body, constant or not; None for one that is no number."""
        if isinstance(type, Scalar):
            plain = Scalar(type.name, type.bits, type.kind, spelling=type.spelling)
            return None if type.volatile or type.kind == "void" else plain
        element: Type = type
        while isinstance(element, Array):
            if element.count is None:
                return None
            element = element.of
        known = isinstance(element, Scalar) and not element.const and not element.volatile
        return type if isinstance(type, Array) and known else None

    # --- loops

    def _for(self, row: int) -> Stmt:
        table, header, parts = self.table, self.text.scan.for_header(self.table.start[row]), self.table.parts(row)
        if header is None or not parts or self._declares(row):
            raise CannotPlaceError
        init: Stmt | None = None
        condition: Expr | None = None
        advance: Expr | None = None
        for part in parts[:-1]:
            start = table.range(part, self.text.uses)[0]
            if start < header.first or table.kind[part] == kinds.DECL_STMT:
                begun = self._statement(part)
                if len(begun) != 1:
                    raise CannotPlaceError
                (init,) = begun
            elif start < header.second:
                condition = self._expression(part)
            else:
                advance = self._expression(part)
        body = self._block(self._statement(parts[-1]))
        counted = recognize(init, condition, advance, body, self.knowledge)
        if isinstance(counted, str):
            return While(
                span=self.place, form="for", init=init, condition=condition, advance=advance, body=body,
                header=self.place, reason=counted,
            )  # fmt: skip
        return For(
            span=self.place, variable=counted.variable, declares=counted.declares, lower=counted.lower,
            relation=counted.relation, bound=counted.bound, step=counted.step, body=body, header=self.place,
        )  # fmt: skip

    def _while(self, row: int) -> Stmt:
        parts = self.table.parts(row)
        if len(parts) != 2 or self._declares(row):
            raise CannotPlaceError
        return While(
            span=self.place, form="while", init=None, condition=self._expression(parts[0]), advance=None,
            body=self._block(self._statement(parts[1])), header=self.place,
            reason="only running a while loop tells how often it runs",
        )  # fmt: skip
