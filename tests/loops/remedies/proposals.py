"""Proposals of one kind of remedy for the first loop of a text that it says anything of."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.poly.analysis import program_of
from warpsmith.base.source import apply_edits
from warpsmith.loops.remedies.model import EditCode
from warpsmith.poly.analyze import Facts, analyze
from warpsmith.poly.facts import LoopFacts, PolyOptions

__all__ = ["edited", "known"]

Maker = Callable[[Facts, LoopFacts], Iterator[EditCode]]


def known(text: str, name: str = "") -> tuple[Facts, LoopFacts]:
    """Return what is known of a program and of its loop `name`, or of its first."""
    facts = analyze(program_of(text), PolyOptions())
    return facts, next(loop for function in facts.functions for loop in function.loops if name in ("", loop.id))


def edited(make: Maker, text: str, name: str = "f/i") -> list[tuple[EditCode, str]]:
    """Return each proposal for a loop, with the text that it makes."""
    facts, loop = known(text, name)
    file = facts.program.units[0].file
    return [(one, apply_edits(file, one.edits)) for one in make(facts, loop)]
