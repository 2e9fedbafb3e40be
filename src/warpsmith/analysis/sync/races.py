"""Accesses of two threads to one place that nothing orders: between the same two barriers, one of them a write.

    A of thread t:  tile + 4·t            A with A:    4·t - 4·t' = 0: no two threads
    B of thread t': tile + 4·t' + 4·s     with s = 1:  4·t = 4·t' + 4: threads 1 and 0

What threads share cancels where it is the same at both places (phases.py says which iterations meet); what is left of
it is an unknown multiple of some number, so that places are compared modulo that. Variables of loops with few values
are tried one by one (trial.py).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, dropwhile, islice, product, takewhile
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.analysis.affine.symbols import Atom, Form
from warpsmith.analysis.memory.accesses import AccessSite
from warpsmith.analysis.memory.forms import Forms
from warpsmith.analysis.memory.phases import Cut, Interval, Turns, full_barrier, intervals, warp_barrier
from warpsmith.analysis.memory.presence import Presences
from warpsmith.analysis.sync.first_block import may_miss_first_block
from warpsmith.analysis.sync.trial import Orbit, Trial, find_entered, orbits
from warpsmith.analysis.sync.turns import meeting_iterations
from warpsmith.analysis.sync.ways import Ways
from warpsmith.ssa.graph import Cycle
from warpsmith.ssa.nodes import Instruction

__all__ = ["UNLIKE", "Clash", "Judge", "Meeting", "meetings", "overlap"]

_MOST_TRIALS = 80
_MANY = 2
_MOST_PAIRS = 4000
_MOST_CASES = 400
UNLIKE: Final = "lanes of one warp write different values"
FIRST_BLOCK: Final = "the block is the first one of the grid"

Row = tuple[tuple[int, ...], frozenset[int]]
"""A number for each thread of a block, and the threads that are there."""

Ahead = tuple[tuple[str, int | None], ...]
Relation = Mapping[str, int | None]
"""Header → how many iterations the second place is ahead of the first; None: it varies."""


class Meeting(Struct, frozen=True):
    """Two places that may be executed in one interval between such barriers (`cut`) by different threads."""

    first: AccessSite
    second: AccessSite
    ahead: Ahead
    cut: Cut = full_barrier

    @property
    def whole(self) -> bool:
        """Whether the intervals are those of all barriers of the block."""
        return self.cut is full_barrier

    @property
    def key(self) -> object:
        """What two that are the same have in common."""
        return id(self.first), id(self.second), self.ahead

    @property
    def at_once(self) -> bool:
        """Whether it is one store that the lanes of a warp execute together."""
        same = self.first.instruction is self.second.instruction and self.first.kind == "store"
        return same and all(by == 0 for _, by in self.ahead)


class Clash(Struct, frozen=True):
    """What is known of a meeting. `clash` None: not decided, `why` names the blocker. A clash has two threads,
    and the byte where that is known; `exact`: they are there whenever the code is reached; `reached`: they are where
    the arguments are as `assumptions` say."""

    clash: bool | None
    threads: tuple[int, int] = (0, 0)
    offset: int | None = None
    exact: bool = False
    reached: bool = False
    why: str = ""
    assumptions: tuple[str, ...] = ()


def meetings(
    found: Iterable[Interval],
    places: Mapping[Instruction, AccessSite],
    *,
    atomics: bool = False,
    cut: Cut = full_barrier,
) -> list[Meeting]:
    """Return every pair that may meet and conflict, each once; they are of one variable, or one is of none known.

    `atomics`: two atomic operations conflict as well, which matters where their order does; `cut`: the
    barriers that the intervals are between."""
    made: dict[object, Meeting] = {}
    for interval in found:
        inside = [places[i] for i in interval.inside]
        groups: dict[Atom | None, list[AccessSite]] = defaultdict(list)
        for place in inside:
            groups[place.base].append(place)
        unknown = groups.pop(None, [])
        inner = chain.from_iterable(_pairs(group) for group in (*groups.values(), unknown))
        outer = ((a, b) for a in unknown for group in groups.values() for b in group)
        for a, b in chain(inner, outer):
            if not _conflicting(a, b) and not (atomics and a.space == b.space and a.kind == b.kind == "atomic"):
                continue
            for mine, yours in product(interval.inside[a.instruction], interval.inside[b.instruction]):
                ahead = _ahead(mine, yours)
                made.setdefault((id(a), id(b), ahead), Meeting(a, b, ahead, cut))
            if len(made) > _MOST_PAIRS:
                return list(made.values())
    return list(made.values())


def _pairs(group: Sequence[AccessSite]) -> Iterator[tuple[AccessSite, AccessSite]]:
    """Yield the pairs of places of which one at least is no load."""
    writing = [number for number, place in enumerate(group) if place.kind != "load"]
    for number, a in enumerate(group):
        if a.kind == "load":
            yield from ((a, group[other]) for other in writing[bisect_left(writing, number) :])
        else:
            yield from ((a, b) for b in group[number:])


def _conflicting(a: AccessSite, b: AccessSite) -> bool:
    if a.space != b.space:
        return False
    return "store" in (a.kind, b.kind) or {a.kind, b.kind} == {"load", "atomic"}


def _ahead(a: Turns, b: Turns) -> tuple[tuple[str, int | None], ...]:
    found: dict[str, int | None] = {}
    for header in sorted({*a, *b}):
        x, y = a.get(header), b.get(header)
        found[header] = None if x is None or y is None else y - x
    return tuple(found.items())


class _Side(Struct, frozen=True):
    """A place under a trial: its `whole` address, the `row` of what its threads know by their index, with a `number`
    that stands for it, and what the factors of unknowns that differ between threads are multiples of."""

    place: AccessSite
    whole: Form
    row: Row
    number: int
    unknown: int


class _Related(Struct, frozen=True):
    """Which iterations of two places may meet between some barriers, by the places."""

    together: Mapping[tuple[int, int], Sequence[Relation]]

    def may_meet(self, meeting: Meeting, ahead: Relation) -> bool:
        """Whether the places may meet so many iterations apart."""
        found = self.together.get((id(meeting.first), id(meeting.second)), ())
        return any(_may_agree(ahead, relation) for relation in found)


class Judge(Struct):
    """Decides meetings of one kernel, with forms that hold for a whole block; `cases`: how many more are looked at to
    show that places are apart (apart.py)."""

    forms: Forms
    presences: Presences
    values: dict[str, Orbit] = field(default_factory=dict)
    cases: int = _MOST_CASES
    _ordered: set[object] = field(default_factory=set)
    _perhaps: set[object] = field(default_factory=set)
    _first: frozenset[str] = frozenset()
    _whole: _Related | None = None
    _some: _Related | None = None
    _made: dict[object, Trial] = field(default_factory=dict)
    _sides: dict[object, _Side] = field(default_factory=dict)
    _rows: dict[Row, int] = field(default_factory=dict)
    _rounds: dict[object, tuple[set[int], set[int]]] = field(default_factory=dict)
    _overlaps: dict[object, tuple[int, int] | None] = field(default_factory=dict)

    @classmethod
    def of(cls, forms: Forms, presences: Presences) -> Judge:
        """Prepare for a function."""
        return cls(forms, presences, orbits(forms), _first=find_entered(forms))

    def meetings_by(self, places: Sequence[AccessSite], cut: Cut) -> list[Meeting]:
        """Return the pairs of places that may meet between such barriers."""
        by_instruction = {place.instruction: place for place in places}
        found = intervals(self.forms, by_instruction, cut, self._entered)
        return meetings(found, by_instruction, cut=cut)

    def meetings(self, places: Sequence[AccessSite]) -> list[Meeting]:
        """Return the pairs of places that may meet."""
        by_instruction = {place.instruction: place for place in places}
        found = self.meetings_by(places, full_barrier)
        if any(i.op == "warp_barrier" for _, i in self.forms.answer.function.instructions()):
            self._whole = self._related(by_instruction, warp_barrier)
            # a barrier of some lanes may be one of just those that matter
            self._some = self._related(by_instruction, lambda i: full_barrier(i) or i.op == "warp_barrier")
            self._ordered = {m.key for m in found if not self._whole.may_meet(m, dict(m.ahead))}
            self._perhaps = {m.key for m in found if not self._some.may_meet(m, dict(m.ahead))}
        ways = Ways(self.forms)
        return [meeting for meeting in found if ways.may_both(meeting.first, meeting.second)]

    @property
    def _entered(self) -> frozenset[str]:
        return self._first | {header for header, orbit in self.values.items() if orbit.entered}

    def _related(self, places: Mapping[Instruction, AccessSite], cut: Cut) -> _Related:
        """Return which iterations may meet between these barriers."""
        together: dict[tuple[int, int], list[Relation]] = defaultdict(list)
        for m in meetings(intervals(self.forms, places, cut, self._entered), places):
            together[id(m.first), id(m.second)].append(dict(m.ahead))
            back = {header: None if by is None else -by for header, by in m.ahead}
            together[id(m.second), id(m.first)].append(back)
        return _Related(together)

    def is_ordered(self, meeting: Meeting, one: Trial, two: Trial) -> tuple[bool, bool]:
        """Return whether barriers of a warp stand between the two in the iterations that are tried, and whether some of
        its lanes have one there."""
        if self._whole is None or self._some is None:
            return False, False
        ahead = dict(meeting.ahead)
        for header in ahead:
            counter = self.forms.iteration(self.forms.headers[header])
            here, there = one.assignment.get(counter), two.assignment.get(counter)
            if here is not None and there is not None:
                ahead[header] = there - here
        return not self._whole.may_meet(meeting, ahead), not self._some.may_meet(meeting, ahead)

    def judge(self, meeting: Meeting) -> Clash:
        """Return whether two threads of a block may clash there."""
        a, b = meeting.first, meeting.second
        if a.address is None or b.address is None or a.address.has("own") or b.address.has("own"):
            return Clash(None, why="an index is not known")
        if a.base is None or a.base is not b.base:
            return Clash(None, why="a variable is not known")
        result: Clash | None = None
        for trial, other, sure in self._trials(meeting):
            found = self._decide(meeting, trial, other)
            found = replace(found, exact=found.exact and sure)
            if found.clash is None:
                return found
            if found.clash and (result is None or not result.exact):
                result = found
        made = result or Clash(False)
        overflow = (f"the index of {p.base.name} does not overflow" for p in (a, b) if p.overflow and p.base)
        return replace(made, assumptions=tuple(dict.fromkeys((*overflow, *made.assumptions))))

    def is_within_warps(self, meeting: Meeting) -> bool:
        """Whether threads of different warps never clash there."""
        a, b = meeting.first, meeting.second
        known = (
            a.address is not None and b.address is not None and not a.address.has("own") and not b.address.has("own")
        )
        if not known or a.base is None or a.base is not b.base:
            return False
        return all(self._find_clash(meeting, *two, warped=True).clash is False for *two, _ in self._trials(meeting))

    def may_be_ordered(self, meeting: Meeting) -> bool:
        """Whether barriers of a warp, or of some of its lanes, may stand between the two."""
        return meeting.key in self._ordered or meeting.key in self._perhaps

    def _decide(self, meeting: Meeting, one: Trial, two: Trial) -> Clash:
        """Return what is known of a meeting; threads of one warp may have an order of their own."""
        ordered, perhaps = self.is_ordered(meeting, one, two)
        found = self._find_clash(meeting, one, two, warped=ordered or perhaps or meeting.at_once)
        if ordered or found.clash is not False or not (perhaps or meeting.at_once):
            return found
        inside = self._find_clash(meeting, one, two, warped=False)
        if perhaps and inside.clash is not False:
            return Clash(None, why="a barrier of some lanes may order it")
        # one of the lanes wins (CUDA C++ Programming Guide, SIMT architecture): it matters if they are not alike
        return replace(inside, assumptions=(UNLIKE,)) if inside.clash else inside

    # --- what is tried

    def _trials(self, meeting: Meeting) -> Iterator[tuple[Trial, Trial, bool]]:
        for one, two, sure in self.choices(meeting):
            yield self.trial(one), self.trial(two), sure

    def choices(self, meeting: Meeting) -> Iterator[tuple[dict[Atom, int], dict[Atom, int], bool]]:
        """Yield the numbers to try, for the first and for the second place, and whether they all come up."""
        near = {c.header for p in (meeting.first, meeting.second) for c in self.forms.around[p.block]}
        tried = [orbit for header, orbit in self.values.items() if header in near]
        choices = [self._steps(meeting, orbit) for orbit in tried]
        while choices and math.prod(map(len, choices)) > _MOST_TRIALS:
            worst = max(range(len(choices)), key=lambda n: len(choices[n]))
            del choices[worst], tried[worst]
        for chosen in product(*choices):
            one: dict[Atom, int] = {}
            two: dict[Atom, int] = {}
            for orbit, (here, there) in zip(tried, chosen, strict=True):
                one.update(zip(orbit.atoms, orbit.steps[here], strict=True))
                two.update(zip(orbit.atoms, orbit.steps[there], strict=True))
            yield one, two, all(orbit.sure for orbit in tried)

    def trial(self, assignment: Mapping[Atom, int]) -> Trial:
        """Return the function with these numbers."""
        key = frozenset(assignment.items())
        if key not in self._made:
            self._made[key] = Trial(self.forms, self.presences, assignment)
        return self._made[key]

    def _steps(self, meeting: Meeting, orbit: Orbit) -> list[tuple[int, int]]:
        """Return the pairs of states of a loop's variables at the two places."""
        ahead, cycle = dict(meeting.ahead), self.forms.headers[orbit.header]
        inside = [cycle in self.forms.around[place.block] for place in (meeting.first, meeting.second)]
        outer = any(ahead.get(c.header, 0) != 0 for c in self.forms.around[orbit.header] if c is not cycle)
        if all(inside) or not orbit.closed or outer or not meeting.whole:
            return list(self._pairs(orbit, self._shift(orbit.header, ahead)))
        one, other = (meeting.first, meeting.second) if inside[0] else (meeting.second, meeting.first)
        last = len(orbit.steps) - 1
        leaving, entered = self._meeting_iterations(one, other, cycle)
        at = {last - n for n in leaving} | entered
        on_two_ways = not leaving | entered  # of a branch: threads on one do not wait for those on the other
        if on_two_ways or _MANY in leaving | entered or (leaving and not orbit.sure):
            at = set(range(last + 1))
        return [(n, last) if inside[0] else (last, n) for n in sorted(at) if 0 <= n <= last]

    def entered(self, meeting: Meeting) -> dict[str, set[int]]:
        """Return the iterations in which two places may meet of the loops that are around one of them alone and are
        entered from the other, by their headers: those that a barrier in the loop leaves."""
        found: dict[str, set[int]] = {}
        for one, other in ((meeting.first, meeting.second), (meeting.second, meeting.first)):
            for cycle in self.forms.around[one.block]:
                if cycle not in self.forms.around[other.block] and meeting.whole:
                    leaving, entered = self._meeting_iterations(one, other, cycle)
                    if entered and not leaving and _MANY not in entered:
                        found[cycle.header] = entered
        return found

    def _meeting_iterations(self, inside: AccessSite, outside: AccessSite, cycle: Cycle) -> tuple[set[int], set[int]]:
        """Return in which iterations two places meet: the same for all places of a block without a barrier."""
        key = cycle.header, self._part(inside), self._part(outside)
        if key not in self._rounds:
            self._rounds[key] = meeting_iterations(self.forms, inside, outside, cycle)
        return self._rounds[key]

    def _part(self, place: AccessSite) -> object:
        waits = any(full_barrier(i) for i in self.forms.blocks[place.block].instructions)
        return id(place.instruction) if waits else place.block

    def _pairs(self, orbit: Orbit, shift: int | None) -> Iterator[tuple[int, int]]:
        steps = range(len(orbit.steps))
        if shift is None:
            yield from islice(product(steps, steps), _MOST_TRIALS + 1)
        elif orbit.closed:
            yield from ((at, at + shift) for at in steps if 0 <= at + shift < len(steps))
        elif orbit.back is not None:
            for at in steps:
                to = at
                for _ in range(abs(shift)):
                    to = to + 1 if to + 1 < len(steps) else orbit.back
                yield (at, to) if shift >= 0 else (to, at)
        else:
            # what comes behind the last is one of them again
            yield from ((at, to) for at in steps for to in ((at,) if shift == 0 else steps))

    def _shift(self, header: str, ahead: Relation) -> int | None:
        """Return how many iterations of a loop the second place is ahead; None: it varies."""
        around = [cycle.header for cycle in self.forms.around[header] if cycle.header != header]
        if any(ahead.get(outer, 0) != 0 for outer in around):
            return None
        return ahead.get(header, 0)

    # --- one trial

    def _find_clash(self, meeting: Meeting, one: Trial, two: Trial, *, warped: bool) -> Clash:
        a, b = meeting.first, meeting.second
        assert a.address is not None
        assert b.address is not None
        here, sure = one.threads(a.block)
        there, certain = two.threads(b.block)
        if not here or not there:
            return Clash(False)
        first, second = self._side(a, one, here), self._side(b, two, there, meeting.ahead)
        difference = first.whole.common().plus(second.whole.common(), -1)
        modulus = math.gcd(first.unknown, second.unknown, *(c for m, c in difference.terms.items() if m))
        sizes = a.bytes, b.bytes, modulus
        clash = self._overlap(first, second, difference.terms.get((), 0), sizes, self.forms.lanes.warp if warped else 0)
        if clash is None:
            return Clash(False)
        if modulus:
            return self._of_first_block(first, second, difference, warped=warped)
        exact = sure and certain and self._together(meeting)
        return Clash(True, clash, self._place(first.whole, clash[0]), exact)

    def _of_first_block(self, first: _Side, second: _Side, difference: Form, *, warped: bool) -> Clash:
        """Return what is known where two places are apart by more the greater the index of the block: every grid has a
        first block."""
        unknown = Clash(None, why=f"it depends on {_name_unknowns(first, second, difference)}")
        rest = [monomial for monomial in difference.terms if monomial]
        wrapping = [monomial for monomial in rest if any(atom.wraps for atom in monomial)]
        growing = (any(atom.wraps or atom.of_block for atom in monomial) for monomial in rest)
        tested = any(may_miss_first_block(self.forms, self.presences, s.place.block) for s in (first, second))
        if first.unknown or second.unknown or tested or not all(growing):
            return unknown
        sizes = first.place.bytes, second.place.bytes, 0
        clash = self._overlap(first, second, difference.terms.get((), 0), sizes, self.forms.lanes.warp if warped else 0)
        named = first.place.base
        said = (f"the index of {named.name} does not overflow",) if wrapping and named is not None else ()
        return unknown if clash is None else Clash(True, clash, assumptions=(FIRST_BLOCK, *said))

    def _side(self, place: AccessSite, trial: Trial, there: frozenset[int], ahead: Ahead = ()) -> _Side:
        """Return a place as it is under a trial, in terms of the unknowns of another one that it is `ahead` of."""
        moved = ahead if any(by != 0 for _, by in ahead) else ()
        key = id(place), id(trial), moved
        if key not in self._sides:
            assert place.address is not None
            whole = Form(64, trial.substitute(place.address).terms)
            whole = self._move(whole, dict(moved)) if moved else whole
            parts = self.forms.lanes.parts(whole.varying())
            unknown = math.gcd(*(n for outer, numbers in parts.items() if outer for n in numbers))
            row = parts.get((), (0,) * self.forms.lanes.count), there
            number = self._rows.setdefault(row, len(self._rows))
            self._sides[key] = _Side(place, whole, row, number, unknown)
        return self._sides[key]

    def _overlap(
        self, one: _Side, other: _Side, apart: int, sizes: tuple[int, int, int], warp: int
    ) -> tuple[int, int] | None:
        """Return two threads whose bytes overlap where the first row lies `apart` bytes behind where it says; unrolled
        code asks the same of many pairs of places."""
        apart = apart % sizes[2] if sizes[2] else apart
        key = one.number, other.number, apart, sizes, warp
        if key not in self._overlaps:
            (mine, here), (yours, there) = one.row, other.row
            self._overlaps[key] = overlap(
                {t: mine[t] + apart for t in here}, {t: yours[t] for t in there}, sizes, warp
            )  # fmt: skip
        return self._overlaps[key]

    def _move(self, form: Form, ahead: Relation) -> Form:
        """Return the sum at the second place in terms of the unknowns at the first."""
        made = Form(form.bits, {})
        for monomial, coefficient in form.terms.items():
            term = Form(form.bits, {(): 1})
            for atom in monomial:
                grown = term.times(self._at(atom, ahead, form.bits))
                assert grown is not None
                term = grown
            made = made.plus(term, coefficient)
        return made

    def _at(self, atom: Atom, ahead: Relation, bits: int) -> Form:
        moved = {header: ahead.get(header, 0) for header in atom.cycles if ahead.get(header, 0) != 0}
        plain = Form(bits, {(atom,): 1})
        if not moved:
            return plain
        counted = [h for h in moved if self.forms.iteration(self.forms.headers[h]) is atom]
        if len(moved) == 1 and counted and (by := moved[counted[0]]) is not None:
            return plain.plus(Form(bits, {(): by}))
        other = self.forms.lanes.atom(("elsewhere", atom), Atom(f"other {atom.name}", atom.kind, range=atom.range))
        return Form(bits, {(other,): 1})

    def _place(self, form: Form, thread: int) -> int | None:
        rest = [m for m in form.common().terms if m and not (len(m) == 1 and m[0].space)]
        parts = self.forms.lanes.parts(form)
        if rest or any(outer and not outer[0].space for outer in parts):
            return None
        return parts.get((), (0,) * self.forms.lanes.count)[thread]

    def _together(self, meeting: Meeting) -> bool:
        """Whether whoever gets to one place gets to the other, in the same interval and iteration."""
        a, b = meeting.first.block, meeting.second.block
        if any(by != 0 for _, by in meeting.ahead):
            return False
        if a == b:
            return True
        graph = self.forms.graph
        first, second = meeting.first, meeting.second
        above, below = (first, second) if graph.dominates(a, b) else (second, first)
        if not graph.dominates(above.block, below.block) or self.forms.around[a] != self.forms.around[b]:
            return False
        return graph.post_dominates(below.block, above.block) and not self._may_wait(above, below)

    def _may_wait(self, above: AccessSite, below: AccessSite) -> bool:
        """Whether a thread on its way from one place to the other may wait for others, or begin another iteration."""
        graph = self.forms.graph
        headers = {cycle.header for cycle in self.forms.around[above.block]}
        pending, seen = list(graph.successors[above.block]), {below.block}
        waits = _waits_behind(self.forms.blocks[above.block].instructions, above.instruction)
        waits = waits or _waits_before(self.forms.blocks[below.block].instructions, below.instruction)
        while pending and not waits:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                pending += graph.successors[name]
                waits = name in headers or any(_waits(i) for i in self.forms.blocks[name].instructions)
        return waits


