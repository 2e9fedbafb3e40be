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

Invariant: where an array is found to be one, what the program leaves behind does not depend on which iteration adds to
which part. Let S[b] be the sum of part[t][b] over all t. A region adds to S whatever thread runs what; a loop over all
t, whose body does the same for each t and only adds part[t][b] to something or sets it to 0, changes that and S in a
way that depends on S alone. Nothing else knows the elements: not by the array's name, which stands nowhere else, nor by
another one, since the memory is an array's or fresh, and its address is given to nobody.
The loop goes over as many parts as threads were asked for. Numbers have one type, so that sums lose nothing on the way.

Limits: sums only; parts that are rows or elements (part[me][b], part[me]), not part[me * n + b], nor rows that lie in
one block (part[i] = part[i - 1] + n), where only subscripts keep them apart; arrays that are local, or known in one
file.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import ParallelRegion, marked_statements, regions_of
from warpsmith.poly.effects.effects import effects
from warpsmith.poly.openmp.thread_counts import ThreadCount, constant_of, is_variable
from warpsmith.poly.openmp.thread_numbers import is_number, thread_numbers
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    DeclStmt,
    Empty,
    Expr,
    ExprStmt,
    For,
    Function,
    GlobalDecl,
    Index,
    InitList,
    Literal,
    Name,
    Node,
    Stmt,
    Unary,
    VarDecl,
    Verbatim,
)
from warpsmith.tree.types import Pointer, Scalar, Symbol, Type
from warpsmith.tree.walk import loops, names, peel, root_symbol, walk

__all__ = ["NumberedParts", "find_numbered", "find_parts"]

_ALLOCATES = frozenset({"malloc", "calloc"})
_ADDS = frozenset({"+=", "-="})


class NumberedParts(Struct, frozen=True):
    """`free`: the ids of Names that ask for the thread's number as the number of its part; `why`: what is no array of
    parts, with the reason."""

    free: frozenset[int] = frozenset()
    why: str = ""


class _Update(Struct, frozen=True):
    """A statement that adds to a part: the Name of the array, and the number of the part."""

    array: Name
    number: Expr


class _Sum(Struct, frozen=True):
    """A loop over all parts in a function, and the ids of the array's Names that were found in it."""

    holder: Function
    loop: For
    names: set[int]


class _NoPartsError(Exception):
    """What is done with an array otherwise."""


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
    for symbol in sorted(find_numbered(region.body), key=lambda s: s.key):
        check = _Check(facts, function, region, symbol)
        try:
            free |= check.run()
        except _NoPartsError as found:
            why = why or f"{symbol.name} {found}"
    return NumberedParts(frozenset(free), why)


