"""EXPLAIN the mappings of a nest: every assignment of its loops to x, y, z, in every power-of-two block, by each model.

port of the nest ──► its kernels ──► all mappings ──► lines counted, tables as printed, times predicted
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.flows.porting.what_if import predict_mappings
from warpsmith.front.load import FrontOptions
from warpsmith.loops.select import find_loop
from warpsmith.offload.mapping.candidates import ScoredMapping, best_by_tables, list_mappings
from warpsmith.offload.mapping.profile import ProfiledReference, references
from warpsmith.offload.mapping.ranges import trip_count
from warpsmith.offload.plan import Fragment, OffloadOptions
from warpsmith.poly.facts import ReferenceFact
from warpsmith.report.mappings.model import MappedReference, MappingPlace, MappingsReport, MappingWinner, NestMappings
from warpsmith.report.model import KernelMappings
from warpsmith.tree.nodes import For
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.program import Axis
from warpsmith.tree.walk import loop_names, loops

__all__ = ["explain_mappings"]

_AXES: tuple[Axis, ...] = ("x", "y", "z")


def explain_mappings(file: str, subject: str, front: FrontOptions) -> MappingsReport:
    """Return all mappings of the kernels that the loop `subject` (FILE:LINE, or its address) becomes.

    Raises InputError where the file cannot be read, and UsageError where it has no such loop, or it is not counted.
    """
    # The port of this nest alone: which loops become threads.
    options = PortOptions(front=front, loops=(subject,), verify=False)
    result = port([file], options)
    wanted = find_loop(result.program, subject)
    if not isinstance(wanted, For):
        why = "the loop is not a counted one: its iterations do not become threads"
        raise UsageError(Finding("INP000", "error", why, wanted.header))
    fragments = [f for f in result.plan.fragments if f.kernel.mapped] if result.plan else []
    # What each mapping of them takes, where the text tells all sizes.
    predicted = predict_mappings(result.prepared, result.ported, options.offload) if result.ported else ()
    timed = {kernel.name: kernel for kernel in predicted if kernel.choices}
    nests = tuple(_explain(result, f, options.offload, timed.get(f.kernel.name)) for f in fragments if _find_heads(f))
    return MappingsReport(file, result.facts.loop(wanted).id, wanted.header, nests, "" if nests else _refused(result))


def _refused(result: PortResult) -> str:
    found = (finding.message for finding in result.findings if finding.severity in ("error", "warning"))
    return f"it makes no kernel: {next(found, 'the plan has it stay on the host')}"


def _explain(
    result: PortResult, fragment: Fragment, options: OffloadOptions, timed: KernelMappings | None
) -> NestMappings:
    heads = _find_heads(fragment)
    accesses, sizes = result.prepared.facts.loop(heads[0]).accesses, options.sizes or {}
    found, assumed = references(accesses, heads, sizes)
    mappings = list_mappings(found, [trip_count(head, sizes) for head in heads], options.block_volume)
    times = _times(timed)
    return NestMappings(
        kernel=fragment.kernel.name,
        loop=fragment.region,
        header=heads[0].header,
        counters=tuple(head.variable.name for head in heads),
        references=_join(accesses, found),
        mappings=mappings,
        seconds=tuple(times.get((one.axes, one.block)) for one in mappings),
        winners=_winners(mappings, timed),
        port=(tuple(one.axis for one in fragment.kernel.mapped), fragment.kernel.block),
        tiled=bool(fragment.tiles or fragment.halos),
        assumed=assumed,
    )


def _find_heads(fragment: Fragment) -> list[For]:
    """Return the loops of a fragment that are threads, outermost first; none where they are not the function's."""
    names = loop_names(fragment.function)
    mapped = [one.id for one in fragment.kernel.mapped]
    inside = [loop for statement in fragment.statements for loop, _ in loops(statement)]
    found = [loop for loop in inside if isinstance(loop, For) and names.get(loop) in mapped]
    return found if len(found) == len(mapped) else []


def _join(accesses: Sequence[ReferenceFact], found: Sequence[ProfiledReference]) -> tuple[MappedReference, ...]:
    """Return the references, each text with its strides once."""
    joined: dict[tuple[str, tuple[int | None, ...]], MappedReference] = {}
    for place, (access, profiled) in enumerate(zip(accesses, found, strict=True)):
        text = show_expression(access.expr)
        known = joined.get((text, profiled.strides))
        joined[text, profiled.strides] = MappedReference(
            text,
            reads=not access.write or (known is not None and known.reads),
            writes=access.write or (known is not None and known.writes),
            weight=profiled.weight + (known.weight if known is not None else 0),
            score=place if known is None else known.score,
        )
    return tuple(joined.values())


def _winners(mappings: Sequence[ScoredMapping], timed: KernelMappings | None) -> tuple[MappingWinner, ...]:
    winners = [MappingWinner("lines", 0, 0)]
    by_tables = best_by_tables(mappings)
    if by_tables is not None:
        winners.append(MappingWinner("tables", mappings.index(by_tables[0]), by_tables[1]))
    places = [(one.axes, one.block) for one in mappings]
    if timed is not None:
        best = _axes(timed.choices[0].axes), timed.choices[0].block
        winners += [MappingWinner("time", places.index(best), timed.ties - 1)] if best in places else []
    return tuple(winners)


def _times(timed: KernelMappings | None) -> Mapping[MappingPlace, float]:
    found = timed.choices if timed is not None else ()
    return {(_axes(one.axes), one.block): s for one in found if (s := one.prediction.seconds) is not None}


def _axes(named: Sequence[tuple[str, str]]) -> tuple[Axis, ...]:
    return tuple(next(axis for axis in _AXES if axis == name) for _, name in named)
