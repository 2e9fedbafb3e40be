"""MEM, the part about device memory: what each request of a warp moves, against what it needs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Final

from warpsmith.analysis.facts import AccessFact, KernelFacts
from warpsmith.analysis.rules.finding import Estimate, Evidence, KernelFinding, Why
from warpsmith.analysis.rules.origins import Numbers, is_compiled, origin
from warpsmith.base.findings import Note
from warpsmith.base.source import Span
from warpsmith.ssa.nodes import Block, Instruction, Memory
from warpsmith.ssa.ops import OPS

__all__ = ["accessed", "device_memory", "lane_table", "place_of"]

SECTOR: Final = 32
_DEVICE: Final = ("global", "generic")
_LARGEST_RECORD: Final = 512


def device_memory(facts: KernelFacts) -> Iterator[KernelFinding]:
    """Yield what is to be said of the accesses to device memory, the most special thing for each."""
    accesses = [access for access in facts.accesses if access.space in _DEVICE]
    swapped = _swapped(facts, accesses)
    yield from swapped
    records = _records(accesses)
    for access in accesses:
        if _is_scattered(facts, access):
            if not swapped:
                yield _record(facts, access, records) or _scattered(facts, access)
        elif access.pattern == "indirect":
            yield _indirect(facts, access)
        elif (found := _misaligned(facts, access)) is not None:
            yield found
    yield from _narrow(facts, accesses)
    yield from _redundant(facts)
    yield from _local(facts)
    yield from _constant(facts)


def accessed(access: AccessFact) -> str:
    """Return what an access is, in words: `load of in`."""
    word = {"load": "load of", "store": "store to", "atomic": "atomic on"}[access.kind]
    return f"{word} {access.variable or 'memory'}"


def place_of(facts: KernelFacts, access: AccessFact, rule: str, message: str) -> KernelFinding:
    """Return the finding of an access, with its certainty, its assumptions and its lane table."""
    text = "" if access.span is None else " ".join(access.span.text.split())
    subject = f"{access.kind} {access.space} {access.variable} {text}"
    table = lane_table(facts, access)
    return KernelFinding(
        rule, message, access.certainty, facts.kernel, access.span, subject, assumptions=access.assumptions,
        evidence=() if table is None else (table,),
    )  # fmt: skip


def lane_table(facts: KernelFacts, access: AccessFact) -> Evidence | None:
    """Return lane → address for the first warp; in terms of the stride where the offsets are not numbers."""
    index = f"address {access.index}" if access.index else "addresses"
    if access.offsets:
        unit = ("bank", 4, 32) if access.space == "shared" else ("sector", SECTOR, None)
        name, size, wrap = unit
        rows = []
        for lane, offset in enumerate(access.offsets):
            number = offset // size
            rows.append((str(lane), f"+{offset}", str(number if wrap is None else number % wrap)))
        return Evidence(f"{index}; first warp", ("lane", "byte", name), tuple(rows))
    if access.stride:
        steps = tuple((str(lane), "+0" if not lane else f"+{lane}·({access.stride})") for lane in (0, 1, 2, 31))
        return Evidence(index, ("lane", "byte"), steps)
    return None


# --- sectors


def _is_scattered(facts: KernelFacts, access: AccessFact) -> bool:
    """Whether every request touches twice the sectors that would do; the last warp of a block may not be full, and
    ask for less."""
    if access.pattern == "indirect" or access.sectors is None:
        return False
    threads = facts.block[0] * facts.block[1] * facts.block[2]
    ragged = access.pattern == "strided" and threads > facts.device.warp_width and threads % facts.device.warp_width
    count = access.sectors.most if ragged else access.sectors.least
    return count >= 2 * max(1, access.ideal_sectors)


def _stride(access: AccessFact) -> str:
    if access.stride_bytes is not None:
        return f"{access.stride_bytes} bytes"
    return f"{access.stride} bytes" if access.stride else "more than a sector"


def _traffic(access: AccessFact) -> Estimate:
    count = 0 if access.sectors is None else access.sectors.most
    return Estimate(
        f"{access.kind} traffic", round(count / max(1, access.ideal_sectors), 2), "times the minimum",
        "32-byte sectors a request; model, not a measurement",
    )  # fmt: skip


def _scattered(facts: KernelFacts, access: AccessFact) -> KernelFinding:
    assert access.sectors is not None
    message = (
        f"uncoalesced {accessed(access)}: {access.sectors} sectors per warp request, {access.ideal_sectors} would do"
    )
    estimate = _traffic(access)
    return replace(
        place_of(facts, access, "MEM001", message),
        label=f"{_stride(access)} between neighboring lanes",
        estimate=estimate,
        help=(
            "let threadIdx.x run along the fast dimension: swap the order of the index, or of the loops around",
            "or go through a tile in shared memory: read rows, write rows; tile[32][33] keeps its banks apart",
        ),
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
        detail = access.instruction.detail
        if access.stride_bytes and access.variable and isinstance(detail, Memory):
            size = abs(access.stride_bytes)
            if access.bytes < size <= _LARGEST_RECORD:
                used[access.variable, size] |= {(detail.offset + n) % size for n in range(access.bytes)}
    return used


def _record(facts: KernelFacts, access: AccessFact, records: dict[Record, set[int]]) -> KernelFinding | None:
    """Return MEM002 where the stride is that of a record of which a part is used."""
    size = abs(access.stride_bytes or 0)
    used = records.get((access.variable, size))
    from_source = access.span is not None and not (is_compiled(facts) and _is_assembly(facts, access.span))
    text = _BUILTIN.sub("", access.span.text) if access.span is not None and from_source else ""
    is_field = bool(_FIELD.search(text)) or (used is not None and access.bytes < len(used) < size)
    if used is None or not is_field or 2 * len(used) > size:
        return None
    message = f"{accessed(access)}, one field of records of {size} bytes: {len(used)} bytes of each record are used"
    estimate = _traffic(access)
    return replace(
        place_of(facts, access, "MEM002", message),
        label=f"{size} bytes between neighboring lanes",
        estimate=estimate,
        help=("keep each field in an array of its own (structure of arrays)",),
        impact=estimate.value,
    )


def _is_assembly(facts: KernelFacts, span: Span) -> bool:
    return facts.span is not None and span.file.path == facts.span.file.path


def _swapped(facts: KernelFacts, accesses: Sequence[AccessFact]) -> list[KernelFinding]:
    """Return MEM007 where every scattered access would be dense if threadIdx.y were threadIdx.x, and none is dense."""
    if facts.block[0] < 2 or facts.block[1] < 2:
        return []
    strided = [access for access in accesses if _is_scattered(facts, access)]
    if not strided or any(access.pattern == "coalesced" for access in accesses):
        return []
    if not all(access.stride_y_bytes == access.bytes for access in strided):
        return []
    first, rest = strided[0], strided[1:]
    words = "each access" if rest else accessed(first)
    message = f"threadIdx.x runs along the slow dimension and threadIdx.y along the fast one in {words}"
    estimate = _traffic(first)
    related = tuple(Note(access.span, accessed(access)) for access in rest if access.span is not None)
    return [
        replace(
            place_of(facts, first, "MEM007", message),
            label=f"{_stride(first)} between neighboring lanes",
            related=related,
            estimate=estimate,
            help=("swap threadIdx.x and threadIdx.y in the index, and the x and y of block and grid with them",),
            impact=estimate.value,
        )
    ]


# --- one sector more, or nothing known


def _misaligned(facts: KernelFacts, access: AccessFact) -> KernelFinding | None:
    """Return MEM003 where a dense request starts inside a sector, even if the array is aligned as allocations are."""
    if access.pattern != "coalesced" or access.sectors is None:
        return None
    always = access.sectors.least > access.ideal_sectors
    count = access.sectors if always else access.sectors_aligned
    if count is None or count.least <= access.ideal_sectors:
        return None
    message = f"misaligned {accessed(access)}: {count} sectors per warp request, {access.ideal_sectors} would do"
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


def _indirect(facts: KernelFacts, access: AccessFact) -> KernelFinding:
    message = f"{accessed(access)} at an index that is loaded: up to {facts.device.warp_width} sectors per warp request"
    found = replace(place_of(facts, access, "MEM004", message), certainty="heuristic")
    loads = origin(facts, access.instruction.operands[0]).loads
    return replace(
        found,
        label="the index comes from memory",
        why=tuple(Why("the index is loaded here", load.span) for load in loads[:2]),
        help=(
            "only the data tell: `warpsmith simulate` counts sectors for given indices",
            "sorted indices make neighbors share sectors",
        ),
        impact=0.5,
    )


# --- small accesses, repeated accesses


def _narrow(facts: KernelFacts, accesses: Sequence[AccessFact]) -> Iterator[KernelFinding]:
    told: set[str] = set()
    for access in accesses:
        small = access.pattern == "coalesced" and access.bytes <= 2 and access.kind != "atomic"
        if small and access.variable not in told:
            told.add(access.variable)
            message = (
                f"narrow {accessed(access)}: a warp moves {facts.device.warp_width * access.bytes} bytes a request"
            )
            found = place_of(facts, access, "MEM005", message)
            helps = (f"let a thread handle {4 // access.bytes} neighbors and access them as one 4-byte vector",)
            yield replace(found, label=f"{access.bytes} byte a lane", help=helps, impact=0.5)
    yield from _adjacent(facts, accesses)


def _adjacent(facts: KernelFacts, accesses: Sequence[AccessFact]) -> Iterator[KernelFinding]:
    """Yield runs of 4-byte accesses of one thread to neighboring places, which one vector access could do."""
    numbers = Numbers(facts)
    runs: dict[object, list[tuple[int, AccessFact]]] = defaultdict(list)
    for access in accesses:
        detail = access.instruction.detail
        if isinstance(detail, Memory) and access.bytes == 4 and access.elements == 1 and access.kind != "atomic":
            key = (numbers.of(access.instruction.operands[0]), access.kind, access.block)
            runs[key].append((detail.offset, access))
    for run in runs.values():
        run.sort(key=lambda one: one[0])
        offsets = [offset for offset, _ in run]
        width = next((n for n in (4, 2) if _steps(offsets[:n], n)), None)
        first = run[0][1]
        aligned = width is not None and first.alignment and (first.alignment % (4 * width) == 0)
        if width is None or not aligned:
            continue
        message = (
            f"{width} neighboring 4-byte accesses of a thread, {accessed(first)}: one of {4 * width} bytes would do"
        )
        found = place_of(facts, first, "MEM005", message)
        related = tuple(Note(a.span, accessed(a)) for _, a in run[1:width] if a.span is not None)
        helps = (f"access it as float{width} or int{width}: the address is a multiple of {4 * width} bytes",)
        yield replace(found, label="could be a vector access", related=related, help=helps, impact=0.5)


def _steps(offsets: Sequence[int], count: int) -> bool:
    return len(offsets) == count and all(b - a == 4 for a, b in pairwise(offsets))


def _redundant(facts: KernelFacts) -> Iterator[KernelFinding]:
    """Yield loads of an address that the thread has loaded before, in the same block of code, with nothing written
    between; and loads that a loop repeats though it writes nothing."""
    by_instruction = {access.instruction: access for access in facts.accesses}
    numbers = Numbers(facts)
    for block in facts.function.blocks:
        yield from _again(facts, block, by_instruction, numbers)
    for access in facts.accesses:
        yield from _in_loop(facts, access)


def _again(
    facts: KernelFacts, block: Block, known: dict[Instruction, AccessFact], numbers: Numbers
) -> Iterator[KernelFinding]:
    loaded: dict[object, AccessFact] = {}
    for i in block.instructions:
        if _may_write(i):
            loaded.clear()
        access = known.get(i)
        if access is None or access.kind != "load" or access.space not in _DEVICE or _is_ordered(i):
            continue
        detail = i.detail
        assert isinstance(detail, Memory)
        key = (numbers.of(i.operands[0]), detail.offset, access.bytes)
        first = loaded.setdefault(key, access)
        if first is not access:
            message = f"{accessed(access)} that the thread has loaded already, with nothing written between"
            related = () if first.span is None else (Note(first.span, "the same address is loaded here"),)
            helps = ("keep the value in a variable",)
            yield replace(_repeated(facts, access, message), related=related, help=helps)


def _in_loop(facts: KernelFacts, access: AccessFact) -> Iterator[KernelFinding]:
    if access.kind != "load" or access.space not in _DEVICE or not access.loops or _is_ordered(access.instruction):
        return
    inner = access.loops[-1]
    cycle = next((c for c in facts.warp_level.graph.cycles_around(access.block) if c.header == inner.header), None)
    if inner.stride_bytes != 0 or cycle is None:
        return
    blocks = [block for block in facts.function.blocks if block.name in cycle.blocks]
    if any(_may_write(i) for block in blocks for i in block.instructions):
        return
    message = f"{accessed(access)} is repeated in every iteration, though neither its address nor what is there changes"
    related = () if inner.span is None else (Note(inner.span, "the loop"),)
    yield replace(_repeated(facts, access, message), related=related, help=("load it once, before the loop",))


def _repeated(facts: KernelFacts, access: AccessFact, message: str) -> KernelFinding:
    """Return MEM006; in a source file it is a guess, since the compiler may well see it too."""
    sure = is_compiled(facts)
    found = place_of(facts, access, "MEM006", message)
    return replace(
        found,
        certainty="proven" if sure else "heuristic",
        assumptions=() if sure else ("the compiler does not see it by itself",),
        label="the same address again",
    )


def _may_write(i: Instruction) -> bool:
    return OPS[i.op].effect in ("writes", "synchronizes", "unknown")


def _is_ordered(i: Instruction) -> bool:
    return isinstance(i.detail, Memory) and bool(i.detail.order)


# --- the thread's own memory, constants


def _local(facts: KernelFacts) -> Iterator[KernelFinding]:
    found = [access for access in facts.accesses if access.space == "local"]
    for name, group in _by_variable(found):
        first, *rest = sorted(group, key=lambda access: (not _is_moving(facts, access), _line(access)))
        symbol = next((s for s in (*facts.function.symbols, *facts.module.symbols) if s.name == name), None)
        size = f" of {symbol.bytes} bytes" if symbol is not None and symbol.bytes else ""
        message = f"the private array {name or '(unnamed)'}{size} is in local memory, that is, in device memory"
        related = tuple(Note(a.span, accessed(a)) for a in rest[:3] if a.span is not None and a.span != first.span)
        yield replace(
            place_of(facts, first, "MEM012", message),
            certainty="proven" if is_compiled(facts) else "heuristic",
            assumptions=(),
            label="indexed with a number that only the run tells, or too large for registers",
            related=related,
            help=("make every index a constant: unroll the loop over it (#pragma unroll)", "or use shared memory"),
        )  # fmt: skip


def _is_moving(facts: KernelFacts, access: AccessFact) -> bool:
    """Whether the address depends on anything but the place of the array."""
    made_of = origin(facts, access.instruction.operands[0])
    return bool(made_of.parameters or made_of.registers or made_of.loads or made_of.unknown or made_of.loop)


def _line(access: AccessFact) -> int:
    return 0 if access.span is None else access.span.line


def _by_variable(accesses: Iterable[AccessFact]) -> Iterator[tuple[str, list[AccessFact]]]:
    ordered = sorted(accesses, key=lambda access: access.variable)
    for name, group in groupby(ordered, key=lambda access: access.variable):
        yield name, list(group)


def _constant(facts: KernelFacts) -> Iterator[KernelFinding]:
    for access in facts.accesses:
        if access.space != "constant" or access.bank_ways is None or access.bank_ways.most < 2:
            continue
        sure = access.bank_ways.least > 1
        message = f"{accessed(access)} in constant memory differs between lanes: {access.bank_ways} words, one by one"
        found = place_of(facts, access, "MEM014", message)
        assumptions = found.assumptions if sure else (*found.assumptions, "the indices differ between lanes")
        yield replace(
            found,
            certainty=found.certainty if sure else "conditional",
            assumptions=assumptions,
            label="constant memory gives one word at a time",
            help=("use shared or global memory (`const __restrict__`) for what lanes index apart",),
            impact=float(access.bank_ways.most),
        )
