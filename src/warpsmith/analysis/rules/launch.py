"""OCC: what the launch asks of a multiprocessor, and how much of it stays empty."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Final

from warpsmith.analysis.rules.finding import Estimate, EvidenceTable, KernelFinding
from warpsmith.analysis.uniformity.facts import KernelFacts
from warpsmith.base.findings import Certainty
from warpsmith.machine.limits import MAX_BLOCK, MAX_GRID, MAX_THREADS
from warpsmith.machine.occupancy import occupancy
from warpsmith.ssa.nodes import Callee

__all__ = ["launch"]

LOW: Final = 0.5
"""Below this part of the warps that a multiprocessor could hold."""
TAIL: Final = 0.5
_NEXT: Final = 1.1


def launch(facts: KernelFacts) -> Iterator[KernelFinding]:
    """Yield what is to be said of a kernel's block, grid and registers."""
    beyond = list(_beyond(facts))
    yield from beyond
    if not beyond:
        yield from _low(facts)
        yield from _no_bounds(facts)
    yield from _find_ragged(facts)
    yield from _few_blocks(facts)
    yield from _spills(facts)
    yield from _calls(facts)


def _certainty(facts: KernelFacts) -> tuple[Certainty, tuple[str, ...]]:
    return ("conditional", facts.block_assumed) if facts.block_assumed else ("proven", ())


def _threads(facts: KernelFacts) -> int:
    return prod(facts.block)


# --- occupancy


def _low(facts: KernelFacts) -> Iterator[KernelFinding]:
    held = facts.resources
    found = held.occupancy
    if found is None or not found.limit or found.warps >= LOW * found.limit:
        return
    certainty, assumptions = _certainty(facts)
    if found.limited_by == "registers" and held.source == "estimate":
        certainty, assumptions = "heuristic", (*assumptions, "the number of registers is estimated")
    if not found.blocks:
        yield _too_large(facts, certainty, assumptions)
        return
    share = 100 * found.warps / found.limit
    # what binds next, and almost as soon: to lift the first limit alone would gain next to nothing
    limiter = "blocks" if facts.device.blocks_per_unit <= _NEXT * found.blocks else found.limited_by
    message = (
        f"low occupancy on {facts.device.arch}: {found.warps} of {found.limit} warps ({share:.1f}%), "
        f"limited by {facts.words.limiter(limiter)}"
    )
    yield KernelFinding(
        "OCC001", message, certainty, facts.kernel, facts.span, f"occupancy {facts.device.arch}",
        assumptions=assumptions,
        evidence=(_launch_evidence(facts),),
        help=_remedy(facts, limiter),
        estimate=Estimate("occupancy", round(share, 1), "% of the warps", "the device's allocation rules; not a speed"),
        impact=found.limit / max(1, found.warps) / 2,
    )  # fmt: skip


def _too_large(facts: KernelFacts, certainty: Certainty, assumptions: tuple[str, ...]) -> KernelFinding:
    held, device = facts.resources, facts.device
    shared, most = held.shared_bytes + held.dynamic_shared_bytes, device.shared_per_block_kib * 1024
    what = (f"{shared:,} bytes of {facts.words.limiter('shared memory')} a block, {most:,} at most" if shared > most
            else f"{held.threads} threads a block with {held.registers} registers each")  # fmt: skip
    return KernelFinding(
        "OCC001", f"a block does not fit on {device.arch}: {what}", certainty, facts.kernel, facts.span,
        f"occupancy {device.arch}", assumptions=assumptions, evidence=(_launch_evidence(facts),),
        help=("use a smaller tile", "or name the device that it is for: --device") if shared > most
        else ("use smaller blocks, or fewer registers (__launch_bounds__)",), impact=100.0,
    )  # fmt: skip


def _launch_evidence(facts: KernelFacts) -> EvidenceTable:
    held = facts.resources
    known = "" if held.source == "ptxas" else " (estimated)"
    rows = (
        ("threads a block", str(held.threads)),
        ("registers a thread", f"{held.registers}{known}"),
        ("shared bytes a block", f"{held.shared_bytes + held.dynamic_shared_bytes:,}"),
        ("blocks a multiprocessor", str(held.occupancy.blocks if held.occupancy else 0)),
    )
    return EvidenceTable("what decides", ("resource", "number"), rows)


