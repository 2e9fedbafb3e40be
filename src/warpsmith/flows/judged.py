"""The referee's word on a port: the steps as C against C, then the port against what the steps made."""

from __future__ import annotations

from warpsmith.flows.harness import harness_functions
from warpsmith.flows.plan import Written
from warpsmith.flows.sources import sources_of
from warpsmith.flows.step_check import verify_steps, with_steps
from warpsmith.loops.prepared import Prepared
from warpsmith.run.referee import verify
from warpsmith.run.verification import Verification, VerifyOptions

__all__ = ["judged"]


def judged(prepared: Prepared, written: Written, options: VerifyOptions) -> Verification:
    """Build and run what steps made and the port; raises UsageError without a compiler."""
    steps = verify_steps(prepared, options) if prepared.changes() else None
    if steps is not None and steps.status == "fail":
        return steps
    ported = written.port
    changed = {fragment.function.symbol for fragment in ported.plan.fragments}
    reference = sources_of(ported.reference, written.reference, captured=True)
    candidate = sources_of(ported.candidate, written.candidate, captured=True)
    verdict = verify(reference, candidate, options, harness_functions(prepared.original, changed))
    return verdict if steps is None else with_steps(verdict, steps)
