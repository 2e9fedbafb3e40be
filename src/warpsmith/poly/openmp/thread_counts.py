"""How many threads a parallel region has at most, as the program asks for them (OpenMP 5.2, 10.1.1).

    #pragma omp parallel num_threads(t)        t
    omp_set_num_threads(t);                    t, where every way to the region leads through it alone
    int t = omp_get_max_threads();             t, where the program chooses no other number

Invariant: the answer is yes only where no run has more threads: an implementation may give fewer, never more.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import ParallelRegion, regions_of
from warpsmith.poly.effects.effects import effects
from warpsmith.poly.openmp.thread_numbers import CHOOSES_COUNT
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    Function,
    Literal,
    Name,
    Node,
    SizeOf,
    Unary,
    VarDecl,
)
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import loops, names, peel, root_symbol, walk

__all__ = ["ThreadCount", "constant_of", "is_variable", "without_casts"]

_MOST = "omp_get_max_threads"
_CHANGING = frozenset({"&", "++x", "--x", "x++", "x--"})


class ThreadCount(Struct, frozen=True):
    """The numbers of threads of the regions of one function."""

    facts: Facts
    function: Function

    def asks_for_most(self, bound: Expr) -> bool:
        """Whether a bound is omp_get_max_threads(), in a program that chooses no other number."""
        value = self.resolve(bound)
        called = direct_call(value) if isinstance(value, Call) else None
        chosen = any(n.symbol.name in CHOOSES_COUNT for _, f in self.facts.program.functions() for n in names(f.body))
        chosen |= any(c.name == "num_threads" for r in regions_of(self.function) for c in r.directive.clauses)
        return called is not None and called.name == _MOST and not chosen

    def is_at_most(self, region: ParallelRegion, bound: Expr) -> bool:
        """Whether a region has no more threads than `bound` says: by its clause, by a call before it, or since `bound`
        is what omp_get_max_threads() gives."""
        if self.asks_for_most(bound):
            return True
        given = next((c for c in region.directive.clauses if c.name == "num_threads"), None)
        value = self.resolve(bound)
        if given is not None:
            asked = given.argument.strip() or "".join(v.name for v in given.variables)
            if asked.isdigit() and isinstance(number := constant_of(value), int):
                return number >= int(asked)
            alike = {n.symbol for n in names(self.function.body) if n.symbol.name == asked}
            alike |= {p.symbol for p in walk(self.function.body) if isinstance(p, VarDecl) and p.symbol.name == asked}
            named = (e for e in (peel(bound), value) if isinstance(e, Name) and e.symbol.name == asked)
            return any(alike <= {e.symbol} and self.is_steady(e) for e in named)
        calls = self.find_choices()
        own = self.find_choice_before(region)
        return own is not None and len(calls) == 1 and calls[0] is own and self.is_same(own.arguments[0], bound)

    def is_always_same(self, region: ParallelRegion) -> bool:
        """Whether a region has the same number of threads each time that it runs: nothing in the program chooses it,
        or a number is chosen by its clause or in front of it."""
        counts = [c for c in region.directive.clauses if c.name in ("num_threads", "if")]
        if counts:
            return len(counts) == 1 and counts[0].name == "num_threads" and counts[0].argument.strip().isdigit()
        calls = self.find_choices()
        own = self.find_choice_before(region)
        return not calls or (len(calls) == 1 and calls[0] is own and constant_of(own.arguments[0]) is not None)

    def find_choices(self) -> list[Call]:
        """Return all calls of the program that choose the number of threads."""
        everything = (p for _, f in self.facts.program.functions() for p in walk(f.body))
        return [p for p in everything if isinstance(p, Call) and (s := direct_call(p)) and s.name in CHOOSES_COUNT]

    def find_choice_before(self, region: ParallelRegion) -> Call | None:
        """Return the call of omp_set_num_threads that every way to the region goes through last."""
        found: Call | None = None
        for block in (p for p in walk(self.function.body) if isinstance(p, Block)):
            where = next((k for k, s in enumerate(block.statements) if any(p is region.body for p in walk(s))), None)
            for stmt in block.statements[:where] if where is not None else ():
                expr = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
                called = direct_call(expr) if isinstance(expr, Call) else None
                if called is not None and called.name == "omp_set_num_threads" and isinstance(expr, Call):
                    found = expr
        return found

    def is_same(self, asked: Expr, bound: Expr) -> bool:
        """Whether what is asked for is `bound`, or a smaller constant."""
        one, other = self.resolve(asked), self.resolve(bound)
        numbers = constant_of(one), constant_of(other)
        if isinstance(numbers[0], int) and isinstance(numbers[1], int):
            return numbers[0] <= numbers[1]
        return isinstance(one, Name) and isinstance(other, Name) and one.symbol == other.symbol and self.is_steady(one)

    def resolve(self, expr: Expr) -> Expr:
        """Return what a local variable is set to once, in place of the variable."""
        expr = peel(expr)
        if not isinstance(expr, Name) or expr.symbol.storage != "local" or not self.is_set_once(expr.symbol):
            return expr
        body = self.function.body
        given = [d.init for p in walk(body) if isinstance(p, DeclStmt) for d in p.declarations
                 if d.symbol == expr.symbol and d.init is not None]  # fmt: skip
        given += [p.value for p in walk(body) if isinstance(p, Assign) and is_variable(p.target, expr.symbol)]
        return peel(given[0])

    def is_set_once(self, symbol: Symbol) -> bool:
        """Whether the function's text sets a local variable in one place."""
        return self.count_writes(symbol) == 1

    def count_writes(self, symbol: Symbol) -> int:
        """Return how often the function sets a local variable: many where its address is taken, or a loop does it."""
        again = {id(part) for loop, _ in loops(self.function.body) for part in walk(loop) if isinstance(part, Assign)}
        return sum(_writes(part, symbol) * (2 if id(part) in again else 1) for part in walk(self.function.body))

    def is_steady(self, name: Name) -> bool:
        """Whether a variable has one value in all of the function."""
        symbol = name.symbol
        if symbol.value is not None:
            return True
        done = effects(self.facts.program, self.function.body, self.function, self.facts.summaries)
        if symbol.storage in ("global", "static"):
            return symbol not in done.writes and not done.calls_unknown
        return self.count_writes(symbol) <= (1 if symbol.storage == "local" else 0)

    def is_fixed(self, expr: Expr) -> bool:
        """Whether an expression has one value in all of the function."""
        kinds = (Name, Literal, Binary, Cast, SizeOf)
        steady = (self.is_steady(n) for n in names(expr))
        return all(isinstance(p, kinds) for p in walk(expr)) and all(steady)

    def is_equal(self, one: Sequence[Expr], other: Sequence[Expr]) -> bool:
        """Whether two products are the same number: of numbers, sizes, and variables that do not change."""
        sides = [self._factors(side) for side in (one, other)]
        return sides[0] is not None and sides[0] == sides[1]

    def _factors(self, exprs: Sequence[Expr]) -> tuple[int, list[str]] | None:
        """Return the number and the variables that a product is made of; None where it is made of something else."""
        number, variables = 1, list[str]()
        for expr in exprs:
            found = self._factors_of(without_casts(expr))
            if found is None:
                return None
            number *= found[0]
            variables += found[1]
        return number, sorted(variables)

    def _factors_of(self, expr: Expr) -> tuple[int, list[str]] | None:
        number = expr.value if isinstance(expr, SizeOf) else constant_of(expr)
        if isinstance(number, int):
            return number, []
        if isinstance(expr, Binary) and expr.op == "*":
            return self._factors([expr.left, expr.right])
        if not isinstance(expr, Name):
            return None
        value = self.resolve(expr)
        found = self._factors([value]) if value is not expr else None
        return found or ((1, [expr.symbol.key]) if self.is_steady(expr) else None)


