"""EXPLAIN the accesses of a nest: the matrix of each reference, what is used again, and where that lands on a GPU."""

from __future__ import annotations

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.front.load import FrontOptions
from warpsmith.loops.select import find_loop
from warpsmith.offload.mapping.landing import place_nest
from warpsmith.poly.patterns.nest import nest_accesses
from warpsmith.report.accesses.model import AccessReport, SpaceEntry
from warpsmith.tree.nodes import For

__all__ = ["explain_accesses"]


def explain_accesses(file: str, subject: str, front: FrontOptions) -> AccessReport:
    """Return the access patterns of the nest whose outermost loop is `subject` (FILE:LINE, or its address).

    Raises InputError where the file cannot be read, and UsageError where it has no such loop, or it is not counted.
    """
    # The port of this nest alone: its facts, and how its loops become threads.
    result = port([file], PortOptions(front=front, loops=(subject,), verify=False))
    wanted = find_loop(result.program, subject)
    if not isinstance(wanted, For):
        why = "its accesses have no matrix, since it has no counter"
        raise UsageError(Finding("INP000", "error", f"the loop is not a counted one: {why}", wanted.header))
    nest = nest_accesses(result.facts, wanted)
    plan = result.plan
    placed = [place_nest(plan, [c.loop for c in space.counters]) if plan else None for space in nest.spaces]
    spaces = tuple(SpaceEntry(space, place) for space, place in zip(nest.spaces, placed, strict=True))
    return AccessReport(file, nest, spaces, "" if any(placed) or not spaces else _refused(result))


def _refused(result: PortResult) -> str:
    found = (finding.message for finding in result.findings if finding.severity in ("error", "warning"))
    return next(found, "the plan has it stay on the host")
