"""A launch once more under each policy that was asked for: what it costs, and whether it computes the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

from msgspec import Struct

from warpsmith.base.errors import InputError
from warpsmith.base.progress import Activity, Progress
from warpsmith.report.simulation.model import PolicyRow
from warpsmith.simt.choose import Engine
from warpsmith.simt.choose_policy import PolicyChoice, execute_policy
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.simt.policies.machine import PolicyName, PolicyRun, why_not
from warpsmith.ssa.nodes import Module

__all__ = ["Repeated", "run_policies"]

Bytes = Mapping[str, bytes]
"""What arrays hold, by their names."""


class Repeated(Struct, frozen=True):
    """A launch that is run again. `place` puts its arguments into memory of their own, at the same addresses; `held`:
    what the arrays hold after the run to compare with, None where that did not end; `limit` raises InputError where
    a run takes too long. `engine`, `timeline`: who runs it, and what is wanted of it; `ordered`: a run has shown that
    no threads race, so that what the kernel computes does not depend on their order, but for atomics."""

    module: Module
    kernel: str
    launch: Launch
    place: Callable[[], LaunchMemory]
    held: Bytes | None
    limit: Callable[[], AbstractContextManager[None]]
    engine: Engine = ""
    timeline: bool = False
    ordered: bool = False

    def run(self, policy: PolicyName, memory: LaunchMemory, progress: Progress) -> PolicyRun:
        """Run it under a policy."""
        choice = PolicyChoice(policy, self.engine, self.timeline, self.ordered)
        with self.limit():
            return execute_policy(self.module, self.kernel, self.launch, memory, choice, progress=progress)


def run_policies(
    policies: Sequence[PolicyName], repeated: Repeated, progress: Progress
) -> Iterator[tuple[PolicyRow, PolicyRun | None]]:
    """Yield what becomes of the launch under each policy; no run where the policy cannot take the control flow."""
    for policy in policies:
        why = why_not(policy, repeated.module)
        if why:
            yield PolicyRow(policy, stopped=f"cannot take it: {why}"), None
            continue
        progress(Activity("simulating", f"policy {policy}"))
        memory = repeated.place()
        try:
            run = repeated.run(policy, memory, progress)
        except InputError as error:
            yield PolicyRow(policy, stopped=f"stopped: {error.findings[0].message}"), None
            continue
        yield _row(run, memory, repeated.held), run


def _row(run: PolicyRun, memory: LaunchMemory, held: Bytes | None) -> PolicyRow:
    sums, outcome = run.totals, run.outcome
    waiting = f"; {run.waiting}" if run.waiting else ""
    stopped = "" if outcome.complete else f"stopped: {outcome.problems[-1].message}{waiting}"
    found = {buffer.name: bytes(buffer.data) for buffer in memory.buffers}
    differs = tuple(name for name in held or {} if outcome.complete and found[name] != (held or {})[name])
    return PolicyRow(
        run.policy,
        sums.warp_instructions,
        sums.lane_instructions,
        sums.issued_slots,
        sum(sums.lost.values()),
        run.most_waiting,
        differs,
        stopped,
    )