class _Check(Struct, frozen=True):
    """The rules for one array; each raises at the first use that is another one."""

    facts: Facts
    function: Function
    region: ParallelRegion
    symbol: Symbol

    def run(self) -> set[int]:
        """Return the ids of the Names that ask for the number."""
        self.is_known_here()
        added: dict[int, list[_Update]] = {}
        for holder in self.find_holders():
            known: set[int] = set()
            for region in regions_of(holder):
                if region.directive.words == ("parallel",) and _names(region.body, self.symbol):
                    added[id(region)] = self.read_region(region)
                    known |= {id(one.array) for one in added[id(region)]}
            known |= self.find_set_up(holder) if holder is self.function else set()
            known |= self.find_sums(holder)
            other = next((n for n in names(holder.body) if n.symbol == self.symbol and id(n) not in known), None)
            if other is not None:
                raise _NoPartsError(f"is used in line {other.span.line} otherwise than all of its parts are, as a sum")
        mine = added.get(id(self.region), [])
        return {id(n) for one in mine for n in names(one.number)}

    def is_known_here(self) -> None:
        """Only the program at hand knows the array, and no jump changes the order of what it does."""
        symbol = self.symbol
        storages = ("local",) if isinstance(symbol.type, Pointer) else ("local", "static", "static local")
        if symbol.storage not in storages:
            raise _NoPartsError("may be known elsewhere")
        tops = (item for unit in self.facts.program.units for item in unit.items if isinstance(item, GlobalDecl))
        if any(_names(item, symbol) for item in tops):
            raise _NoPartsError("has its address in another variable")
        if any(isinstance(p, Verbatim) and p.control for p in walk(self.function.body)):
            raise _NoPartsError("is used in a function with jumps")

    def find_holders(self) -> Iterator[Function]:
        """Yield the functions that name the array."""
        for _, other in self.facts.program.functions():
            if other is self.function or _names(other.body, self.symbol):
                yield other

    # --- in a region

    def read_region(self, region: ParallelRegion) -> list[_Update]:
        """Return the statements of a region that add to their thread's part: nothing else there names the array."""
        numbers = thread_numbers(region.body)
        found = [one for s in walk(region.body) if isinstance(s, ExprStmt) and (one := self.read_update(s, numbers))]
        known = {id(one.array) for one in found}
        other = next((n for n in names(region.body) if n.symbol == self.symbol and id(n) not in known), None)
        if other is not None:
            raise _NoPartsError(f"is used in line {other.span.line} otherwise than a thread adds to its own part")
        return found

    def read_update(self, stmt: ExprStmt, numbers: frozenset[Symbol]) -> _Update | None:
        """Return `part[me][…] += value` as an update; the value is of the part's kind of numbers."""
        expr = peel(stmt.expr)
        if isinstance(expr, Unary) and ("++" in expr.op or "--" in expr.op):
            target, value = expr.operand, None
        elif isinstance(expr, Assign) and expr.op in _ADDS:
            target, value = expr.target, expr.value
        else:
            return None
        subscripts = _subscripts(target, self.symbol)
        if not subscripts or not is_number(subscripts[0], numbers):
            return None
        rest = [*subscripts[1:], *([] if value is None else [value])]
        type = peel(target).type
        if any(_names(part, self.symbol) for part in rest) or not isinstance(type, Scalar):
            return None
        if value is not None and (not isinstance(value.type, Scalar) or _is_real(value.type) > _is_real(type)):
            raise _NoPartsError(f"takes a whole number of each value that line {stmt.span.line} adds")
        return _Update(_array_name(target), subscripts[0])

    # --- memory

    def find_set_up(self, holder: Function) -> set[int]:
        """Return the ids of Names in statements that give the array its memory, before the region, or take it back."""
        found: set[int] = set()
        inside = [loop for loop, _ in loops(holder.body) if any(p is self.region.body for p in walk(loop))]
        again = {id(part) for loop in inside for part in walk(loop)}
        for stmt in walk(holder.body):
            if isinstance(stmt, DeclStmt):
                for declared in stmt.declarations:
                    self.check_declaration(declared)
            if not isinstance(stmt, ExprStmt):
                continue
            expr = peel(stmt.expr)
            if self.is_release(expr) or self.is_row(expr):
                if isinstance(expr, Assign) and (stmt.span.start > self.region.pragma.span.start or id(stmt) in again):
                    raise _NoPartsError(f"gets other memory in line {stmt.span.line}")
                found |= {id(n) for n in names(expr) if n.symbol == self.symbol}
        return found

    def check_declaration(self, declared: VarDecl) -> None:
        if declared.symbol != self.symbol or declared.init is None or _is_fresh(declared.init):
            return
        items = declared.init.items if isinstance(declared.init, InitList) else (None,)
        if not all(item is not None and _is_zero(item) for item in items):
            raise _NoPartsError(f"starts as something else than zeroes in line {declared.span.line}")

    def is_release(self, expr: Expr) -> bool:
        called = direct_call(expr) if isinstance(expr, Call) else None
        if called is None or called.name != "free" or not isinstance(expr, Call) or len(expr.arguments) != 1:
            return False
        return _subscripts(expr.arguments[0], self.symbol) is not None

    def is_row(self, expr: Expr) -> bool:
        """Whether `expr` lets the array, or one of its rows, point to fresh memory."""
        if not isinstance(expr, Assign) or expr.op != "=" or not isinstance(peel(expr.target).type, Pointer):
            return False
        subscripts = _subscripts(expr.target, self.symbol)
        if subscripts is None or any(_names(one, self.symbol) for one in subscripts):
            return False
        return _is_fresh(expr.value) and not any(_names(a, self.symbol) for a in _call_of(expr.value).arguments)

    # --- sums of all parts

    def find_sums(self, holder: Function) -> set[int]:
        """Return the ids of Names in loops over all parts that do the same for each."""
        threaded = {id(p) for r in regions_of(holder) for p in walk(r.body)}
        marked = {id(stmt) for _, stmt in marked_statements(holder.body, any_build=True)}
        found: set[int] = set()
        for loop, around in loops(holder.body):
            if not isinstance(loop, For) or id(loop) in threaded | marked or not self.walks_parts(loop):
                continue
            counters = frozenset(outer.variable for outer in around if isinstance(outer, For))
            mine: set[int] = set()
            if self.goes_over_all(holder, loop) and self.does_the_same(_Sum(holder, loop, mine), loop.body, counters):
                found |= mine
        return found

    def walks_parts(self, loop: For) -> bool:
        places = (p for p in walk(loop) if isinstance(p, Index))
        found = (s for p in places if (s := _subscripts(p, self.symbol)))
        return any(is_variable(subscripts[0], loop.variable) for subscripts in found)

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
        subscripts = _subscripts(part, array)
        if not subscripts or not is_variable(subscripts[0], sum.loop.variable):
            return False
        if not all(self.is_fixed(sum, one, counters) for one in subscripts[1:]):
            return False
        type = peel(part).type
        zero = expr.op == "=" and _is_zero(expr.value) and isinstance(type, Scalar)
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
        if isinstance(target, Name) and target.symbol in counters | {sum.loop.variable}:
            return False
        return isinstance(type, Scalar) and isinstance(target.type, Scalar) and _is_sum_of(type, target.type)

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
        return sum.loop.variable not in used and all(s.value is not None or s not in taken | changed for s in used)

    # --- how many

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


def _subscripts(expr: Expr, symbol: Symbol) -> list[Expr] | None:
    """Return the subscripts of a place in an array, the first one first; None for a place elsewhere."""
    found: list[Expr] = []
    current = peel(expr)
    while isinstance(current, Index):
        found.insert(0, current.index)
        current = peel(current.base)
    return found if isinstance(current, Name) and current.symbol == symbol else None


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


def _call_of(expr: Expr) -> Call:
    expr = peel(expr)
    while isinstance(expr, Cast):
        expr = peel(expr.operand)
    assert isinstance(expr, Call), "asked of what is fresh"
    return expr


def _is_fresh(expr: Expr) -> bool:
    expr = peel(expr)
    while isinstance(expr, Cast):
        expr = peel(expr.operand)
    called = direct_call(expr) if isinstance(expr, Call) else None
    return called is not None and called.name in _ALLOCATES


def _is_real(type: Scalar) -> bool:
    return type.kind == "float"


def _is_sum_of(part: Scalar, total: Scalar) -> bool:
    """Whether sums in the type of the parts lose nothing that a sum in the total's type has."""
    kinds = {part.kind, total.kind}
    alike = kinds == {"float"} or kinds <= {"signed", "unsigned"}
    return alike and part.bits >= total.bits
