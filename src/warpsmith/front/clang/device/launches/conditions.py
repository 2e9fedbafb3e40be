"""Conditions of one function that are asked more than once, and what stays known of them in between.

    if (n > 1) bs = 256; …   if (n > 1) k<<<g, bs>>>(…);         the second one is worth what the first one was
    if (n > 1) …  n = f();   if (n > 1) …                        n is another one: nothing is known

A condition has a key where it is made of numbers, operators without effects, and variables of the function that
nothing else can change; equal keys are equal values as long as none of the variables is written. `a > b` has the key of
`b < a`, `!c` that of `c`, with the other sense; `!(a < b)` is not `a >= b`, which a NaN makes different.
Runs in the worker process only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from warpsmith.front.clang import kinds
from warpsmith.front.clang.device.launches.numbers import Numbers
from warpsmith.front.clang.device.launches.places import CONDITION, HostPlaces, Place, Values
from warpsmith.front.clang.libclang import Cursor

__all__ = ["Conditions"]

_VALUES: Final = frozenset({*kinds.ARITHMETIC, kinds.T_ENUM, kinds.T_POINTER})
_VARIABLES: Final = frozenset({kinds.VAR_DECL, kinds.PARM_DECL})
_CASTS: Final = frozenset({kinds.UNEXPOSED_EXPR, kinds.CAST, kinds.STATIC_CAST, kinds.FUNCTIONAL_CAST})
_BINARY: Final = frozenset({
    "*", "/", "%", "+", "-", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&", "|", "^", "&&", "||",
})  # fmt: skip
_UNARY: Final = frozenset({"+", "-", "~", "!"})
_SWAPPED: Final = {">": "<", ">=": "<="}
_TRUE: Final[Numbers] = frozenset({1})
_FALSE: Final[Numbers] = frozenset({0})


class Conditions:
    """The conditions of one function."""

    def __init__(self, reader: HostPlaces, function: Cursor) -> None:
        self.reader = reader
        self.library = reader.library
        self._variables: dict[str, frozenset[int]] = {}
        self._keys: dict[tuple[int, int | None, int | None], str | None] = {}
        counts = Counter(key for condition in self._asked(function) for key in self._parts(condition))
        self._again = {key for key, count in counts.items() if count > 1}

    def decide(self, condition: Cursor, known: Mapping[Place, Numbers]) -> bool | None:
        """Return what a condition is worth, by what was learned of it or of its parts."""
        if not self._again:
            return None
        inner, same = self._bare(condition)
        symbol, parts = self._operator(inner)
        found: bool | None = None
        if symbol in ("&&", "||"):
            truths = [self.decide(part, known) for part in parts]
            ending = symbol == "||"
            found = ending if ending in truths else (None if None in truths else not ending)
        if found is None:
            values = known.get((CONDITION, self._key(inner) or ""))
            found = None if values is None else values == _TRUE
        return found if found is None or same else not found

    def learn(self, condition: Cursor, outcome: bool) -> Values:
        """Return what is known of conditions where one has this outcome."""
        if not self._again:
            return {}
        inner, same = self._bare(condition)
        truth = outcome == same
        symbol, parts = self._operator(inner)
        learned = Values()
        if (symbol, truth) in (("&&", True), ("||", False)):
            for part in parts:
                learned |= self.learn(part, truth)
        key = self._key(inner)
        if key in self._again:
            assert key is not None
            learned[CONDITION, key] = _TRUE if truth else _FALSE
        return learned

    def drop(self, known: Mapping[Place, Numbers], variables: set[int]) -> Values:
        """Return what is known without the conditions that rest on some variables."""
        return {
            place: values
            for place, values in known.items()
            if place[0] != CONDITION or not self._variables[place[1]] & variables
        }

    def forget(self, known: Mapping[Place, Numbers], variables: set[int]) -> Values:
        """Return what is known without some variables, and without the conditions that rest on them."""
        return {place: values for place, values in self.drop(known, variables).items() if place[0] not in variables}

    # --- which are asked

    def _asked(self, function: Cursor) -> Iterator[Cursor]:
        stack = [function]
        while stack:
            cursor = stack.pop()
            parts = self.reader.below(cursor)
            stack += parts
            if cursor.kind in (kinds.IF, kinds.CONDITIONAL):
                yield from [part for part in parts if kinds.UNEXPOSED_EXPR <= part.kind <= kinds.LAST_EXPR][:1]

    def _parts(self, condition: Cursor) -> Iterator[str]:
        inner, _ = self._bare(condition)
        symbol, parts = self._operator(inner)
        if symbol in ("&&", "||"):
            for part in parts:
                yield from self._parts(part)
        key = self._key(inner)
        if key is not None:
            yield key

    # --- keys

    def _bare(self, condition: Cursor) -> tuple[Cursor, bool]:
        """Return a condition without parentheses and negations, and whether its sense is the same."""
        same = True
        while True:
            parts = self.reader.expressions(condition)
            symbol, _ = self._operator(condition)
            if symbol == "!" or (condition.kind == kinds.PAREN and len(parts) == 1):
                same, condition = same != (symbol == "!"), parts[0]
            else:
                return condition, same

    def _operator(self, cursor: Cursor) -> tuple[str, list[Cursor]]:
        """Return the operator of an expression, "" where it is none without effects, and its operands."""
        parts = self.reader.expressions(cursor)
        if cursor.kind == kinds.BINARY and len(parts) == 2:
            symbol = kinds.BINARY_OPERATORS[int(self.library.getCursorBinaryOperatorKind(cursor))]
            return (symbol if symbol in _BINARY else ""), parts
        if cursor.kind == kinds.UNARY and len(parts) == 1:
            symbol = kinds.UNARY_OPERATORS[int(self.library.getCursorUnaryOperatorKind(cursor))]
            return (symbol if symbol in _UNARY else ""), parts
        return "", parts

    def _key(self, cursor: Cursor) -> str | None:
        place = cursor.kind, cursor.first, cursor.second
        if place not in self._keys:
            named = set[int]()
            key = self._spell(cursor, named)
            self._keys[place] = key if named else None
            if key is not None:
                self._variables[key] = frozenset(named)
        return self._keys[place]

    def _spell(self, cursor: Cursor, named: set[int]) -> str | None:
        """Return the key of an expression; the variables in it are put into `named`."""
        parts, type = self.reader.expressions(cursor), self.reader.type(cursor)
        if type.kind not in _VALUES or self.library.isVolatileQualifiedType(type):
            return None
        if cursor.kind == kinds.PAREN and len(parts) == 1:
            return self._spell(parts[0], named)
        constant = self.reader.constant(cursor) if self._may_be_constant(cursor) else None
        if constant is not None:
            return f"{constant!r}:{type.kind}"
        if cursor.kind == kinds.DECL_REF:
            return self._spell_variable(self.reader.referenced(cursor), named)
        symbol, parts = self._operator(cursor)
        if not symbol and (cursor.kind not in _CASTS or len(parts) != 1):
            return None
        spelled = [self._spell(part, named) for part in parts]
        if None in spelled:
            return None
        if symbol in _SWAPPED:
            symbol, spelled = _SWAPPED[symbol], spelled[::-1]
        head = symbol or self.library.text(self.library.getTypeSpelling(type))
        return f"({head} {' '.join(part or '' for part in spelled)})"

    def _may_be_constant(self, cursor: Cursor) -> bool:
        """Whether an expression is no variable that may change."""
        named = self.reader.referenced(cursor) if cursor.kind == kinds.DECL_REF else None
        if named is None or named.kind not in _VARIABLES:
            return True
        return bool(self.library.isConstQualifiedType(self.reader.type(named)))

    def _spell_variable(self, variable: Cursor, named: set[int]) -> str | None:
        number = int(variable.first or 0)
        if (
            variable.kind not in _VARIABLES
            or number in self.reader.facts.escaped
            or self.reader.is_shared(variable)
            or self.reader.is_reference(variable)
        ):
            return None
        named.add(number)
        return f"v{number}"
