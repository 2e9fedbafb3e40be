"""What all candidates of a search share, and one of them planned.

    facts as written ── steps of loops, proved ──► prepared ── steps that place, proved ──► plan ──► launches, copies

Invariant: every step of a plan was Proved. A step that is not, or a loop that the plan leaves on the host all the same,
is a RefusedError with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.flows.porting.gain import estimate_port
from warpsmith.loops.prepared import Prepared
from warpsmith.loops.step import Step
from warpsmith.offload.automatic import standing_in
from warpsmith.offload.gain.model import GainEstimate
from warpsmith.offload.plan import Fragment, OffloadOptions, Port
from warpsmith.offload.port import plan_port
from warpsmith.offload.steps.map import Map
from warpsmith.recipes.listed import ListedStep
from warpsmith.recipes.placement import mapped_loop
from warpsmith.recipes.replay import apply_steps
from warpsmith.tree.nodes import Loop

__all__ = ["PlannedPort", "Setting", "nests_of"]


class PlannedPort(Struct, frozen=True):
    """A port as steps make it; `estimate`: its launches and copies; `selected`: the loops that were asked for."""

    prepared: Prepared
    port: Port
    estimate: GainEstimate
    selected: tuple[Loop, ...] | None = None


class Setting(Struct, frozen=True):
    """`selected`: the loops that were asked for; `options`: of the port; `sized`: the same with the sizes that the
    model counts on."""

    selected: tuple[Loop, ...] | None
    options: OffloadOptions
    sized: OffloadOptions

    def apply(self, prepared: Prepared, steps: Sequence[Step]) -> Prepared:
        """Return a program after more steps; raises RefusedError."""
        return apply_steps(prepared, [ListedStep(step) for step in steps]) if steps else prepared

    def plan(self, prepared: Prepared, *, decided: bool) -> PlannedPort:
        """Return the port of a program; `decided`: nothing becomes a kernel but what steps have placed."""
        options = replace(
            self.options, decided_only=decided, selected=standing_in(prepared.program, self.selected), demanded=False
        )
        port = plan_port(prepared.program, prepared.facts, options, prepared.facts.options, prepared=prepared)
        if any(change.old for change in port.uncovered):
            message = "it is right only if its guard holds, and nothing tests that where it must be known"
            raise RefusedError(Finding("STP001", "error", message))
        return PlannedPort(prepared, port, estimate_port(prepared, port, self.sized), self.selected)

    def estimate(self, planned: PlannedPort) -> PlannedPort:
        """Return a port with its launches and copies for the sizes of this setting."""
        return replace(planned, estimate=estimate_port(planned.prepared, planned.port, self.sized))

    def place(self, prepared: Prepared, placing: Sequence[Step]) -> PlannedPort:
        """Return the port whose kernels are those that `placing` maps; raises RefusedError where one stays."""
        planned = self.plan(self.apply(prepared, placing), decided=True)
        there = set(map(mapped_loop, nests_of(planned.port)))
        for step in placing:
            if isinstance(step, Map) and step.loop not in there:
                reasons = (r.reason for r in planned.port.plan.refusals if r.loop == step.loop)
                reason = next(reasons, None)
                message = f"{step.loop} stays on the host" + (f": {reason.text}" if reason is not None else "")
                raise RefusedError(Finding("STP002", "error", message))
        return planned


def nests_of(port: Port) -> tuple[Fragment, ...]:
    """Return the fragments of a port whose loops are threads."""
    return tuple(f for f in port.plan.fragments if f.kind == "nest" and f.kernel.mapped)
