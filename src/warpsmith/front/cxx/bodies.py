"""The value of a small body that stands in place of its call: what it returns, over the arguments.

    x = x < 0 ? 0 : x;                        p[x < 0 ? 0 : x]
    return p[x];
    if (v <= 0) return 0;                     v <= 0 ? 0 : (int)(v + 0.5f)
    return (int)(v + 0.5f);
    if (v > limit) return 0;                  v > limit ? 0 : (weight += 1, v)
    weight += 1;                              where weight is a reference to a variable of the caller's
    return v;

Invariant: a variable of the body stands for the last value that it was given, an expression that may be evaluated any
number of times. Nothing in the body writes what the caller can see, so that it matters not where it is evaluated; but
where the call is all that a statement evaluates (`Alone`), the body may change numbers of the caller's that it has
references to: no value that was made before mentions one of them, so that none is taken too late.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct, field

from warpsmith.base.source import Span
from warpsmith.front.c.builders import ExpressionBuilder
from warpsmith.front.clang import kinds
from warpsmith.front.cxx.library import CxxLibrary
from warpsmith.front.cxx.objects import INCREMENTS
from warpsmith.tree.nodes import Assign, Binary, Conditional, Expr, Name, Unary, VerbatimExpr
from warpsmith.tree.types import Record, Scalar, Symbol, Type
from warpsmith.tree.walk import names, peel, walk

__all__ = ["Alone", "returned_value"]

_LARGEST: Final = 250
_ASSIGNS: Final = "="


class Alone(Struct, frozen=True):
    """A call that is all that its statement evaluates: `target` has the declarations that the place names which gets
    its value, `references` the parameters that are variables of the caller's, by their declarations."""

    target: frozenset[int]
    references: frozenset[int] = field(default_factory=frozenset)


def returned_value(
    library: CxxLibrary, there: ExpressionBuilder, rows: list[int], result: Type | None, alone: Alone | None = None
) -> Expr | None:
    """Return the value that statements give back; None where they are not of this kind. `there` builds the expressions
    of the body; `result` is the type that the function returns."""
    if not isinstance(result, Scalar) or result.kind == "void":
        return None
    body = _Body(library, there, result, alone)
    made = body.value(rows, dict(there.bound))
    if made is None or sum(1 for _ in walk(made)) > _LARGEST or _changes(made, body.effects):
        return None
    return made


def _changes(expr: Expr, meant: set[int]) -> bool:
    return any(
        isinstance(part, Assign | VerbatimExpr) or (isinstance(part, Unary) and part.op in INCREMENTS)
        for part in walk(expr)
        if id(part) not in meant
    )


