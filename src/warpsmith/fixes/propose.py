"""Which findings have a fix that one token or one line is, and what it would be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.analysis.uniformity.facts import KernelFacts
from warpsmith.base.fixes import Fix
from warpsmith.fixes.barriers import hoist, remove
from warpsmith.fixes.literals import narrow
from warpsmith.fixes.padding import pad
from warpsmith.fixes.powers import multiply, quicken
from warpsmith.fixes.proposal import Rule
from warpsmith.fixes.read_only import load_read_only
from warpsmith.fixes.remainders import mask
from warpsmith.fixes.site import Trees

__all__ = ["FIXED", "proposals"]

_RULES: Final[Mapping[str, Rule]] = {
    "ARI001": mask,
    "ARI003": narrow,
    "ARI004": multiply,
    "ARI005": quicken,
    "MEM006": load_read_only,
    "MEM010": pad,
    "SYN001": hoist,
    "SYN006": remove,
}
FIXED: Final = tuple(_RULES)
"""The rules that may have a fix."""


def proposals(trees: Trees, facts: KernelFacts, finding: KernelFinding) -> tuple[Fix, ...]:
    """Return the ways to mend a finding, not checked yet: those that all functions made of its text agree on."""
    rule = _RULES.get(finding.rule)
    if rule is None or finding.span is None:
        return ()
    found = [tuple(rule(site, facts, finding)) for site in trees.sites(finding.span)]
    if not found or any(_places(one) != _places(found[0]) for one in found):
        return ()
    kept = (fixes for fixes in zip(*found, strict=True))
    return tuple(
        Fix(fixes[0].title, fixes[0].edits, all(fix.safe for fix in fixes))
        for fixes in kept
        if all(edit.span.file.path == trees.file.path for edit in fixes[0].edits)
    )


def _places(fixes: tuple[Fix, ...]) -> tuple[tuple[tuple[int, int, str], ...], ...]:
    return tuple(tuple((edit.span.start, edit.span.end, edit.text) for edit in fix.edits) for fix in fixes)
