"""Tiling: see Tile.

    for (i) for (j) S    →    for (ii) for (jj)            over the tiles
                                  for (i in tile ii) for (j in tile jj) S

Invariant: every iteration of the nest lies in exactly one tile; the tiles run in the order of their corners. Where an
inner range depends on outer counters, tiles cover the values that the inner counter takes at all, and each tile's loops
keep to the old range as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct

from warpsmith.base.verdict import Unknown, Verdict
from warpsmith.loops.analysis.ends import fits, form_expr
from warpsmith.loops.analysis.scopes import names_hold
from warpsmith.loops.analysis.shape import (
    CounterRange,
    does_not_fit,
    enclosing_facts,
    nest_in_the_way,
    perfect_nest,
    range_of,
    refuse_uncounted,
    wrong_value,
)
from warpsmith.loops.fresh import Fresh
from warpsmith.loops.linear import Linear, use
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.steps.order.strip_mine import strip_counter, strip_loop, strip_stop
from warpsmith.loops.writing.pieces import choice, compare_copies, plus
from warpsmith.poly.analyze import Facts
from warpsmith.poly.legality.legality import keeps_order
from warpsmith.poly.legality.schedules import Schedule, ScheduleDimension, counter
from warpsmith.tree.nodes import For, Node, Stmt, replace
from warpsmith.tree.program import Program
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import names, rebuild

__all__ = ["Tile"]


class Tile(Struct, frozen=True):
    """Cut the iterations of a perfect nest into tiles: loops over the tiles around loops over one tile.

    Legal where the tiles may run one after another: every dependence points to the same tile or a later one (Wolf, Lam:
    A data locality optimizing algorithm, PLDI 1991). `sizes` are the iterations of a tile along each loop, outermost
    first; as many loops are tiled as there are sizes. Tiles at the edges may be partial.

    Step: loop=f/i sizes=8:16

    Before:
        void f(int n, int m, double a[n][m], double b[m][n])
        {
            for (int i = 0; i < n; i++)
                for (int j = 0; j < m; j++)
                    a[i][j] = b[j][i];
        }

    After:
        void f(int n, int m, double a[n][m], double b[m][n])
        {
            for (long long ii = 0; ii < n; ii += 8)
                for (long long jj = 0; jj < m; jj += 16) {
                    for (int i = ii; i < (n - ii > 8 ? ii + 8 : n); i++) {
                        for (int j = jj; j < (m - jj > 16 ? jj + 16 : m); j++)
                            a[i][j] = b[j][i];
                    }
                }
        }
    """

    name: ClassVar[str] = "tile"
    loop: str
    sizes: tuple[int, ...]

    def check(self, program: Program, facts: Facts) -> Verdict:
        """Judge the order of the tiles."""
        place = LoopContext.of(program, self.loop)
        loop = place.loop
        if not isinstance(loop, For):
            return refuse_uncounted(loop)
        nest = self._nest(loop)
        if isinstance(nest, Unknown):
            return nest
        stop = nest_in_the_way(facts, place, nest, stays=False)
        if stop is not None:
            return stop
        covers = _covers(nest, enclosing_facts(place.function, place.around))
        if isinstance(covers, Unknown):
            return covers
        for header, size in zip(covers, self.sizes, strict=True):
            stop = strip_stop(header, size, f"sizes={':'.join(map(str, self.sizes))}")
            if stop is not None:
                return stop
        schedules: dict[Stmt, Schedule] = {nest[-1].body: self._schedule(nest, covers)}
        verdict = keeps_order(facts, place.function, (loop,), schedules)
        return names_hold(self, program, self.loop, verdict)

    def apply(self, program: Program) -> Program:
        """Return the program with the nest in tiles."""
        place = LoopContext.of(program, self.loop)
        loop = place.require_counted()
        nest = self._nest(loop)
        covers = nest if isinstance(nest, Unknown) else _covers(nest, enclosing_facts(place.function, place.around))
        if isinstance(nest, Unknown) or isinstance(covers, Unknown):
            raise ValueError("the nest cannot be tiled")
        return with_run(program, place.function, (loop,), (self._tile_nest(nest, covers, Fresh.of(program)),))

    def _nest(self, loop: For) -> tuple[For, ...] | Unknown:
        nest = perfect_nest(loop)
        if not self.sizes:
            return wrong_value("sizes: give the iterations of a tile along each loop, for instance sizes=32:32", loop)
        if len(nest) < len(self.sizes):
            text = f"{len(self.sizes)} sizes are given, but {len(nest)} loops stand directly inside one another"
            return does_not_fit(text, nest[-1], f"distribute={self.loop}")
        nest = nest[: len(self.sizes)]
        if len({inner.variable.name for inner in nest}) < len(nest):
            return does_not_fit("two loops of the nest have the same counter", loop)
        return nest

    def _schedule(self, nest: Sequence[For], covers: Sequence[For]) -> Schedule:
        """Return when an iteration runs: the numbers of its tile, then its counters."""
        tiles = []
        for loop, header, size in zip(nest, covers, self.sizes, strict=True):
            sign = 1 if loop.step > 0 else -1
            start = Linear.of(header.lower)
            if start is None:
                raise ValueError("tiles start at linear values only")
            own = Linear(((loop.variable, 1),)).minus(start).scale(sign)
            tiles.append(ScheduleDimension(own.terms, own.constant, size * abs(loop.step)))
        return (*tiles, *(counter(loop.variable, 1 if loop.step > 0 else -1) for loop in nest))

    def _tile_nest(self, nest: Sequence[For], covers: Sequence[For], fresh: Fresh) -> For:
        strips = [strip_counter(cover, size, fresh) for cover, size in zip(covers, self.sizes, strict=True)]
        parts = [strip_loop(c, size, strip) for c, size, strip in zip(covers, self.sizes, strips, strict=True)]
        body: Stmt = nest[-1].body
        for loop, cover, part, strip in reversed(list(zip(nest, covers, parts, strips, strict=True))):
            point = part[1] if cover is loop else _keep_inside(loop, part[1], strip)
            made = replace(point, span=loop.body.span, body=body)
            body = made
            outside = next((n for n in nest if len(p := perfect_nest(n)) > 1 and p[1] is loop), None)
            if outside is not None:
                body = _with_part(outside.body, loop, made)
        for part in reversed(parts):
            body = replace(part[0], span=part[0].span, body=body)
        if not isinstance(body, For):
            raise ValueError("the nest is not perfect")
        return body


def _with_part(body: Stmt, old: Stmt, new: Stmt) -> Stmt:
    def change(node: Node) -> Node:
        return new if node is old else node

    return rebuild(body, change)


def _covers(nest: Sequence[For], facts: Sequence[Linear]) -> tuple[For, ...] | Unknown:
    """Return, for each loop of the nest, a loop over all values that its counter takes: itself where its bounds do not
    depend on other counters of the nest; `facts` hold before the nest."""
    ranges: dict[Symbol, CounterRange] = {}
    covers: list[For] = []
    counters = {loop.variable for loop in nest}
    for loop in nest:
        own = range_of(loop)
        free = not any(n.symbol in counters for end in (loop.lower, loop.bound) for n in names(end))
        if free:
            if Linear.of(loop.lower) is None:
                return does_not_fit(f"the {loop.variable.name} loop starts at no linear value", loop)
            covers.append(loop)
            if own is not None:
                ranges[loop.variable] = own
            continue
        hull = None if own is None or loop.step < 0 else _hull(own, ranges)
        if own is None or hull is None or hull.low.symbols & counters or hull.past.symbols & counters:
            text = f"the range of {loop.variable.name} depends on other counters in a way that tiles cannot follow"
            return does_not_fit(text, loop)
        lower, bound = form_expr(hull.low, facts, loop.lower.span), form_expr(hull.past, facts, loop.bound.span)
        if lower is None or bound is None or not fits(hull.low, loop.variable.type, facts):
            return does_not_fit(f"the bounds of the tiles of {loop.variable.name} might overflow", loop)
        covers.append(replace(loop, lower=lower, relation="<", bound=bound))
        ranges[loop.variable] = hull
    return tuple(covers)


def _hull(own: CounterRange, ranges: dict[Symbol, CounterRange]) -> CounterRange:
    """Return the range without the counters in `ranges`: at the extremes that they take."""
    low, past = own.low, own.past
    for symbol, values in reversed(ranges.items()):
        last = values.past.shift(-1)
        low = low.with_value(symbol, values.low if low.coefficient(symbol) >= 0 else last)
        past = past.with_value(symbol, last if past.coefficient(symbol) >= 0 else values.low)
    if past.terms and past.constant < 0:
        past = Linear(past.terms, 0)
    return CounterRange(low, past)


def _keep_inside(loop: For, point: For, strip: Symbol) -> For:
    """Return the loop over one tile, kept to the loop's own range, which depends on outer counters."""
    first = use(strip, loop.header)
    lower, bound = point.lower, point.bound
    if any(n.symbol != strip for n in names(loop.lower)) or Linear.of(loop.lower) is None:
        lower = choice(compare_copies(loop.lower, ">", first), loop.lower, first)
    # i <= INT_MAX would never end, so one more than the bound is no overflow.
    end = loop.bound if loop.relation == "<" else plus(loop.bound, 1)
    return replace(point, lower=lower, bound=choice(compare_copies(end, "<", bound), end, bound))