class _Body:
    """Reads one body."""

    def __init__(self, library: CxxLibrary, there: ExpressionBuilder, result: Scalar, alone: Alone | None) -> None:
        self.library = library
        self.context = there.context
        self.alone = alone
        self.effects: set[int] = set()
        self.there = there
        self.table = there.table
        self.result = result
        self.own = set(there.bound)
        self.own_values = self.own - (alone.references if alone is not None else frozenset())

    def value(self, rows: list[int], bound: dict[int, Expr]) -> Expr | None:
        """Return what statements return, where the variables have the values `bound`."""
        for number, row in enumerate(rows):
            kind = self.table.kind[row]
            if kind == kinds.RETURN:
                parts = self.table.expressions(row)
                made = self._build_bound(parts[0], bound) if len(parts) == 1 else None
                return None if made is None else self.library.convert(made, self.result, self._place)
            if kind == kinds.COMPOUND:
                return self.value([*self.table.parts(row), *rows[number + 1 :]], bound)
            if kind == kinds.IF:
                return self._branches(row, rows[number + 1 :], bound)
            effect = self._effect(row, bound)
            if effect is not None:
                rest = self.value(rows[number + 1 :], bound)
                if rest is None:
                    return None
                return Binary(span=self._place, type=self.result, op=",", left=effect, right=rest)
            if not self._runs(row, bound):
                return None
        return None

    # --- what changes a number of the caller's

    def _effect(self, row: int, bound: dict[int, Expr]) -> Expr | None:
        """Return a statement that changes a variable of the caller's; None for any other."""
        changed = self._find_changed(row) if self.alone is not None else None
        if changed is None or self.alone is None or changed in self.own_values:
            return None
        made = self._build_bound(row, bound)
        if not isinstance(made, Assign | Unary) or changed not in self.alone.references:
            return None
        target = peel(made.target if isinstance(made, Assign) else made.operand)
        if not isinstance(target, Name) or not self._is_number(target.symbol):
            return None
        if any(self.context.symbol(number) == target.symbol for number in self.alone.target):
            return None
        inner = made.value if isinstance(made, Assign) else None
        if inner is not None and _changes(inner, set()):
            return None
        if any(self._is_stale(number, value, target.symbol) for number, value in bound.items()):
            return None
        self.effects.add(id(made))
        return made

    def _find_changed(self, row: int) -> int | None:
        """Return the variable that an assignment or increment names as its target."""
        kind, aux, parts = self.table.kind[row], self.table.aux[row], self.table.expressions(row)
        if kind in (kinds.BINARY, kinds.COMPOUND_ASSIGN):
            writes = kinds.FIRST_ASSIGNMENT <= aux <= kinds.LAST_ASSIGNMENT
        else:
            writes = kind == kinds.UNARY and aux in kinds.INCREMENTS
        named = writes and bool(parts) and self.table.kind[parts[0]] == kinds.DECL_REF
        return self.table.aux[parts[0]] if named else None

    def _is_number(self, symbol: Symbol) -> bool:
        """Whether a variable is a number of the caller's that nothing else can reach."""
        own = symbol.storage in ("local", "parameter") and symbol.key not in self.there.escaped
        return own and isinstance(symbol.type, Scalar) and not symbol.type.volatile

    def _is_stale(self, number: int, value: Expr, changed: Symbol) -> bool:
        """Whether a value that was made before a variable changes is another one after it."""
        if self.alone is not None and number in self.alone.references and isinstance(peel(value), Name):
            return False  # it is the variable itself
        return any(name.symbol == changed for name in names(value))

    @property
    def _place(self) -> Span:
        assert self.there.site is not None
        return self.there.site

    def _build_bound(self, row: int, bound: dict[int, Expr]) -> Expr | None:
        self.there.bound = bound
        return self.there.try_expression(row)

    def _branches(self, row: int, rest: list[int], bound: dict[int, Expr]) -> Expr | None:
        parts = self.table.parts(row)
        if len(parts) not in (2, 3) or self.table.kind[parts[0]] > kinds.LAST_EXPR:
            return None
        test = self._build_bound(parts[0], bound)
        then = self.value([parts[1], *rest], dict(bound))
        other = self.value([*parts[2:], *rest], dict(bound))
        if test is None or then is None or other is None or not self.library.is_copied(test):
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
        own = number in self.own and not (self.alone is not None and number in self.alone.references)
        return self.table.kind[target] == kinds.DECL_REF and own and self._sets(number, value, bound)

    def _declares(self, row: int, bound: dict[int, Expr]) -> bool:
        inits = self.table.expressions(row)
        if self.table.kind[row] != kinds.VAR_DECL or not inits:
            return False
        number = self.table.aux[row]
        if self.context.symbol(number).storage != "local":
            return False
        self.own.add(number)
        return self._sets(number, inits[-1], bound)

    def _sets(self, number: int, value: int, bound: dict[int, Expr]) -> bool:
        type = self.context.symbol(number).type
        if isinstance(type, Record):
            self.there.bound = bound
            held = self.there.cxx.object_of(value)
            if held is not None:
                bound[number] = held
            return held is not None
        made = self._build_bound(value, bound) if isinstance(type, Scalar) and not type.volatile else None
        if made is None or not self.library.is_copied(made):
            return False
        bound[number] = self.library.convert(made, type, self._place)
        return True
