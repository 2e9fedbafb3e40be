"""Calls of functions whose text is not given: what an effects file would have to say for the loop to be parallel.

    a[i] = outside(a[i]);        [[functions]]
                                 names = "outside"
                                 arguments = "x"

Invariant: the table says no more than what the call shows: which arguments are pointers, and which of them are const.
"""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.loops.remedies.model import UseOption
from warpsmith.poly.analyze import Facts
from warpsmith.poly.effects.library import describe_as
from warpsmith.poly.facts import LoopFacts
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.tree.nodes import Call
from warpsmith.tree.walk import walk

__all__ = ["described_calls"]


def described_calls(facts: Facts, known: LoopFacts) -> Iterator[UseOption]:
    """Yield one option that describes every unknown function that the loop calls itself."""
    tables: dict[str, str] = {}
    for call in (part for part in walk(known.loop) if isinstance(part, Call)):
        name = direct_call(call)
        if name is None or name in facts.summaries.definitions or facts.summaries.library(call) is not None:
            continue
        tables.setdefault(name.name, describe_as(call, name))
    if tables:
        yield UseOption("--effects", "\n\n".join(tables.values()) + "\n")
