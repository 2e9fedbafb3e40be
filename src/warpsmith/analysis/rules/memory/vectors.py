"""MEM005, and what it rests on: neighboring accesses of one thread that are, or could be, one access.

    a[i].x  a[i].y          float2 a: a multiple of 8 bytes, so that a compiler makes one access of the two
    p[4*t]  p[4*t + 1]      float p: only a multiple of 4 is known, so that it does not

Limit: what stands between the accesses is not looked at; a compiler may join fewer of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from msgspec.structs import replace

from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.analysis.rules.origins import Numbers, is_compiled
from warpsmith.analysis.rules.place import describe_access, place_of
from warpsmith.analysis.uniformity.facts import AccessFact, KernelFacts
from warpsmith.base.findings import Note
from warpsmith.ssa.nodes import Instruction, Memory

__all__ = ["find_joined", "narrow"]

_WIDTHS: Final = (16, 8, 4, 2)


def find_joined(facts: KernelFacts, accesses: Sequence[AccessFact]) -> Mapping[Instruction, int]:
    """Return how many bytes a compiler may move by one access in place of each that has neighbors; none where it has
    been over the kernel already."""
    found: dict[Instruction, int] = {}
    for run in [] if is_compiled(facts) else _runs(facts, accesses):
        held = {offset + n for offset, access in run for n in range(access.bytes)}
        starts = [(offset, width) for width in _WIDTHS for offset, access in run if _alignment(access) % width == 0]
        whole = [(start, width) for start, width in starts if held.issuperset(range(start, start + width))]
        for offset, access in run:
            around = [width for start, width in whole if start <= offset and offset + access.bytes <= start + width]
            if max(around, default=0) > access.bytes:
                found[access.instruction] = max(around)
    return found


def _alignment(access: AccessFact) -> int:
    detail = access.instruction.detail
    assert isinstance(detail, Memory)
    return max(access.alignment, detail.align)


Run = list[tuple[int, AccessFact]]


def _runs(facts: KernelFacts, accesses: Sequence[AccessFact]) -> list[Run]:
    """Return the accesses of one kind and block of code with one base, by their offsets from it."""
    numbers = Numbers(facts)
    runs: dict[object, Run] = defaultdict(list)
    for access in accesses:
        detail = access.instruction.detail
        if isinstance(detail, Memory) and access.kind != "atomic" and not detail.order:
            key = (numbers.of(access.instruction.operands[0]), access.kind, access.block)
            runs[key].append((detail.offset, access))
    return [sorted(run, key=lambda one: one[0]) for run in runs.values() if len(run) > 1]


def narrow(facts: KernelFacts, accesses: Sequence[AccessFact]) -> Iterator[KernelFinding]:
    """Yield MEM005: bytes and halves that lie side by side, words of one thread that do."""
    reported: set[str] = set()
    for access in accesses:
        dense = access.pattern == "coalesced" and abs(access.stride_bytes or 0) == access.bytes
        apart = access.addresses is not None and access.addresses.least >= facts.device.warp_width
        small = dense and apart and access.bytes <= 2 and access.kind != "atomic"
        if small and access.variable not in reported:
            reported.add(access.variable)
            moved = facts.device.warp_width * access.bytes
            message = f"narrow {describe_access(access)}: a warp moves {moved} bytes a request"
            found = place_of(facts, access, "MEM005", message)
            helps = (f"let a thread handle {4 // access.bytes} neighbors and access them as one 4-byte vector",)
            yield replace(found, label=f"{access.bytes} byte a lane", help=helps, impact=0.5)
    yield from _adjacent(facts, accesses)


def _adjacent(facts: KernelFacts, accesses: Sequence[AccessFact]) -> Iterator[KernelFinding]:
    """Yield runs of 4-byte accesses of one thread to neighboring places, which one vector access could do."""
    sure = is_compiled(facts)
    for neighbors in _runs(facts, accesses):
        run = [(offset, access) for offset, access in neighbors if access.bytes == 4 and access.elements == 1]
        offsets = [offset for offset, _ in run]
        if not run:
            continue
        first = run[0][1]
        width = next((n for n in (4, 2) if _steps(offsets[:n], n) and _alignment(first) % (4 * n) == 0), None)
        if width is None:
            continue
        shown = describe_access(first)
        message = f"{width} neighboring 4-byte accesses of a thread, {shown}: one of {4 * width} bytes would do"
        found = place_of(facts, first, "MEM005", message)
        related = tuple(Note(a.span, describe_access(a)) for _, a in run[1:width] if a.span is not None)
        helps = (f"access it as float{width} or int{width}: the address is a multiple of {4 * width} bytes",)
        yield replace(
            found,
            certainty=found.certainty if sure else "heuristic",
            assumptions=found.assumptions if sure else ("the compiler does not join them by itself",),
            label="could be a vector access",
            related=related,
            help=helps,
            impact=0.5,
        )


def _steps(offsets: Sequence[int], count: int) -> bool:
    return len(offsets) == count and all(b - a == 4 for a, b in pairwise(offsets))
