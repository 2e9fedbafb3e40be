"""A launch once more under each policy that was asked for: what it costs, and whether it computes the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

from msgspec import Struct

from warpsmith.base.errors import InputError
from warpsmith.base.progress import Activity, Progress
from warpsmith.report.simulation.model import PolicyRow
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.simt.policies.machine import PolicyName, PolicyRun, run_policy, why_not
from warpsmith.ssa.nodes import Module

__all__ = ["Repeated", "run_policies"]

Bytes = Mapping[str, bytes]
"""What arrays hold, by their names."""


class Repeated(Struct, frozen=True):
    """A launch that is run again. `place` puts its arguments into memory of their own, at the same addresses; `held`:
    what the arrays hold after the run to compare with, None where that did not end; `limit` raises InputError where
    a run takes too long."""

    module: Module
    kernel: str
    launch: Launch
    place: Callable[[], LaunchMemory]
    held: Bytes | None
    limit: Callable[[], AbstractContextManager[None]]


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
            with repeated.limit():
                run = run_policy(policy, repeated.module, repeated.kernel, repeated.launch, memory, progress=progress)
        except InputError as error:
            yield PolicyRow(policy, stopped=f"stopped: {error.findings[0].message}"), None
            continue
        yield _row(run, memory, repeated.held), run


def _row(run: PolicyRun, memory: LaunchMemory, held: Bytes | None) -> PolicyRow:
    sums, outcome = run.totals, run.outcome
    stopped = "" if outcome.complete else f"stopped: {outcome.problems[-1].message}"
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
