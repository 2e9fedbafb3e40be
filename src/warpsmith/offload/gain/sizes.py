"""How often loops run, and what their bounds are worth: numbers where they are certain, estimates where they are not.

    #define N 64    for (i = 0; i < N; i++)             64, certain: the text says so
                    for (i = 0; i < n; i++)             what a counted run has shown, certain for that run; else the
                                                        value of --arg n=…; else that of the only calls, uncertain: a
                                                        parameter may be another number tomorrow; else DEFAULT_TRIPS
                        for (j = i; j < n; j++)         at the mean of i: half of them

Where a run has counted a loop up to n, n has that value in all of the program, in sizes of copies too (`infer_values`).
Limits: a counter counts as its mean, so that a product of triangular counts is too small by a third or so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.offload.plan import LoopCount
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Cast,
    Conditional,
    Expr,
    For,
    Function,
    Index,
    Literal,
    Loop,
    Name,
    Node,
    SizeOf,
    Unary,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import loops, peel, walk

__all__ = ["DEFAULT_TRIPS", "Measured", "Size", "Sizes", "find_changed", "find_doubtful", "infer_values"]

DEFAULT_TRIPS: Final = 4096
"""How often a loop runs whose count nobody knows: often enough that a loop that may run in parallel gains."""

_WHILE_TRIPS: Final = 64
_ROW_TRIPS: Final = 64
"""How often a loop runs whose bounds are elements of arrays: over a row of a sparse matrix, the edges of a vertex."""

Measured = Callable[[Span], LoopCount | None]
"""What a counted run has shown of the loop whose keyword stands at a place."""


class Size(Struct, frozen=True):
    """A number; `certain`: it is the text's own constant, or was measured or given; `guessed`: nothing tells it."""

    value: float
    certain: bool = True
    guessed: bool = False


class Sizes(Struct, frozen=True):
    """The values of variables where a text is entered; `given`: those that the user gave, by name."""

    known: Mapping[Symbol, Size] = field(default_factory=dict)
    given: Mapping[str, int] = field(default_factory=dict)
    measured: Measured | None = None

    def with_values(self, more: Mapping[Symbol, Size]) -> Sizes:
        """Return the sizes where more variables have a value."""
        return replace(self, known={**self.known, **more}) if more else self

    def count(self, place: Span) -> LoopCount | None:
        """Return what a counted run has shown of the loop at a place, if there was one that counted it."""
        return self.measured(place) if self.measured is not None else None

    def value(self, expr: Expr) -> Size | None:
        """Return what an expression is worth, if that can be told."""
        match peel(expr):
            case Literal(value=int() | float() as value):
                return Size(float(value))
            case SizeOf(value=int() as value):
                return Size(float(value))
            case Name(symbol=symbol):
                return self._variable(symbol)
            case Cast(operand=operand) | Unary(op="+", operand=operand):
                return self.value(operand)
            case Unary(op="-", operand=operand):
                inner = self.value(operand)
                return None if inner is None else replace(inner, value=-inner.value)
            case Binary(op=op, left=left, right=right):
                return _combine(op, self.value(left), self.value(right))
            case Conditional(condition=condition, then=then, other=other):
                return self._choose(condition, then, other)
            case _:
                return None

    def trips(self, loop: Loop) -> Size:
        """Return how often a loop runs each time that it is entered."""
        shown = self.count(loop.header)
        if shown is not None:
            return Size(shown.trips)
        if not isinstance(loop, For):
            return Size(_WHILE_TRIPS, certain=False, guessed=True)
        first, last = self.value(loop.lower), self.value(loop.bound)
        if first is None or last is None:
            row = any(isinstance(part, Index) for bound in (loop.lower, loop.bound) for part in walk(bound))
            return Size(_ROW_TRIPS if row else DEFAULT_TRIPS, certain=False, guessed=True)
        way = (last.value - first.value) * (1 if loop.step > 0 else -1) + (1 if loop.relation in ("<=", ">=") else 0)
        return _from(max(0.0, way / abs(loop.step)), first, last)

    def inside(self, loop: Loop) -> Sizes:
        """Return the sizes in the body of a loop: its counter has its mean."""
        if not isinstance(loop, For):
            return self
        first, trips = self.value(loop.lower), self.trips(loop)
        start = first if first is not None else Size(0.0, certain=False, guessed=True)
        mean = start.value + loop.step * max(0.0, trips.value - 1) / 2
        return self.with_values({loop.variable: _from(mean, start, trips)})

    def _variable(self, symbol: Symbol) -> Size | None:
        if symbol.value is not None:
            return Size(float(symbol.value))
        if symbol.name in self.given:
            return Size(float(self.given[symbol.name]))
        return self.known.get(symbol)

    def _choose(self, condition: Expr, then: Expr, other: Expr) -> Size | None:
        """Return the value of the arm that is taken; of an unknown condition the larger one's, if both are known: one
        alone is the border of a range (`n >= 1 ? n : 0`), and not the value."""
        asked, arms = self.value(condition), (self.value(then), self.value(other))
        if asked is not None:
            arm = arms[0] if asked.value else arms[1]
            return None if arm is None else _from(arm.value, arm, asked)
        found = [arm.value for arm in arms if arm is not None]
        return Size(max(found), certain=False, guessed=True) if len(found) == len(arms) else None


