"""The races of a kernel, and whether there are no others: every pair of accesses that may meet is decided.

    threads of a block     pairs of one barrier interval           threads 0 and 1, by their numbers       races.py
                                                                   none, whatever the arguments are        apart.py
                                                                   some, for some arguments                reached.py
                                                                   left to the data                        by_data.py
    threads of two blocks  pairs in global memory: grid.py, apart.py, reached.py

A pair that none of them decides leaves the verdict open. Every array that is an argument is taken to be memory of its
own, and said to be where that matters.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.analysis.affine.symbols import Atom
from warpsmith.analysis.memory.accesses import AccessSite
from warpsmith.analysis.memory.phases import full_barrier
from warpsmith.analysis.sync.apart import apart_in_block, apart_in_grid
from warpsmith.analysis.sync.barriers import all_instructions, are_inside, come_together
from warpsmith.analysis.sync.by_data import pick_clash
from warpsmith.analysis.sync.flags import Unordered, assume_flags, left_out
from warpsmith.analysis.sync.grid import across_blocks, may_order_blocks
from warpsmith.analysis.sync.races import Clash, Judge, Meeting
from warpsmith.analysis.sync.reached import (
    apart_by_numbers,
    find_first_axis,
    find_reached,
    find_reached_in_grid,
    is_made_of,
)
from warpsmith.analysis.uniformity.facts import AccessFact, Dim, RaceFact, RaceVerdict, Side, WitnessThread
from warpsmith.ssa.nodes import Instruction, Text

__all__ = ["ARRAYS_APART", "FLAGS", "INSIDE", "Races", "decide"]

FLAGS: Final = "the flags of a barrier between them leave that memory out"
ARRAYS_APART: Final = "arrays that are different arguments do not overlap"
INSIDE: Final = "no index leaves its array"
_MOST_MEETINGS: Final = 3000
_MOST_PROOFS: Final = 100
_MOST_FAILED: Final = 24
_MOST_ALIKE: Final = 3
_MOST_CLASHES: Final = 12
"""Pairs of one array and two basic blocks, as unrolled loops have them, that are not shown to be apart, before no more
of them are looked at; those that may clash are looked at for longer."""
_MOST_TRIED: Final = 24
_MOST_SHARED: Final = 1 << 18
"""Bytes of shared memory that no device gives to a block."""
_MOST_PAIRS: Final = 400

Facts = Mapping[Instruction, AccessFact]
Proof = Callable[[], tuple[str, ...] | None]


class Races(Struct, frozen=True):
    """Those that were found; `complete`: there are no others in shared memory, under `assumptions`; `verdict` is of all
    memory."""

    found: tuple[RaceFact, ...]
    complete: bool
    assumptions: tuple[str, ...]
    verdict: RaceVerdict


def decide(
    judge: Judge, places: Sequence[AccessSite], facts: Facts, assumed: tuple[str, ...], grid: Dim | None
) -> Races:
    """Return the races between threads of one block, and those between blocks, and what is left open."""
    between = tuple(across_blocks(judge, places, facts, grid))
    everything = list(all_instructions(judge.forms))
    waits = [(name, i) for name, i in everything if i.op == "barrier" or full_barrier(i)]
    if not all(full_barrier(i) and come_together(judge.presences, name) for name, i in waits):
        why = "a barrier that some threads of a block may not reach, or not together"
        return Races(between, False, (), RaceVerdict("unknown", why=why))
    work = _Work(judge, facts, assumed)
    placed = [_as_global(place) for place in places]
    opaque = any(i.op in ("call", "unmodeled") for _, i in everything)
    if opaque:
        work.leave("it calls what is not known")
    _decide_block(work, [place for place in placed if place.space in ("shared", "global")])
    _decide_flags(work, [i for _, i in waits], placed)
    _decide_pointers(work, placed)
    _decide_dynamic(work, placed)
    _decide_sizes(work, placed)
    found = [*work.found, *between]
    if grid != (1, 1, 1):
        _decide_grid(work, [place for place in placed if place.space == "global"], grid, found)
    complete = work.shared and not opaque and not _may_be_shared(judge, places)
    inside = are_inside([place for place in places if place.space == "shared"])
    more = () if inside else (INSIDE,)
    shared = tuple(dict.fromkeys((*assumed, *work.shared_texts, *more)))
    if found:
        work.leave(_possible(found[0]))
    if work.open:
        return Races(tuple(found), complete, shared, RaceVerdict("unknown", why=work.open))
    texts = tuple(dict.fromkeys((*shared, *work.texts)))
    return Races(tuple(found), complete, shared, RaceVerdict("none", texts))


def _possible(race: RaceFact) -> str:
    """Return a race in words that may be too uncertain to be told."""
    who = "threads of one block" if race.reach == "block" else "threads of different blocks"
    given = f", if {'; and '.join(race.assumptions)}" if race.assumptions else ""
    return f"{who} may meet in {race.variable or 'what is not known'}{given}"


class _Work(Struct):
    """What is known so far. `shared`: all pairs in shared memory are decided; `open`: why another one is not, the first
    reason that came up."""

    judge: Judge
    facts: Facts
    assumed: tuple[str, ...]
    found: list[RaceFact] = field(default_factory=list)
    shared: bool = True
    shared_texts: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    open: str = ""
    proofs: int = _MOST_PROOFS
    failed: Counter[object] = field(default_factory=Counter)
    told: dict[object, bool] = field(default_factory=dict)
    tried: int = _MOST_TRIED

    def prove(self, one: AccessSite, other: AccessSite, ask: Proof, *, clash: bool = False) -> tuple[str, ...] | None:
        """Return what it rests on that two places are apart, None where that is not shown, or not asked: not much is
        asked of what is like some that failed; `clash`: what is not shown is told."""
        like = one.base, one.block, other.block
        few = self.failed[like] < (_MOST_CLASHES if clash else _MOST_ALIKE)
        if self.proofs <= 0 or not few or not (clash or self.failed.total() < _MOST_FAILED):
            return None
        self.proofs -= 1
        texts = ask()
        self.failed[like] += texts is None
        return texts

    def is_told(self, meeting: Meeting) -> bool:
        """Whether a race is known of the same two places in the text: unrolled loops have many pairs of each."""
        return _in_text(meeting) in self.told

    def tell(self, meeting: Meeting, *, exact: bool) -> bool:
        """Return whether a race is news: none of its two places is known that is as certain."""
        key = _in_text(meeting)
        news = key not in self.told or (exact and not self.told[key])
        self.told[key] = exact or self.told.get(key, False)
        return news

    def leave(self, why: str) -> None:
        """Leave something open."""
        self.open = self.open or why

    def name(self, place: AccessSite) -> str:
        """Return a place in words."""
        fact = self.facts[place.instruction]
        word = {"load": "the read of", "store": "the write of", "atomic": "the update of"}[place.kind]
        line = "" if place.instruction.span is None else f" in line {place.instruction.span.line}"
        return f"{word} {fact.variable or 'what is not known'}{line}"

    def leave_pair(self, one: AccessSite, other: AccessSite, who: str, why: str = "") -> None:
        """Leave a pair open."""
        because = f": {why}" if why else ""
        if one is other:
            self.leave(f"{who} may meet in {self.name(one)}{because}")
        else:
            self.leave(f"{who} may meet in {self.name(one)} and {self.name(other)}{because}")


def _in_text(meeting: Meeting) -> object:
    """Return the two places of a meeting in the text, and whose memory it is."""
    sides = meeting.first.instruction, meeting.second.instruction
    return frozenset(str(i.span) if i.span else id(i) for i in sides), meeting.first.base, meeting.second.base


# --- threads of one block


def _decide_block(work: _Work, places: Sequence[AccessSite]) -> None:
    pairs = work.judge.meetings(places)
    for meeting in pairs:
        shown, texts = _settle(work, meeting)
        if shown is None:
            target = work.shared_texts if meeting.first.space == "shared" else work.texts
            target += texts
        elif shown.clash and work.tell(meeting, exact=shown.exact):
            work.found.append(_race(work, meeting, shown))
    if len(pairs) >= _MOST_MEETINGS:
        work.shared = False
        work.leave("too many pairs of accesses may meet")


def _decide_flags(work: _Work, barriers: Sequence[Instruction], places: Sequence[AccessSite]) -> None:
    """Tell of what only barriers order whose flags leave that memory out (OpenCL); leave open what is not decided."""
    for space in ("shared", "global"):
        for left in left_out(work.judge, barriers, places, space):
            meeting = left.meeting
            work.proofs -= 1
            if work.proofs > 0 and _are_apart(work.judge, meeting):
                continue
            work.shared = work.shared and space != "shared"
            shown = _shown_by_flags(work, left)
            if shown is None:
                work.leave_pair(meeting.first, meeting.second, "threads of one block", FLAGS)
                break
            if work.tell(meeting, exact=shown.exact):
                work.found.append(replace(_race(work, meeting, shown), barrier=left.barrier, certainty="conditional"))


def _shown_by_flags(work: _Work, left: Unordered) -> Clash | None:
    """Return what may be told of a meeting that only a barrier's flags leave open; None where it is not known."""
    if left.barrier is None:
        return None
    clash = work.judge.judge(left.meeting)
    shown = clash if clash.clash and clash.exact else _shown(work, left.meeting, clash)
    if not shown.clash or not (shown.exact or shown.reached):
        return None
    return replace(shown, assumptions=(*shown.assumptions, assume_flags(left.barrier)))


