"""Everything that is found out about one kernel for one launch shape, put together.

module, kernel, shape, device ──► uniformity (warp, block) ──► branches ─┐
                                  addresses ──► accesses ──► races ──────┼──► KernelFacts
                                  resources ─────────────────────────────┘
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from msgspec.structs import replace

from warpsmith.analysis.memory.accesses import AccessSite, accesses, places, space_of
from warpsmith.analysis.memory.apart import has_own_bytes
from warpsmith.analysis.memory.bounds import in_launch
from warpsmith.analysis.memory.branches import branches
from warpsmith.analysis.memory.forms import Forms
from warpsmith.analysis.memory.presence import Presences
from warpsmith.analysis.memory.solved import solved_forms
from warpsmith.analysis.resources.resources import CompilerFigures, resources
from warpsmith.analysis.resources.unrolled import find_unrolled
from warpsmith.analysis.sync.barriers import barriers, exchanges
from warpsmith.analysis.sync.decide import Races, decide
from warpsmith.analysis.sync.orders import find_agreed, find_compared
from warpsmith.analysis.sync.races import Judge
from warpsmith.analysis.uniformity.facts import (
    SEVERAL,
    AccessFact,
    BarrierFact,
    Dim,
    KernelFacts,
    LaunchShape,
    RaceFact,
    RaceVerdict,
)
from warpsmith.analysis.uniformity.seeds import Threads
from warpsmith.analysis.uniformity.uniformity import Uniformity, uniformity
from warpsmith.machine.devices import Device
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import Function, Instruction, Module
from warpsmith.ssa.passes.prune import prune_unused

__all__ = ["UNUSED", "block_of", "examine"]

UNUSED: Final = "with the reads whose values nobody uses"


def examine(
    module: Module, kernel: str, shape: LaunchShape, device: Device, compiled: CompilerFigures | None = None
) -> KernelFacts:
    """Return what is known of `kernel`; `compiled`: what the compiler says of its registers, where it was asked.

    Raises KeyError where the module has no such function with code.
    """
    function = module.function(kernel)
    if function is None or not function.blocks:
        raise KeyError(kernel)
    block, block_assumed = block_of(function, shape, device)
    simpler, grid_assumed = in_launch(function, block, shape.grid)
    assumed = (*block_assumed, *grid_assumed)
    ask = partial(uniformity, function, graph=Graph.of(function), simpler=simpler, arguments=shape.arguments)
    forms = _forms(module, partial(ask, Threads("warp", block, device.warp_width)), shape)
    forms_of_all = _forms(module, partial(ask, Threads("block", block, device.warp_width)), shape)
    warp, whole = forms.answer, forms_of_all.answer
    presences = Presences(forms)
    facts = tuple(accesses(forms, presences, places(forms), assumed))
    found = [replace(p, base=None, space=space_of(p)) if p.chosen else p for p in places(forms_of_all)]
    waits, found_races = _together(forms_of_all, found, {fact.instruction: fact for fact in facts}, shape, assumed)
    written = next((f for f in module.written if f.name == kernel), None)
    as_written = None
    if written is not None and (found_races.complete or found_races.verdict.kind == "none"):
        with_reads = examine(replace(module, functions=(written,), written=()), kernel, shape, device)
        as_written = replace(with_reads, races=tuple(_races_of_reads(found_races.found, with_reads)))
        found_races = _join(found_races, with_reads)
    found_races = _leave_images(found_races) if module.images else found_races
    kept = find_unrolled(function, warp.graph)
    return KernelFacts(
        kernel=kernel,
        span=function.span,
        shape=shape,
        device=device,
        block=block,
        block_assumed=block_assumed,
        grid_assumed=grid_assumed,
        branches=tuple(branches(warp, whole)),
        accesses=tuple(fact for fact in facts if fact.instruction not in kept.accesses),
        barriers=waits,
        races=found_races.found,
        races_complete=found_races.complete,
        races_assumptions=found_races.assumptions,
        freedom=found_races.verdict,
        own_bytes=has_own_bytes(forms_of_all, found, shape.grid),
        exchanges=tuple(exchanges(presences, assumed)),
        resources=resources((module, function, warp.graph), device, block, shape.shared_bytes, compiled),
        module=module,
        function=function,
        warp_level=warp,
        block_level=whole,
        as_written=as_written if as_written is not None and as_written.races else None,
    )


def _leave_images(races: Races) -> Races:
    """Return what is known of races where some code writes to images."""
    verdict = RaceVerdict("unknown", why="it is not looked at what is written to images")
    return replace(races, verdict=verdict) if races.verdict.kind == "none" else races


def _races_of_reads(found: Sequence[RaceFact], written: KernelFacts) -> Iterator[RaceFact]:
    """Yield the races of a read whose value nobody uses: compilers drop such a read, but need not."""
    known = {race.places for race in found}
    used = {i for _, i in prune_unused(written.function).instructions()}
    for race in written.races:
        unread = [side.access.span for side in (race.first, race.second) if side.access.instruction not in used]
        if unread and race.places not in known:
            at = "" if unread[0] is None else f" in line {unread[0].line}"
            text = f"the compiler keeps the read of {race.variable}{at}, whose value nobody uses"
            certainty = "conditional" if race.certainty == "proven" else race.certainty
            yield replace(race, certainty=certainty, assumptions=(*race.assumptions, text))


def _join(races: Races, written: KernelFacts) -> Races:
    """Return what is known of races where reads whose values nobody uses are accesses too: they are in `written`."""
    verdict = written.freedom
    if verdict.kind != "none":
        verdict = RaceVerdict("unknown", why=f"{UNUSED}, {verdict.why}")
    assumptions = (*races.assumptions, *(a for a in written.races_assumptions if a not in races.assumptions))
    return replace(
        races,
        complete=races.complete and written.races_complete and not written.races,
        assumptions=assumptions,
        verdict=verdict if races.verdict.kind == "none" else races.verdict,
    )


def _together(
    forms: Forms,
    found: Sequence[AccessSite],
    facts: Mapping[Instruction, AccessFact],
    shape: LaunchShape,
    assumed: tuple[str, ...],
) -> tuple[tuple[BarrierFact, ...], Races]:
    """Return what holds for the threads of a block: its barriers, and what nothing orders."""
    judge = Judge.of(forms, Presences(forms))
    return tuple(barriers(judge, found, assumed)), decide(judge, found, facts, assumed, shape.grid)


def _forms(module: Module, ask: Callable[..., Uniformity], shape: LaunchShape) -> Forms:
    """Return the addresses and conditions of a function as sums; where these show that threads answer a comparison
    alike, uniformity is asked again."""
    forms = solved_forms(module, ask(), shape)
    alike = find_agreed(forms, find_compared(forms))
    return solved_forms(module, ask(agreed=alike), shape) if alike else forms


def block_of(function: Function, shape: LaunchShape, device: Device) -> tuple[Dim, tuple[str, ...]]:
    """Return the shape of a block, and what was assumed for it."""
    if shape.block is not None:
        return shape.block, ()
    if function.limits.exact_block is not None and shape.too_large is None:
        return function.limits.exact_block, ()
    if shape.likely is not None:
        return shape.likely, (_describe_block(shape.likely, shape),)
    most = function.limits.most_threads or 256
    whole = max(device.warp_width, min(256, most) // device.warp_width * device.warp_width)
    return (whole, 1, 1), (_describe_block((whole, 1, 1), shape),)


def _describe_block(block: Dim, shape: LaunchShape) -> str:
    """Return what is assumed of the block, and what else host code gives it."""
    said = f"a block has {_sizes(block)} threads"
    others = [_sizes(other) for other in shape.blocks if other != block]
    if block not in shape.blocks or not (others or not shape.complete):
        return said
    listed = ", ".join([*others, *(() if shape.complete else ("a number that is not known",))])
    return f"{said}{SEVERAL} {listed}"


def _sizes(block: Dim) -> str:
    x, y, z = block
    return f"{x}" if y == z == 1 else f"{x}x{y}" if z == 1 else f"{x}x{y}x{z}"
