"""Whether references certainly write every element between the least and the greatest that they touch.

    for (i = 0; i < n; i++) b[i] = …            yes
    for (i = 0; i < n; i += 2) b[i] = …         no: every other element
    for (i …) for (j = 0; j < N; j++) c[i*N+j]  yes: rows i, each full;  with j < N - 1: no
    if (x[i] < 0) b[i] = …; else b[i] = …;      yes: what both arms write at a point is written, whichever runs
    p[i].x = …; p[i].y = …;                     yes where the struct has no other member, and no padding

Invariant: True only if the set of elements written at certain points of exact domains, or at a certain point by either
arm of a branch, contains all full rows from the first to the last touched one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

from msgspec.structs import replace

from warpsmith.poly.isl.formula import Formula, at_least, atoms_of, both
from warpsmith.poly.isl.polynomial import ZERO, Polynomial, atom
from warpsmith.poly.isl.space import Map, Set, between, image, make_map, make_set, prefix
from warpsmith.poly.regions.arms import is_certain
from warpsmith.poly.regions.region import Access, Arm, MemberStep, Path, RunsWhen, Statement
from warpsmith.poly.regions.state import State
from warpsmith.poly.regions.subscripts.views import layouts
from warpsmith.tree.nodes import Member
from warpsmith.tree.types import Pointer, Record, Type, padding_of
from warpsmith.tree.walk import peel

__all__ = ["covers", "is_exact", "surely_touch"]

_Union = TypeVar("_Union", Set, Map)
_Place = tuple[tuple[Statement, Access], Sequence[Polynomial]]


def covers(state: State, references: Sequence[tuple[Statement, Access]]) -> bool:
    """Return whether all that lies between the extremes of the references is certainly written by them.

    `state` is what `build_region` returned with the statements; all references have one base. Raises OutOfBudgetError.
    """
    parts = _members(references)
    views = None if parts is None else layouts(state, [(s, a.of_whole_elements()) for s, a in references], guards=False)
    if parts is None or views is None or len(views) > 1:
        return False
    sizes = _sizes(state, views[0].strides)
    if sizes is None:
        return False
    subscripts = list(zip(references, views[0].subscripts, strict=True))
    touched = _union([_image(state, s, d[:1]) for (s, _), d in subscripts]).coalesce()
    if not touched.is_equal(between(touched)):
        return False
    target = touched.flat_product(_full(state, sizes)) if sizes else touched
    written = [((s, a), d) for (s, a), d in subscripts if a.write]
    each = (_certainly(state, [(r, d) for r, d in written if part[: len(r[1].part)] == r[1].part]) for part in parts)
    return all(certain and target.is_subset(_union(certain)) for certain in each)


def surely_touch(state: State, references: Sequence[tuple[Statement, Access]]) -> bool:
    """Return whether each element that references may read or write is certainly read or written by them, by either arm
    of a branch where it is not known which one runs.

    As for `covers`, all have one base and no guards. Raises OutOfBudgetError.
    """
    if not all(is_exact(state, *one) or _is_exact_in_arms(state, *one) for one in references):
        return False
    if _members(references) is None:
        return False
    views = layouts(state, [(s, a.of_whole_elements()) for s, a in references], guards=False)
    if views is None or len(views) > 1:
        return False
    by_part: dict[Path, list[_Place]] = {}
    for reference, digits in zip(references, views[0].subscripts, strict=True):
        by_part.setdefault(reference[1].part, []).append((reference, digits))
    for same in by_part.values():
        certain = _certainly(state, same)
        if not certain or not _union([_image(state, s, d) for (s, _), d in same]).is_subset(_union(certain)):
            return False
    return True


def _certainly(state: State, places: Sequence[_Place]) -> list[Set]:
    """Return what of an array the references certainly touch."""
    certain = [_image(state, s, d) for (s, a), d in places if is_exact(state, s, a)]
    return certain + _by_either_arm(state, [(s, d) for (s, a), d in places if _is_exact_in_arms(state, s, a)])


def _members(references: Sequence[tuple[Statement, Access]]) -> list[Path] | None:
    """Return the members of an element, inner structs taken apart, as steps: one without steps where no reference is to
    a member. None where references are not to known members or elements."""
    if any(not a.known or not all(isinstance(step, MemberStep) for step in a.part) for _, a in references):
        return None
    inner = next((access for _, access in references if access.part), None)
    if inner is None:
        return [()]
    owner = _owner(inner)
    # what lies between members has a value too, which whoever writes or compares whole structs sees
    return None if owner is None or padding_of(owner) else _parts(owner)


def _owner(access: Access) -> Type | None:
    """Return the type of the elements that a reference is to members of."""
    expr = access.expr
    for _ in access.part:
        if not isinstance(expr, Member):
            return None
        expr = peel(expr.base)
    return expr.type.to if isinstance(expr.type, Pointer) else expr.type


def _parts(type: Type) -> list[Path] | None:
    if not isinstance(type, Record) or not type.fields:
        return [()]
    found: list[Path] = []
    for field in type.fields:
        inner = None if type.union else _parts(field.type)
        if inner is None:
            return None
        found += [(MemberStep(field.name), *steps) for steps in inner]
    return found


def is_exact(state: State, statement: Statement, access: Access) -> bool:
    """Whether a statement certainly runs at each point of its domain, and this access is to exactly one element there,
    whatever is known of its others (`a[i] = b[(i + 1) % n]`)."""
    return statement.exact or is_certain(state, statement.runs, statement.domain, (access,))


def _is_exact_in_arms(state: State, statement: Statement, access: Access) -> bool:
    domain = statement.in_arms
    return domain is not None and is_certain(state, RunsWhen.ALWAYS, domain, (access,))


def _by_either_arm(state: State, found_in: Sequence[tuple[Statement, Sequence[Polynomial]]]) -> list[Set]:
    """Return what is certainly touched in arms of branches: of a point, what both arms touch there.

    The innermost branches come first; what they touch, whichever arm runs, their arm of the branch around touches.
    """
    touched: dict[tuple[Arm, ...], list[Map]] = {}
    for statement, digits in found_in:
        assert statement.in_arms is not None
        relation = _relation(state, statement, digits, statement.in_arms)
        touched.setdefault(statement.arms, []).append(prefix(relation, statement.arms[-1].counters))
    found: list[Set] = []
    while touched:
        arms = max(touched, key=len)
        last = arms[-1]
        other = (*arms[:-1], replace(last, holds=not last.holds))
        one, another = touched.pop(arms), touched.pop(other, [])
        if not another:
            continue
        by_both = _union(one).intersect(_union(another))
        if len(arms) == 1:
            found.append(image(by_both))
        else:
            touched.setdefault(arms[:-1], []).append(prefix(by_both, arms[-2].counters))
    return found


def _union(sets: Sequence[_Union]) -> _Union:
    whole = sets[0]
    for one in sets[1:]:
        whole = whole.union(one)
    return whole


def _image(state: State, statement: Statement, digits: Sequence[Polynomial]) -> Set:
    """Return the values of the first digits as a set over the parameters."""
    return image(_relation(state, statement, digits, statement.domain))


def _relation(state: State, statement: Statement, digits: Sequence[Polynomial], domain: Formula) -> Map:
    """Return the first digits at each point of a statement's `domain`."""
    formula = both((domain, state.context))
    formula = both((formula, state.ranges(atoms_of(formula))))
    return make_map(state.vocabulary, statement.counters, digits, formula)