def _are_apart(judge: Judge, meeting: Meeting) -> bool:
    return judge.judge(meeting).clash is False or _apart(judge, meeting) is not None


def _apart(judge: Judge, meeting: Meeting) -> tuple[str, ...] | None:
    return () if apart_by_numbers(judge, meeting) else apart_in_block(judge, meeting)


def _settle(work: _Work, meeting: Meeting) -> tuple[Clash | None, tuple[str, ...]]:
    """Return the clash of a meeting, None where there is none, and what that rests on; what is left open is noted."""
    clash = work.judge.judge(meeting)
    if clash.clash is False:
        return None, clash.assumptions
    if (clash.clash and clash.exact) or work.is_told(meeting):
        _note_shared(work, meeting, clash)
        return clash, ()
    texts = work.prove(meeting.first, meeting.second, partial(_apart, work.judge, meeting), clash=clash.clash is True)
    if texts is not None:
        return None, texts
    shown = _shown(work, meeting, clash)
    _note_shared(work, meeting, shown if shown.clash is None else clash)
    if shown.clash is None:
        work.leave_pair(meeting.first, meeting.second, "threads of one block", clash.why)
    elif not shown.reached:
        work.leave_pair(meeting.first, meeting.second, "threads of one block", "both may get there")
    return shown, ()