def _writes(part: Node, symbol: Symbol) -> int:
    """Return how often a node sets a variable itself, inner nodes aside: 2 for anything but one plain assignment."""
    if isinstance(part, VarDecl):
        return int(part.symbol == symbol and part.init is not None)
    if isinstance(part, Assign):
        return (1 if part.op == "=" else 2) * (root_symbol(part.target) == symbol)
    if isinstance(part, Unary):
        return 2 * (part.op in _CHANGING and root_symbol(part.operand) == symbol)
    if isinstance(part, For):
        return 2 * (part.variable == symbol)
    return 2 * (symbol in getattr(part, "writes", ()))


def is_variable(expr: Expr, symbol: Symbol) -> bool:
    """Whether an expression is a variable as it stands."""
    expr = peel(expr)
    return isinstance(expr, Name) and expr.symbol == symbol


def constant_of(expr: Expr) -> int | float | None:
    """Return the number that an expression is, casts aside."""
    expr = without_casts(expr)
    if isinstance(expr, Name):
        return expr.symbol.value
    return expr.value if isinstance(expr, Literal) else None


def without_casts(expr: Expr) -> Expr:
    """Return what is converted, however often."""
    expr = peel(expr)
    while isinstance(expr, Cast):
        expr = peel(expr.operand)
    return expr
