"""All rules over one kernel's facts: each family in turn, findings in the order of the text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Final

from msgspec.structs import replace

from warpsmith.analysis.rules.arithmetic import arithmetic
from warpsmith.analysis.rules.blocks import between_blocks
from warpsmith.analysis.rules.divergence import divergence
from warpsmith.analysis.rules.figures import simulated_parting
from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.analysis.rules.launch import launch
from warpsmith.analysis.rules.memory.memory import device_memory
from warpsmith.analysis.rules.memory.shared import known_memory
from warpsmith.analysis.rules.memory.spaces import other_spaces
from warpsmith.analysis.rules.synchronization import synchronization
from warpsmith.analysis.sync.barriers import ENDED
from warpsmith.analysis.uniformity.facts import KernelFacts, LaunchCall
from warpsmith.base.findings import Note, Severity

__all__ = ["judge"]

Family = Callable[[KernelFacts], Iterable[KernelFinding]]


def _parting(facts: KernelFacts) -> Iterable[KernelFinding]:
    """Return what is to be said of branches, with what runs show of them."""
    return simulated_parting(facts, tuple(divergence(facts)))


_WRONG: Final = ("SYN001", "SYN002", "SYN003", "SYN004", "SYN008", "MEM02")
"""Rules about what goes wrong, rather than what costs time."""
_MOST_LAUNCHES: Final = 3
_FAMILIES: Final[tuple[Family, ...]] = (
    _parting, device_memory, other_spaces, known_memory, synchronization, between_blocks, launch, arithmetic,
)  # fmt: skip


def judge(facts: KernelFacts) -> tuple[KernelFinding, ...]:
    """Return everything that the rules say of a kernel, sorted by place."""
    found: dict[object, KernelFinding] = {}
    for family in _FAMILIES:
        for finding in family(facts):
            key = (finding.rule, finding.span or id(finding), finding.message)
            first = found.get(key)
            found[key] = finding if first is None else replace(first, times=first.times + 1)
    told = (replace(one, at_most=_at_most(facts, one), related=_related(facts, one)) for one in found.values())
    return tuple(sorted(told, key=_place))


def _related(facts: KernelFacts, finding: KernelFinding) -> tuple[Note, ...]:
    """Return the places of a finding; of what goes wrong in a launch, the launches as well."""
    if not finding.rule.startswith(_WRONG) or finding.certainty == "heuristic":
        return finding.related
    calls = {call.text: call for call in reversed(facts.shape.calls) if call.span is not None}
    launches = (Note(call.span, _launched(call)) for call in reversed(calls.values()) if call.span is not None)
    return (*finding.related, *islice(launches, _MOST_LAUNCHES))


def _launched(call: LaunchCall) -> str:
    return f"launched here with {call.text}" if call.numbers else "launched here"


def _at_most(facts: KernelFacts, finding: KernelFinding) -> Severity:
    """Return how severe a finding may be: what rests on a block that nobody gives, was seen in a run on numbers that
    were made up and matter, or matters only if a value is used that nobody may use, is no error of the user's."""
    guessed = not set(facts.block_assumed).isdisjoint(finding.assumptions)
    made_up = bool(finding.replay) and finding.certainty not in ("witnessed", "proven")
    no_error = guessed or made_up or ENDED in finding.assumptions
    return "warning" if no_error and finding.at_most == "error" else finding.at_most


def _place(finding: KernelFinding) -> tuple[str, int, int, str]:
    span = finding.span
    return ("", 0, 0, finding.rule) if span is None else (span.file.path, span.line, span.column, finding.rule)