def _note_shared(work: _Work, meeting: Meeting, clash: Clash) -> None:
    if meeting.first.space == "shared":
        work.shared = work.shared and clash.clash is not None
        work.shared_texts += () if clash.exact else clash.assumptions


def _shown(work: _Work, meeting: Meeting, clash: Clash) -> Clash:
    """Return what may be told of a meeting that is not decided, or that threads may not get to."""
    work.tried -= 1
    reached = find_reached(work.judge, meeting) if work.tried >= 0 else None
    if reached is not None and reached.clash is None:
        return reached
    if reached is not None and clash.clash:
        # the threads that are shown to get there: without that, others seemed to clash
        return replace(reached, assumptions=tuple(dict.fromkeys((*clash.assumptions, *reached.assumptions))))
    if reached is not None or clash.clash:
        return reached or clash
    return pick_clash(work.judge, meeting) or clash


def _race(work: _Work, meeting: Meeting, clash: Clash) -> RaceFact:
    texts = [*work.assumed, *clash.assumptions]
    if not clash.exact and not clash.reached:
        texts.append("both threads get there between the same two barriers")
    one, two = (WitnessThread(_index(work.judge, thread)) for thread in clash.threads)
    return RaceFact(
        kernel=work.judge.forms.answer.function.name,
        variable=work.facts[meeting.first.instruction].variable,
        space=meeting.first.space,
        reach="block",
        offset=_said_offset(meeting.first, clash),
        first=Side(one, work.facts[meeting.first.instruction]),
        second=Side(two, work.facts[meeting.second.instruction]),
        certainty="conditional" if texts or not clash.exact else "proven",
        assumptions=tuple(dict.fromkeys(texts)),
        one_iteration=meeting.first.instruction is meeting.second.instruction and _counts(work.judge, meeting.first),
        one_warp=work.judge.is_within_warps(meeting),
    )


