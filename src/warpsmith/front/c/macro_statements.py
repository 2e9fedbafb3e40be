"""Statements that a macro makes: `SWAP(int, a, b);` for `do { int t = a; a = b; b = t; } while (0)`.

What is built is a block that stands where the macro's use does; what is in it has no text of its own, an empty span
where the use begins, so that a change in it prints the whole block from the tree. A `do` loop that runs once is its
body.

Limits: the use is one whole statement, of blocks, branches, declarations with plain types and expressions; a jump, a
loop, a `_Pragma`, an object or a reference of C++, or anything that is not modelled leaves the use opaque.
"""

from __future__ import annotations

from collections.abc import Callable

from warpsmith.base.source import Span
from warpsmith.front.c.builders import StatementBuilder
from warpsmith.front.c.expressions import CannotModelError
from warpsmith.front.c.pragma_lines import macro_pragmas
from warpsmith.front.clang import kinds
from warpsmith.tree.nodes import Block, DeclStmt, Empty, ExprStmt, If, Literal, Stmt, VarDecl, replace
from warpsmith.tree.types import Pointer, Record, Scalar, Type
from warpsmith.tree.walk import peel

__all__ = ["expand_statement"]

_Declare = Callable[[int], VarDecl]


def expand_statement(statements: StatementBuilder, declare: _Declare, row: int, span: Span) -> Stmt | None:
    """Return the statement at `row`, which begins in a macro, as the macro makes it; None where that is not modelled.

    `declare` makes the declaration of a variable's row."""
    use = statements.context.use_of(row, statements.text)
    if use is None:
        return None
    end = statements.table.range(row, statements.text.uses)[1]
    if span.start != use.start or end != use.end or span.text[use.end - use.start :].strip() not in ("", ";"):
        return None
    if any(True for _ in macro_pragmas(statements.context, statements.text, use.start, use.end)):
        return None
    outside = statements.expressions.site
    statements.expressions.site = at = Span(span.file, span.start, span.start)
    try:
        made = _statement(statements, declare, row, at)
    except CannotModelError:
        return None
    finally:
        statements.expressions.site = outside
    return Block(span=span, statements=made.statements if isinstance(made, Block) else (made,))


def _statement(statements: StatementBuilder, declare: _Declare, row: int, span: Span) -> Stmt:
    table, build = statements.table, statements.expressions.build
    kind, parts = table.kind[row], table.parts(row)
    if kinds.UNEXPOSED_EXPR <= kind <= kinds.LAST_EXPR:
        return ExprStmt(span=span, expr=build(row))
    match kind:
        case kinds.COMPOUND:
            return Block(span=span, statements=tuple(_statement(statements, declare, part, span) for part in parts))
        case kinds.DO if len(parts) == 2:
            condition = peel(build(parts[1]))
            if isinstance(condition, Literal) and condition.value == 0:
                return _statement(statements, declare, parts[0], span)
        case kinds.IF if len(parts) in (2, 3):
            then, *other = (_statement(statements, declare, part, span) for part in parts[1:])
            return If(span=span, condition=build(parts[0]), then=then, other=other[0] if other else None)
        case kinds.DECL_STMT:
            return _declaration(statements, declare, row, span)
        case kinds.NULL_STMT:
            return Empty(span=span)
    raise CannotModelError("a statement that is not modelled")


def _declaration(statements: StatementBuilder, declare: _Declare, row: int, span: Span) -> DeclStmt:
    table = statements.table
    declared = table.children(row)
    if not declared or any(table.kind[child] != kinds.VAR_DECL for child in declared):
        raise CannotModelError("a declaration that is not of variables")
    made = tuple(declare(child) for child in declared)
    cxx = statements.context.cxx
    if any(d.symbol.storage != "local" or not _is_plain(d.symbol.type, cxx=cxx) for d in made):
        raise CannotModelError("a variable of an unusual type")
    return DeclStmt(span=span, declarations=tuple(replace(d, span=span) for d in made))


def _is_plain(type: Type, *, cxx: bool) -> bool:
    """Whether a variable's type is a plain one; an object of C++ may do something where it is made, and at its end."""
    if cxx and isinstance(type, Record):
        return False
    while isinstance(type, Pointer):
        if type.reference:
            return False
        type = type.to
    return isinstance(type, Scalar) or (isinstance(type, Record) and not type.union and bool(type.fields))
