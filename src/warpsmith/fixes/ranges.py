"""How large an integer expression can be, from the text alone: constants, the thread's index, counters of loops.

tile[threadIdx.y + j][threadIdx.x]     block 32,8 and for (j = 0; j < 32; j += 8)     0..31 and 0..31

None stands for what is not known. Everything is an exact integer: what may leave the range of its type is not known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from warpsmith.analysis.uniformity.facts import Dim
from warpsmith.fixes.site import Site
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Cast,
    DeclStmt,
    Expr,
    Literal,
    Member,
    Name,
    Node,
    Unary,
    VarDecl,
    Verbatim,
    VerbatimExpr,
    While,
)  # fmt: skip
from warpsmith.tree.types import Scalar, Symbol, Type, is_integer
from warpsmith.tree.walk import peel, root_symbol, walk

__all__ = ["Ranges", "ValueRange"]

_AXES: Final = "xyz"
_DEEPEST: Final = 24


class ValueRange(Struct, frozen=True):
    """least ≤ it ≤ most."""

    least: int
    most: int


class _Counter(Struct, frozen=True):
    """`for (int i = lower; i < bound; i += step)`: nothing else writes i, and nobody sees it behind the loop."""

    lower: Expr
    bound: Expr
    inclusive: bool
    step: int


class Ranges(Struct, frozen=True):
    """The ranges in one function; `block` where it is known; `initial`: variables that keep what they begin with."""

    block: Dim | None
    initial: Mapping[Symbol, Expr]
    counters: Mapping[Symbol, _Counter]

    @classmethod
    def of(cls, site: Site, block: Dim | None) -> Ranges:
        """Return the ranges of the function of a place."""
        nodes = list(walk(site.function.body))
        writes = Counter(symbol for node in nodes for symbol in _find_written(node))
        loops = [node for node in nodes if isinstance(node, While)]
        found = {symbol: counter for loop in loops for symbol, counter in _counters(loop)}
        counters = {symbol: counter for symbol, counter in found.items() if writes[symbol] == 1}
        declared = {node.symbol: node.init for node in nodes if isinstance(node, VarDecl) and node.init is not None}
        kept = {symbol: init for symbol, init in declared.items() if not writes[symbol]}
        return cls(block, kept, counters)

    def of_expression(self, expr: Expr, depth: int = 0) -> ValueRange | None:
        """Return the range of an expression; None where it is not known."""
        if depth > _DEEPEST or not is_integer(expr.type):
            return None
        found = self._find_range(peel(expr), depth)
        return found if found is not None and _fits(found, expr.type) else None

    def _find_range(self, bare: Expr, depth: int) -> ValueRange | None:
        match bare:
            case Literal(value=int() as number):
                return ValueRange(number, number)
            case Name(symbol=symbol):
                return self._variable(symbol, depth)
            case Member(base=base, field=axis):
                return self._register(peel(base), axis)
            case Cast(operand=operand):
                return self.of_expression(operand, depth + 1)
            case Binary(op=op, left=left, right=right) if op in _RULES:
                one, other = self.of_expression(left, depth + 1), self.of_expression(right, depth + 1)
                return None if one is None or other is None else _RULES[op](one, other)
            case _:
                return None

    def _variable(self, symbol: Symbol, depth: int) -> ValueRange | None:
        if symbol.value is not None:
            return ValueRange(symbol.value, symbol.value)
        if not is_integer(symbol.type):
            return None
        if symbol in self.initial:
            found = self.of_expression(self.initial[symbol], depth + 1)
            return found if found is not None and _fits(found, symbol.type) else None
        counter = self.counters.get(symbol)
        if counter is None:
            return None
        low, high = self.of_expression(counter.lower, depth + 1), self.of_expression(counter.bound, depth + 1)
        if low is None or high is None or low.least > (last := high.most - (not counter.inclusive)):
            return None
        if low.least == low.most:
            last = low.least + (last - low.least) // counter.step * counter.step
        return ValueRange(low.least, last)

    def _register(self, base: Expr, axis: str) -> ValueRange | None:
        if not isinstance(base, Name) or axis not in _AXES or self.block is None:
            return None
        size = self.block[_AXES.index(axis)]
        match base.symbol.name:
            case "threadIdx":
                return ValueRange(0, size - 1)
            case "blockDim":
                return ValueRange(size, size)
            case _:
                return None


def _find_written(node: Node) -> Iterator[Symbol]:
    """Yield the variables that a node writes, or whose address it takes."""
    match node:
        case Assign(target=target):
            found = root_symbol(target)
        case Unary(op="&" | "++x" | "--x" | "x++" | "x--", operand=operand):
            found = root_symbol(operand)
        case Verbatim(writes=writes) | VerbatimExpr(writes=writes):
            yield from writes
            return
        case _:
            return
    if found is not None:
        yield found


def _counters(loop: While) -> Iterator[tuple[Symbol, _Counter]]:
    """Yield the counter of a loop that counts up to a bound, with nothing else in its head."""
    init, test, advance = loop.init, loop.condition, loop.advance
    if not isinstance(init, DeclStmt) or len(init.declarations) != 1 or test is None or advance is None:
        return
    declared, compared = init.declarations[0], peel(test)
    if declared.init is None or not isinstance(compared, Binary) or compared.op not in ("<", "<="):
        return
    tested, step = peel(compared.left), _step(peel(advance), declared.symbol)
    if isinstance(tested, Name) and tested.symbol == declared.symbol and step > 0:
        yield declared.symbol, _Counter(declared.init, compared.right, compared.op == "<=", step)


def _step(advance: Expr, symbol: Symbol) -> int:
    """Return by how much a counter grows; 0 where it is not a number."""
    match advance:
        case Unary(op="++x" | "x++", operand=operand):
            return 1 if root_symbol(operand) == symbol else 0
        case Assign(op="+=", target=target, value=value):
            number = peel(value)
            mine = isinstance(peel(target), Name) and root_symbol(target) == symbol
            return number.value if mine and isinstance(number, Literal) and isinstance(number.value, int) else 0
        case _:
            return 0


def _fits(found: ValueRange, type: Type) -> bool:
    if not isinstance(type, Scalar):
        return False
    signed = type.kind == "signed"
    least, most = (-(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1) if signed else (0, (1 << type.bits) - 1)
    return least <= found.least and found.most <= most


def _sum(one: ValueRange, other: ValueRange) -> ValueRange | None:
    return ValueRange(one.least + other.least, one.most + other.most)


def _difference(one: ValueRange, other: ValueRange) -> ValueRange | None:
    return ValueRange(one.least - other.most, one.most - other.least)


def _product(one: ValueRange, other: ValueRange) -> ValueRange | None:
    ends = [a * b for a in (one.least, one.most) for b in (other.least, other.most)]
    return ValueRange(min(ends), max(ends))


def _quotient(one: ValueRange, other: ValueRange) -> ValueRange | None:
    return ValueRange(one.least // other.most, one.most // other.least) if one.least >= 0 and other.least > 0 else None


def _remainder(one: ValueRange, other: ValueRange) -> ValueRange | None:
    return ValueRange(0, min(one.most, other.most - 1)) if one.least >= 0 and other.least > 0 else None


def _mask(one: ValueRange, other: ValueRange) -> ValueRange | None:
    least = [r for r in (one, other) if r.least >= 0]
    return ValueRange(0, min(r.most for r in least)) if least else None


def _shift_range(one: ValueRange, other: ValueRange) -> ValueRange | None:
    if one.least < 0 or other.least < 0 or other.most > 31:
        return None
    return ValueRange(one.least >> other.most, one.most >> other.least)


_RULES: Final[Mapping[str, Callable[[ValueRange, ValueRange], ValueRange | None]]] = {
    "+": _sum, "-": _difference, "*": _product, "/": _quotient, "%": _remainder, "&": _mask, ">>": _shift_range,
}  # fmt: skip
