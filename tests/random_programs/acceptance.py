"""The acceptance of a random program's port, by the verdict of the referee."""

from __future__ import annotations

from warpsmith.flows.port import PortResult
from warpsmith.run.verification import Verification

__all__ = ["BESIDE", "IDLE", "is_accepted", "is_right"]

# a region whose loops had no iterations, and one whose kernels wrote nothing; not VER029: what nobody notices that
# kernels wrote was not compared
IDLE = frozenset({"VER034", "VER035"})
# said beside any verdict: elements that hold addresses are left out
BESIDE = frozenset({"VER022"})


def is_accepted(verification: Verification | None) -> bool:
    """Whether the referee found nothing wrong and compared enough. Random bounds and tests leave some loops without
    iterations or stores: that a region did nothing is all that may be left undecided."""
    if verification is None:
        return False
    if verification.status == "undecided":
        return all(reason.rule in IDLE | BESIDE for reason in verification.reasons)
    return verification.status == "pass"


def is_right(result: PortResult) -> bool:
    """Whether a port has no errors and, if it has kernels, is accepted."""
    errors = [f for f in (*result.diagnostics, *result.findings) if f.severity == "error"]
    nothing = result.plan is not None and not result.plan.fragments
    return not errors and (nothing or is_accepted(result.verification))
