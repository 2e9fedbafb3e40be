"""The value of a small body that stands in place of its call: what it returns, over the arguments.

    x = x < 0 ? 0 : x;                        p[x < 0 ? 0 : x]
    return p[x];
    if (v <= 0) return 0;                     v <= 0 ? 0 : (int)(v + 0.5f)
    return (int)(v + 0.5f);

Invariant: a variable of the body stands for the last value that it was given, an expression that may be evaluated any
number of times; nothing in the body writes what the caller can see, so that it matters not where it is evaluated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from warpsmith.base.source import Span
from warpsmith.front import kinds
from warpsmith.front.cxx_objects import INCREMENTS
from warpsmith.tree.nodes import Assign, Conditional, Expr, Unary, VerbatimExpr
from warpsmith.tree.types import Scalar, Type
from warpsmith.tree.walk import walk

if TYPE_CHECKING:
    from warpsmith.front.cxx_calls import CxxCalls
    from warpsmith.front.expressions import Expressions

__all__ = ["returned"]

_LARGEST: Final = 250
_ASSIGNS: Final = "="


def returned(calls: CxxCalls, there: Expressions, rows: list[int], result: Type | None) -> Expr | None:
    """Return the value that statements give back; None where they are not of this kind. `there` builds the expressions
    of the body; `result` is the type that the function returns."""
    if not isinstance(result, Scalar) or result.kind == "void":
        return None
    made = _Body(calls, there, result).value(rows, dict(there.bound))
    if made is None or sum(1 for _ in walk(made)) > _LARGEST or _changes(made):
        return None
    return made


def _changes(expr: Expr) -> bool:
    return any(
        isinstance(part, Assign | VerbatimExpr) or (isinstance(part, Unary) and part.op in INCREMENTS)
        for part in walk(expr)
    )


class _Body:
    """Reads one body."""

    def __init__(self, calls: CxxCalls, there: Expressions, result: Scalar) -> None:
        self.calls = calls
        self.there = there
        self.table = there.table
        self.result = result
        self.own = set(there.bound)

    def value(self, rows: list[int], bound: dict[int, Expr]) -> Expr | None:
        """Return what statements return, where the variables have the values `bound`."""
        for number, row in enumerate(rows):
            kind = self.table.kind[row]
            if kind == kinds.RETURN:
                parts = self.table.expressions(row)
                made = self._built(parts[0], bound) if len(parts) == 1 else None
                return None if made is None else self.calls.converted(made, self.result, self._place)
            if kind == kinds.COMPOUND:
                return self.value([*self.table.parts(row), *rows[number + 1 :]], bound)
            if kind == kinds.IF:
                return self._branches(row, rows[number + 1 :], bound)
            if not self._runs(row, bound):
                return None
        return None

    @property
    def _place(self) -> Span:
        assert self.there.site is not None
        return self.there.site

    def _built(self, row: int, bound: dict[int, Expr]) -> Expr | None:
        self.there.bound = bound
        return self.there.tried(row)

    def _branches(self, row: int, rest: list[int], bound: dict[int, Expr]) -> Expr | None:
        parts = self.table.parts(row)
        if len(parts) not in (2, 3) or self.table.kind[parts[0]] > kinds.LAST_EXPR:
            return None
        test = self._built(parts[0], bound)
        then = self.value([parts[1], *rest], dict(bound))
        other = self.value([*parts[2:], *rest], dict(bound))
        if test is None or then is None or other is None or not self.calls.is_copied(test):
            return None
        return Conditional(span=self._place, type=self.result, condition=test, then=then, other=other)

    def _runs(self, row: int, bound: dict[int, Expr]) -> bool:
        """Run a declaration or an assignment to a variable of the body; False for any other statement."""
        if self.table.kind[row] == kinds.DECL_STMT:
            return all(self._declares(child, bound) for child in self.table.children(row))
        if self.table.kind[row] != kinds.BINARY or kinds.BINARY_OPERATORS[self.table.aux[row]] != _ASSIGNS:
            return False
        target, value = self.table.expressions(row)
        number = self.table.aux[target]
        return self.table.kind[target] == kinds.DECL_REF and number in self.own and self._sets(number, value, bound)

    def _declares(self, row: int, bound: dict[int, Expr]) -> bool:
        inits = self.table.expressions(row)
        if self.table.kind[row] != kinds.VAR_DECL or not inits:
            return False
        number = self.table.aux[row]
        if self.calls.context.symbol(number).storage != "local":
            return False
        self.own.add(number)
        return self._sets(number, inits[-1], bound)

    def _sets(self, number: int, value: int, bound: dict[int, Expr]) -> bool:
        type = self.calls.context.symbol(number).type
        made = self._built(value, bound) if isinstance(type, Scalar) and not type.volatile else None
        if made is None or not self.calls.is_copied(made):
            return False
        bound[number] = self.calls.converted(made, type, self._place)
        return True
