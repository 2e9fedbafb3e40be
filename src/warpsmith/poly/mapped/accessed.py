"""What one statement does with arrays and scalars: which it reads and writes, which part, and whether certainly.

for (i = 0; i < n; i++) b[i] = a[i];     reads a [0, n), writes b [0, n), all of it
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.poly.analyze import Facts
from warpsmith.poly.effects.effects import effects
from warpsmith.poly.facts import Section
from warpsmith.poly.isl.polynomial import Polynomial
from warpsmith.poly.isl.space import OutOfBudgetError, budget
from warpsmith.poly.legality import privacy
from warpsmith.poly.mapped.extents import Extent, lower_bound, polynomial, simpler_bound, upper_bound
from warpsmith.poly.regions.covers import covers, surely_touch
from warpsmith.poly.regions.model import build_region
from warpsmith.poly.regions.region import Access, Region, Statement
from warpsmith.poly.regions.sections import SHARE, covered_sections, known_extent, loops_around
from warpsmith.poly.regions.state import State
from warpsmith.tree.named import find_named
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    ExprStmt,
    Function,
    Index,
    Literal,
    MacroUse,
    Name,
    SizeOf,
    Stmt,
    Unary,
    VarDecl,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.types import Array, Pointer, Record, Scalar, Symbol, Type, byte_size, element_type
from warpsmith.tree.walk import names, peel, walk

__all__ = [
    "Touched", "certainly_reads", "certainly_touches", "certainly_writes", "extent_between", "is_arithmetic",
    "needs_old", "touched_by", "uses_elements_only", "whole_extent",
]  # fmt: skip

_READABLE = (Binary, Cast, Conditional, Literal, MacroUse, Name, Unary, SizeOf)

_FILLS: Final = ("memcpy", "memmove", "memset")
_WORD: Final = 32
_LASTING = ("global", "static", "static local")


class Touched(Struct, frozen=True):
    """What a statement does with one variable. `extent`: the elements that it touches (None: not known, or a scalar);
    `exposed`: it may read an element that it has not written before; `covers`: all of `extent` is certainly written;
    `within`: another extent, with simpler ends, that holds it."""

    symbol: Symbol
    read: bool
    written: bool
    extent: Extent | None = None
    covers: bool = False
    exposed: bool = False
    within: Extent | None = None


def touched_by(
    facts: Facts,
    function: Function,
    stmt: Stmt,
    values: Mapping[Symbol, Polynomial],
    wanted: Callable[[Symbol], bool],
) -> tuple[Touched, ...]:
    """Return what a statement does with the variables that are `wanted`, in the order of their names."""
    done = effects(facts.program, stmt, function, facts.summaries)
    named = {symbol for part in walk(stmt) for symbol in find_named(part)}
    near = {s for s in done.element_reads | done.element_writes if s in named or s.storage in _LASTING}
    memory = {s for s in near if _is_memory(s)}
    own = {s for s in done.direct_reads | done.direct_writes if isinstance(s.type, Scalar | Record)} - memory
    found = [Touched(s, s in done.direct_reads, s in done.direct_writes, exposed=s in done.direct_reads,
                     covers=_certainly_writes(stmt, s)) for s in own if wanted(s)]  # fmt: skip
    for symbol in memory:
        if wanted(symbol):
            found.append(_memory(facts, function, stmt, values, symbol,
                                 read=symbol in done.element_reads, written=symbol in done.element_writes))  # fmt: skip
    return tuple(sorted(found, key=lambda one: one.symbol.key))


def _is_memory(symbol: Symbol) -> bool:
    return isinstance(symbol.type, Array | Pointer | Record)


def _certainly_writes(stmt: Stmt, symbol: Symbol) -> bool:
    """Whether a plain assignment at the top of a statement gives a scalar its value."""
    if not isinstance(stmt, ExprStmt) or not isinstance(stmt.expr, Assign):
        return False
    target = stmt.expr.target
    return stmt.expr.op == "=" and isinstance(target, Name) and target.symbol == symbol


def _memory(
    facts: Facts,
    function: Function,
    stmt: Stmt,
    values: Mapping[Symbol, Polynomial],
    symbol: Symbol,
    *,
    read: bool,
    written: bool,
) -> Touched:
    filled = _filled(facts, stmt, values, symbol)
    if filled is not None and not read:
        return Touched(symbol, read, written, filled, covers=True)
    found = covered_sections(
        facts.program, function, (stmt,), (stmt,), facts.options, summaries=facts.summaries, wanted=symbol
    )
    section = next((s for s in found.sections if s.symbol == symbol), None)
    if section is None or any(r.text for r in found.failures):
        return Touched(symbol, read, written, exposed=read)
    extent = _extent(section, values)
    exposed = read and _is_exposed(facts, function, stmt, symbol, covered=section.covers)
    simpler = simpler_bound(section.upper, values)
    within = Extent(extent.lower, simpler) if extent is not None and simpler is not None else None
    return Touched(symbol, read, written, extent, section.covers and extent is not None, exposed, within)


def _filled(facts: Facts, stmt: Stmt, values: Mapping[Symbol, Polynomial], symbol: Symbol) -> Extent | None:
    """Return the elements that a call of memcpy, memmove or memset gives values, where it is for these alone."""
    call = peel(stmt.expr) if isinstance(stmt, ExprStmt) else None
    known = facts.summaries.library(call) if isinstance(call, Call) else None
    if not isinstance(call, Call) or known is None or known.name not in _FILLS or len(call.arguments) != len(_FILLS):
        return None
    target, size = peel(call.arguments[0]), byte_size(element_type(symbol.type))
    while isinstance(target, Cast):
        target = peel(target.operand)
    if not isinstance(target, Name) or target.symbol != symbol or size is None:
        return None
    whole = polynomial(call.arguments[2], values)
    share = {monomial: divmod(value, size) for monomial, value in whole.terms.items()}
    narrowed = any(isinstance(part, Cast) and not _is_wide(part.type) for part in walk(call.arguments[2]))
    if narrowed or any(rest for _, rest in share.values()) or not is_arithmetic(call.arguments[2]):
        return None
    return Extent(Polynomial({}), Polynomial({monomial: value for monomial, (value, _) in share.items()}))


def _is_wide(type: Type) -> bool:
    return isinstance(type, Scalar) and type.bits >= _WORD


def _extent(section: Section, values: Mapping[Symbol, Polynomial]) -> Extent | None:
    return extent_between(section.lower, section.upper, values)


def is_arithmetic(expr: Expr) -> bool:
    """Whether an expression is arithmetic on variables: one that reads memory may have another value later."""
    parts = [part for part in walk(expr) if isinstance(part, Expr)]
    return all(isinstance(p, _READABLE) and not (isinstance(p, Unary) and p.op not in "+-~!") for p in parts)


def extent_between(lower: Expr, upper: Expr, values: Mapping[Symbol, Polynomial]) -> Extent | None:
    """Return [lower, upper); None where a bound has parts that are no plain arithmetic on variables."""
    if not (is_arithmetic(lower) and is_arithmetic(upper)):
        return None
    return Extent(lower_bound(lower, values), upper_bound(upper, values))


def whole_extent(
    facts: Facts, function: Function, symbol: Symbol, at: Stmt, values: Mapping[Symbol, Polynomial]
) -> Extent | None:
    """Return all of the object that a variable names before a statement, where its size is known."""
    size = known_extent(facts.program, function, symbol, at, facts.summaries)
    if size is None or not is_arithmetic(size):
        return None
    return Extent(Polynomial({}), polynomial(size, values))


def _region(facts: Facts, function: Function, stmt: Stmt) -> tuple[Region, State] | None:
    around = loops_around(facts.summaries, function, stmt)
    try:
        return build_region(facts.origin(function), (stmt,), around, guards=False)
    except OutOfBudgetError:
        return None


def _is_exposed(facts: Facts, function: Function, stmt: Stmt, symbol: Symbol, *, covered: bool) -> bool:
    """Whether an element may be read before the statement has written it. A read through another name that may lead
    there has no write before it. `covered`: all that it touches is written."""
    found = _region(facts, function, stmt)
    if found is None or not any(_is_read(a, symbol) for s in found[0].statements for a in s.accesses):
        return True
    return (not covered or _reads_apart(found[0], symbol)) and needs_old(facts, function, stmt, symbol)


def needs_old(facts: Facts, function: Function, stmt: Stmt, symbol: Symbol) -> bool:
    """Whether a statement may read an element of a variable that it has not written before."""
    around = loops_around(facts.summaries, function, stmt)
    return privacy.needs_old(facts.origin(function), (stmt,), around, symbol, facts.options.max_operations // SHARE)


def uses_elements_only(stmt: Stmt, symbol: Symbol) -> bool:
    """Whether a statement names an array only to read or write numbers in it: its address comes to no other name."""
    plain: set[int] = set()
    for node in walk(stmt):
        if isinstance(node, Verbatim | VerbatimExpr) and symbol in find_named(node):
            return False
        if isinstance(node, Index) and isinstance(node.type, Scalar):
            base = peel(node.base)
            while isinstance(base, Index):
                base = peel(base.base)
            plain.add(id(base))
        kept = node.operand if isinstance(node, Unary) and node.op == "&" else None
        if isinstance(node, VarDecl) and not isinstance(node.symbol.type, Scalar):
            kept = node.init
        if kept is not None and any(name.symbol == symbol for name in names(kept)):
            return False
    return all(id(name) in plain for name in names(stmt) if name.symbol == symbol)


def _reads_apart(region: Region, symbol: Symbol) -> bool:
    """Whether a read may stand anywhere but behind a write of the same element in the same iteration."""
    written: list[tuple[object, ...]] = []
    for statement in region.statements:
        mine = [a for a in statement.accesses if a.base == symbol and not _is_own(a)]
        keys = [(a.path, a.place, statement.loops, statement.domain) for a in mine]
        if any(not a.write and key not in written for a, key in zip(mine, keys, strict=True)):
            return True
        written += [k for a, k in zip(mine, keys, strict=True) if a.write and a.known and statement.exact]
    return False


def certainly_reads(facts: Facts, function: Function, stmt: Stmt, symbol: Symbol, *, whole: bool = False) -> bool:
    """Whether a statement certainly reads an element of an array (or a variable) where it has iterations; `whole`: all
    that lie between the first and the last that it touches."""
    found = _region(facts, function, stmt)
    if found is None or found[0].broken:
        return False
    if not whole:
        return any(_is_read(access, symbol) and one.exact for one in found[0].statements for access in one.accesses)
    reads = [(one, replace(access, write=not access.write)) for one, access in _references(found[0], symbol)]
    return _holds(facts, lambda: covers(found[1], reads))


def certainly_touches(facts: Facts, function: Function, stmt: Stmt, symbol: Symbol) -> bool:
    """Whether a statement certainly reads or writes each element of an array that it may touch."""
    found = _region(facts, function, stmt)
    if found is None or found[0].broken:
        return False
    return _holds(facts, lambda: surely_touch(found[1], _references(found[0], symbol)))


def certainly_writes(facts: Facts, function: Function, stmt: Stmt, symbol: Symbol) -> bool:
    """Whether a statement certainly writes a variable where it has iterations."""
    found = _region(facts, function, stmt)
    if found is None or found[0].broken:
        return False
    return any(a.base == symbol and a.write and one.exact for one in found[0].statements for a in one.accesses)


def _holds(facts: Facts, question: Callable[[], bool]) -> bool:
    try:
        with budget(facts.options.max_operations // SHARE):
            return question()
    except OutOfBudgetError:
        return False


def _references(region: Region, symbol: Symbol) -> list[tuple[Statement, Access]]:
    return [(one, a) for one in region.statements for a in one.accesses if a.base == symbol and not _is_own(a)]


def _is_read(access: Access, symbol: Symbol) -> bool:
    return access.base == symbol and not access.write and not _is_own(access)


def _is_own(access: Access) -> bool:
    """Whether an access is to a pointer itself, not to what it points to."""
    return isinstance(access.base.type, Pointer) and access.known and not access.path and not access.place
