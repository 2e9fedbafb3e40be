"""What can be shown of a conflict that is not certain: two iterations that meet, once something more is known.

    a[(i + j) & (n - 1)] = a[i]        n = 2, j = 1: S1(0) writes a[1], S2(1) reads it      numbers for what masks
    if (a[i] > a[i + 1]) swap …        n = 2: S1(0) writes a[1], S2(1) reads it, if both run

Images (`i & m`, `i / m` for an m that no counter moves) are only bounded in isl. For a number in place of m they are
quotients, which are exact: small numbers are tried for the parameters of m, and a point that is left is a conflict.
What data decide is in no domain. There the witness says so: the two iterations touch the element if both get there;
nothing is known of the data that let them. Where something else decides, which was not understood, nothing is shown.

Invariant: a pair that is shown touches the element at its parameters, whenever its statements run; `certain` only
where they do run. Distances and directions are those of all pairs that the model cannot exclude.
Limits: the numbers tried are few; an operand that needs an image is not a number.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.verdict import Dependence
from warpsmith.poly.dependences.dependences import (
    Conflict,
    atoms_of_reference,
    collide,
    evaluate,
    sample_witness,
    summarize,
)
from warpsmith.poly.isl.formula import at_least, atoms_of, both, equal
from warpsmith.poly.isl.polynomial import ZERO, Polynomial, atom, constant
from warpsmith.poly.isl.space import OutOfBudgetError, nearest, side_budget
from warpsmith.poly.isl.vocabulary import AtomVocabulary, Divided, Masked
from warpsmith.poly.regions.region import Region, RunsWhen
from warpsmith.poly.regions.state import State
from warpsmith.tree.nodes import For

__all__ = ["ShownConflict", "show"]

_NUMBERS: Final = (2, 1, 4, 3, 8, 5, 0)
_MOST_FACTORS: Final = 3
_MOST_CHOICES: Final = 64
_EFFORT: Final = 400_000


class ShownConflict(Struct, frozen=True):
    """A dependence with its witness; `certain` where no data decide whether its statements run."""

    dependence: Dependence
    certain: bool


def show(state: State, region: Region, loop: For, conflict: Conflict, ids: Mapping[For, str]) -> ShownConflict | None:
    """Return two iterations of `loop` that meet, certainly or if data let them; None where none are found, or the
    elements are not known."""
    references = conflict.first, conflict.second
    if conflict.relation is None or any(r.element is None or r.statement.runs is RunsWhen.UNKNOWN for r in references):
        return None
    try:
        with side_budget(_EFFORT):
            found = _search(state, region, loop, _as_if_run(conflict))
            if found is None:
                return None
            witness = found + _proviso(conflict)
            dependence = summarize(region, conflict, conflict.relation, witness, ids)
            return ShownConflict(dependence, not _proviso(conflict))
    except OutOfBudgetError:
        return None


def _search(state: State, region: Region, loop: For, conflict: Conflict) -> str | None:
    """Return the witness of a conflict whose statements are taken to run."""
    images = _images(state, conflict)
    for pinned in _pin(state, images) if images else (state,):
        known = collide(pinned, region, loop, conflict.first, conflict.second) if images else conflict
        if known is not None and known.relation is not None:
            relation = nearest(known.relation, latest=known.kind == "flow")
            witness = sample_witness(pinned, region, known, relation)
            if witness is not None and "?" not in witness:
                return witness
    return None


def _as_if_run(conflict: Conflict) -> Conflict:
    """Return the conflict with statements that run at all points of their domains."""
    first, second = conflict.first, conflict.second
    one = replace(first.statement, exact=True)
    other = one if first.statement is second.statement else replace(second.statement, exact=True)
    return Conflict(replace(first, statement=one), replace(second, statement=other), conflict.relation)


def _proviso(conflict: Conflict) -> str:
    """Return which of the statements data may keep from running, as a witness says it."""
    match conflict.first.statement.runs, conflict.second.statement.runs:
        case RunsWhen.ALWAYS, RunsWhen.ALWAYS:
            return ""
        case RunsWhen.ALWAYS, _:
            return ", if S2 runs"
        case _, RunsWhen.ALWAYS:
            return ", if S1 runs"
        case _:
            return ", if both run"


def _images(state: State, conflict: Conflict) -> tuple[str, ...]:
    """Return the images that the domains and subscripts of a conflict are made of."""
    used = (name for r in (conflict.first, conflict.second) for name in atoms_of_reference(r))
    return tuple(sorted(state.vocabulary.images(used)))


def _pin(state: State, images: Sequence[str]) -> Iterator[State]:
    """Yield states in which the operands of `images` are numbers, so that the images have their values."""
    vocabulary = state.vocabulary
    factors = sorted(_factors(vocabulary, (_operand(vocabulary, name) for name in images)))
    ranks = itertools.product(range(len(_NUMBERS)), repeat=min(len(factors), _MOST_FACTORS))
    for chosen in itertools.islice(sorted(ranks, key=sum), _MOST_CHOICES):
        values = {name: _NUMBERS[rank] for name, rank in zip(factors, chosen, strict=False)}
        pinned = _define(state, images, values)
        if pinned is not None:
            yield pinned


def _operand(vocabulary: AtomVocabulary, name: str) -> Polynomial:
    match vocabulary[name].meaning:
        case Masked(mask=mask):
            return mask
        case Divided(divisor=divisor):
            return divisor
        case _:
            raise ValueError(f"{vocabulary[name].text} is no value of a map")


def _factors(vocabulary: AtomVocabulary, operands: Iterable[Polynomial]) -> frozenset[str]:
    """Return the variables that the operands are computed from."""
    seen: set[str] = set()
    pending = [name for operand in operands for name in operand.atoms()]
    while pending:
        name = pending.pop()
        if name not in seen:
            seen.add(name)
            pending += [*atoms_of(vocabulary[name].definition), *vocabulary[name].parts]
    return frozenset(n for n in seen if vocabulary[n].kind in ("parameter", "counter") and vocabulary.invariant(n))


def _define(state: State, images: Sequence[str], values: Mapping[str, int]) -> State | None:
    """Return the state with the variables of `values` fixed, and `images` defined exactly; None where one is not."""
    pinned = state.copy()
    fixed = [equal(atom(name), constant(value)) for name, value in values.items()]
    pending = list(images)
    while pending:
        ready = [n for n in pending if not pinned.vocabulary.images(_operand(pinned.vocabulary, n).atoms())]
        for name in ready:
            operand = _operand(pinned.vocabulary, name)
            (number,) = evaluate(pinned, (pinned.vocabulary.multiply_out(operand),), values)
            if number is None or not _give_value(pinned, name, number):
                return None
            fixed.append(equal(operand, constant(number)))
        if not ready:
            return None
        pending = [n for n in pending if n not in ready]
    pinned.context = both((pinned.context, *fixed))
    return pinned


def _give_value(state: State, name: str, operand: int) -> bool:
    """Define an image whose operand is a number; False where its value cannot be written."""
    vocabulary = state.vocabulary
    match vocabulary[name].meaning:
        case Masked(value=value):
            digits = state.affine.bitwise_and(value, constant(operand))
            linear = None if digits is None else vocabulary.linear(digits)
            if linear is None or name in linear.atoms() or vocabulary.images(linear.atoms() - value.atoms()):
                return False
            vocabulary.define(name, equal(atom(name), linear))
            return True
        case Divided(value=value, quotient=quotient, remainder=remainder) if operand >= 1:
            rest = atom(remainder)
            whole = equal(value, atom(quotient).scale(operand) + rest)
            inside = at_least(rest, ZERO), at_least(constant(operand - 1), rest), at_least(value, ZERO)
            vocabulary.define(name, both((whole, *inside)))
            return True
        case _:
            return False
