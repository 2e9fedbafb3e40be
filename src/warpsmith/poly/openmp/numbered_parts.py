"""Arrays with a part for each thread of a region, which only sums of all parts read.

    #pragma omp parallel
    {
        int me = omp_get_thread_num();
        #pragma omp for
        for (i …) part[me][bin[i]] += x[i];      every thread adds to its own part
    }
    for (t = 0; t < threads; t++)                all parts: a sum
        for (b …) {
            total[b] += part[t][b];
            part[t][b] = 0;                      and all of them are set back
        }

In the region itself all threads may set their parts to zero, and what all of them do, or share, may add up all parts:

        for (k …) part[me][k] = 0;
        #pragma omp for
        for (k …)
            for (t = 0; t < omp_get_num_threads(); t++) total[k] += part[t][k];

Invariant: where an array is found to be one, what the program leaves behind does not depend on which iteration adds to
which part. Let S[b] be the sum of part[t][b] over all t. A region adds to S whatever thread runs what; a loop over all
t, whose body does the same for each t and only adds part[t][b] to something or sets it to 0, changes that and S in a
way that depends on S alone. Nothing else knows the elements: not by the array's name, which stands nowhere else, nor by
another one, since the memory is an array's or fresh, and its address is given to nobody.
The loop goes over as many parts as threads were asked for, or as there are: then their number is the same each time
that the region runs, and no part behind theirs holds anything. Where threads set their parts to zero, S is over theirs
alone. Between what a thread does to its part and a loop over all of them there is a barrier. Numbers have one type, so
that sums lose nothing on the way.
Where parts lie, and that all are alike, is in part_memory.py.

Limits: sums only; parts that are rows or elements (part[me][b], part[me]), not part[me * n + b]; arrays that are local,
or known in one file.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import ParallelRegion, marked_statements, regions_of
from warpsmith.poly.effects.effects import effects
from warpsmith.poly.openmp.concurrency.additions import cleared_in, is_sum_of, is_zero
from warpsmith.poly.openmp.concurrency.barriers import find_unordered
from warpsmith.poly.openmp.concurrency.part_loops import PartLoop, find_part_loops, is_count, once_in
from warpsmith.poly.openmp.nonnegative import is_never_negative
from warpsmith.poly.openmp.part_memory import NoPartsError, PartMemory, find_memory, subscripts_of
from warpsmith.poly.openmp.thread_counts import ThreadCount, constant_of, is_variable
from warpsmith.poly.openmp.thread_numbers import is_number, thread_numbers
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Cast,
    Empty,
    Expr,
    ExprStmt,
    For,
    Function,
    GlobalDecl,
    Index,
    Literal,
    Loop,
    Name,
    Node,
    Stmt,
    Unary,
    VarDecl,
    Verbatim,
)
from warpsmith.tree.types import Array, Pointer, Scalar, Symbol, Type
from warpsmith.tree.walk import loops, names, peel, root_symbol, walk

__all__ = ["NumberedParts", "find_numbered", "find_parts"]

_ALLOCATES = frozenset({"malloc", "calloc"})
_ADDS = frozenset({"+=", "-="})


class NumberedParts(Struct, frozen=True):
    """`free`: the ids of Names that ask for the thread's number as the number of its part, or for the number of parts;
    `why`: what is no array of parts, with the reason. `cleared`: the statements by which threads set elements of their
    parts to zero; `sums`: the loops of the region over all parts."""

    free: frozenset[int] = frozenset()
    why: str = ""
    cleared: tuple[ExprStmt, ...] = ()
    sums: tuple[PartLoop, ...] = ()


class _Update(Struct, frozen=True):
    """A statement that adds to a part: the Name of the array, the number of the part, and which of its elements."""

    array: Name
    number: Expr
    element: Expr


class _Sum(Struct, frozen=True):
    """A loop over all parts in a function, and the ids of the array's Names that were found in it; `only_adds`: it may
    set nothing to zero."""

    holder: Function
    loop: Loop
    variable: Symbol
    names: set[int]
    only_adds: bool = False


class _Uses(Struct, frozen=True):
    """What a region does with its parts: it adds to them, sets them to zero, and adds them up."""

    updates: list[_Update]
    cleared: list[tuple[ExprStmt, _Update]]
    sums: list[tuple[PartLoop, set[int]]]


def find_numbered(body: Node) -> frozenset[Symbol]:
    """Return the arrays of which a region's `body` uses the element, or row, that has the number of its thread."""
    numbers = thread_numbers(body)
    found = (_outermost_index(part) for part in walk(body) if isinstance(part, Index))
    roots = (root_symbol(one.base) for one in found if is_number(one.index, numbers))
    return frozenset(root for root in roots if root is not None)


