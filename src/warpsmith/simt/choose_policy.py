"""Which machine runs a kernel under a policy: the interpreter, or the compiled one where it shows the same.

Both pick the lanes of a warp in the same order. They let warps take turns in different orders; so the compiled machine
is asked where there is one warp, or what the kernel computes does not depend on the order of its warps: atomics give
the same whoever comes first, and no threads race, which is looked at unless it is known. What it stops at is the
interpreter's to tell, as in choose.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.progress import Progress, ignore_progress
from warpsmith.simt.choose import AGAIN, TRIAL, Engine
from warpsmith.simt.engine.engine import Checks, Run, Turns, order_matters, run, waits_for_grid, why_refused
from warpsmith.simt.engine.reading.calls import called_functions
from warpsmith.simt.engine.words import Stop
from warpsmith.simt.launch import KernelProblem, Launch, Outcome
from warpsmith.simt.memory import LaunchMemory
from warpsmith.simt.policies.machine import PolicyName, PolicyRun, run_policy
from warpsmith.ssa.nodes import Module

__all__ = ["TURNS_OF", "PolicyChoice", "execute_policy"]

TURNS_OF: Final[Mapping[PolicyName, Turns]] = {
    "maximal": "linear",
    "structurized": "linear",
    "ipdom": "text",
    "true-first": "true",
    "smaller-first": "smaller",
    "per-lane": "per-lane",
}
"""How the compiled machine keeps lanes together under each policy."""


class PolicyChoice(Struct, frozen=True):
    """`engine`: who is asked for, "" for either; `timeline`: every piece that a warp executed is wanted; `ordered`: it
    is known that no threads race."""

    policy: PolicyName
    engine: Engine = ""
    timeline: bool = False
    ordered: bool = False


def execute_policy(
    module: Module,
    kernel: str,
    launch: Launch,
    memory: LaunchMemory,
    choice: PolicyChoice,
    *,
    progress: Progress = ignore_progress,
) -> PolicyRun:
    """Run a kernel on `memory`, whose buffers it changes, under a policy.

    Raises KeyError where there is no such kernel with code. `why_not` of simt/policies says whether the policy can
    take it.
    """
    policy = choice.policy

    def interpreted(max_steps: int, why: str = "") -> PolicyRun:
        part = replace(launch, max_steps=max_steps)
        made = run_policy(policy, module, kernel, part, memory, progress=progress)
        return replace(made, note=f"{why} (policy {policy})" if why and choice.engine == "compiled" else "")

    why = _why_refused(module, kernel, launch, choice)
    if why:
        return interpreted(launch.max_steps, why)
    restore = memory.snapshot()
    if not choice.engine:
        first = interpreted(min(TRIAL, launch.max_steps))
        if launch.max_steps <= TRIAL or not any(problem.kind == "budget" for problem in first.outcome.problems):
            return first
        restore()
    alone = _warps(launch) == 1
    races = not (choice.ordered or alone)
    turns = TURNS_OF[policy]
    checks = Checks(requests=False, uninitialized=False, races=races, turns=turns, policy=True, quick=True)
    made = run(module, kernel, launch, memory, checks, progress=progress)
    if not made.why:
        return _policy_run(policy, made, ())
    problem = made.problem
    if problem is None and made.stop is Stop.BUDGET and alone:
        # nobody is there to wait for but lanes of this warp, who had the turns that the policy gives them
        problem = made.stopped.problem(module, kernel, launch, memory)
    if problem is not None and made.counts.totals.lane_instructions > AGAIN:
        # those that wait do so early
        waiting = interpreted(TRIAL).waiting if problem.kind == "budget" else ""
        restore()
        return replace(_policy_run(policy, made, (problem,)), waiting=waiting)
    return interpreted(launch.max_steps, made.why)


def _warps(launch: Launch) -> int:
    return launch.blocks * -(-launch.threads // launch.warp)


def _why_refused(module: Module, kernel: str, launch: Launch, choice: PolicyChoice) -> str:
    """Return why the interpreter runs a kernel; "" where it need not."""
    function = module.function(kernel)
    if function is None or not function.blocks:
        raise KeyError(kernel)
    if choice.engine == "interpreter":
        return "it is asked for"
    if choice.timeline:
        return "a timeline shows every step of every lane"
    if waits_for_grid(function):
        return "a barrier of the grid where a policy says who goes on"
    why = why_refused(module, function, launch, TURNS_OF[choice.policy])
    return why or ("" if _warps(launch) == 1 else order_matters(function, called_functions(module, function)))


def _policy_run(policy: PolicyName, made: Run, problems: tuple[KernelProblem, ...]) -> PolicyRun:
    counts = made.counts
    outcome = Outcome(not problems, counts.totals.lane_instructions, problems, ())
    blocks = {block: count for block, count in counts.blocks.items() if count.visits}
    return PolicyRun(policy, outcome, counts.totals, blocks, {}, counts.most_waiting)
