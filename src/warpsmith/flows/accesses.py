"""EXPLAIN the accesses of a nest: the matrix of each reference, what is used again, and where that lands on a GPU."""

from __future__ import annotations

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.front.load import FrontOptions
from warpsmith.loops.select import find_loop
from warpsmith.offload.mapping.landing import place_nest
from warpsmith.offload.plan import Plan
from warpsmith.poly.patterns.model import AccessNest, Space
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
    spaces = tuple(_entry(result.plan, nest, space) for space in nest.spaces)
    unplaced = spaces and all(entry.place is None for entry in spaces)
    return AccessReport(file, nest, spaces, _refused(result) if unplaced else "")


def _entry(plan: Plan | None, nest: AccessNest, space: Space) -> SpaceEntry:
    """Return a space with the place of its loops: none where the kernels of its references do not agree."""
    keys = [counter.key for counter in space.counters]
    found = [place_nest(plan, keys, nest.outer, r.span) if plan and r.span else None for r in space.references]
    placed = [place for place in found if place is not None]
    agreed = len({(place.loops, place.block) for place in placed}) == 1
    kernels = tuple("" if place is None else place.kernel for place in found)
    pairs = zip(space.references, found, strict=True)
    tiled = tuple(place is not None and not r.writes and r.array in place.tiled for r, place in pairs)
    return SpaceEntry(space, placed[0] if agreed else None, kernels, tiled=tiled)


def _refused(result: PortResult) -> str:
    """Return why nothing is said of a mapping."""
    if result.plan is not None and result.plan.fragments:
        return "the port rewrites it, and the loops of its kernels are others"
    found = (finding.message for finding in result.findings if finding.severity in ("error", "warning"))
    return f"it makes no kernel: {next(found, 'the plan has it stay on the host')}"
