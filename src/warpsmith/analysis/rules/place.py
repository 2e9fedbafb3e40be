"""An access as a finding shows it: what it is, where, and where the lanes of the first warp are."""

from __future__ import annotations

from typing import Final

from warpsmith.analysis.rules.finding import EvidenceTable, KernelFinding
from warpsmith.analysis.uniformity.facts import AccessFact, KernelFacts
from warpsmith.machine.requests import SECTOR

__all__ = ["DEVICE", "describe_access", "lane_table", "place_of"]

DEVICE: Final = ("global", "generic")
"""Spaces that are device memory."""


def describe_access(access: AccessFact) -> str:
    """Return what an access is, in words: `load of in`."""
    word = {"load": "load of", "store": "store to", "atomic": "atomic on"}[access.kind]
    return f"{word} {access.variable or 'memory'}"


def place_of(facts: KernelFacts, access: AccessFact, rule: str, message: str) -> KernelFinding:
    """Return the finding of an access, with its certainty, its assumptions and its lane table."""
    text = "" if access.span is None else " ".join(access.span.text.split())
    subject = f"{access.kind} {access.space} {access.variable} {text}"
    table = lane_table(facts, access)
    return KernelFinding(
        rule, message, access.certainty, facts.kernel, access.span, subject, assumptions=access.assumptions,
        evidence=() if table is None else (table,),
    )  # fmt: skip


def lane_table(facts: KernelFacts, access: AccessFact) -> EvidenceTable | None:
    """Return lane → address for the first warp; in terms of the stride where the offsets are not numbers."""
    index = f"address {access.index}" if access.index else "addresses"
    if access.offsets:
        unit = ("bank", 4, 32) if access.space == "shared" else ("sector", SECTOR, None)
        name, size, wrap = unit
        rows = []
        for lane, offset in enumerate(access.offsets):
            number = offset // size
            rows.append((str(lane), f"+{offset}", str(number if wrap is None else number % wrap)))
        return EvidenceTable(f"{index}; first warp", ("lane", "byte", name), tuple(rows))
    if access.stride:
        last = min(facts.device.warp_width, facts.block[0]) - 1
        shown = sorted({lane for lane in (0, 1, 2, last) if lane <= last})
        steps = tuple((str(lane), f"+{_times(lane, access.stride)}") for lane in shown)
        return EvidenceTable(index, ("lane", "byte"), steps)
    return None


def _times(lane: int, stride: str) -> str:
    """Return a multiple of a stride as text.

    >>> _times(0, "4·n"), _times(3, "4·n"), _times(2, "n"), _times(2, "4·n + 8")
    ('0', '12·n', '2·n', '2·(4·n + 8)')
    """
    if not lane or lane == 1:
        return stride if lane else "0"
    number, dot, rest = stride.partition("·")
    if " " in stride:
        return f"{lane}·({stride})"
    return f"{lane * int(number)}·{rest}" if dot and number.isdecimal() else f"{lane}·{stride}"
