"""Conflicts that only some parameter values have: a guard excludes those.

    for (i < n) a[i] = 0.5 * a[i + k];     conflicts where -n < k < n, k != 0; guard: k >= n || k <= -n || k == 0

Invariant: where the guard holds none of the conflicts has a point. Guards under which the loop could only be short
(`n <= 1`) are not made: each alternative leaves iterations that are far apart.
Limits: parameters only, no counters of loops around; at most the few pieces that a guard may have.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from warpsmith.poly.dependences.dependences import Conflict, access_map
from warpsmith.poly.isl.polynomial import Polynomial
from warpsmith.poly.isl.space import far, parameter_formula, parameters_of
from warpsmith.poly.regions.state import State

__all__ = ["avoid", "is_avoidable"]

_FAR = 1 << 20


def is_avoidable(state: State, conflicts: Sequence[Conflict]) -> bool:
    """Whether every conflict is between subscripts that differ by a parameter: quick, and no promise."""
    return bool(conflicts) and all(_moves(state, conflict) for conflict in conflicts)


def _moves(state: State, conflict: Conflict) -> bool:
    if conflict.relation is None:
        return False
    pairs = zip(conflict.first.element or (), conflict.second.element or (), strict=False)
    atoms = {n for a, b in pairs if isinstance(a, Polynomial) and isinstance(b, Polynomial) for n in (a - b).atoms()}
    if state.vocabulary.images(atoms):
        # a guard would only say where the bounds of `i ^ k` keep it away from i
        return False
    return any(state.vocabulary[n].kind == "parameter" for n in atoms)


def avoid(state: State, conflicts: Sequence[Conflict]) -> bool:
    """Assume a guard under which none of the conflicts happens; False where there is none worth a test."""
    if not is_avoidable(state, conflicts):
        return False
    relations = [c.relation for c in conflicts if c.relation is not None]
    violation = reduce(lambda a, b: a.union(b), (relation.params() for relation in relations))
    if any(state.vocabulary[name].kind != "parameter" for name in parameters_of(violation)):
        return False
    first, second = conflicts[0].first, conflicts[0].second
    left, right = access_map(state, first, 0), access_map(state, second, 0)
    depths = len(first.statement.counters), len(second.statement.counters)
    long = parameter_formula(left.apply_range(right.reverse()).intersect(far(*depths, _FAR)).wrap())
    return long is not None and state.exclude(violation, long)
