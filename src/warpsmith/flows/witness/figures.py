"""Figures that the text does not tell, counted in runs on made up arguments: sectors and passes through the banks of
accesses, branches at which warps part.

    which are open (rules/figures.py) ──► which of them random memory does not decide ──► runs, two sizes ──► Simulated
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from warpsmith.analysis.rules.figures import OpenFigures
from warpsmith.analysis.uniformity.facts import KernelFacts
from warpsmith.analysis.uniformity.simulated import (
    AccessSums,
    Escaped,
    Simulated,
    SimulatedAccess,
    SimulatedBranch,
)
from warpsmith.base.findings import Certainty
from warpsmith.base.time_limit import OutOfTimeError, time_limit
from warpsmith.flows.witness.attempt import FIGURES, Attempt, FailedLaunch, try_launch
from warpsmith.flows.witness.dependence import Ground, Origins, origins_of_figure
from warpsmith.flows.witness.escapes import escape_of, keep_certain
from warpsmith.flows.witness.made import Made, make_arguments
from warpsmith.flows.witness.plan import LaunchPlan, launch_plan, why_not
from warpsmith.kernels.units import KernelFile, KernelUnit
from warpsmith.simt.engine.counts import EngineCounts
from warpsmith.ssa.nodes import BasicBlock, Branch, Instruction, Operand, Switch

__all__ = ["count_figures", "sums_of"]

_VARIED: Final = 2
"""Sizes with which a figure is counted that hangs on them."""


class _Run(Struct, frozen=True):
    """A run, and what it counted."""

    made: Made
    accesses: Mapping[Instruction, AccessSums]
    branches: Mapping[BasicBlock, tuple[int, int, int]]
    replay: str


def count_figures(
    unit: KernelUnit, file: KernelFile, facts: KernelFacts, wanted: OpenFigures, seconds: float
) -> Simulated:
    """Return the figures that are wanted, as far as runs show them within some time and memory does not decide them."""
    plan = launch_plan(unit, file, facts, FIGURES)
    made = (
        ()
        if why_not(unit, facts)
        else make_arguments(unit, facts.function, plan.threads, facts.shape, max(facts.block))
    )
    sizes = [one for one in made if not one.shrunk]
    pointers = frozenset(sizes[0].arrays) if sizes else frozenset[str]()
    found = {key: origin for key, origin in _origins(facts, wanted, pointers) if "memory" not in origin.places}
    if not found or not sizes:
        return Simulated()
    runs: list[_Run] = []
    escapes: list[Escaped] = []
    try:
        with time_limit(seconds, of="processor"):
            _try_sizes(plan, sizes[: None if _hang_on(found, sizes[0]) else 1], runs, escapes)
    except OutOfTimeError as late:
        if late.of != "processor":
            raise
    return Simulated(dict(_accesses(plan, runs, found)), dict(_branches(plan, runs, found)), keep_certain(escapes))


def _hang_on(found: Mapping[Instruction | str, Origins], made: Made) -> bool:
    """Whether a figure hangs on numbers that are made up."""
    return any(origin.all & (made.numbers.keys() - made.given) for origin in found.values())


def _origins(
    facts: KernelFacts, wanted: OpenFigures, pointers: frozenset[str]
) -> Iterator[tuple[Instruction | str, Origins]]:
    """Yield what decides each figure; `pointers`: parameters that are arrays."""
    ground = Ground.of(facts.function)
    for access in wanted.accesses:
        yield access.instruction, origins_of_figure(ground, access.instruction.operands[0], access.block, pointers)
    for block in wanted.branches:
        condition = _condition(block)
        if condition is not None:
            yield block.name, origins_of_figure(ground, condition, block.name, pointers)


def _condition(block: BasicBlock) -> Operand | None:
    match block.terminator:
        case Branch() as branch:
            return branch.condition
        case Switch() as switch:
            return switch.value
        case _:
            return None


def _try_sizes(plan: LaunchPlan, sizes: Sequence[Made], runs: list[_Run], escapes: list[Escaped]) -> None:
    """Add what is counted with each of a few sizes."""
    left = list(sizes)
    while left and len(runs) < _VARIED:
        tried = try_launch(plan.planned, left.pop(0))
        if isinstance(tried, FailedLaunch):
            escapes += escape_of(plan, tried)
            left = left[-1:] if tried.problem.kind == "budget" else left
        elif tried.counts is not None:
            runs.append(_run(plan, tried, tried.counts))


def _run(plan: LaunchPlan, tried: Attempt, counts: EngineCounts) -> _Run:
    branches = {block: (c.visits, c.divergences, c.lanes) for block, c in counts.blocks.items() if c.visits}
    return _Run(tried.made, sums_of(counts), branches, plan.command(tried))


def sums_of(counts: EngineCounts) -> dict[Instruction, AccessSums]:
    """Return the sums of each access that was made, whatever it was made to."""
    found: dict[Instruction, AccessSums] = {}
    for one in counts.requests:
        if one.requests:
            more = AccessSums(one.requests, one.lanes, one.sectors, one.ideal, one.conflicts)
            found[one.place] = found[one.place] + more if one.place in found else more
    return found


# --- what they come to


def _accesses(
    plan: LaunchPlan, runs: Sequence[_Run], found: Mapping[Instruction | str, Origins]
) -> Iterator[tuple[Instruction, SimulatedAccess]]:
    for fact in plan.facts.accesses:
        here = [run for run in runs if fact.instruction in run.accesses]
        if here and fact.instruction in found:
            certainty, said = _certainty(plan, here, found[fact.instruction])
            sums = tuple(run.accesses[fact.instruction] for run in here)
            yield fact.instruction, SimulatedAccess(sums, certainty, said, here[0].replay)


def _branches(
    plan: LaunchPlan, runs: Sequence[_Run], found: Mapping[Instruction | str, Origins]
) -> Iterator[tuple[str, SimulatedBranch]]:
    for block in plan.facts.function.blocks:
        here = [run for run in runs if block in run.branches]
        if here and block.name in found:
            certainty, said = _certainty(plan, here, found[block.name])
            yield (
                block.name,
                SimulatedBranch(tuple(run.branches[block] for run in here), certainty, said, here[0].replay),
            )


def _certainty(plan: LaunchPlan, here: Sequence[_Run], origin: Origins) -> tuple[Certainty, tuple[str, ...]]:
    """Return how certain a figure is that was counted in some runs, and what was made up that it hangs on."""
    made = here[0].made
    of_blocks = "blocks" in origin.all and plan.facts.shape.grid != plan.grid
    said = plan.assumptions(made, origin.all, grid=of_blocks and plan.facts.shape.grid is None)
    if of_blocks and plan.facts.shape.grid is not None:
        said = (*said, f"the first {_product(plan.grid)} blocks are as the others")
    up = made.numbers.keys() - made.given
    fractions = {p.name for p in plan.facts.function.parameters if p.type is not None and p.type.kind == "float"}
    doubtful = (origin.all & (up - fractions) and len(here) < _VARIED) or origin.places & fractions & up
    return ("witnessed" if not said else "heuristic" if doubtful else "conditional"), said


def _product(sizes: tuple[int, int, int]) -> int:
    x, y, z = sizes
    return x * y * z
