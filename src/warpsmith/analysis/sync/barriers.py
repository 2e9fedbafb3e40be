"""Where threads wait for each other: barriers of the block that not all of them reach together, barriers that order
nothing, exchanges of a warp whose mask names lanes that may be elsewhere, and races that a barrier would prevent.

    if (t < n)            the threads diverge here
        __syncthreads();  and are not together again here: divergent
    if (t >= n) return;   these have ended
    __syncthreads();      divergent, by an early exit
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from warpsmith.analysis.memory.accesses import AccessSite
from warpsmith.analysis.memory.branches import reasons
from warpsmith.analysis.memory.forms import Forms
from warpsmith.analysis.memory.phases import ALL_LANES, around, full_barrier, intervals
from warpsmith.analysis.memory.presence import Presences
from warpsmith.analysis.sync.agreeing import is_of_mask, may_agree
from warpsmith.analysis.sync.races import Judge, meetings
from warpsmith.analysis.uniformity.facts import (
    BarrierFact,
    ExchangeFact,
)
from warpsmith.base.findings import Certainty
from warpsmith.base.source import Span
from warpsmith.ssa.nodes import Constant, Exchange, Instruction, Query, Value

__all__ = ["ENDED", "all_instructions", "are_inside", "barriers", "come_together", "exchanges"]

ENDED: Final = "what a lane that has ended would give is used"
_MOST_WORK = 3000

Why = tuple[tuple[str, ...], tuple[Span | None, ...]]


# --- who is there


def barriers(judge: Judge, places: Sequence[AccessSite], assumed: tuple[str, ...]) -> Iterator[BarrierFact]:
    """Yield the fact for each barrier of a block; the judge's forms hold for the block."""
    forms, presences = judge.forms, judge.presences
    whole = all(full_barrier(i) for _, i in all_instructions(forms) if i.op == "barrier")
    diverged = {i for name, i in all_instructions(forms) if i.op == "barrier" and not come_together(presences, name)}
    ordered = _Ordered.of(judge, places) if whole and not diverged else None
    for name, i in all_instructions(forms):
        if i.op != "barrier":
            continue
        divergent = i in diverged and full_barrier(i)
        why = _why(presences, name) if divergent else ((), ())
        redundant, texts = False, tuple[str, ...]()
        if ordered is not None and not _reduces(i):
            redundant, texts = ordered.holds_without(i)
        if divergent and presences.at(name).kind != "known":
            texts = ("the condition differs between threads of one block",)
        certainty: Certainty = "conditional" if assumed or texts else "proven"
        if divergent and all(may_agree(forms.answer, branch) for branch in presences.find_diverging(name)):
            certainty = "heuristic"
        yield BarrierFact(
            kernel=forms.answer.function.name,
            span=i.span,
            divergent=divergent,
            exits=divergent and _exits(presences, name),
            why=why[0],
            lines=why[1],
            redundant=redundant,
            certainty=certainty,
            assumptions=tuple(dict.fromkeys((*assumed, *texts))),
            block=name,
            instruction=i,
        )


def all_instructions(forms: Forms) -> Iterator[tuple[str, Instruction]]:
    """Yield every instruction with its block, in the order of the graph."""
    for name in forms.graph.order:
        for i in forms.blocks[name].instructions:
            yield name, i


def _reduces(i: Instruction) -> bool:
    return bool(getattr(i.detail, "reduces", ""))


def come_together(presences: Presences, block: str) -> bool:
    """Whether all threads that are asked about are at a block whenever one of them is."""
    presence = presences.at(block)
    return presence.kind == "all" or (
        presence.kind == "known" and presence.threads in (presences.everyone, frozenset())
    )


def _why(presences: Presences, block: str) -> Why:
    answer = presences.forms.answer
    for name in reversed(presences.find_diverging(block)):
        return reasons(answer, answer.branches[name])
    return (), ()


