"""MEM, the part about device memory: what each request of a warp moves, against what it needs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from warpsmith.analysis.rules.finding import Estimate, KernelFinding
from warpsmith.analysis.rules.memory.indirect import find_indirect
from warpsmith.analysis.rules.memory.layouts import against_scatter
from warpsmith.analysis.rules.memory.repeated_loads import find_repeated
from warpsmith.analysis.rules.memory.simulated import simulated_scatter
from warpsmith.analysis.rules.memory.vectors import find_joined, narrow
from warpsmith.analysis.rules.place import DEVICE, describe_access, place_of
from warpsmith.analysis.uniformity.facts import AccessFact, KernelFacts
from warpsmith.base.findings import Note
from warpsmith.machine.requests import SECTOR
from warpsmith.ssa.nodes import Instruction, Memory

__all__ = ["device_memory"]

_LARGEST_RECORD: Final = 512


def device_memory(facts: KernelFacts) -> Iterator[KernelFinding]:
    """Yield what is to be said of the accesses to device memory, the most special thing for each."""
    device = [access for access in facts.accesses if access.space in DEVICE]
    whole = find_joined(facts, device)
    accesses = [_with_neighbors(facts, access, whole) for access in device]
    swapped = _find_swapped(facts, accesses)
    yield from swapped
    records = _records(accesses)
    for access in accesses:
        if _is_scattered(access):
            if not swapped:
                yield _record(facts, access, records) or _report_scattered(facts, access, records)
        elif (seen := simulated_scatter(facts, access)) is not None:
            yield seen
        elif access.pattern == "indirect" and (gathered := find_indirect(facts, access)) is not None:
            yield gathered
        elif (found := _find_misaligned(facts, access)) is not None:
            yield found
    yield from narrow(facts, accesses)
    yield from find_repeated(facts)


# --- sectors


def _with_neighbors(facts: KernelFacts, access: AccessFact, whole: Mapping[Instruction, int]) -> AccessFact:
    """Return an access that is measured by what it and those that go along with it need."""
    bytes_ = whole.get(access.instruction, access.bytes)
    lanes = min(facts.device.warp_width, facts.block[0] * facts.block[1] * facts.block[2])
    return replace(access, ideal_sectors=max(access.ideal_sectors, -(-lanes * bytes_ // SECTOR)))


def _is_scattered(access: AccessFact) -> bool:
    """Whether every request of a whole warp touches twice the sectors that would do."""
    if access.pattern == "indirect" or access.sectors_whole is None:
        return False
    return access.sectors_whole.least >= 2 * max(1, access.ideal_sectors)


def _count_needed(facts: KernelFacts, access: AccessFact) -> int:
    """Return how many sectors the lanes that get there need, which may be a part of a warp."""
    lanes = min(facts.device.warp_width, facts.block[0] * facts.block[1] * facts.block[2])
    return max(1, -(-access.ideal_sectors * min(access.lanes, lanes) // lanes))


def _stride(access: AccessFact) -> str:
    if access.stride_bytes is not None:
        return f"{access.stride_bytes} bytes"
    return f"{access.stride} bytes" if access.stride else "more than a sector"


def _traffic(access: AccessFact) -> Estimate:
    count = 0 if access.sectors_whole is None else access.sectors_whole.most
    return Estimate(
        f"{access.kind} traffic", round(count / max(1, access.ideal_sectors), 2), "times the minimum",
        "32-byte sectors a request; model, not a measurement",
    )  # fmt: skip


def _report_scattered(facts: KernelFacts, access: AccessFact, records: Mapping[Record, set[int]]) -> KernelFinding:
    counts = f"{access.sectors_whole} sectors per warp request, {_count_needed(facts, access)} would do"
    message = f"uncoalesced {describe_access(access)}: {counts}"
    estimate = _traffic(replace(access, ideal_sectors=_count_needed(facts, access)))
    return replace(
        place_of(facts, access, "MEM001", message),
        label=f"{_stride(access)} between neighboring lanes",
        estimate=estimate,
        help=against_scatter(facts.words, access.bytes if _is_record(access, records) else None),
        impact=estimate.value,
    )


# --- records


_FIELD: Final = re.compile(r"(?:->|\.)\s*[A-Za-z_]\w*")
_BUILTIN: Final = re.compile(r"\b(?:threadIdx|blockIdx|blockDim|gridDim)\s*\.\s*[xyz]\b")

Record = tuple[str, int]
"""A variable and the stride with which its lanes go through it."""


def _records(accesses: Sequence[AccessFact]) -> dict[Record, set[int]]:
    """Return, for each array that lanes go through with one stride, which bytes of a record are used."""
    used: dict[Record, set[int]] = defaultdict(set)
    for access in accesses:
        if access.stride_bytes and access.variable:
            size = abs(access.stride_bytes)
            if access.bytes < size <= _LARGEST_RECORD:
                used[access.variable, size] |= {(access.shift + n) % size for n in range(access.bytes)}
    return used


def _count_used(facts: KernelFacts, record: Record) -> int:
    """Return how many bytes of a record are used, those of arrays in it that loops walk through with them."""
    used: set[int] = set()
    for access in facts.accesses:
        if (access.variable, abs(access.stride_bytes or 0)) == record:
            starts = _starts(access, access.shift, record[1])
            used |= {(start + n) % record[1] for start in starts for n in range(access.bytes)}
    return len(used)


def _members(facts: KernelFacts, record: Record) -> set[int]:
    """Return the bytes of a record that instructions name by themselves, as they name members, not elements."""
    found: set[int] = set()
    for access in facts.accesses:
        detail = access.instruction.detail
        if (access.variable, abs(access.stride_bytes or 0)) == record and isinstance(detail, Memory):
            found |= {(detail.offset + n) % record[1] for n in range(access.bytes)}
    return found


def _starts(access: AccessFact, offset: int, size: int) -> range:
    """Return where in a record an access begins: loops may walk through an array in it, to its end at most."""
    steps = [abs(loop.stride_bytes or 0) % size for loop in access.loops]
    step = min((step for step in steps if step), default=size)
    return range(offset % size, size - access.bytes + 1, step) or range(offset % size, offset % size + 1)


def _is_record(access: AccessFact, records: Mapping[Record, set[int]]) -> bool:
    """Whether lanes jump over records of which most is used, by this and by other accesses."""
    size = abs(access.stride_bytes or 0)
    used = records.get((access.variable, size), set())
    return access.bytes < len(used) and 2 * len(used) > size


def _record(facts: KernelFacts, access: AccessFact, records: dict[Record, set[int]]) -> KernelFinding | None:
    """Return MEM002 where the stride is that of a record of which a part is used."""
    size = abs(access.stride_bytes or 0)
    used = records.get((access.variable, size))
    if used is None:
        return None
    from_source = access.span is not None and access.span.file is not facts.function.listing
    text = _BUILTIN.sub("", access.span.text) if access.span is not None and from_source else ""
    is_field = bool(_FIELD.search(text)) or access.bytes < len(_members(facts, (access.variable, size))) < size
    if not is_field:
        return None
    count = _count_used(facts, (access.variable, size))
    if 2 * count > size:
        return None
    message = f"{describe_access(access)}, one field of records of {size} bytes: {count} bytes of each record are used"
    estimate = _traffic(access)
    return replace(
        place_of(facts, access, "MEM002", message),
        label=f"{size} bytes between neighboring lanes",
        estimate=estimate,
        help=("keep each field in an array of its own (structure of arrays)",),
        impact=estimate.value,
    )


def _find_swapped(facts: KernelFacts, accesses: Sequence[AccessFact]) -> list[KernelFinding]:
    """Return MEM007 where every scattered access would be dense if threadIdx.y were threadIdx.x, and none is dense."""
    if facts.block[0] < 2 or facts.block[1] < 2:
        return []
    strided = [access for access in accesses if _is_scattered(access)]
    if not strided or any(access.pattern == "coalesced" for access in accesses):
        return []
    if not all(access.stride_y_bytes == access.bytes for access in strided):
        return []
    first, rest = strided[0], strided[1:]
    words = "each access" if rest else describe_access(first)
    x, y = facts.words.thread("x"), facts.words.thread("y")
    message = f"{x} runs along the slow dimension and {y} along the fast one in {words}"
    estimate = _traffic(first)
    related = tuple(Note(access.span, describe_access(access)) for access in rest if access.span is not None)
    return [
        replace(
            place_of(facts, first, "MEM007", message),
            label=f"{_stride(first)} between neighboring lanes",
            related=related,
            estimate=estimate,
            help=(f"swap {x} and {y} in the index, and the x and y of block and grid with them",),
            impact=estimate.value,
        )
    ]


# --- one sector more, or nothing known


def _find_misaligned(facts: KernelFacts, access: AccessFact) -> KernelFinding | None:
    """Return MEM003 where a dense request starts inside a sector, even if the array is aligned as allocations are."""
    if access.pattern != "coalesced" or access.sectors is None:
        return None
    always = access.sectors.least > access.ideal_sectors
    count = access.sectors if always else access.sectors_aligned
    if count is None or count.least <= access.ideal_sectors:
        return None
    message = f"misaligned {describe_access(access)}: {count} sectors per warp request, {access.ideal_sectors} would do"
    found = place_of(facts, access, "MEM003", message)
    aligned = (f"{access.variable} points to where memory was allocated (a multiple of 256 bytes)",)
    return replace(
        found,
        certainty=found.certainty if always else "conditional",
        assumptions=found.assumptions if always else (*found.assumptions, *aligned),
        label="does not start at a sector",
        estimate=Estimate(
            f"{access.kind} traffic", round(count.most / max(1, access.ideal_sectors), 2), "times the minimum",
            "32-byte sectors a request; model, not a measurement",
        ),
        help=("pad rows to a multiple of 32 bytes (cudaMallocPitch), or shift the origin of the tile",),
        impact=0.5,
    )  # fmt: skip
