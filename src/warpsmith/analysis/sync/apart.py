"""Places that no two threads share, whatever the arguments are: no whole numbers make their bytes overlap.

    out[y·w + x], x < w:     (y - y')·w + x - x' = 0      y - y' >= 1, so (y - y')·w >= w > x' - x: none
                                                          y - y' = 0, so x = x': the same thread

What an argument is a factor of, a digit of the address, is less, more or the same for the two threads, and so is each
of their indices: every case is shown to have no solution (affine/inequalities.py), but that where all is the same. In
each case, what is known of a digit is multiplied by its argument where that is positive. Cf. the delinearization of
Maslov (PLDI 1992), and GPUVerify (Betts et al., OOPSLA 2012) for the two threads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from warpsmith.analysis.affine.inequalities import ONE, Row, have_no_solution
from warpsmith.analysis.affine.symbols import Atom, Form
from warpsmith.analysis.memory.accesses import AccessSite
from warpsmith.analysis.memory.forms import Forms
from warpsmith.analysis.sync.races import Judge, Meeting
from warpsmith.analysis.sync.unknowns import Poly, Unknowns, plus, times
from warpsmith.analysis.uniformity.facts import Dim

__all__ = ["apart_in_block", "apart_in_grid"]

_MOST_CASES: Final = 120
_MOST_PRODUCTS: Final = 24
_MOST_DIGITS: Final = 3
_MOST_CHOICES: Final = 8

_Choice = tuple[Mapping[Atom, int], Mapping[Atom, int]]


class _Split(Struct, frozen=True):
    """A number that is less, the same or more for the two threads; `factor`: the unknowns that it is multiplied by in
    the addresses, `own`: an index of a thread, or of a block."""

    difference: Poly
    factor: tuple[int, ...] = ()
    own: bool = False


def apart_in_block(judge: Judge, meeting: Meeting) -> tuple[str, ...] | None:
    """Return what it rests on that no two threads of a block clash at a meeting; None where that is not shown: of all
    iterations at once, or of those of loops that have few one by one."""
    shown = _apart_where(judge, meeting, ({}, {}))
    choices = _choices(judge, meeting) if shown is None else []
    if shown is not None or not 1 < len(choices) <= _MOST_CHOICES:
        return shown
    texts: list[str] = []
    for choice in choices:
        found = _apart_where(judge, meeting, choice)
        if found is None:
            return None
        texts += found
    return tuple(dict.fromkeys(texts))


def _choices(judge: Judge, meeting: Meeting) -> list[_Choice]:
    """Return what may be counted at the two places by loops that have few iterations, as far as both addresses depend
    on it, each pair once."""
    one, other = (set(() if p.address is None else p.address.atoms()) for p in (meeting.first, meeting.second))
    found: dict[object, _Choice] = {}
    for here, there, _ in judge.choices(meeting):
        sides = tuple({atom: n for atom, n in side.items() if atom in one & other} for side in (here, there))
        found.setdefault(tuple(frozenset(side.items()) for side in sides), (sides[0], sides[1]))
    return list(found.values())


def _apart_where(judge: Judge, meeting: Meeting, choice: _Choice) -> tuple[str, ...] | None:
    """Return what a proof rests on where some unknowns are these numbers at the two places."""
    ahead = dict(meeting.ahead)

    def relation(atom: Atom) -> int | None:
        moved = {header: ahead.get(header, 0) for header in atom.cycles if ahead.get(header, 0) != 0}
        if not moved:
            return 0
        ((header, by), *others) = moved.items()
        return by if not others and judge.forms.iteration(judge.forms.headers[header]) is atom else None

    known = Unknowns(judge.forms, judge.presences, relation)
    for side, numbers in enumerate(choice):
        known.be_where(numbers, side)
    block = judge.forms.lanes.block
    own = [plus(known.axis(n, 0), known.axis(n, 1), -1) for n in range(3) if block[n] > 1]
    return _shown(judge, known, (meeting.first, meeting.second), own)


def apart_in_grid(judge: Judge, pair: tuple[AccessSite, AccessSite], grid: Dim | None) -> tuple[str, ...] | None:
    """Return what it rests on that no two threads of different blocks clash at two places; None where that is not
    shown."""
    known = Unknowns(judge.forms, judge.presences, lambda atom: 0 if atom.argument or atom.of_grid else None)
    used = _used_axes(judge.forms)
    axes = [n for n in range(3) if (used[n] if grid is None else grid[n] > 1)]
    own = [plus(known.of_block(n, 0), known.of_block(n, 1), -1) for n in axes]
    texts = [] if grid is not None or all(used) else [_describe_rows(used)]
    shown = _shown(judge, known, pair, own)
    return None if shown is None else tuple(dict.fromkeys((*shown, *texts)))


def _used_axes(forms: Forms) -> list[bool]:
    names = {atom.name for atom in forms.lanes.atoms.values() if atom.of_block}
    return [f"ctaid.{axis}" in names for axis in "xyz"]


def _describe_rows(used: Sequence[bool]) -> str:
    *others, last = (axis for axis, is_used in zip("xyz", used, strict=True) if not is_used)
    return (
        f"the grid has one block along {', '.join(others)} and {last}"
        if others
        else f"the grid has one block along {last}"
    )


def _shown(
    judge: Judge, known: Unknowns, pair: tuple[AccessSite, AccessSite], own: Sequence[Poly]
) -> tuple[str, ...] | None:
    """Return what a proof rests on."""
    addresses = [_address(place) for place in pair]
    if addresses[0] is None or addresses[1] is None:
        return None
    difference, texts = _difference(known, pair, (addresses[0], addresses[1]))
    if difference is None:
        return None
    for side, place in enumerate(pair):
        known.be_at(place, side)
    known.positive += [plus(difference, {(): pair[0].bytes - 1})]
    known.positive += [plus({(): pair[1].bytes - 1}, difference, -1)]
    others = [_Split(d) for d in known.differences(difference) if d not in own]
    proof = _Proof(known, [*_digits(known, difference), *(_Split(d, own=True) for d in own), *others])
    proof.left = min(_MOST_CASES, judge.cases)
    shown = proof.go(proof.zero, proof.positive, 0, differ=False)
    judge.cases -= min(_MOST_CASES, judge.cases) - max(0, proof.left)
    if not shown:
        return None
    return tuple(dict.fromkeys((*texts, *known.assumptions)))


def _address(place: AccessSite) -> Form | None:
    if place.address is None or place.base is None:
        return None
    return Form(64, place.address.drop_atoms([place.base]).terms)


def _difference(
    known: Unknowns, pair: tuple[AccessSite, AccessSite], addresses: tuple[Form, Form]
) -> tuple[Poly | None, list[str]]:
    """Return by how much two addresses differ, and what that rests on: how often an index wrapped is left out, unless
    it is the same for both."""
    texts = [f"the index of {p.base.name} does not overflow" for p in pair if p.overflow and p.base is not None]
    wraps = {atom for form in addresses for atom in form.atoms() if atom.wraps}
    one, other = (known.poly(form, side) for side, form in enumerate(addresses))
    difference = None if one is None or other is None else plus(one, other, -1)
    if difference is not None and known.involves(difference, wraps):
        texts += [f"the index of {p.base.name} does not overflow" for p in pair if p.base is not None]
        one, other = (known.poly(form.drop_atoms(wraps), side) for side, form in enumerate(addresses))
        difference = None if one is None or other is None else plus(one, other, -1)
    return difference, texts


def _digits(known: Unknowns, difference: Poly) -> list[_Split]:
    """Return what arguments are factors of, the longest product first."""
    groups: dict[tuple[int, ...], dict[tuple[int, ...], int]] = defaultdict(dict)
    for monomial, c in difference.items():
        factor = tuple(v for v in monomial if v in known.factors)
        rest = tuple(v for v in monomial if v not in known.factors)
        groups[factor][rest] = groups[factor].get(rest, 0) + c
    found = [(f, known.scaled(group)) for f, group in groups.items() if f and set(group) != {()}]
    return [_Split(group, f) for f, group in sorted(found, key=lambda item: -len(item[0]))[:_MOST_DIGITS]]


class _Proof:
    """The cases of one question; `numbers`: products of unknowns, which are taken for unknowns of their own."""

    def __init__(self, known: Unknowns, splits: Sequence[_Split]) -> None:
        self.splits, self.numbers = splits, dict[tuple[int, ...], int]()
        self.left = _MOST_CASES
        self.zero, self.positive = list(known.zero), list(known.positive)
        for whole, quotient, size in known.divided:
            # a quotient that is rounded to 0 is 1 at least only of what is positive
            if have_no_solution(self._rows(self.zero), self._rows([*self.positive, plus({}, quotient, -1)])):
                rest = plus(whole, quotient, -size)
                self.positive += [rest, plus({(): size - 1}, rest, -1)]
        self.factors = {v: self._is_positive(v) for split in splits for v in split.factor}
        own = {v for split in splits if split.factor for m in split.difference for v in m}
        rows = [row for row in self.positive if any(len(m) == 1 and m[0] in own for m in row)]
        rows = sorted(rows, key=len, reverse=True)[:_MOST_PRODUCTS]
        factors = [v for v, positive in self.factors.items() if positive]
        self.positive += [times(row, {(v,): 1}) for v in factors for row in rows]

    def _is_positive(self, variable: int) -> bool:
        return have_no_solution(self._rows(self.zero), self._rows([*self.positive, {(variable,): -1}]))

    def go(self, zero: Sequence[Poly], positive: Sequence[Poly], at: int, *, differ: bool) -> bool:
        """Return whether every case from a split on has no solution, but that of one thread."""
        self.left -= 1
        if self.left < 0:
            return False
        if have_no_solution(self._rows(zero), self._rows(positive)):
            return True
        if at == len(self.splits):
            return not differ
        split = self.splits[at]
        return self._same(split, (zero, positive), at, differ=differ) and all(
            self.go(zero, [*positive, *self._more(split, sign)], at + 1, differ=differ or split.own) for sign in (1, -1)
        )

    def _same(self, split: _Split, given: tuple[Sequence[Poly], Sequence[Poly]], at: int, *, differ: bool) -> bool:
        added = [split.difference]
        if split.factor:
            added.append(times(split.difference, {split.factor: 1}))
        return self.go([*given[0], *added], given[1], at + 1, differ=differ)

    def _more(self, split: _Split, sign: int) -> list[Poly]:
        """Return what holds where the difference is at least 1, or at most -1."""
        row = plus({(): -1}, split.difference, sign)
        if not split.factor or not all(self.factors[v] for v in split.factor):
            return [row]
        return [row, times(row, {split.factor: 1})]

    def _rows(self, polys: Sequence[Poly]) -> list[Row]:
        return [self._row(poly) for poly in polys]

    def _row(self, poly: Poly) -> Mapping[int, int]:
        return {(self.numbers.setdefault(m, len(self.numbers)) if m else ONE): c for m, c in poly.items()}
