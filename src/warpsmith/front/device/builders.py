"""The interfaces of the builders of device code: each receives the one that made it, as one of these.

DeviceExpressions ─makes─► DeviceCalls, lists, closures, lambdas ─ask─► DeviceExpressionBuilder
DeviceStatements ─calls─► loops ─ask─► DeviceStatementBuilder
"""

from __future__ import annotations

from typing import Final, Protocol

from warpsmith.base.source import Span
from warpsmith.front.c.context import Context, FileText
from warpsmith.front.clang.node_table import NodeTable
from warpsmith.tree.nodes import Expr, Member, Name, Stmt, Verbatim, VerbatimExpr
from warpsmith.tree.types import Type

__all__ = ["BASE_ELSEWHERE", "DeviceExpressionBuilder", "DeviceStatementBuilder"]

BASE_ELSEWHERE: Final = "a base class that does not stand at the start of its objects"


class DeviceExpressionBuilder(Protocol):
    """Builds the expressions of one function; `this` is the pointer to a method's object, `bound` what stands for a
    variable that a lambda has captured."""

    context: Context
    table: NodeTable
    text: FileText
    this: Expr | None
    bound: dict[int, Expr]

    def build(self, row: int) -> Expr:
        """Return the expression of a row."""
        ...

    def make_opaque(self, row: int, reason: str) -> VerbatimExpr:
        """Return a row as text, with `reason`."""
        ...

    def make_unseen(self, span: Span, type: Type, reason: str) -> VerbatimExpr:
        """Return a value that is made by what is not seen."""
        ...

    def span(self, row: int) -> Span:
        """Return the text of a row."""
        ...

    def type_of(self, row: int) -> Type:
        """Return clang's type of a row."""
        ...

    def strip_casts(self, row: int) -> int:
        """Return the row below parentheses and implicit conversions."""
        ...

    def find_capture(self, number: int, span: Span) -> Expr:
        """Return what a lambda captures under a name."""
        ...

    def hold_member(self, this: Name, field: str) -> Expr:
        """Return a member of the object that `this` points to; of a reference it is what that is bound to."""
        ...

    def member_of(self, value: Expr, field: str, span: Span, clang: Type | None = None) -> Member | None:
        """Return a field of an object; `clang` is what clang says of its type, where the tree's is not complete."""
        ...


class DeviceStatementBuilder(Protocol):
    """Builds the body of one function."""

    context: Context
    table: NodeTable
    text: FileText

    @property
    def expressions(self) -> DeviceExpressionBuilder:
        """The builder of the expressions in the statements."""
        ...

    def build(self, row: int) -> Stmt:
        """Return the statement of a row."""
        ...

    def make_opaque(self, row: int, reason: str) -> Verbatim:
        """Return a statement as text."""
        ...

    def header(self, row: int, span: Span, word: str) -> Span:
        """Return the text of a loop's header."""
        ...