def _full(state: State, sizes: Sequence[Polynomial]) -> Set:
    """Return {[d] : 0 <= d < size} for the inner digits."""
    names = tuple(state.vocabulary.quotient(("digit", k), f"d{k}")[0] for k in range(len(sizes)))
    parts = [at_least(atom(n), ZERO) for n in names]
    parts += [at_least(size.shift(-1), atom(n)) for n, size in zip(names, sizes, strict=True)]
    return make_set(state.vocabulary, names, both(parts))


def _sizes(state: State, strides: Sequence[Polynomial]) -> list[Polynomial] | None:
    """Return how many values each inner digit has; None where strides do not divide each other."""
    found: list[Polynomial] = []
    for outer, inner in pairwise(strides):
        size = _quotient(outer, inner)
        linear = None if size is None else state.vocabulary.linear(size)
        if linear is None:
            return None
        found.append(linear)
    return found


def _quotient(outer: Polynomial, inner: Polynomial) -> Polynomial | None:
    if len(outer.terms) != 1 or len(inner.terms) != 1:
        return None
    ((big, many),), ((small, few),) = outer.terms.items(), inner.terms.items()
    left = list(big)
    for name in small:
        if name not in left:
            return None
        left.remove(name)
    return Polynomial({tuple(left): many // few}) if many % few == 0 else None
