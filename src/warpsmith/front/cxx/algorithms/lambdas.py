"""Calls of lambdas with several statements, as the statements that they run.

    auto step = [&](int i) { double x = a[i]; for (…) x = x * x; if (x > 2) return 2.0; return x; };
    b[i] = step(i);    { int i_ = i; double x_ = a[i_]; For(…) …; if (x_ > 2) value = 2.0; else value = x_; … = value }
    put(i, 1.0);       { int i_ = i; … }      a lambda that gives nothing back, as a statement of its own

Invariant: what stands in place does what the call does. Parameters by value are variables of the block; what the body
names of the function around it is the variable itself (captured by reference, or never changed after it is made). A
lambda that gives a value changes nothing but variables of its own, so that it may run before the rest of its statement.
Limits: a variable that is made as a lambda and only called; variables of its own are numbers and arrays of these; a
`return` stands in no loop. Anything else is left as it is: text that is not modelled.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.front.c.builders import StatementBuilder
from warpsmith.front.c.counted.writes import writes_of
from warpsmith.front.clang import kinds
from warpsmith.front.cxx.algorithms.lambda_bodies import BodyStatements, CannotPlaceError
from warpsmith.front.cxx.algorithms.loops import AlgorithmLoops
from warpsmith.front.cxx.captures import captures_stay
from warpsmith.front.cxx.objects import INCREMENTS, again, before, is_lvalue, is_pure, is_value
from warpsmith.tree.nodes import (
    Assign,
    Block,
    DeclStmt,
    Expr,
    Index,
    Name,
    Stmt,
    Unary,
    VarDecl,
    VerbatimExpr,
)
from warpsmith.tree.types import INT, Array, FunctionType, Pointer, Record, Scalar, Symbol, Type
from warpsmith.tree.walk import names, peel, root_symbol, walk

__all__ = ["CalledLambdas", "LambdaNumber"]

_LARGEST: Final = 1500


class LambdaNumber(Struct, frozen=True):
    """Statements, and the number that they make."""

    statements: tuple[Stmt, ...]
    value: Name


class _Site(Struct, frozen=True):
    """A call of a lambda: their rows, the lambda's body, its parameters, the arguments, and what it gives back."""

    call: int
    made: int
    body: int
    parameters: list[int]
    arguments: list[int]
    result: Type