def _said_offset(place: AccessSite, clash: Clash) -> int | None:
    """Return the place that two threads touch; numbers that stand for arguments may make one that no block has."""
    too_far = place.space == "shared" and clash.offset is not None and clash.offset >= _MOST_SHARED
    return None if too_far else clash.offset


def _counts(judge: Judge, place: AccessSite) -> bool:
    """Whether an address is another one in each iteration of the one loop around it, and the same for all threads."""
    cycles, address = judge.forms.around[place.block], place.address
    if len(cycles) != 1 or address is None or address.has("own", "index", "wrap"):
        return False
    counter = judge.forms.iteration(cycles[0])
    return [m for m in address.terms if any(a.cycles for a in m)] == [(counter,)]


def _index(judge: Judge, thread: int) -> Dim:
    x, y, _ = judge.forms.lanes.block
    return thread % x, thread // x % y, thread // (x * y)


def _may_be_shared(judge: Judge, places: Sequence[AccessSite]) -> bool:
    """Whether an access of unknown space may be one of shared memory."""
    made = any(
        i.op == "to_generic" and isinstance(i.detail, Text) and i.detail.text == "shared"
        for _, i in all_instructions(judge.forms)
    )
    return made and any(place.space == "generic" for place in places)


# --- arrays


def _as_global(place: AccessSite) -> AccessSite:
    """Return a place that an argument leads to as one of global memory: no argument of a kernel leads elsewhere."""
    known = place.space == "generic" and place.base is not None and place.base.argument and not place.base.space
    return replace(place, space="global") if known else place


def _decide_pointers(work: _Work, places: Sequence[AccessSite]) -> None:
    """Leave open what is written through a pointer that is not known, and say that arrays are apart."""
    outside = [place for place in places if place.space in ("global", "generic")]
    written = [place for place in outside if place.kind != "load"]
    strange = [place for place in outside if place.base is None or not (place.base.argument or place.base.space)]
    generic = [place for place in outside if place.space == "generic"]
    strange += generic
    strange += _find_differences(work.judge, outside)
    shared = [place for place in places if place.space == "shared" and place.kind != "load"]
    if (written and strange) or (shared and generic):
        work.leave(f"it is not known where {work.name(strange[0])} leads")
    bases = {place.base for place in outside if place.base is not None}
    arguments = [base for base in bases if not base.space]
    if written and arguments and len(bases) > 1:
        work.texts.append(ARRAYS_APART)
    elif written and len(bases) > 1:
        work.texts.append(INSIDE)


def _find_differences(judge: Judge, places: Sequence[AccessSite]) -> list[AccessSite]:
    """Return the places whose index is made of another array's address: `out[in - out]` is an element of `in`."""
    bases = {place.base for place in places if place.base is not None}
    known: dict[tuple[Atom, Atom], bool] = {}

    def is_part(atom: Atom, base: Atom) -> bool:
        value = judge.forms.named.get(atom)
        if (atom, base) not in known:
            known[atom, base] = value is not None and is_made_of(judge, value, base)
        return known[atom, base]

    found = []
    for place in places:
        inside = [] if place.address is None else [a for a in place.address.atoms() if a not in bases and _is_made(a)]
        if any(is_part(atom, base) for atom in inside for base in bases if base is not place.base):
            found.append(place)
    return found


def _is_made(atom: Atom) -> bool:
    """Whether an unknown may be computed from others."""
    return not (atom.argument or atom.of_block or atom.of_grid) and atom.kind in ("shared", "own")


def _decide_sizes(work: _Work, places: Sequence[AccessSite]) -> None:
    """Leave open what atomic operations of several sizes update: one is whole for those of its own size."""
    updates = [place for place in places if place.kind == "atomic"]
    if len({place.bytes for place in updates}) < 2:
        return
    for one, other in combinations(updates, 2):
        same = one.base is other.base or one.base is None or other.base is None
        if same and one.bytes != other.bytes and one.space == other.space:
            work.shared = work.shared and one.space != "shared"
            work.leave_pair(one, other, "threads", "they are of different sizes")
            return