def _name_unknowns(one: _Side, other: _Side, difference: Form) -> str:
    """Return the arguments on which it hangs how far two places are apart, where it is nothing else."""
    forms = (difference, one.whole.varying(), other.whole.varying())
    atoms = {atom for form in forms for monomial in form.terms for atom in monomial if atom.kind == "shared"}
    atoms = {atom for atom in atoms if not atom.wraps and not atom.of_block}
    names = sorted({atom.argument for atom in atoms if atom.argument})
    return " and ".join(names) if names and all(atom.argument for atom in atoms) else "what is not known"


def _may_agree(one: Relation, two: Relation) -> bool:
    """Whether two relations of iterations may be of the same moments."""
    return all(by is None or two.get(header) is None or two[header] == by for header, by in one.items())


def _waits(i: Instruction) -> bool:
    return i.op in ("barrier", "warp_barrier") or full_barrier(i)


def _waits_behind(instructions: Sequence[Instruction], place: Instruction) -> bool:
    return any(_waits(i) for i in dropwhile(lambda i: i is not place, instructions))


def _waits_before(instructions: Sequence[Instruction], place: Instruction) -> bool:
    return any(_waits(i) for i in takewhile(lambda i: i is not place, instructions))


def overlap(
    mine: Mapping[int, int], yours: Mapping[int, int], sizes: tuple[int, int, int], warp: int
) -> tuple[int, int] | None:
    """Return two threads whose bytes overlap, modulo the third size where it is not 0; `warp`: threads of one warp of
    that width do not count."""
    size, other, modulus = sizes
    if modulus and modulus < size + other - 1:
        modulus = 1
    low, high = min(mine.values()), max(mine.values()) + size
    if not modulus and (high <= min(yours.values()) or max(yours.values()) + other <= low):
        return None
    step = math.gcd(size, other, modulus, *(n - low for n in mine.values()), *(n - low for n in yours.values()))
    held: dict[int, list[int]] = defaultdict(list)
    for thread, offset in yours.items():
        for piece in range((offset - low) // step, (offset - low + other - 1) // step + 1):
            held[piece % (modulus // step) if modulus else piece].append(thread)
    for thread, offset in mine.items():
        for piece in range((offset - low) // step, (offset - low + size - 1) // step + 1):
            for there in held.get(piece % (modulus // step) if modulus else piece, ()):
                if there != thread and not (warp and there // warp == thread // warp):
                    return thread, there
    return None