def _exits(presences: Presences, block: str) -> bool:
    """Whether those that are missing have ended: from each branch, the other way leads to no barrier."""
    return all(_ends(presences, name, block) for name in presences.find_diverging(block))


def _ends(presences: Presences, branch: str, block: str) -> bool:
    forms = presences.forms
    pending = [way for way in forms.graph.successors[branch] if not forms.graph.dominates(way, block)]
    if len(pending) == len(forms.graph.successors[branch]):
        return False
    passed = _find_reached(forms, pending)
    waits = any(i.op == "barrier" for name in passed for i in forms.blocks[name].instructions)
    return block not in passed and not waits


# --- barriers that order nothing


class _Ordered(Struct):
    """What the barriers of a kernel order: the accesses, and the pairs of them that meet with all barriers in place."""

    judge: Judge
    places: dict[Instruction, AccessSite]
    meeting: set[object]
    assumptions: list[str]

    @classmethod
    def of(cls, judge: Judge, places: Sequence[AccessSite]) -> _Ordered | None:
        """Prepare; None where nothing can be said of any barrier."""
        ordered = {p.instruction: p for p in places if p.space in ("shared", "global", "generic")}
        count = sum(1 for _, i in all_instructions(judge.forms) if full_barrier(i))
        if not count or count * len(ordered) > _MOST_WORK or any(_opaque(i) for _, i in all_instructions(judge.forms)):
            return None
        written = {p.base for p in ordered.values() if p.kind != "load" and p.space != "shared"}
        read = {p.base for p in ordered.values() if p.kind == "load" and p.space == "global"}
        if None in written or (written and None in read) or any(p.space == "generic" for p in ordered.values()):
            return None
        texts = ["arrays that are different arguments do not overlap"] if written and len(read | written) > 1 else []
        texts += [] if are_inside(list(ordered.values())) else ["no index leaves its array"]
        found = meetings(intervals(judge.forms, ordered, full_barrier), ordered, atomics=True)
        return cls(judge, ordered, {m.key for m in found}, texts)

    def holds_without(self, barrier: Instruction) -> tuple[bool, tuple[str, ...]]:
        """Return whether no two accesses clash without this barrier that it keeps apart, and what that rests on."""

        def others(i: Instruction) -> bool:
            return full_barrier(i) and i is not barrier

        found = intervals(self.judge.forms, self.places, others)
        before, behind = around(self.judge.forms, self.places, full_barrier, barrier)
        assumptions = list(self.assumptions)
        for meeting in meetings(found, self.places, atomics=True, cut=others):
            # what meets with all barriers in place may be kept apart by this one on another way
            one, two = meeting.first.instruction, meeting.second.instruction
            diverged = (one in before and two in behind) or (two in before and one in behind)
            if diverged or meeting.key not in self.meeting:
                clash = self.judge.judge(meeting)
                if clash.clash is not False:
                    return False, ()
                assumptions += clash.assumptions
        return True, tuple(dict.fromkeys(assumptions))


def _opaque(i: Instruction) -> bool:
    """Whether an instruction may rest on an order that accesses do not show; a clock is read at a point in time."""
    timed = isinstance(i.detail, Query) and i.detail.register.startswith(("clock", "globaltimer"))
    return timed or i.op in ("call", "unmodeled", "fence")


def are_inside(places: Sequence[AccessSite]) -> bool:
    """Whether every access of a declared array is inside it, by the ranges of its unknowns."""
    return all(_is_inside(place) for place in places if place.space == "shared")


def _is_inside(place: AccessSite) -> bool:
    if place.address is None or place.base is None:
        return False
    low, high = place.address.drop_atoms([place.base]).range()
    return low >= 0 and high + place.bytes <= place.size


# --- exchanges of a warp


