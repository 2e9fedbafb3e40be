"""Accesses that a run saw outside of an array whose size is known: one that the text declares, or shared memory of a
size that the launch gives.

    s[threadIdx.x + 64] of float s[64]        hangs on nothing that was made up: witnessed
    if (in[threadIdx.x]) s[threadIdx.x + 64]  on memory, which decides whether a thread gets there: conditional
    if (threadIdx.x < n) s[threadIdx.x]       on n, which may hang together with the size of s: heuristic
    s[n], s[in[threadIdx.x]]                  numbers and contents that hang together with the size: heuristic
    a block that nobody gives                 arrays hang together with that as well: heuristic
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from warpsmith.analysis.uniformity.facts import SEVERAL, AccessFact
from warpsmith.analysis.uniformity.simulated import Escaped
from warpsmith.base.findings import Certainty
from warpsmith.flows.witness.attempt import SHARED, FailedLaunch
from warpsmith.flows.witness.dependence import Ground, Origins, origins_of_figure
from warpsmith.flows.witness.made import Made
from warpsmith.flows.witness.plan import LaunchPlan, index_of
from warpsmith.simt.launch import KernelProblem
from warpsmith.simt.layout import MemoryPart, local_layout, shared_layout
from warpsmith.ssa.nodes import Instruction

__all__ = ["escape_of", "keep_certain"]

_LOCAL: Final = "the local memory"
"""How the names of what threads have begin."""


def escape_of(plan: LaunchPlan, failed: FailedLaunch) -> Iterator[Escaped]:
    """Yield the access outside of an array of known size that ended a launch, if one did."""
    problem, made = failed.problem, failed.made
    if problem.kind != "bounds" or problem.where is None or made is None:
        return
    part, access = _part(plan, failed), _access(plan, failed)
    if part is None or access is None:
        return
    ground = Ground.of(plan.facts.function)
    found = origins_of_figure(ground, access.instruction.operands[0], access.block, frozenset(made.arrays))
    assumptions = plan.assumptions(made, found.all, grid=_is_of_grid(plan, found))
    doubtful = _is_far_fetched(found, made) or any(SEVERAL not in text for text in plan.facts.block_assumed)
    certainty: Certainty = "witnessed" if not assumptions else "heuristic" if doubtful else "conditional"
    yield Escaped(
        access.instruction, part.name, part.end - part.start, problem.where[1] - part.start,
        index_of(problem.thread, plan.facts.block), index_of(problem.block, plan.grid), certainty, assumptions,
        plan.command_for(made, failed.shared),
    )  # fmt: skip


def keep_certain(found: Sequence[Escaped]) -> tuple[Escaped, ...]:
    """Return the first escape of each access, the most certain one."""
    order: tuple[Certainty, ...] = ("witnessed", "conditional", "heuristic")
    kept: dict[Instruction, Escaped] = {}
    for one in sorted(found, key=lambda one: order.index(one.certainty)):
        kept.setdefault(one.instruction, one)
    return tuple(kept.values())


def _part(plan: LaunchPlan, failed: FailedLaunch) -> MemoryPart | None:
    """Return the array that an access left, None where nobody says how large that is."""
    where = failed.problem.where
    assert where is not None
    name, offset, _ = where
    module, kernel = plan.unit.module, plan.facts.function.name
    if name.startswith(SHARED):
        layout = shared_layout(module, kernel, failed.shared)
        part = layout.near(offset)
        given = plan.facts.shape.shared_bytes > 0
        return part if part is not None and (given or part.start < layout.end) else None
    return local_layout(module, kernel).near(offset) if name.startswith(_LOCAL) else None


def _access(plan: LaunchPlan, failed: FailedLaunch) -> AccessFact | None:
    """Return the access that ended a launch: the interpreter tells its place in the text alone."""
    for fact in plan.facts.accesses:
        if fact.instruction is failed.access or (failed.access is None and _is_at(fact, failed.problem)):
            return fact
    return None


def _is_at(fact: AccessFact, problem: KernelProblem) -> bool:
    return fact.span is not None and fact.span == problem.span and fact.space in ("shared", "local")


def _is_of_grid(plan: LaunchPlan, found: Origins) -> bool:
    """Whether something hangs on blocks of a grid that is not known, or not run as it is."""
    return "blocks" in found.all and plan.facts.shape.grid is None


def _is_far_fetched(found: Origins, made: Made) -> bool:
    """Whether the place hangs on what was made up, or a number decides who gets there: numbers and the contents of
    memory may hang together with the sizes of arrays."""
    return "memory" in found.places or bool(found.all & (made.numbers.keys() - made.given))
