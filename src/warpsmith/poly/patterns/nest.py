"""The access patterns of a loop and all that stands in it.

Invariant: a direction of reuse that is reported leaves the element alone for all values of the parameters. Limits: of a
subscript that is no sum of counters, `x[idx[j]]`, the element is taken to stay while the counters and variables that it
names do, so that a store to idx through another pointer is not seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from warpsmith.poly.analyze import Facts
from warpsmith.poly.isl.formula import Formula
from warpsmith.poly.isl.polynomial import Polynomial
from warpsmith.poly.isl.space import budget
from warpsmith.poly.patterns.classes import classify
from warpsmith.poly.patterns.digits import split_by_numbers
from warpsmith.poly.patterns.lattice import kernel, rank
from warpsmith.poly.patterns.matrices import AffineRow, matrix_row, numeric_rows, parameters_of, read_row
from warpsmith.poly.patterns.model import AccessNest, ArrayReference, Counter, Space
from warpsmith.poly.patterns.reuse import alike_pairs, common_directions, group_reuse
from warpsmith.poly.patterns.sample import visits
from warpsmith.poly.regions.model import build_region
from warpsmith.poly.regions.region import Access, Region, Statement, Subscript
from warpsmith.poly.regions.state import State
from warpsmith.poly.regions.subscripts.views import layouts
from warpsmith.tree.nodes import Expr, For, Index, Name
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import loops, walk, written_symbols

__all__ = ["nest_accesses"]

Found = tuple[Statement, Access]


def nest_accesses(facts: Facts, loop: For) -> AccessNest:
    """Return the access patterns of `loop`, the loops around it held fixed."""
    known = facts.loop(loop)
    around = dict(loops(known.function.body))[loop]
    ids = {inner: facts.loop(inner).id for inner, _ in loops(known.function.body) if isinstance(inner, For)}
    with budget(facts.options.max_operations):
        region, state = build_region(facts.origin(known.function), (loop,), around, guards=True)
        reader = _Reader(region, state, ids, frozenset(written_symbols(loop)))
        outer = tuple(over.variable.key for over in around if isinstance(over, For))
        return AccessNest(known.id, loop.header, outer, tuple(reader.spaces()))


class _Reader(Struct):
    """Reads the references of one region; `written`: variables that the nest changes."""

    region: Region
    state: State
    ids: Mapping[For, str]
    written: frozenset[Symbol]
    shaped: dict[int, tuple[Polynomial, ...]] = field(default_factory=dict)

    def spaces(self) -> Iterator[Space]:
        """Yield one space for each run of loops around references, in order of appearance."""
        found: dict[tuple[For, ...], list[Found]] = {}
        for statement in self.region.statements:
            for access in statement.accesses:
                if statement.loops and _is_element(access):
                    found.setdefault(statement.loops, []).append((statement, access))
        self.shaped = self.shapes([pair for pairs in found.values() for pair in pairs])
        for around, pairs in found.items():
            yield self.space(around, pairs)

    def shapes(self, pairs: Sequence[Found]) -> dict[int, tuple[Polynomial, ...]]:
        """Return, by the identity of the access, the subscripts that one subscript stands for: of `a[i*n + j]` where
        all references to the array are seen in one shape, of `a[128*i + j]` where j < 128 is proved."""
        objects: dict[object, list[Found]] = {}
        found: dict[int, tuple[Polynomial, ...]] = {}
        for statement, access in pairs:
            match access.path:
                case (Subscript(value=Polynomial() as value),) if access.known:
                    objects.setdefault((access.base, access.place), []).append((statement, access))
                    found[id(access)] = split_by_numbers(self.state, statement.domain, value)
        for group in objects.values():
            for view in layouts(self.state, group, guards=True) or ():
                for (_, access), subscripts in zip(view.references, view.subscripts, strict=True):
                    if len(subscripts) > 1:
                        found[id(access)] = subscripts
        return found

    def space(self, around: tuple[For, ...], pairs: Sequence[Found]) -> Space:
        names = pairs[0][0].counters
        merged: dict[tuple[str, str], list[Access]] = {}
        domains: dict[tuple[str, str], Formula] = {}
        for statement, access in pairs:
            key = _array(access), access.expr.span.text if access.known else f"{_array(access)}[…]"
            merged.setdefault(key, []).append(access)
            domains.setdefault(key, statement.domain)
        rows = {key: self.rows(found[0], names, around) for key, found in merged.items()}
        parameters = parameters_of(row for found in rows.values() for row in found)
        references: list[ArrayReference] = []
        for key, accesses in merged.items():
            lines = numeric_rows(rows[key], len(names))
            matrix = tuple(matrix_row(self.state.vocabulary.text, r, parameters, len(names)) for r in rows[key])
            moving = {k for line in lines for k, entry in enumerate(line) if entry}
            references.append(
                ArrayReference(
                    text=key[1],
                    array=key[0],
                    span=accesses[0].expr.span,
                    reads=any(not a.write for a in accesses),
                    writes=any(a.write for a in accesses),
                    rows=matrix,
                    rank=rank(lines),
                    classes=classify(matrix, triangular=_is_triangular(around, moving)),
                    reuse=kernel(lines, len(names)),
                    visits=visits(self.state.vocabulary, domains[key], names, rows[key]),
                )
            )
        again = [r for r in references if r.reuse]
        return Space(
            counters=tuple(self.counter(loop) for loop in around),
            parameters=tuple("*".join(self.state.vocabulary[n].text for n in m) for m in parameters),
            references=tuple(references),
            groups=group_reuse([(key[0], rows[key]) for key in merged], len(names)),
            alike=alike_pairs(references),
            one_nest=common_directions(again, len(names)),
        )

    def counter(self, loop: For) -> Counter:
        return Counter(loop.variable.name, loop.variable.key, self.ids[loop], loop.header)

    def rows(self, access: Access, counters: Sequence[str], around: Sequence[For]) -> tuple[AffineRow, ...]:
        """Return the subscripts of a reference, one row each."""
        seen = self.shaped.get(id(access))
        values = seen if seen is not None else [s.value for s in access.path if isinstance(s, Subscript)]
        if not access.known or not values:
            return (AffineRow("any element", (), follows=tuple(range(len(counters)))),)
        made = [None if v is None else read_row(self.state.vocabulary, v, counters) for v in values]
        texts = _subscripts(access.expr)
        follows = self.follows(access.expr, around)
        return tuple(
            row if row is not None else AffineRow(texts[k] if len(texts) == len(made) else "…", (), follows=follows)
            for k, row in enumerate(made)
        )

    def follows(self, expr: Expr, around: Sequence[For]) -> tuple[int, ...]:
        """Return the counters that may change a subscript of `expr`: all where it reads what the nest changes."""
        own = {loop.variable: place for place, loop in enumerate(around)}
        stored = {a.base for s in self.region.statements for a in s.accesses if a.write}
        names = {part.symbol for part in walk(expr) if isinstance(part, Name)}
        base = next((part.symbol for part in walk(_base(expr)) if isinstance(part, Name)), None)
        read = names - own.keys() - {base}
        if read & (self.written | stored):
            return tuple(range(len(around)))
        return tuple(sorted(own[name] for name in names & own.keys()))


def _is_element(access: Access) -> bool:
    return not access.known or any(isinstance(step, Subscript) for step in access.path)


def _array(access: Access) -> str:
    return access.place or access.base.name


def _base(expr: Expr) -> Expr:
    while isinstance(expr, Index):
        expr = expr.base
    return expr


def _subscripts(expr: Expr) -> list[str]:
    """Return the texts of the subscripts of `a[i][j]`, outermost first."""
    found: list[str] = []
    while isinstance(expr, Index):
        found.insert(0, expr.index.span.text)
        expr = expr.base
    return found


def _is_triangular(around: Sequence[For], moving: set[int]) -> bool:
    """Whether the bounds of a loop that moves the element follow another loop's counter."""
    variables = {loop.variable for loop in around}
    return any(
        isinstance(part, Name) and part.symbol in variables - {around[place].variable}
        for place in moving
        for bound in (around[place].lower, around[place].bound)
        for part in walk(bound)
    )