def exchanges(presences: Presences, assumed: tuple[str, ...]) -> Iterator[ExchangeFact]:
    """Yield the fact for each exchange; the forms hold for a warp."""
    forms = presences.forms
    width = forms.lanes.warp
    for name, i in all_instructions(forms):
        if i.op not in ("vote", "shuffle", "match", "reduce", "warp_barrier"):
            continue
        mask = _mask(i)
        presence = presences.at(name)
        absent = presence.kind != "all" if mask is not None else _is_stale(presences, name, i)
        if absent and mask is not None and presence.kind == "known":
            absent = any(
                _missing(forms, presence.threads, warp, mask & ((1 << width) - 1)) for warp in forms.lanes.warps()
            )
        exits = absent and all(_never_back(presences, branch, name) for branch in presences.find_diverging(name))
        texts = list(assumed)
        if absent and mask is None:
            texts.append("lanes that part before it were active together where its mask was taken")
        elif absent and presence.kind != "known":
            texts.append("the condition differs between lanes of one warp")
        if exits:
            texts.append(ENDED)
        why = _why(presences, name) if absent else ((), ())
        parting = presences.find_diverging(name) if absent else ()
        agree = bool(parting) and all(may_agree(forms.answer, branch) for branch in parting)
        yield ExchangeFact(
            kernel=forms.answer.function.name,
            span=i.span,
            op=i.op,
            mask=mask,
            absent=absent,
            exits=exits,
            why=why[0],
            lines=why[1],
            certainty="heuristic" if agree else "conditional" if texts else "proven",
            assumptions=tuple(texts),
            block=name,
            instruction=i,
        )


def _mask(i: Instruction) -> int | None:
    """Return the mask of an exchange where it is a known number."""
    if i.op == "warp_barrier" and not i.operands:
        return ALL_LANES
    masked = i.op == "warp_barrier" or (isinstance(i.detail, Exchange) and i.detail.masked)
    last = i.operands[-1] if masked and i.operands else None
    return last.bits if isinstance(last, Constant) else None


def _is_stale(presences: Presences, block: str, i: Instruction) -> bool:
    """Whether the mask of an exchange says who was active before a branch that parts them: m = __activemask();
    if (…) __shfl_sync(m, …)."""
    taken, answer = _taken_mask(presences, i), presences.forms.answer
    if taken is None:
        return False
    before = presences.find_diverging(answer.homes[taken])
    return any(not is_of_mask(answer, name, taken) for name in presences.find_diverging(block) if name not in before)


def _taken_mask(presences: Presences, i: Instruction) -> Value | None:
    """Return the mask of an exchange where it says who was active, None where it does not."""
    if not i.operands or not (i.op == "warp_barrier" or (isinstance(i.detail, Exchange) and i.detail.masked)):
        return None
    mask = i.operands[-1]
    made = presences.forms.answer.definitions.get(mask) if isinstance(mask, Value) else None
    return made.result if isinstance(made, Instruction) and made.op == "active" else None


def _never_back(presences: Presences, branch: str, block: str) -> bool:
    """Whether the threads that do not come to a block from a branch end by themselves: they share no more code with
    those that do, but its end."""
    forms = presences.forms
    ways = [way for way in forms.graph.successors[branch] if not forms.graph.dominates(way, block)]
    if len(ways) == len(forms.graph.successors[branch]):
        return False
    shared = _find_reached(forms, ways) & _find_reached(forms, [block])
    return not any(forms.blocks[name].instructions for name in shared) and block not in shared


def _find_reached(forms: Forms, starts: Sequence[str]) -> set[str]:
    """Return the blocks that control may come to from some, these included."""
    pending, seen = list(starts), set(starts)
    while pending:
        new = [after for after in forms.graph.successors[pending.pop()] if after not in seen]
        seen.update(new)
        pending += new
    return seen


def _missing(forms: Forms, threads: frozenset[int], warp: range, mask: int) -> bool:
    """Whether a warp of which some lanes are there lacks one that the mask names."""
    here = {t - warp.start for t in warp if t in threads}
    return bool(here) and any(mask >> (t - warp.start) & 1 and (t - warp.start) not in here for t in warp)
