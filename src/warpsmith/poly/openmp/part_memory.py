"""The memory of an array with a part for each thread: every part is laid out as the first one is.

    part = malloc(T * sizeof *part);
    for (t = 0; t < T; t++) part[t] = calloc(n, sizeof **part);        rows of their own, all of one size

    part[0] = calloc(T * n, sizeof **part);                            rows in one block that they fill
    for (t = 1; t < T; t++) part[t] = part[t - 1] + n;

Invariant: what one thread may touch of its part another may touch of the first one, and that is no element of something
else. Rows of their own are allocated by loops from 0 up, with one size for all. In one block only subscripts keep rows
apart: element b of row t is element t * n + b of the block. Let S[c], 0 <= c < n, be the sum of the elements t * n + c
over all T rows: an addition to element b of any row is one to S[b mod n], and a loop over all T rows touches S[c] for
all of its rows or leaves the block. So the block must have T * n elements, and the loops must go over T rows; element b
of row 0 lies in the block where that of row t does, if b >= 0.

Limits: one block for all rows, not one for each part's rows; sizes of numbers and variables that do not change.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from warpsmith.poly.claimed import ParallelRegion
from warpsmith.poly.openmp.thread_counts import ThreadCount, constant_of, is_variable, without_casts
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Continue,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    Index,
    InitList,
    Literal,
    Name,
    Return,
    Stmt,
    VarDecl,
)
from warpsmith.tree.types import Array, Pointer, Symbol, byte_size
from warpsmith.tree.walk import loops, names, peel, walk

__all__ = ["NoPartsError", "PartMemory", "find_memory", "subscripts_of"]

_ALLOCATES = frozenset({"malloc", "calloc"})


class NoPartsError(Exception):
    """What is done with an array otherwise than with one that has a part for each thread."""


class PartMemory(Struct, frozen=True):
    """`names`: the ids of the array's Names in statements that give it its memory, or take it back. `rows`: how many
    rows share one block, where they do."""

    names: frozenset[int]
    rows: Expr | None = None


class _Given(Struct, frozen=True):
    """A statement `array[…] = memory`, with the subscripts, and the loops around it, outermost first."""

    stmt: ExprStmt
    subscripts: list[Expr]
    value: Expr
    around: tuple[For, ...]


def find_memory(count: ThreadCount, region: ParallelRegion, symbol: Symbol) -> PartMemory:
    """Return how an array of `count`'s function gets its memory before `region`; raises NoPartsError where its parts
    may not be alike. Names in other statements are not looked at."""
    return _Memory(count, region, symbol).run()


class _Memory(Struct, frozen=True):
    """The rules for one array; each raises at the first statement that breaks it."""

    count: ThreadCount
    region: ParallelRegion
    symbol: Symbol

    def run(self) -> PartMemory:
        for declared in self.find_declared():
            self.check_start(declared)
        given = list(self.find_given())
        known = {id(n) for one in given for n in names(one.stmt) if n.symbol == self.symbol}
        known |= {id(n) for expr in self.find_releases() for n in names(expr)}
        for one in given:
            self.check_time(one)
        chained = [one for one in given if not _is_fresh(one.value)]
        rows = self.check_block(given, chained[0]) if chained else None
        for one in given:
            if one.subscripts and not (rows is not None and len(one.subscripts) == 1):
                self.check_rows(one, rows)
        return PartMemory(frozenset(known), rows[0] if rows is not None else None)

    # --- what is there

    def find_declared(self) -> Iterator[VarDecl]:
        declared = (d for p in walk(self.count.function.body) if isinstance(p, DeclStmt) for d in p.declarations)
        return (d for d in declared if d.symbol == self.symbol)

    def check_start(self, declared: VarDecl) -> None:
        if declared.init is None or _is_fresh(declared.init):
            return
        items = declared.init.items if isinstance(declared.init, InitList) else (None,)
        if not all(item is not None and constant_of(item) == 0 for item in items):
            raise NoPartsError(f"starts as something else than zeroes in line {declared.span.line}")

    def find_releases(self) -> Iterator[Expr]:
        for stmt in walk(self.count.function.body):
            expr = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
            called = direct_call(expr) if isinstance(expr, Call) else None
            given = expr.arguments if isinstance(expr, Call) and called is not None and called.name == "free" else ()
            if len(given) == 1 and subscripts_of(given[0], self.symbol) is not None and expr is not None:
                yield expr

    def find_given(self) -> Iterator[_Given]:
        """Yield the statements that let the array, or a row of it, point to fresh memory or on from another row."""
        around = {id(part): (*outer, loop) for loop, outer in loops(self.count.function.body) for part in walk(loop)}
        for stmt in walk(self.count.function.body):
            expr = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
            if not isinstance(stmt, ExprStmt) or not isinstance(expr, Assign) or expr.op != "=":
                continue
            subscripts = subscripts_of(expr.target, self.symbol)
            if subscripts is None or not isinstance(peel(expr.target).type, Pointer):
                continue
            inside = tuple(loop for loop in around.get(id(stmt), ()) if isinstance(loop, For))
            one = _Given(stmt, subscripts, expr.value, inside)
            fresh = _is_fresh(expr.value) and not self.is_named(*_call_of(expr.value).arguments)
            if not self.is_named(*subscripts) and (fresh or self.step_of(one) is not None):
                yield one

    def is_named(self, *given: Expr) -> bool:
        return any(n.symbol == self.symbol for expr in given for n in names(expr))

    def check_time(self, one: _Given) -> None:
        """Memory comes before the region, once."""
        inside = any(any(p is self.region.body for p in walk(loop)) for loop in one.around)
        if one.stmt.span.start > self.region.pragma.span.start or inside:
            raise NoPartsError(f"gets other memory in line {one.stmt.span.line}")

    # --- rows of their own

    def check_rows(self, one: _Given, rows: tuple[Expr, Expr] | None) -> None:
        """Loops from 0 up give a row of one size to each part; `rows`: how many rows, and in each of them, share one
        block in which these rows are named."""
        line = one.stmt.span.line
        counters = {loop.variable: loop for loop in one.around}
        for at, subscript in enumerate(one.subscripts):
            name = peel(subscript)
            loop = counters.get(name.symbol) if isinstance(name, Name) else None
            if loop is None or constant_of(loop.lower) != 0 or loop.step != 1 or loop.relation != "<" or _leaves(loop):
                raise NoPartsError(f"gets a row in line {line} otherwise than by a loop over all of them")
            exact = rows[at] if rows is not None and at < len(rows) else None
            many = (
                self.count.is_equal([loop.bound], [exact])
                if exact is not None
                else at == 0 or self.count.is_fixed(loop.bound)
            )
            if not many:
                raise NoPartsError(f"gets rows in line {line}, not known to be as many in each part")
        if not _is_nest(one):
            raise NoPartsError(f"gets a row in line {line} in some rounds of a loop only")
        if not all(self.count.is_fixed(argument) for argument in _call_of(one.value).arguments):
            raise NoPartsError(f"gets rows of several sizes in line {line}")

    # --- rows in one block

    def step_of(self, one: _Given) -> Expr | None:
        """Return n of `part[t] = part[t - 1] + n` in a loop over t."""
        value = without_casts(one.value)
        if len(one.subscripts) != 1 or not isinstance(value, Binary) or value.op != "+":
            return None
        before = subscripts_of(value.left, self.symbol)
        less = peel(before[0]) if before is not None and len(before) == 1 else None
        name = peel(one.subscripts[0])
        if not isinstance(less, Binary) or less.op != "-" or constant_of(less.right) != 1 or not isinstance(name, Name):
            return None
        if not is_variable(less.left, name.symbol) or self.is_named(value.right):
            return None
        return value.right

    def check_block(self, given: list[_Given], chain: _Given) -> tuple[Expr, Expr]:
        """Return how many rows share a block, and the elements of each; all of the block belongs to a row."""
        line = chain.stmt.span.line
        step = self.step_of(chain)
        first = next((one for one in given if len(one.subscripts) == 1 and one is not chain), None)
        loop = next((x for x in chain.around if is_variable(chain.subscripts[0], x.variable)), None)
        starts = [one for one in given if not one.subscripts]
        starts_declared = [d for d in self.find_declared() if d.init is not None]
        once = isinstance(self.symbol.type, Array) or len(starts) + len(starts_declared) == 1
        if step is None or first is None or loop is None or not once:
            raise NoPartsError(f"gets rows in line {line} that no block is known to hold")
        if sum(len(one.subscripts) == 1 for one in given) != 2 or constant_of(first.subscripts[0]) != 0:
            raise NoPartsError(f"gets rows in line {line} that lie in more than one block")
        if first.around or not self.runs_once(first.stmt, loop, chain.stmt):
            raise NoPartsError(f"gets rows in line {line} otherwise than once, behind the first row")
        whole = constant_of(loop.lower) == 1 and loop.step == 1 and loop.relation == "<" and not _leaves(loop)
        if not whole or not self.count.is_fixed(loop.bound) or not self.count.is_fixed(step):
            raise NoPartsError(f"gets rows in line {line} that may not be all rows of the block")
        target = peel(first.stmt.expr)
        type = target.target.type if isinstance(target, Assign) else None
        size = byte_size(type.to) if isinstance(type, Pointer) else None
        bytes = Literal(span=step.span, type=step.type, text=str(size), value=size)
        if size is None or not self.count.is_equal(list(_call_of(first.value).arguments), [loop.bound, step, bytes]):
            raise NoPartsError(f"has a block in line {first.stmt.span.line} that its rows are not known to fill")
        return loop.bound, step

    def runs_once(self, first: ExprStmt, loop: For, stmt: ExprStmt) -> bool:
        """Whether `loop`, with `stmt` in each round, comes behind `first` wherever that runs."""
        runs: list[tuple[Stmt, ...]] = [p.statements for p in walk(self.count.function.body) if isinstance(p, Block)]
        behind = any(_follow(run, first, loop) for run in runs)
        outer = [x for x, _ in loops(self.count.function.body) if any(p is first for p in walk(x))]
        return behind and any(s is stmt for s in _body(loop)) and not outer


def subscripts_of(expr: Expr, symbol: Symbol) -> list[Expr] | None:
    """Return the subscripts of a place in an array, the first one first; None for a place elsewhere."""
    found: list[Expr] = []
    current = peel(expr)
    while isinstance(current, Index):
        found.insert(0, current.index)
        current = peel(current.base)
    return found if isinstance(current, Name) and current.symbol == symbol else None


def _follow(run: tuple[Stmt, ...], first: Stmt, second: Stmt) -> bool:
    """Whether two statements stand in a run, one behind the other."""
    places = [next((k for k, stmt in enumerate(run) if stmt is wanted), None) for wanted in (first, second)]
    return places[0] is not None and places[1] is not None and places[0] < places[1]


def _body(loop: For) -> tuple[Stmt, ...]:
    return loop.body.statements if isinstance(loop.body, Block) else (loop.body,)


def _is_nest(one: _Given) -> bool:
    """Whether a statement runs in every round of the loops over its rows."""
    counters = {n.symbol for subscript in one.subscripts for n in names(subscript)}
    first = next(k for k, loop in enumerate(one.around) if loop.variable in counters)
    nest = one.around[first:]
    return all(any(s is inner for s in _body(x)) for x, inner in zip(nest, (*nest[1:], one.stmt), strict=True))


def _leaves(loop: For) -> bool:
    """Whether a loop may leave a round before its end."""
    return any(isinstance(part, Break | Continue | Return) for part in walk(loop.body))


def _call_of(expr: Expr) -> Call:
    expr = without_casts(expr)
    assert isinstance(expr, Call), "asked of what is fresh"
    return expr


def _is_fresh(expr: Expr) -> bool:
    expr = without_casts(expr)
    called = direct_call(expr) if isinstance(expr, Call) else None
    return called is not None and called.name in _ALLOCATES