class CalledLambdas:
    """Finds such calls in the rows of one function, and builds what they are."""

    def __init__(self, statements: StatementBuilder, loops: AlgorithmLoops) -> None:
        self.statements = statements
        self.context = statements.context
        self.table = statements.table
        self.expressions = statements.expressions
        self.loops = loops
        self.library = loops.library

    def is_value(self, row: int) -> bool:
        """Whether a row is the call of such a lambda that gives a number, and more than an expression."""
        site = self._find(row)
        return site is not None and _is_number(site.result) and self._is_opaque(row)

    def compute(self, row: int) -> LambdaNumber | None:
        """Return the statements and the value of a call; None where it may change what is not the lambda's own."""
        site = self._find(row)
        if site is None or not isinstance(site.result, Scalar):
            return None
        span = self._span(row)
        value = Name(span=before(span), type=site.result, symbol=self._new("value", _plain(site.result), span))
        made = self._place(site, span, value)
        if made is None:
            return None
        statements, own = made
        if not all(_is_changed(part, own) for stmt in statements for part in walk(stmt)):
            return None
        declared = VarDecl(span=before(span), symbol=value.symbol, init=None)
        return LambdaNumber((DeclStmt(span=before(span), declarations=(declared,)), *statements), value)

    def statement(self, row: int, span: Span) -> Stmt | None:
        """Return an expression statement that calls a lambda which gives nothing back; None for any other."""
        row = self.table.inner(row)
        site = self._find(row)
        if site is None or _is_number(site.result) or not self._is_opaque(row):
            return None
        if not isinstance(site.result, Scalar) or site.result.kind != "void":
            return None
        self.loops.taken.clear()
        made = self._place(site, span, None)
        return None if made is None else Block(span=span, intact=True, statements=made[0])

    # --- which calls

    def _find(self, row: int) -> _Site | None:
        """Return the call of a lambda that a row is: one of the file itself that a variable is made as, which nothing
        but its calls names, and whose copies are as good as what they were made of."""
        table, context = self.table, self.context
        callee = table.aux[row] if table.kind[row] == kinds.CALL else -1
        if callee < 0 or context.dump.declared[callee][1] != "operator()" or context.is_library(callee):
            return None
        given, arguments = self.expressions.cxx.parts_of(row, callee)
        made = context.lambda_of(given) if given is not None and given >= 0 else None
        if made is None or made not in context.only_called or made not in context.named_lambdas:
            return None
        body, signature = table.body(made), context.symbol(callee).type
        parameters = [table.aux[c] for c in table.children(made) if table.kind[c] == kinds.PARM_DECL]
        text = self.statements.text
        if body is None or text.file is not context.text(0).file or not isinstance(signature, FunctionType):
            return None
        start, first, end = table.start[made], table.start[body], table.end[made]
        inside = start < table.start[row] < end
        words = text.file.text[start:first]
        generic = "auto" in words or re.match(r"\[[^]]*\]\s*<", words) is not None
        if inside or generic or "mutable" in words or any(True for _ in text.scan.lines(start, end)):
            return None
        if table.begins_in_macro(row) or not all(table.is_written(one, text.uses) for one in arguments):
            return None
        kept = context.captures_keep(made) or captures_stay(context, made, self.expressions.escaped)
        if not kept or len(parameters) != len(arguments) or self._is_hidden(row, made):
            return None
        return _Site(row, made, body, parameters, arguments, signature.result)

    def _is_hidden(self, row: int, made: int) -> bool:
        """Whether a name of the body may mean another variable where the call stands."""
        table, declared = self.table, self.context.dump.declared
        inner = range(made, table.after[made])
        variables = (kinds.VAR_DECL, kinds.PARM_DECL)
        own = {table.aux[r] for r in inner if table.kind[r] in variables}
        named = {table.aux[r] for r in inner if table.kind[r] == kinds.DECL_REF and table.aux[r] >= 0} - own
        names = {declared[n][1]: n for n in named}
        tops = (*self.context.dump.tops, *self.context.dump.instances)
        around = next((top for top, _ in tops if top <= row < table.after[top]), None)
        rows = range(around, table.after[around]) if around is not None else range(0)
        others = (table.aux[r] for r in rows if table.kind[r] in variables)
        return around is None or any(names.get(declared[n][1], n) != n for n in others if n not in own)

    def _is_opaque(self, row: int) -> bool:
        """Whether a call is more than a value in place of it."""
        made = self.expressions.try_expression(row)
        return made is None or any(isinstance(part, VerbatimExpr) for part in walk(made))

    def _span(self, row: int) -> Span:
        return Span(self.statements.text.file, *self.table.range(row, self.statements.text.uses))

    # --- what they do

    def _place(self, site: _Site, span: Span, value: Name | None) -> tuple[tuple[Stmt, ...], frozenset[Symbol]] | None:
        """Return the statements of a call, and the variables that are theirs; `value` gets what it gives back."""
        place = before(span)
        bound: dict[int, Expr] = {}
        declared: list[Stmt] = []
        held: list[Expr] = []
        own = set[Symbol]() if value is None else {value.symbol}
        for number, argument in zip(site.parameters, site.arguments, strict=True):
            made = self.expressions.try_expression(argument)
            type = self.context.symbol(number).type
            if made is None or not is_pure(made) or any(isinstance(part, VerbatimExpr) for part in walk(made)):
                return None
            if isinstance(type, Pointer) and type.reference and self._is_named(argument, made, type):
                held.append(made)
                bound[number] = again(made)
                continue
            wanted = type.to if isinstance(type, Pointer) and type.reference and _is_const(type.to) else type
            if not _is_number(wanted) or not isinstance(wanted, Scalar) or not isinstance(made.type, Scalar):
                return None
            if wanted is not type and value is None and _is_alike(made.type, wanted) and not is_value(made):
                return None  # a reference to what the body may change
            symbol = self._new(self.context.dump.declared[number][1], _plain(wanted), span)
            given = self.library.convert(again(made), symbol.type, place)
            declared.append(DeclStmt(span=place, declarations=(VarDecl(span=place, symbol=symbol, init=given),)))
            bound[number] = Name(span=place, type=symbol.type, symbol=symbol)
            own.add(symbol)
        there = self.expressions.elsewhere(place, 0, bound, self.expressions.this, self.table.aux[site.call])
        body = BodyStatements(self.statements, there, bound, lambda word, made_of: self._new(word, made_of, span))
        try:
            statements = (*declared, *body.run(self.table.parts(site.body), value))
        except CannotPlaceError:
            return None
        own |= body.own
        if sum(1 for stmt in statements for _ in walk(stmt)) > _LARGEST or not self._stay(held, statements):
            return None
        self.context.in_place.add((0, self.table.start[site.made]))
        return statements, frozenset(own)

    def _is_named(self, argument: int, made: Expr, type: Pointer) -> bool:
        """Whether a reference is bound to a variable, an element or an object that an argument names, not to what a
        call in its place gives back."""
        inner, row = peel(made), self.table.inner(argument)
        callee = self.table.aux[row] if self.table.kind[row] == kinds.CALL else -1
        signature = self.context.symbol(callee).type if callee >= 0 else None
        if isinstance(signature, FunctionType) and not isinstance(signature.result, Pointer):
            return False
        if isinstance(inner.type, Record):
            whole = peel(inner.operand) if isinstance(inner, Unary) and inner.op == "*" else inner
            named = isinstance(whole, Name) and (whole is inner or _refers(whole.type))
            return named and isinstance(type.to, Record) and inner.type.tag == type.to.tag
        return _is_alike(inner.type, type.to) and is_lvalue(inner) and isinstance(inner, Name | Index)

    def _stay(self, held: Sequence[Expr], statements: Sequence[Stmt]) -> bool:
        """Whether what references are bound to is the same one as long as the body runs."""
        writes = writes_of([*statements])
        for made in held:
            inner = peel(made)
            if not isinstance(inner, Index):
                continue
            root = root_symbol(inner)
            read = {name.symbol for name in names(inner)}
            plain = not any(isinstance(part, Index) or _follows(part) for part in walk(inner.index))
            # no store of a number moves a container, and a reference is never bound again
            numbers = [s for s in read if not isinstance(s.type, Record) and not _refers(s.type)]
            local = all(s.storage in ("local", "parameter") and s.key not in self.expressions.escaped for s in numbers)
            if root is None or not plain or not local or read & writes.variables:
                return False
        return True

    def _new(self, word: str, type: Scalar | Array, span: Span) -> Symbol:
        """Return a variable of the block, whose name is no word of the file and none of the statement."""
        symbol = self.loops.variable(word, INT, span)
        self.loops.taken.add(symbol.name)
        return Symbol(symbol.name, symbol.key, type, "local", symbol.span)


def _refers(type: Type) -> bool:
    return isinstance(type, Pointer) and bool(type.reference)


def _follows(part: object) -> bool:
    return isinstance(part, Unary) and part.op in ("*", "&")


def _is_changed(part: object, own: frozenset[Symbol]) -> bool:
    """Whether a part changes nothing but variables of its own."""
    if isinstance(part, Assign):
        target = part.target
    elif isinstance(part, Unary) and part.op in INCREMENTS:
        target = part.operand
    else:
        return True
    base = peel(target)
    while isinstance(base, Index):
        base = peel(base.base)
        if not isinstance(base.type, Array):
            return False
    return isinstance(base, Name) and base.symbol in own


def _is_alike(one: Type, other: Type) -> bool:
    """Whether both are numbers of one type, constant or not."""
    if not isinstance(one, Scalar) or not isinstance(other, Scalar):
        return False
    return (one.bits, one.kind) == (other.bits, other.kind)


def _is_number(type: Type) -> bool:
    return isinstance(type, Scalar) and type.kind != "void" and not type.volatile


def _is_const(type: Type) -> bool:
    return isinstance(type, Scalar) and type.const


def _plain(type: Scalar) -> Scalar:
    return Scalar(type.name, type.bits, type.kind, spelling=type.spelling)
