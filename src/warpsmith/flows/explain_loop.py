"""EXPLAIN a loop: its category, every reason with its dependence, and what would change it, each of it tried."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from warpsmith.base.verdict import Proved
from warpsmith.flows.hints.remedies import Inputs, hints
from warpsmith.flows.port import PortOptions, port
from warpsmith.front.load import FrontOptions
from warpsmith.loops.remedies.steps import allocation_refusals, count_refusal, step_trial
from warpsmith.loops.select import find_loop
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import LoopFacts
from warpsmith.poly.regions.satisfiable import guard_sample
from warpsmith.report.hints import hint_reason, step_reason
from warpsmith.report.model import LoopEntry
from warpsmith.report.port.build import loop_entries
from warpsmith.tree.nodes import For, While
from warpsmith.tree.program import Assumption

__all__ = ["explain_loop"]


def explain_loop(file: str, subject: str, front: FrontOptions) -> LoopEntry:
    """Return the entry of the loop `subject` (FILE:LINE, or its address) with what would help it.

    Raises InputError where the file cannot be read, and UsageError where it has no such loop.
    """
    result = port([file], PortOptions(front=front, loops=(subject,), survey=True))
    wanted = find_loop(result.program, subject)
    # What is known of the loop as it is written, and after the steps that the search has found.
    entry = next(e for e in loop_entries(result.prepared, None) if e.span == wanted.header)
    known = result.facts.loop(wanted)
    # Sizes at which what its verdict assumes holds.
    entry = replace(entry, holds_at=_sizes(result.facts, known))
    # What the user could do: applied to a copy of the program, and kept where that lets the loop run.
    found = hints(result.facts, wanted, Inputs((file,), front))
    entry = replace(entry, hints=found, reasons=(*entry.reasons, *(hint_reason(h, entry.span) for h in found)))
    # Single steps that help a part of it, where nothing else does.
    if not found and isinstance(wanted, For) and entry.category in ("sequential", "unanalyzable"):
        entry = replace(entry, reasons=(*entry.reasons, step_reason(step_trial(result.facts, wanted), entry.span)))
    if not found and isinstance(wanted, For) and entry.category == "unanalyzable":
        entry = replace(entry, reasons=(*entry.reasons, *allocation_refusals(result.facts, wanted)))
    if not found and isinstance(wanted, While) and (why := count_refusal(result.facts, wanted)) is not None:
        entry = replace(entry, reasons=(*entry.reasons, why))
    return entry


def _sizes(facts: Facts, known: LoopFacts) -> Mapping[str, int]:
    """Return sizes at which the guards of a loop hold, and it runs long; none where it has no guards on sizes."""
    if not isinstance(known.verdict, Proved):
        return {}
    guards, run = [a for a in known.verdict.assumptions if isinstance(a, Assumption)], (known.loop,)
    return (
        guard_sample(facts.program, known.function, run, guards, facts.options, summaries=facts.summaries).sizes or {}
    )
