"""The findings of each rule on a kernel, held against what a run of it shows.

A finding names its instruction by the line. If it is proven, or what it assumes is so in the run, the run must bear it
out wherever it gets to that instruction; and where nothing is said of races and barriers, there must be nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import cast

from msgspec import Struct

from tests.analysis.memory.test_accesses import holds
from tests.analysis.memory.test_accesses import wrong as wrong_accesses
from tests.analysis.runs import Run, clashes, launched, ran
from tests.analysis.sync.test_barriers import without
from tests.analysis.sync.test_barriers import wrong as wrong_barriers
from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.analysis.rules.judge import judge
from warpsmith.analysis.uniformity.facts import ExchangeFact
from warpsmith.simt.counters import WarpRequest
from warpsmith.simt.layout import shared_layout
from warpsmith.simt.memory import SHARED_WINDOW, RecordedAccess
from warpsmith.ssa.nodes import Instruction, Module

__all__ = ["CHECKS", "Judged", "borne_out", "judged"]


class Claim(Struct, frozen=True):
    """A finding, the run, and the instruction that it is about."""

    made: Run
    finding: KernelFinding
    place: Instruction
    seed: int

    def number(self, pattern: str) -> tuple[int, int]:
        """Return the number of the message, or the least and the most, where `pattern` has a {}."""
        found = re.search(pattern.replace("{}", r"(\d+)(?: to (\d+))?"), self.finding.message)
        assert found is not None, self.finding.message
        return int(found[1]), int(found[2] or found[1])

    @property
    def requests(self) -> list[WarpRequest]:
        """Those of whole warps: a rule speaks of no other, where it is not known who is missing."""
        asked = self.made.did.requests[self.place]
        return [request for request in asked if len(request.addresses) == self.made.did.warp]

    def of(self, text: str, op: str) -> Instruction:
        """Return the access of a place, `k.cu:LINE:COLUMN`."""
        return next(i for i in self.made.memory if str(i.span) == text and i.op.startswith(op))

    @property
    def related(self) -> list[Instruction]:
        """The other accesses of the same kind that it names."""
        found = [self.made.at(note.span) for note in self.finding.related if note.span is not None]
        return [next(i for i in group if i.op == self.place.op and i is not self.place) for group in found]


Check = Callable[[Claim], Iterator[str]]


class Judged(Struct):
    """What is wrong with the findings of a run, and how many of each rule were held against it."""

    wrong: list[str]
    checked: Counter[str]


def judged(seed: int, module: Module) -> Judged:
    """Run a kernel and judge what is said of it."""
    made = ran(seed, launched(seed, module))
    findings = judge(made.facts)
    wrong = [*wrong_accesses(made), *_strides(made), *wrong_barriers(made), *_silent(made, findings)]
    told = borne_out(made, findings, seed)
    return Judged([*wrong, *told.wrong], told.checked)


def borne_out(made: Run, findings: Iterable[KernelFinding], seed: int) -> Judged:
    """Hold findings against a run. Where several instructions have one place in the text, one must bear it out."""
    wrong: list[str] = []
    checked: Counter[str] = Counter()
    for finding in findings:
        check = CHECKS.get(finding.rule)
        if check is None or finding.span is None or not _is_so(made, finding):
            continue
        places = [place for place in made.at(finding.span) if place in made.reached and _is_about(finding, place)]
        found = [list(check(Claim(made, finding, place, seed))) for place in places]
        checked[finding.rule] += bool(found)
        if found and all(found):
            wrong += [f"{finding.rule} {finding.certainty} {finding.message}: {text}" for text in found[0]]
    return Judged(wrong, checked)


_KINDS = {"load of": "load", "store to": "store", "atomic on": "atomic", "a barrier of the block": "barrier"}


def _is_about(finding: KernelFinding, place: Instruction) -> bool:
    """Whether an instruction is of the kind that a finding speaks of, as far as its words tell."""
    ops = tuple(op for word, op in _KINDS.items() if word in finding.message)
    return not ops or place.op.startswith(ops)


def _is_so(made: Run, finding: KernelFinding) -> bool:
    """Whether a finding is proven, or rests on what this run is known to fulfil."""
    if finding.certainty == "heuristic" or (finding.certainty == "conditional" and not finding.assumptions):
        return False
    open_ = [text for text in finding.assumptions if text not in _ALWAYS]
    if any("points to where memory was allocated" in text for text in open_):
        if made.did.base % 256:
            return False
        open_ = [text for text in open_ if "points to where" not in text]
    fact = next((f for f in made.facts.accesses if f.span == finding.span), None)
    return not open_ or (fact is not None and holds(made, fact, tuple(open_)))


Iteration = tuple[object, tuple[int, ...]]
"""A call, and the round of each loop around, the outermost first."""

_ALWAYS = ("the launch is as given", "the grid has several blocks", "the grid has more than one block")


def _strides(made: Run) -> Iterator[str]:
    """Yield the accesses that do not move from iteration to iteration as they are said to."""
    for fact in made.facts.accesses:
        log = made.did.log[fact.instruction] if fact.certainty != "heuristic" and holds(made, fact) else {}
        for (block, thread, moment), address in log.items():
            ((call, rounds),) = cast(tuple[Iteration], moment)
            for depth, loop in enumerate(fact.loops):
                later = [*rounds]
                later[-1 - depth] += 1
                after = log.get((block, thread, ((call, tuple(later)),)), None)
                stride = None if after is None else loop.stride_bytes
                if after is not None and stride is not None and (after - address - stride) % (1 << 32):
                    yield f"{fact.index} moves by {after - address} bytes, not {stride}"


def _silent(made: Run, findings: tuple[KernelFinding, ...]) -> Iterator[str]:
    """Yield what a run shows and no rule says, though it is claimed that there is nothing else."""
    said = {f.span.line for f in findings if f.rule in ("SYN002", "SYN004") and f.span is not None}
    told = {n.span.line for f in findings for n in f.related if f.rule in ("SYN002", "SYN004")}
    # threads that all write one number by one store are left alone: whoever comes last, it is the same
    apart = [pair for pair in clashes(made) if len(pair) > 1]
    if made.facts.races_complete and apart and not said | told:
        yield "a race that no rule tells"
    for fact in made.facts.exchanges:
        if not fact.absent and fact.mask is not None and made.did.outcome.complete and _absent(made, fact):
            yield f"{fact.op}: a lane of its mask is missing"


# --- memory


def _sectors(claim: Claim) -> Iterator[str]:
    least, most = claim.number("{} sectors per warp request")
    ideal = claim.number("{} would do")[0]
    for request in claim.requests:
        if not least <= request.sectors <= most or request.sectors <= ideal:
            yield f"{request.sectors} sectors"


def _scattered(claim: Claim) -> Iterator[str]:
    if "sectors per" in claim.finding.message:
        yield from _sectors(claim)
    for request in claim.requests:
        ideal = -(-len(request.addresses) * request.bytes // 32)
        if request.sectors < 2 * ideal:
            yield f"{request.sectors} sectors, {ideal} would do"


def _record(claim: Claim) -> Iterator[str]:
    yield from _scattered(claim)
    size = claim.number("records of {} bytes")[0]
    for request in claim.requests:
        for lane in range(1, min(len(request.addresses), claim.made.facts.block[0])):
            if abs(request.addresses[lane] - request.addresses[lane - 1]) != size:
                yield f"lanes {lane - 1} and {lane} are not {size} bytes apart"


def _swapped(claim: Claim) -> Iterator[str]:
    yield from _scattered(claim)
    x, y, _ = claim.made.facts.block
    log, size = claim.made.did.log[claim.place], _size(claim)
    for (block, thread, moment), address in log.items():
        other = log.get((block, thread + x, moment))
        if thread // x % y < y - 1 and other is not None and other - address != size:
            yield f"threads along y are {other - address} bytes apart"


def _size(claim: Claim) -> int:
    return next((request.bytes for request in claim.made.did.requests[claim.place]), 0)


def _narrow(claim: Claim) -> Iterator[str]:
    if "would do" in claim.finding.message:
        whole = claim.number("one of {} bytes")[0]
        places = [claim.place, *claim.related]
        for key, address in claim.made.did.log[claim.place].items():
            told = sorted(claim.made.did.log[place][key] for place in places)
            if address % whole or told != list(range(address, address + whole, 4)):
                yield f"{told} is not one access of {whole} bytes"
        return
    moved = claim.number("moves {} bytes")[0]
    for request in claim.requests:
        if len({a + n for a in request.addresses.values() for n in range(request.bytes)}) != moved:
            yield f"a warp does not move {moved} bytes"


def _repeated(claim: Claim) -> Iterator[str]:
    log = claim.made.did.log[claim.place]
    if "every iteration" in claim.finding.message:
        last: dict[object, int] = {}
        for (block, thread, moment), address in log.items():
            ((call, rounds),) = cast(tuple[Iteration], moment)
            if last.setdefault((block, thread, call, rounds[:-1]), address) != address:
                yield "another address in another iteration"
        return
    first = claim.made.did.log[claim.related[0]]
    if any(first[key] != address for key, address in log.items()):
        yield "another address was loaded before"


def _banks(claim: Claim) -> Iterator[str]:
    least, most = claim.number("{}-way")
    for request in claim.requests:
        if not max(2, least) <= request.ways <= most:
            yield f"{request.ways} ways"


def _words(claim: Claim) -> Iterator[str]:
    least, most = claim.number("{} words")
    for request in claim.requests:
        asked = len({address // max(4, request.bytes) for address in request.addresses.values()})
        if not least <= asked <= most or asked < 2:
            yield f"{asked} words"


def _local(claim: Claim) -> Iterator[str]:
    if any(request.space != "local" for request in claim.made.did.requests[claim.place]):
        yield "not in local memory"


def _outside(claim: Claim) -> Iterator[str]:
    made, (thread, byte, size) = claim.made, claim.finding.evidence[0].rows[0]
    name = re.search(r"(?:load of|store to|atomic on) (\w+)", claim.finding.message)
    assert name is not None
    start = shared_layout(made.did.module, made.facts.kernel).starts.get(name[1], 0)
    bytes_ = max(request.bytes for request in made.did.requests[claim.place])
    if 0 <= int(byte) <= int(size) - bytes_:
        yield "it is inside"
    seen = [a for (_, t, _), a in made.did.log[claim.place].items() if t == _thread(made, thread)]
    # in a loop a thread is there in one iteration at least
    if made.did.outcome.complete and all((a - start - int(byte)) % (1 << 32) for a in seen):
        yield f"thread {thread} is at bytes {seen}"


def _unwritten(claim: Claim) -> Iterator[str]:
    asked = claim.made.did.log[claim.place]
    if asked and not any(access.instruction is claim.place for _, access in claim.made.did.memory.unwritten):
        yield "it was written before"


# --- synchronization


def _missing(claim: Claim) -> Iterator[str]:
    fact = next(f for f in claim.made.facts.barriers if f.instruction is claim.place)
    counts = list(claim.made.arrivals(fact.block))
    if claim.made.did.outcome.complete and claim.made.threads in counts:
        yield "all threads come to it"


def _race(claim: Claim) -> Iterator[str]:
    (one, kind, first), (two, other, second) = claim.finding.evidence[0].rows
    places = claim.of(first, kind), claim.of(second, other)
    mine, yours = (_touched(claim.made, place, who) for place, who in zip(places, (one, two), strict=True))
    if (not mine and not yours) or (not (mine and yours) and not claim.made.did.outcome.complete):
        return
    if not any(_meet(a, b) for a in mine for b in yours):
        yield f"{one} and {two} do not clash"


MemoryAccess = tuple[int, int, RecordedAccess]


def _touched(made: Run, place: Instruction, who: str) -> list[MemoryAccess]:
    thread = _thread(made, who)
    return [t for t in made.did.memory.touched if t[2].instruction is place and t[2].origin.thread == thread]


def _meet(a: MemoryAccess, b: MemoryAccess) -> bool:
    """Whether two accesses of one block overlap with no barrier between."""
    one, two = a[2].origin, b[2].origin
    together = (one.block, one.epoch) == (two.block, two.epoch)
    apart = one.warp != two.warp or one.warp_epoch == two.warp_epoch
    return together and apart and a[0] < b[0] + b[1] and b[0] < a[0] + a[1]


def _thread(made: Run, text: str) -> int:
    x, y, z = map(int, re.findall(r"\d+", text)[:3])
    return x + made.facts.block[0] * (y + made.facts.block[1] * z)


def _across(claim: Claim) -> Iterator[str]:
    spans = [claim.finding.span, *(note.span for note in claim.finding.related)]
    lines = [i for span in spans if span is not None for i in claim.made.at(span)]
    held: dict[int, set[tuple[int, bool]]] = {}
    for address, size, access in claim.made.did.memory.touched:
        if access.instruction in lines and address < SHARED_WINDOW:
            for byte in range(address, address + size):
                held.setdefault(byte, set()).add((access.origin.block, access.kind == "load"))
    clash = any(len({b for b, _ in found}) > 1 and any(not read for _, read in found) for found in held.values())
    if claim.made.did.outcome.complete and not clash:
        yield "blocks do not meet"


def _absent(made: Run, fact: ExchangeFact) -> bool:
    """Whether a warp comes to an exchange without a lane that its mask names."""
    mask, there = fact.mask or 0, made.did.there[fact.block]
    return any(mask >> lane & 1 and lane not in lanes for (_, warp, _), lanes in there.items()
               for lane in range(made.lanes(warp)))  # fmt: skip


def _mask(claim: Claim) -> Iterator[str]:
    fact = next(f for f in claim.made.facts.exchanges if f.instruction is claim.place)
    if claim.made.did.outcome.complete and not _absent(claim.made, fact):
        yield "all lanes of the mask are there"


def _redundant(claim: Claim) -> Iterator[str]:
    again = ran(claim.seed, launched(claim.seed, without(claim.made.did.module, claim.place)))
    if claim.made.did.outcome.complete and clashes(again) - clashes(claim.made):
        yield "it orders something"


def _contended(claim: Claim) -> Iterator[str]:
    asked = claim.made.did.requests[claim.place]
    if any(len(set(request.addresses.values())) > 1 for request in asked):
        yield "several addresses"
    if asked and all(len(request.addresses) < 2 for request in asked):
        yield "one lane at a time"


CHECKS: dict[str, Check] = {
    "MEM001": _scattered,
    "MEM002": _record,
    "MEM003": _sectors,
    "MEM005": _narrow,
    "MEM006": _repeated,
    "MEM007": _swapped,
    "MEM010": _banks,
    "MEM012": _local,
    "MEM014": _words,
    "MEM020": _outside,
    "MEM021": _unwritten,
    "SYN001": _missing,
    "SYN002": _race,
    "SYN003": _missing,
    "SYN004": _race,
    "SYN005": _mask,
    "SYN006": _redundant,
    "SYN007": _contended,
    "SYN008": _across,
}