def find_parts(facts: Facts, function: Function, region: ParallelRegion) -> NumberedParts:
    """Return which questions of a region for its thread's number are those for the number of a part."""
    free: set[int] = set()
    why = ""
    cleared: list[ExprStmt] = []
    sums: dict[int, PartLoop] = {}
    for symbol in sorted(find_numbered(region.body), key=lambda s: s.key):
        check = _Check(facts, function, region, symbol)
        try:
            uses = check.run()
        except NoPartsError as found:
            why = why or f"{symbol.name} {found}"
            continue
        free |= {id(n) for one in (*uses.updates, *(c for _, c in uses.cleared)) for n in names(one.number)}
        free |= {id(n) for one, _ in uses.sums for n in names(one.bound)}
        cleared += [stmt for stmt, _ in uses.cleared]
        sums.update((id(one.loop), one) for one, _ in uses.sums)
    return NumberedParts(frozenset(free), why, tuple(cleared), tuple(sums.values()))


class _Check(Struct, frozen=True):
    """The rules for one array; each raises at the first use that is another one."""

    facts: Facts
    function: Function
    region: ParallelRegion
    symbol: Symbol

    def run(self) -> _Uses:
        """Return what the region does with its parts."""
        self.is_known_here()
        memory = find_memory(ThreadCount(self.facts, self.function), self.region, self.symbol)
        mine = _Uses([], [], [])
        others = exact = behind = False
        for holder in self.find_holders():
            known = set(memory.names) if holder is self.function else set()
            for region in regions_of(holder):
                if region.directive.words == ("parallel",) and _names(region.body, self.symbol):
                    uses = self.read_region(holder, region)
                    mine, others = (uses, others) if region is self.region else (mine, True)
                    exact = exact or bool(uses.cleared or uses.sums)
                    known |= {id(one.array) for one in (*uses.updates, *(c for _, c in uses.cleared))}
                    known |= set[int]().union(*(found for _, found in uses.sums))
                    if memory.rows is not None:
                        self.stays_in_block(holder, uses)
            summed, counted = self.find_sums(holder, memory)
            known, exact, behind = known | summed, exact or counted, behind or bool(summed)
            other = next((n for n in names(holder.body) if n.symbol == self.symbol and id(n) not in known), None)
            if other is not None:
                raise NoPartsError(f"is used in line {other.span.line} otherwise than all of its parts are, as a sum")
        if exact:
            self.has_one_count(mine, others=others, behind=behind)
        return mine

    def has_one_count(self, uses: _Uses, *, others: bool, behind: bool) -> None:
        """Where a region's own number of threads says which parts there are, it is always the same, no other region
        has parts, and where what stands behind the region reads them, the others hold nothing."""
        if others:
            raise NoPartsError("has as many parts as one region has threads, and another region adds to them")
        if not ThreadCount(self.facts, self.function).is_always_same(self.region):
            raise NoPartsError("has as many parts as the region has threads, which may be others each time")
        if behind and not self.starts_as_zero():
            raise NoPartsError("is not known to start as zeroes, and only threads set parts of it to zero")
        body = self.region.body
        kinds = {id(one.array): "own" for one in (*uses.updates, *(c for _, c in uses.cleared))}
        kinds |= {name: "all" for _, found in uses.sums for name in found}
        met = find_unordered(body.statements if isinstance(body, Block) else (body,), kinds)
        if met is not None:
            raise NoPartsError(f"is used in line {met.span.line}, with no barrier to what other threads do to it")

    def starts_as_zero(self) -> bool:
        """Whether all elements are there, and zero, when the array is."""
        inner = self.symbol.type
        while isinstance(inner, Array):
            inner = inner.of
        tops = (p for u in self.facts.program.units for item in u.items for p in walk(item))
        inside = (p for _, f in self.facts.program.functions() for p in walk(f.body))
        found = [p for p in (*tops, *inside) if isinstance(p, VarDecl) and p.symbol == self.symbol]
        static = self.symbol.storage in ("static", "static local")
        zero = all((p.init is None and static) or (p.init is not None and is_zero(p.init)) for p in found)
        return isinstance(self.symbol.type, Array) and isinstance(inner, Scalar) and bool(found) and zero

    def is_known_here(self) -> None:
        """Only the program at hand knows the array, and no jump changes the order of what it does."""
        symbol = self.symbol
        storages = ("local",) if isinstance(symbol.type, Pointer) else ("local", "static", "static local")
        if symbol.storage not in storages:
            raise NoPartsError("may be known elsewhere")
        tops = (item for unit in self.facts.program.units for item in unit.items if isinstance(item, GlobalDecl))
        if any(_names(item, symbol) for item in tops):
            raise NoPartsError("has its address in another variable")
        if any(isinstance(p, Verbatim) and p.control for p in walk(self.function.body)):
            raise NoPartsError("is used in a function with jumps")

    def find_holders(self) -> Iterator[Function]:
        """Yield the functions that name the array."""
        for _, other in self.facts.program.functions():
            if other is self.function or _names(other.body, self.symbol):
                yield other

    # --- in a region

    def read_region(self, holder: Function, region: ParallelRegion) -> _Uses:
        """Return what a region does with the parts; nothing else there names the array."""
        numbers = thread_numbers(region.body)
        stmts = [s for s in walk(region.body) if isinstance(s, ExprStmt) and _names(s, self.symbol)]
        found = [one for s in stmts if (one := self.read_update(s, numbers))]
        cleared = [(s, one) for s in self.done_by_all(region, stmts) if (one := self.read_cleared(s, numbers))]
        sums = list(self.find_region_sums(holder, region))
        known = {id(one.array) for one in (*found, *(c for _, c in cleared))}
        known |= set[int]().union(*(mine for _, mine in sums))
        other = next((n for n in names(region.body) if n.symbol == self.symbol and id(n) not in known), None)
        if other is not None:
            raise NoPartsError(f"is used in line {other.span.line} otherwise than a thread adds to its own part")
        return _Uses(found, cleared, sums)

    def done_by_all(self, region: ParallelRegion, stmts: list[ExprStmt]) -> list[ExprStmt]:
        """Return those of the statements that every thread runs."""
        some = [stmt for _, stmt in marked_statements(region.body, any_build=True)]
        inside = {id(part) for stmt in (*some, *(s for s, _ in once_in(region))) for part in walk(stmt)}
        return [stmt for stmt in stmts if id(stmt) not in inside]

    def read_cleared(self, stmt: ExprStmt, numbers: frozenset[Symbol]) -> _Update | None:
        """Return `part[me][…] = 0` as an update."""
        places = cleared_in(stmt)
        subscripts = subscripts_of(places[0], self.symbol) if len(places) == 1 else None
        if not subscripts or not is_number(subscripts[0], numbers) or isinstance(places[0].type, Pointer):
            return None
        if any(_names(one, self.symbol) for one in subscripts[1:]):
            return None
        return _Update(_array_name(places[0]), subscripts[0], subscripts[min(1, len(subscripts) - 1)])

    def find_region_sums(self, holder: Function, region: ParallelRegion) -> Iterator[tuple[PartLoop, set[int]]]:
        """Yield the loops of a region over the parts of all of its threads, with the ids of the array's Names."""
        once = {id(stmt) for stmt, _ in once_in(region)}
        marked = {id(stmt) for _, stmt in marked_statements(region.body, any_build=True)} - once
        around = {id(loop): outer for loop, outer in loops(holder.body)}
        for one in find_part_loops(region.body):
            if id(one.loop) in marked or not self.walks_parts(one.loop, one.variable):
                continue
            if not is_count(self.facts, holder, region, one) or not self.is_gone(holder, one):
                continue
            counters = frozenset(outer.variable for outer in around[id(one.loop)] if isinstance(outer, For))
            mine: set[int] = set()
            if self.does_the_same(_Sum(holder, one.loop, one.variable, mine, True), one.loop.body, counters):
                yield one, mine

    def is_gone(self, holder: Function, one: PartLoop) -> bool:
        """Whether nothing reads the counter of a loop after it."""
        return one.declares or one.variable not in self.facts.liveness(holder).after[one.loop]

    def read_update(self, stmt: ExprStmt, numbers: frozenset[Symbol]) -> _Update | None:
        """Return `part[me][…] += value` as an update; the value is of the part's kind of numbers."""
        expr = peel(stmt.expr)
        if isinstance(expr, Unary) and ("++" in expr.op or "--" in expr.op):
            target, value = expr.operand, None
        elif isinstance(expr, Assign) and expr.op in _ADDS:
            target, value = expr.target, expr.value
        else:
            return None
        subscripts = subscripts_of(target, self.symbol)
        if not subscripts or not is_number(subscripts[0], numbers):
            return None
        rest = [*subscripts[1:], *([] if value is None else [value])]
        type = peel(target).type
        if any(_names(part, self.symbol) for part in rest) or not isinstance(type, Scalar):
            return None
        if value is not None and (not isinstance(value.type, Scalar) or _is_real(value.type) > _is_real(type)):
            raise NoPartsError(f"takes a whole number of each value that line {stmt.span.line} adds")
        return _Update(_array_name(target), subscripts[0], subscripts[min(1, len(subscripts) - 1)])

    def stays_in_block(self, holder: Function, uses: _Uses) -> None:
        """Where rows share a block, nothing is added in front of a row: before the first one there is no other."""
        if uses.cleared or uses.sums:
            raise NoPartsError("has its rows in one block, and a region does more than add to them")
        for one in uses.updates:
            if not is_never_negative(self.facts.program, holder, one.element):
                line = one.array.span.line
                raise NoPartsError(f"has its rows in one block, and line {line} may add in front of a row")

    # --- sums of all parts

    def find_sums(self, holder: Function, memory: PartMemory) -> tuple[set[int], bool]:
        """Return the ids of Names in loops over all parts that do the same for each, and whether one of them goes over
        as many as the region has threads."""
        threaded = {id(p) for r in regions_of(holder) for p in walk(r.body)}
        marked = {id(stmt) for _, stmt in marked_statements(holder.body, any_build=True)}
        found: set[int] = set()
        exact = False
        for loop, around in loops(holder.body):
            if not isinstance(loop, For) or id(loop) in threaded | marked:
                continue
            if not self.walks_parts(loop, loop.variable):
                continue
            counters = frozenset(outer.variable for outer in around if isinstance(outer, For))
            mine: set[int] = set()
            whole = self.goes_over_all(holder, loop) and self.is_all_of(memory, loop)
            counted = not whole and self.goes_over_threads(holder, loop, memory)
            if (whole or counted) and self.does_the_same(_Sum(holder, loop, loop.variable, mine), loop.body, counters):
                found |= mine
                exact |= counted
        return found, exact

    def goes_over_threads(self, holder: Function, loop: For, memory: PartMemory) -> bool:
        """Whether a loop runs over as many parts as the region has threads."""
        one = next((p for p in find_part_loops(loop) if p.loop is loop), None)
        if holder is not self.function or memory.rows is not None or one is None:
            return False
        return is_count(self.facts, holder, self.region, one)

    def walks_parts(self, loop: Loop, variable: Symbol) -> bool:
        places = (p for p in walk(loop) if isinstance(p, Index))
        found = (s for p in places if (s := subscripts_of(p, self.symbol)))
        return any(is_variable(subscripts[0], variable) for subscripts in found)

    def does_the_same(self, sum: _Sum, stmt: Stmt, counters: frozenset[Symbol]) -> bool:
        """Whether a body does for each part what it does for the others, of this array and of the region's others."""
        if isinstance(stmt, Block):
            return all(self.does_the_same(sum, one, counters) for one in stmt.statements)
        if isinstance(stmt, For):
            fixed = all(self.is_fixed(sum, e, counters) for e in (stmt.lower, stmt.bound))
            return fixed and self.does_the_same(sum, stmt.body, counters | {stmt.variable})
        expr = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
        if isinstance(expr, Assign):
            return any(self.is_of(sum, one, expr, counters) for one in find_numbered(self.region.body))
        return isinstance(stmt, Empty)

    def is_of(self, sum: _Sum, array: Symbol, expr: Assign, counters: frozenset[Symbol]) -> bool:
        """Whether `expr` is `target += part[t][…]` or `part[t][…] = 0` for an `array` of parts."""
        part = expr.value if expr.op in _ADDS else expr.target
        subscripts = subscripts_of(part, array)
        if not subscripts or not is_variable(subscripts[0], sum.variable):
            return False
        if not all(self.is_fixed(sum, one, counters) for one in subscripts[1:]):
            return False
        type = peel(part).type
        zero = expr.op == "=" and _is_zero(expr.value) and isinstance(type, Scalar) and not sum.only_adds
        if not zero and (expr.op == "=" or not self.is_total(sum, expr.target, type, counters)):
            return False
        sum.names.update({id(_array_name(part))} if array == self.symbol else ())
        return True

    def is_total(self, sum: _Sum, target: Expr, type: Type, counters: frozenset[Symbol]) -> bool:
        """Whether what the parts are added to is one place for all of them, with no fewer bits lost on the way."""
        target = peel(target)
        spine = list(_spine(target))
        places = [p.index for p in spine if isinstance(p, Index)]
        arrays = find_numbered(self.region.body)
        if any(n.symbol in arrays for n in names(target)) or not all(isinstance(p, Name | Index) for p in spine):
            return False
        if not all(self.is_fixed(sum, one, counters) for one in places):
            return False
        if isinstance(target, Name) and target.symbol in counters | {sum.variable}:
            return False
        return isinstance(type, Scalar) and isinstance(target.type, Scalar) and is_sum_of(type, target.type)

    def is_fixed(self, sum: _Sum, expr: Expr, counters: frozenset[Symbol]) -> bool:
        """Whether an expression is the same for all parts: of counters, constants, and variables that nothing in the
        loop can change."""
        if not all(isinstance(p, Name | Literal | Binary | Cast) for p in walk(expr)):
            return False
        changed = effects(self.facts.program, sum.loop.body, sum.holder, self.facts.summaries).writes
        body = sum.holder.body
        taken = {root_symbol(p.operand) for p in walk(body) if isinstance(p, Unary) and p.op == "&"}
        taken |= self.facts.summaries.address_taken
        used = {n.symbol for n in names(expr)} - counters
        return sum.variable not in used and all(s.value is not None or s not in taken | changed for s in used)

    # --- how many

    def is_all_of(self, memory: PartMemory, loop: For) -> bool:
        """Whether a loop leaves out none of the rows that share a block."""
        count = ThreadCount(self.facts, self.function)
        return memory.rows is None or count.is_equal([loop.bound], [memory.rows])

    def goes_over_all(self, holder: Function, loop: For) -> bool:
        """Whether a loop runs over as many parts as any region has threads."""
        if constant_of(loop.lower) != 0 or loop.step != 1 or loop.relation != "<":
            return False
        if holder is not self.function and constant_of(loop.bound) is None:
            return False
        regions = [r for r in regions_of(self.function) if _names(r.body, self.symbol)]
        count = ThreadCount(self.facts, self.function)
        return bool(regions) and all(count.is_at_most(region, loop.bound) for region in regions)


def _outermost_index(expr: Index) -> Index:
    """Return the subscript that stands next to the array's name."""
    current = expr
    while isinstance(base := peel(current.base), Index):
        current = base
    return current


def _array_name(expr: Expr) -> Name:
    current = peel(expr)
    while isinstance(current, Index):
        current = peel(current.base)
    assert isinstance(current, Name), "a place in a named array"
    return current


def _spine(expr: Expr) -> Iterator[Expr]:
    """Yield the array, its element, the element of that …: a place without its subscripts."""
    current = peel(expr)
    yield current
    while isinstance(current, Index):
        current = peel(current.base)
        yield current


def _names(node: Node, symbol: Symbol) -> bool:
    return any(n.symbol == symbol for n in names(node))


def _is_zero(expr: Expr) -> bool:
    return constant_of(expr) == 0


def _is_real(type: Scalar) -> bool:
    return type.kind == "float"