def _from(value: float, *of: Size) -> Size:
    """Return what is worked out from others."""
    return Size(value, all(one.certain for one in of), any(one.guessed for one in of))


def _combine(op: str, left: Size | None, right: Size | None) -> Size | None:
    """Return `left op right`."""
    if left is None or right is None:
        return None
    a, b = left.value, right.value
    match op:
        case "+" | "-" | "*":
            value = a + b if op == "+" else a - b if op == "-" else a * b
        case "/" if b:
            value = float(int(a / b))
        case "%" if b:
            value = a - b * int(a / b)
        case "<<" | ">>" if 0 <= b < 64:
            value = a * 2**b if op == "<<" else float(int(a / 2**b))
        case "<" | "<=" | ">" | ">=" | "==" | "!=":
            value = float({"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}[op])
        case "&&":
            value = float(bool(a and b))
        case "||":
            value = float(bool(a or b))
        case _:
            return None
    return _from(value, left, right)


def infer_values(functions: Iterable[Function], sizes: Sizes) -> Mapping[Symbol, Size]:
    """Return the variables that the counts of loops tell: the bound n of `for (i = 0; i < n; i++)`. One that its
    function changes, or of which two loops tell different values, is not told."""
    found: dict[Symbol, set[float]] = {}
    changed: set[Symbol] = set()
    for function in functions:
        changed |= _steps(function.body)
        for loop, _ in loops(function.body):
            told = _solve(loop, sizes) if isinstance(loop, For) else None
            if told is not None:
                found.setdefault(told[0], set()).add(told[1])
    return {symbol: Size(min(of)) for symbol, of in found.items() if len(of) == 1 and symbol not in changed}


def _steps(node: Node) -> set[Symbol]:
    """Return what a loop may change from one of its iterations to the next: it has no single value."""
    return {symbol for loop, _ in loops(node) for symbol in (*find_changed(loop), *find_doubtful(loop))}


def _solve(loop: For, sizes: Sizes) -> tuple[Symbol, float] | None:
    """Return the variable in a loop's bound, and its value where the loop was counted."""
    count, first = sizes.count(loop.header), sizes.value(loop.lower)
    if count is None or not count.entries or first is None or abs(loop.step) != 1:
        return None
    way = count.trips - (1 if loop.relation in ("<=", ">=") else 0)
    bound, value = peel(loop.bound), first.value + loop.step * way
    if isinstance(bound, Binary) and bound.op in ("+", "-"):
        more = sizes.value(bound.right)
        if more is None:
            return None
        value += -more.value if bound.op == "+" else more.value
        bound = peel(bound.left)
    whole = float(value).is_integer()
    return (bound.symbol, value) if isinstance(bound, Name) and bound.symbol.value is None and whole else None


def find_changed(node: Node) -> frozenset[Symbol]:
    """Return the variables that a text may change after they are declared: those that it assigns, counts, or whose
    address it takes."""
    return frozenset(_changed(node))


def _changed(node: Node) -> Iterator[Symbol]:
    for part in walk(node):
        target: Node | None = None
        if isinstance(part, Assign):
            target = peel(part.target)
        elif isinstance(part, Unary) and part.op not in ("+", "-", "~", "!", "*"):
            target = peel(part.operand)
        elif isinstance(part, For) and not part.declares:
            yield part.variable
        if isinstance(target, Name):
            yield target.symbol


def find_doubtful(node: Node) -> frozenset[Symbol]:
    """Return the variables that text which is not modeled may change."""
    return frozenset(s for part in walk(node) if isinstance(part, Verbatim | VerbatimExpr) for s in part.writes)