def _remedy(facts: KernelFacts, limited_by: str) -> tuple[str, ...]:
    held = facts.resources
    match limited_by:
        case "registers":
            for fewer in range(held.registers - held.registers % 8, 16, -8):
                better = occupancy(facts.device, held.threads, fewer, held.shared_bytes + held.dynamic_shared_bytes)
                if held.occupancy is not None and better.warps > held.occupancy.warps:
                    share = 100 * better.warps / better.limit
                    return (f"{fewer} registers a thread (__launch_bounds__, -maxrregcount) would give {share:.1f}%",)
            return ("use fewer registers: shorter live ranges, less unrolling",)
        case "shared memory":
            return ("use a smaller tile, so that more blocks fit",)
        case "blocks":
            return ("use larger blocks: the number of blocks is what is limited",)
        case _:
            return ("use a block size that divides the warps of a multiprocessor evenly",)


def _no_bounds(facts: KernelFacts) -> Iterator[KernelFinding]:
    held, limits = facts.resources, facts.function.limits
    bounded = limits.most_threads is not None or limits.exact_block is not None
    if bounded or held.occupancy is None or held.occupancy.limited_by != "registers":
        return
    message = f"registers ({held.registers} a thread) limit the kernel, and the compiler does not know the block size"
    yield KernelFinding(
        "OCC005", message, "heuristic" if held.source == "estimate" else _certainty(facts)[0], facts.kernel, facts.span,
        "launch bounds", assumptions=facts.block_assumed,
        help=(f"declare it: __launch_bounds__({held.threads}), or reqd_work_group_size in OpenCL",), impact=0.5,
    )  # fmt: skip


# --- shape


def _find_ragged(facts: KernelFacts) -> Iterator[KernelFinding]:
    width, threads = facts.device.warp_width, _threads(facts)
    idle = -threads % width
    guessed = facts.block_assumed and not facts.shape.blocks
    # of one thread in all OCC003 says what there is to say
    if not idle or guessed or (threads == 1 and facts.shape.grid == (1, 1, 1)):
        return
    certainty, assumptions = _certainty(facts)
    shape = "x".join(map(str, facts.block))
    message = (
        f"a block of {shape} = {threads} threads is no multiple of {width}: {idle} lanes of its last warp never work"
    )
    yield KernelFinding(
        "OCC002", message, certainty, facts.kernel, facts.span, "block size", assumptions=assumptions,
        estimate=Estimate("lanes that never work", round(100 * idle / (threads + idle), 1), "% of all", "arithmetic"),
        help=(f"use a multiple of {width}: {threads + idle} threads",), impact=(threads + idle) / threads,
    )  # fmt: skip


def _is_small(facts: KernelFacts) -> bool:
    """Whether a launch is over at once: no more threads than one block may have, no loop, and no call."""
    few = facts.shape.grid is not None and prod(facts.shape.grid) * _threads(facts) <= MAX_THREADS
    calls = any(isinstance(i.detail, Callee) for _, i in facts.function.instructions())
    return few and not calls and not facts.warp_level.graph.cycles


