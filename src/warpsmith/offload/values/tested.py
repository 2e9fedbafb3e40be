"""What has to be tested before a launch for the verdicts of loops to hold."""

from __future__ import annotations

from collections.abc import Sequence

from warpsmith.base.verdict import Proved
from warpsmith.poly.facts import LoopFacts
from warpsmith.tree.nodes import Binary
from warpsmith.tree.program import Assumption
from warpsmith.tree.walk import peel, same

__all__ = ["find_tested"]


def find_tested(chain: Sequence[LoopFacts], known: Sequence[Assumption] = ()) -> tuple[Assumption, ...]:
    """Return what the verdicts of all the loops rest on, each once, and only where it is more than what is `known`, or
    than what those before say."""
    found = [*known]
    for facts in chain:
        verdict = facts.combined if facts.category == "reduction" else facts.verdict
        if isinstance(verdict, Proved):
            new = [a for a in verdict.assumptions if isinstance(a, Assumption)]
            found += [a for a in new if a not in found and not _is_alternative(a, found)]
    return tuple(found[len(known) :])


def _is_alternative(new: Assumption, known: Sequence[Assumption]) -> bool:
    """Whether a condition `a || b` holds because what is known says `a`, or `b`."""
    pending = [new.condition] if new.condition is not None else []
    while pending:
        part = peel(pending.pop())
        if isinstance(part, Binary) and part.op == "||":
            pending += [part.left, part.right]
        elif any(a.condition is not None and same(part, peel(a.condition)) for a in known):
            return True
    return False
