"""The interfaces of the builders of C and C++: each receives the one that made it, as one of these.

    Expressions ─makes─► CxxCalls ─asks─► ExpressionBuilder        the value of a row, or its text, opaque
    Statements ─makes─► CxxStatements ─asks─► StatementBuilder     the statement of a row

So a file of C++ builds parts of a statement or an expression without importing those that import it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from warpsmith.base.source import Span
from warpsmith.front.c.context import Context, FileText
from warpsmith.front.c.counted.writes import Knowledge
from warpsmith.front.clang.node_table import NodeTable
from warpsmith.tree.nodes import Expr, InitList, Stmt, VerbatimExpr
from warpsmith.tree.types import Record, Type

__all__ = ["CallBuilder", "ExpressionBuilder", "StatementBuilder"]


class CallBuilder(Protocol):
    """Builds the calls of one file of a C++ unit."""

    def open_member(self, value: Expr, field: str, span: Span) -> Expr | None:
        """Return a private member outside of its class; None where it cannot be named there."""
        ...

    def parts_of(self, row: int, callee: int) -> tuple[int | None, list[int]]:
        """Return the row of the object that a method is called of, and those of the arguments."""
        ...

    def object_of(self, row: int) -> InitList | None:
        """Return the object that an expression makes, as its members; None where they are not all known."""
        ...

    def is_written_as_list(self, type: Record) -> bool:
        """Whether `{a, b}` makes the object whose members are a and b."""
        ...

    def argument(self, row: int, argument: int, number: int) -> Expr | None:
        """Return an argument of a call; one that the caller left out is the parameter's default."""
        ...


class ExpressionBuilder(Protocol):
    """Builds the expressions of one file of a unit, or those of a body that stands in place of its call.

    `this`: the method's object; `site`: that call's place; `bound`: what its parameters are, by their declarations;
    `open`: the functions whose calls are being replaced; `placed`: rows that stand for a value that is known already.
    """

    context: Context
    table: NodeTable
    text: FileText
    this: Expr | None
    site: Span | None
    bound: Mapping[int, Expr]
    open: tuple[int, ...]
    placed: dict[int, Expr]

    @property
    def cxx(self) -> CallBuilder:
        """The builder of the calls of C++."""
        ...

    @property
    def own(self) -> bool:
        """Whether what is built has its own text."""
        ...

    @property
    def escaped(self) -> frozenset[str]:
        """The keys of the variables whose address is taken."""
        ...

    def build(self, row: int) -> Expr:
        """Return the expression of a row."""
        ...

    def try_expression(self, row: int) -> Expr | None:
        """Return the expression of a row; None where a part of it is not modelled."""
        ...

    def make_opaque(self, row: int, reason: str) -> VerbatimExpr:
        """Return a row as text, with `reason`."""
        ...

    def make_opaque_object(self, row: int, reason: str) -> VerbatimExpr:
        """Return the making of an object as text."""
        ...

    def make_opaque_lambda(self, row: int, lambda_row: int) -> VerbatimExpr:
        """Return the making or the call of a lambda as text, with what its body may do."""
        ...

    def is_closed(self, tag: str, field: str) -> bool:
        """Whether a member is private, and the function that is being read is none of its class."""
        ...

    def this_at(self, span: Span) -> Expr:
        """Return the pointer `this` of the method, where it is not written."""
        ...

    def site_of(self, row: int) -> Span:
        """Return the place of a call: where what stands in place of it, is."""
        ...

    def elsewhere(
        self, site: Span, number: int, bound: Mapping[int, Expr], this: Expr | None, callee: int
    ) -> ExpressionBuilder:
        """Return a builder of expressions of another function's body, in place of a call at `site`."""
        ...


class StatementBuilder(Protocol):
    """Builds the statements of one function."""

    context: Context
    table: NodeTable
    text: FileText
    knowledge: Knowledge
    loops_around: int
    result: Type | None

    @property
    def expressions(self) -> ExpressionBuilder:
        """The builder of the expressions in the statements."""
        ...

    def build(self, row: int) -> Stmt:
        """Return the statement of a row."""
        ...

    def make_opaque(self, row: int, reason: str) -> Stmt:
        """Return a statement as text; a loop stays a loop."""
        ...

    def span(self, row: int) -> Span:
        """Return the span of a statement, its semicolon included."""
        ...
