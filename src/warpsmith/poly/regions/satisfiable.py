"""Whether all guards of a region can hold together while every loop of the region has many iterations.

    if (n >= 1 && m <= n) { for (i < n) …  for (j < m) … }      n = 1000, m = 1000
    if (n <= m && m < n)  { … }                                 never

Invariant: a sample meets every guard that is a condition on integers (whether two addresses are apart, no size says),
and lets each loop run as long as room.py asks. Loops that cannot be long together with those before them (two branches
of one condition) are not asked of the guards either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from msgspec import Struct

from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.facts import PolyOptions, reading
from warpsmith.poly.isl.formula import TRUE, Formula, atoms_of, both
from warpsmith.poly.isl.room import long_runs, sample
from warpsmith.poly.isl.space import OutOfBudgetError, Set, budget, make_set
from warpsmith.poly.regions.model import build_region
from warpsmith.poly.regions.region import Region
from warpsmith.poly.regions.sections import SHARE, loops_around
from warpsmith.poly.regions.state import State
from warpsmith.tree.nodes import Expr, For, Function, Stmt
from warpsmith.tree.program import Assumption, Program

__all__ = ["Guarded", "guard_sample", "is_always_positive"]


class Guarded(Struct, frozen=True):
    """What guards together allow: `sizes` are values of the region's parameters, as the user names them, that meet
    them; None where none were found."""

    sizes: Mapping[str, int] | None


def guard_sample(
    program: Program,
    function: Function,
    scope: tuple[Stmt, ...],
    guards: Sequence[Assumption],
    options: PolyOptions,
    *,
    summaries: Summaries | None = None,
) -> Guarded:
    """Return sizes for which the guards hold at the entry of `scope`, and its loops run long."""
    known = summaries if summaries is not None else Summaries.of(program)
    tested = tuple(guard for guard in guards if guard.kind == "guarded" and guard.condition is not None)
    if not tested:
        return Guarded({})
    question = ("guard sample", function, scope, tuple(id(guard.condition) for guard in tested), options)
    # the conditions are part of the answer: their identities must not be used again while it is remembered
    return known.remember(question, lambda: (_within_budget(known, function, scope, tested, options), tested))[0]


def is_always_positive(
    function: Function, scope: Stmt, value: Expr, options: PolyOptions, summaries: Summaries
) -> bool:
    """Whether a value that `scope` does not change is certainly at least 1 where that is entered."""
    if reading(scope) > options.max_nodes // SHARE:
        return False
    try:
        with budget(options.max_operations // SHARE):
            around = loops_around(summaries, function, scope)
            origin = Origin.of(summaries.program, function, summaries)
            _, state = build_region(origin, (scope,), around, guards=False)
            number = state.affine.exact(value)
            return number is not None and state.require((number.shift(-1),), value)
    except OutOfBudgetError:
        return False


def _within_budget(
    known: Summaries, function: Function, scope: tuple[Stmt, ...], guards: tuple[Assumption, ...], options: PolyOptions
) -> Guarded:
    # each guard was found to leave room when it was made
    unknown = Guarded({})
    if sum(map(reading, scope)) > options.max_nodes // SHARE:
        return unknown
    try:
        with budget(options.max_operations):
            origin = Origin.of(known.program, function, known)
            around = loops_around(known, function, scope[0])
            region, state = build_region(origin, scope, around, guards=options.guards, granted=options.granted)
            return _sample(region, state, guards)
    except OutOfBudgetError:
        return unknown


def _sample(region: Region, state: State, guards: tuple[Assumption, ...]) -> Guarded:
    state.take([guard for guard in guards if guard.declared])
    plain = both((state.context, state.computed))
    before = state.context
    state.take([guard for guard in guards if not guard.declared])
    if state.context == before:
        return Guarded({})
    rooms = [_room(region, state, loop, plain) for loop in region.entries if isinstance(loop, For)]
    least = _parameters(state, state.context)
    found = sample(state.vocabulary, reduce(Set.intersect, rooms, least))
    if found is None:
        found = sample(state.vocabulary, reduce(Set.intersect, _together(region, state, plain), least))
    return Guarded(None if found is None else _name_values(state, found))


def _together(region: Region, state: State, plain: Formula) -> list[Set]:
    """Return where the loops run long under the guards, without those that cannot, guards or not, with the others."""
    base = _parameters(state, plain)
    kept: list[Set] = []
    for loop in (loop for loop in region.entries if isinstance(loop, For)):
        more = base.intersect(_room(region, state, loop, plain, guarded=False))
        if sample(state.vocabulary, more) is not None:
            base = more
            kept.append(_room(region, state, loop, plain))
    return kept


def _room(region: Region, state: State, loop: For, plain: Formula, *, guarded: bool = True) -> Set:
    """Return the parameters for which one loop of the region runs long."""
    entry = region.entries[loop.body]
    path = both(entry.path)
    whole = both((path, plain, state.context if guarded else TRUE))
    ranges = state.ranges(atoms_of(whole))
    counters = state.counters_of(whole)
    own = state.vocabulary.counter(loop.variable, loop, None)
    if own not in counters:
        return make_set(state.vocabulary, counters, both((whole, ranges))).params()
    domain, free = both((whole, ranges)), both((path, plain, ranges))
    return long_runs(state.vocabulary, domain, free, counters, nests=state.nests, asked=(own,))


def _parameters(state: State, formula: Formula) -> Set:
    whole = both((formula, state.ranges(atoms_of(formula))))
    return make_set(state.vocabulary, state.counters_of(whole), whole).params()


def _name_values(state: State, values: Mapping[str, int]) -> Mapping[str, int]:
    kinds = state.vocabulary
    return {kinds[n].text: v for n, v in sorted(values.items()) if kinds[n].kind == "parameter"}