def _few_blocks(facts: KernelFacts) -> Iterator[KernelFinding]:
    if facts.shape.grid is None or _is_small(facts):
        return
    blocks, units = prod(facts.shape.grid), facts.device.units
    helps: tuple[str, ...] = (
        "give each block less to do, so that there are more of them",
        "or run independent kernels at once",
    )
    if blocks == _threads(facts) == 1:
        helps = ("share the work among threads, or run it on the host if it is little",)
    if blocks < units:
        counted = f"{blocks} block{'' if blocks == 1 else 's'}"
        message = f"{counted} for {units} multiprocessors of {facts.device.arch}: {units - blocks} stay empty"
        yield KernelFinding(
            "OCC003", message, "proven", facts.kernel, facts.span, "grid size", help=helps,
            impact=units / max(1, blocks),
            estimate=Estimate("multiprocessors in use", round(100 * blocks / units, 1), "%", "arithmetic"),
        )  # fmt: skip
        return
    resident = facts.resources.occupancy.blocks * units if facts.resources.occupancy is not None else 0
    if not resident:
        return
    waves, tail = divmod(blocks, resident)
    if waves and waves < 8 and 0 < tail < TAIL * resident:
        share = 100 * tail / resident
        waved = f"{blocks} blocks are {waves} full waves of {resident} and a tail of {tail}"
        message = f"{waved}: the last wave fills {share:.0f}%"
        sure = facts.resources.source == "ptxas" and not facts.block_assumed
        yield KernelFinding(
            "OCC003", message, "proven" if sure else "heuristic", facts.kernel, facts.span, "grid size",
            assumptions=() if sure else ("the number of registers is estimated", *facts.block_assumed),
            help=helps, impact=(waves + 1) / (blocks / resident),
            estimate=Estimate("time against full waves", round((waves + 1) / (blocks / resident), 2), "times",
                              "equal blocks; model, not a measurement"),
        )  # fmt: skip


def _beyond(facts: KernelFacts) -> Iterator[KernelFinding]:
    """Yield each limit of a launch that this one exceeds."""
    giant = facts.shape.too_large
    sizes = [] if giant is None else [f"{prod(giant):,} threads a block, {MAX_THREADS} at most"]
    for words in (*sizes, *_excesses(facts)):
        yield KernelFinding(
            "OCC004", f"the launch exceeds a limit: {words}: it will fail", "proven", facts.kernel, facts.span,
            f"limit {words.partition(' ')[0]}", help=("change the shape of the launch",), impact=100.0,
        )  # fmt: skip


def _excesses(facts: KernelFacts) -> Iterator[str]:
    if facts.block_assumed:
        return
    threads, limits = _threads(facts), facts.function.limits
    if threads > MAX_THREADS:
        yield f"{threads} threads a block, {MAX_THREADS} at most"
    for axis, size, most in zip("xyz", facts.block, MAX_BLOCK, strict=True):
        if size > most and threads <= MAX_THREADS:
            yield f"block.{axis} = {size}, {most} at most"
    for axis, size, most in zip("xyz", facts.shape.grid or (1, 1, 1), MAX_GRID, strict=True):
        if size > most:
            yield f"grid.{axis} = {size:,}, {most:,} at most"
    if limits.most_threads is not None and threads > limits.most_threads:
        yield f"{threads} threads a block, and the kernel promises {limits.most_threads} at most (__launch_bounds__)"
    if limits.exact_block is not None and facts.block != limits.exact_block:
        yield f"block {facts.block}, and the kernel demands {limits.exact_block}"
    held = facts.resources
    if held.source == "ptxas" and held.registers * threads > facts.device.registers:
        yield f"{held.registers * threads:,} registers a block, {facts.device.registers:,} at most"


# --- registers and calls


def _spills(facts: KernelFacts) -> Iterator[KernelFinding]:
    held = facts.resources
    if held.source != "ptxas" or held.spill_bytes <= 0:
        return
    message = f"{held.spill_bytes} bytes of registers a thread are spilled to local memory ({held.registers} registers)"
    yield KernelFinding(
        "OCC006", message, "proven", facts.kernel, facts.span, "spills", impact=2.0,
        help=("shorten live ranges, unroll less, or allow more registers (__launch_bounds__ with fewer threads)",),
    )  # fmt: skip


def _calls(facts: KernelFacts) -> Iterator[KernelFinding]:
    reported: set[str] = set()
    for _, i in facts.function.instructions():
        name = i.detail.name if isinstance(i.detail, Callee) else ""
        callee = facts.module.function(name)
        if callee is None or not callee.blocks or name in reported:
            continue
        reported.add(name)
        yield KernelFinding(
            "OCC007", f"{name} is called, not inlined: registers are saved around it", "proven", facts.kernel,
            i.span, f"call {name}", help=(f"declare it {facts.words.inline}, unless it is large and often called",),
            impact=0.5,
        )  # fmt: skip