def _decide_dynamic(work: _Work, places: Sequence[AccessSite]) -> None:
    """Leave open what arrays of dynamic shared memory hold: all of them begin at one address (CUDA C++ Programming
    Guide, `__shared__`)."""
    inside = {place.base: place for place in places if place.space == "shared" and place.base is not None}
    dynamic = {base: place for base, place in inside.items() if base.space == "shared" and not place.size}
    if len(dynamic) > 1 and any(place.base in dynamic and place.kind != "load" for place in places):
        names = " and ".join(base.name for base in list(dynamic)[:2])
        work.shared = False
        work.leave(f"{names} are one memory, the dynamic shared memory of a block")


# --- threads of several blocks


def _decide_grid(work: _Work, places: Sequence[AccessSite], grid: Dim | None, found: list[RaceFact]) -> None:
    told = {frozenset((id(r.first.access), id(r.second.access))) for r in found if r.reach == "grid"}
    ordered = may_order_blocks(work.judge.forms.answer.function)
    # numbers that are given may be those of one block
    unsized = grid is None and work.judge.forms.transfer.shape.is_told
    for count, (one, other) in enumerate(_grid_pairs(places)):
        sides = work.facts[one.instruction], work.facts[other.instruction]
        if count > _MOST_PAIRS or work.proofs <= 0:
            work.leave("too many pairs of accesses may meet")
            return
        if frozenset(map(id, sides)) in told:
            continue
        texts = work.prove(one, other, partial(apart_in_grid, work.judge, (one, other), grid))
        if texts is not None:
            work.texts += texts
            continue
        untold = unsized or ordered or one.kind == other.kind == "atomic"
        # the first block's threads may get to either place
        orders = [] if untold or work.tried <= 0 else [(one, other), (other, one)][: 1 if one is other else 2]
        clashes = ((pair, find_reached_in_grid(work.judge, pair)) for pair in orders)
        shown = next((_grid_race(work, pair, clash, grid) for pair, clash in clashes if clash is not None), None)
        work.tried -= 1
        if shown is None:
            work.leave_pair(one, other, "threads of different blocks")
        else:
            found.append(shown)


def _grid_pairs(places: Sequence[AccessSite]) -> Iterator[tuple[AccessSite, AccessSite]]:
    groups: dict[Atom | None, list[AccessSite]] = defaultdict(list)
    for place in places:
        groups[place.base].append(place)
    for base, group in groups.items():
        if base is None:
            continue
        for at, one in enumerate(group):
            for other in group[at:]:
                if _may_conflict(one, other):
                    yield (one, other) if one.kind != "load" else (other, one)


def _may_conflict(one: AccessSite, other: AccessSite) -> bool:
    """Whether accesses of two blocks conflict where they meet: an atomic operation of one block is none for another."""
    if one.kind == other.kind == "atomic":
        return any(getattr(place.instruction.detail, "scope", "") == "block" for place in (one, other))
    return "store" in (one.kind, other.kind) or {one.kind, other.kind} == {"load", "atomic"}


def _grid_race(work: _Work, pair: tuple[AccessSite, AccessSite], clash: Clash, grid: Dim | None) -> RaceFact:
    texts = [] if grid is not None else ["the grid has several blocks"]
    axis = find_first_axis(work.judge)
    flat = work.judge.forms.transfer.shape.flat
    along = next((name for n, name in enumerate("xyz") if n not in flat), "x") if axis is None else axis.name[-1]
    blocks: tuple[Dim, Dim] = ((0, 0, 0), (int(along == "x"), int(along == "y"), int(along == "z")))
    sides = [
        Side(WitnessThread(_index(work.judge, thread), block), work.facts[place.instruction])
        for thread, block, place in zip(clash.threads, blocks, pair, strict=True)
    ]
    return RaceFact(
        kernel=work.judge.forms.answer.function.name,
        variable=work.facts[pair[0].instruction].variable,
        space="global",
        reach="grid",
        offset=None,
        first=sides[0],
        second=sides[1],
        certainty="conditional",
        assumptions=tuple(dict.fromkeys((*work.assumed, *texts, *clash.assumptions))),
    )
