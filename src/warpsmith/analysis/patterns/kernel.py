"""The access patterns of a kernel: one space for each run of loops around accesses, with the threads around it.

Invariant: a direction of reuse that is reported leaves the address alone for all values of the parameters, where no
index overflows. Limits: conditions (but those that tell which threads of a block may be there) and the bounds of loops
that are no numbers are not looked at, so that the iteration that a direction leads to may not be there; and of an index
that comes out of memory those of follows.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.analysis.memory.accesses import AccessSite, places
from warpsmith.analysis.memory.clamps import unclamp
from warpsmith.analysis.memory.forms import Forms
from warpsmith.analysis.memory.presence import Presences
from warpsmith.analysis.memory.solved import solved_forms
from warpsmith.analysis.patterns.columns import Columns, IndexColumn, read_columns
from warpsmith.analysis.patterns.follows import Followed
from warpsmith.analysis.patterns.rows import Subscripts, read_subscripts, write_sum
from warpsmith.analysis.uniformity.facts import AccessFact, KernelFacts
from warpsmith.base.source import Span
from warpsmith.poly.patterns.classes import classify
from warpsmith.poly.patterns.lattice import kernel
from warpsmith.poly.patterns.matrices import AffineRow, matrix_row, numeric_rows, parameters_of
from warpsmith.poly.patterns.model import ArrayReference, Counter, Direction, Space
from warpsmith.poly.patterns.reuse import alike_pairs, common_directions, group_reuse
from warpsmith.poly.patterns.sample import SIZE, touched

__all__ = ["KernelSpace", "kernel_accesses"]

_MOST_MOVERS = 4


class KernelSpace(Struct, frozen=True):
    """The accesses of some loops; `columns`: what the counters of `space` are; `facts`: of each reference those of the
    instructions that make it; `changing`: the columns of loops in which another reference shares its array, where
    one of the two writes."""

    space: Space
    columns: tuple[IndexColumn, ...]
    facts: tuple[tuple[AccessFact, ...], ...]
    changing: tuple[frozenset[int], ...]


class _Found(Struct):
    """A reference that was found: its rows, the instructions that make it, and the threads that may be there."""

    site: AccessSite
    subscripts: Subscripts
    facts: list[AccessFact]
    threads: set[int]


def kernel_accesses(facts: KernelFacts) -> tuple[KernelSpace, ...]:
    """Return the access patterns of a kernel, space by space in order of appearance."""
    forms = solved_forms(facts.module, facts.block_level, facts.shape)
    known = {fact.instruction: fact for fact in facts.accesses}
    sites = [_unclamped(forms, site) for site in places(forms) if site.instruction in known]
    headers = frozenset(site.block for site in sites)
    presences = Presences(forms)
    groups: dict[tuple[str, ...], list[AccessSite]] = {}
    for site in sites:
        groups.setdefault(tuple(c.header for c in forms.around[site.block]), []).append(site)
    found: list[KernelSpace] = []
    for group in groups.values():
        addresses = [site.address for site in group if site.address is not None]
        columns = read_columns(forms, forms.around[group[0].block], headers, addresses)
        followed = Followed(forms, columns, sites)
        merged: dict[tuple[str, tuple[str, ...]], _Found] = {}
        for site in group:
            subscripts = read_subscripts(site, columns, followed)
            fact = known[site.instruction]
            key = fact.variable, _texts(subscripts, site)
            one = merged.setdefault(key, _Found(site, subscripts, [], set()))
            one.facts.append(fact)
            one.threads |= presences.at(site.block).threads
        changing = tuple(_changing(forms, one, columns.columns, sites) for one in merged.values())
        found.append(_space(facts, columns, list(merged.values()), changing))
    return tuple(found)


def _changing(forms: Forms, one: _Found, columns: Sequence[IndexColumn], sites: Sequence[AccessSite]) -> frozenset[int]:
    """Return the columns of loops in which another reference touches the array of one, and one of the two
    writes."""
    own = {fact.instruction for fact in one.facts}
    stored = any(fact.kind != "load" for fact in one.facts)
    others = (s for s in sites if s.instruction not in own and (stored or s.kind != "load"))
    shared = [s for s in others if _may_be_one(s, one.site)]
    inside = [{cycle.header for cycle in forms.around[site.block]} for site in shared]
    return frozenset(k for k, c in enumerate(columns) if c.header and any(c.header in headers for headers in inside))


def _may_be_one(store: AccessSite, site: AccessSite) -> bool:
    """Whether a store is taken to be to the array of an access: arrays that are different arguments are apart."""
    unknown = store.base is None or site.base is None or store.chosen or site.chosen
    spaces = {store.space, site.space}
    return (unknown and (len(spaces) == 1 or "generic" in spaces)) or store.base is site.base


def _unclamped(forms: Forms, site: AccessSite) -> AccessSite:
    """Return an access as it is where min and max cut nothing off."""
    inside = unclamp(forms, site.address) if site.address is not None and site.address.has("own") else None
    return site if inside is None else replace(site, address=inside, clamped=True)


def _texts(subscripts: Subscripts, site: AccessSite) -> tuple[str, ...]:
    """Return what tells references apart: of irregular ones the place as well."""
    place = [str(site.instruction.span)] if any(row.irregular for row in subscripts.shown) else []
    return (*(row.text for row in subscripts.shown), *place)


def _space(
    facts: KernelFacts, columns: Columns, found: Sequence[_Found], changing: tuple[frozenset[int], ...]
) -> KernelSpace:
    width = len(columns.columns)
    parameters = parameters_of(row for one in found for row in one.subscripts.shown)
    references = tuple(_reference(one, columns.columns, parameters) for one in found)
    again = [reference for reference in references if reference.reuse]
    moving = [(one.facts[0].variable, one.subscripts.moving) for one in found]
    groups = (g for g in group_reuse(moving, width) if _is_inside(g.direction, columns.columns))
    groups = (g for g in groups if _meets(g.direction, columns.columns, found[g.earlier], found[g.later]))
    space = Space(
        counters=tuple(_counter(column, facts.span) for column in columns.columns),
        parameters=tuple("·".join(names) for names in parameters),
        references=references,
        groups=tuple(groups),
        alike=alike_pairs(references),
        one_nest=common_directions(again, width),
    )
    return KernelSpace(space, columns.columns, tuple(tuple(one.facts) for one in found), changing)


def _counter(column: IndexColumn, kernel: Span | None) -> Counter:
    if column.kind != "loop":
        return Counter(column.name, column.name, "", kernel)
    return Counter(column.name, column.name, str(column.span or column.header), column.span)


def _reference(one: _Found, columns: Sequence[IndexColumn], parameters: Sequence[tuple[str, ...]]) -> ArrayReference:
    width, rows = len(columns), one.subscripts
    lines = numeric_rows(rows.moving, width)
    classed = [matrix_row(write_sum, row, parameters, width) for row in rows.finest]
    movers = [columns[k] for line in lines for k, entry in enumerate(line) if entry]
    apart = _are_apart(one.threads, lines, columns)
    reuse = tuple(_realized(kernel(lines, width), columns, apart=apart))
    kinds = {fact.kind for fact in one.facts}
    name = one.facts[0].variable or "memory"
    return ArrayReference(
        text=name + "".join(f"[{row.text}]" for row in rows.shown),
        array=name,
        span=one.facts[0].span,
        reads=bool(kinds & {"load", "atomic"}),
        writes=bool(kinds & {"store", "atomic"}),
        rows=tuple(matrix_row(write_sum, row, parameters, width) for row in rows.shown),
        rank=width - len(reuse),
        classes=classify(classed, triangular=any(column.bounded for column in movers)),
        reuse=reuse,
        visits=_visits(rows.shown, columns),
    )


def _are_apart(threads: set[int], lines: Sequence[Sequence[int]], columns: Sequence[IndexColumn]) -> bool:
    """Whether no two of the threads that may be there touch one element in one iteration: `if (threadIdx.x == 0)`."""
    own = [k for k, column in enumerate(columns) if column.kind == "thread"]
    touched = {tuple(sum(line[k] * columns[k].atom.table[t] for k in own) for line in lines) for t in threads}
    return len(touched) == len(threads)


def _meets(direction: Direction, columns: Sequence[IndexColumn], one: _Found, other: _Found) -> bool:
    """Whether a direction leads from a thread that may be at one reference to a thread that may be at another."""
    own = [(k, column.atom.table) for k, column in enumerate(columns) if column.kind == "thread"]
    there = {tuple(table[t] for _, table in own) for t in other.threads}
    return any(tuple(table[t] + direction[k] for k, table in own) in there for t in one.threads)


def _is_inside(direction: Direction, columns: Sequence[IndexColumn]) -> bool:
    """Whether a direction leads from some point to another, as far as the numbers of points are known."""
    return all(c.extent is None or abs(step) < c.extent for c, step in zip(columns, direction, strict=True))


def _realized(directions: Sequence[Direction], columns: Sequence[IndexColumn], *, apart: bool) -> Iterator[Direction]:
    """Yield the directions without those that lead out of the launch from everywhere, and where threads are `apart`
    without those from thread to thread; one that shares a column with another stays, since the two together may lead to
    a point."""
    for direction in directions:
        others = (d for d in directions if d is not direction)
        alone = not any(a and b for d in others for a, b in zip(direction, d, strict=True))
        among = all(c.kind == "thread" for c, step in zip(columns, direction, strict=True) if step)
        if not alone or (_is_inside(direction, columns) and not (apart and among)):
            yield direction


def _visits(rows: Sequence[AffineRow], columns: Sequence[IndexColumn]) -> tuple[tuple[int, ...], ...]:
    """Return the elements that the first block touches, iteration by iteration, thread by thread; none where they are
    no sums."""
    movers = {k for row in rows for k, c in enumerate(row.counters) if c.terms and columns[k].kind != "block"}
    if any(row.irregular for row in rows) or len(movers) > _MOST_MOVERS:
        return ()
    numbers = [([c.constant_term for c in row.counters], _at_size(row)) for row in rows]
    return touched(numbers, _points(columns, movers))


def _at_size(row: AffineRow) -> int:
    return sum(factor * SIZE ** len(monomial) for monomial, factor in row.rest.terms.items())


def _points(columns: Sequence[IndexColumn], movers: set[int]) -> Iterator[tuple[int, ...]]:
    order = sorted(range(len(columns)), key=lambda k: columns[k].kind != "loop")
    ranges = [range(min(SIZE, columns[k].extent or SIZE) if k in movers else 1) for k in order]
    for point in product(*ranges):
        at = dict(zip(order, point, strict=True))
        yield tuple(at[k] for k in range(len(columns)))
