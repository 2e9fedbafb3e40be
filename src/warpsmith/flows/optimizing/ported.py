"""OPTIMIZE, a straight line behind PORT: the default port, a search for a faster one, and the port of what was found.

port ── its steps ──► optimize.py ──► the best steps ──► port by them, as by a recipe ──► verified
                                          └── none is clearly faster, or the referee rejects it ──► port
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from warpsmith.base.errors import RefusedError
from warpsmith.base.progress import Activity
from warpsmith.flows.optimizing.optimize import OptimizedPort, OptimizeOptions, optimize
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.front.inputs import Source
from warpsmith.loops.select import select_loops
from warpsmith.loops.step import Step
from warpsmith.offload.steps.map import Map
from warpsmith.recipes.placement import mapped_loop

__all__ = ["port_optimized"]


def port_optimized(paths: Sequence[str | Source], options: PortOptions, wanted: OptimizeOptions) -> PortResult:
    """Port the loops of the C files `paths` by the steps that are predicted to be the fastest.

    Raises InputError and UsageError as `port` does.
    """
    # What `port` makes of them, not run: the start.
    start = port(paths, replace(options, verify=False))
    if start.ported is None:
        return port(paths, options) if options.verify else start
    # What is predicted to be faster, all of it proved.
    options.run.progress(Activity("optimizing"))
    selected = select_loops(start.program, options.loops)
    found = optimize(start.prepared, start.ported, selected, options.offload, wanted)
    # The port of it, built, run and compared like any other.
    rejected = ""
    if found.steps:
        made, rejected = _port_best(paths, options, found)
        if made is not None:
            return made
    default = port(paths, options) if options.verify else start
    search = replace(found.search, steps=(), gains=(), rejected=rejected) if rejected else found.search
    return replace(default, search=search)


def _port_best(
    paths: Sequence[str | Source], options: PortOptions, found: OptimizedPort
) -> tuple[PortResult | None, str]:
    """Return the port of the best steps, or why there is none."""
    try:
        made = port(paths, replace(options, transforms=(), chosen=found.steps))
    except RefusedError as error:
        return None, error.findings[0].message
    rejected = _why_rejected(made, found.steps)
    return (None, rejected) if rejected else (replace(made, search=found.search), "")


def _why_rejected(made: PortResult, steps: tuple[Step, ...]) -> str:
    """Return what is wrong with a port of the best steps."""
    verified = made.verification
    if verified is not None and verified.status == "fail":
        return next(reason.message for reason in verified.reasons if reason.severity == "error")
    there = set(map(mapped_loop, made.plan.fragments)) if made.plan is not None else set()
    left = [step.loop for step in steps if isinstance(step, Map) and step.loop not in there]
    return f"{left[0]} cannot be written as a kernel" if left else ""
