"""Fetches: those that are made twice are made once, and each as early as its coordinates are there."""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.front.il.check import operands_of, places_read
from warpsmith.front.il.nodes import WHOLE, IlInstruction, IlSource
from warpsmith.targets.il.facts import IlFacts
from warpsmith.targets.il.rewrites import IlCandidate, IlRefusal, Writer

__all__ = ["fetch_rules"]


def fetch_rules(facts: IlFacts, at: int) -> Iterator[IlCandidate | IlRefusal]:
    """Yield what may be done with a fetch at one place."""
    one = facts.instructions[at]
    if one.op.form not in ("sample", "load") or one.destination is None or one.destination.register.kind != "r":
        return
    for before in range(at - 1, -1, -1):
        other = facts.instructions[before]
        if _is_same(facts, before, at):
            assert other.destination is not None
            write = Writer(facts.program, one.span)
            write.put("mov", one.destination, IlSource(other.destination.register))
            yield IlCandidate("a fetch is made once", at, tuple(write.lines), settles=True)
            return
    place = at
    while place and not _depends(facts.instructions[place - 1], one):
        place -= 1
    if any(facts.instructions[number].op.form not in ("sample", "load") for number in range(place, at)):
        yield IlCandidate("a fetch is made as early as it can be", at, (one,), moved=place, settles=True)


def _is_same(facts: IlFacts, before: int, at: int) -> bool:
    """Whether an earlier fetch brought what this one does, and all of it is still there."""
    one, other = facts.instructions[at], facts.instructions[before]
    if other.op is not one.op or (one.resource, one.sampler) != (other.resource, other.sampler):
        return False
    if one.sources != other.sources or one.destination is None or other.destination is None:
        return False
    axes = WHOLE[: facts.program.resources[one.resource].axes]
    coordinates = [facts.read(at, 0, letter) for letter in axes]
    kept = [WHOLE[index] for index, letter in enumerate(one.destination.mask) if letter in WHOLE]
    if other.destination.register.kind != "r" or any(letter not in other.destination.computed for letter in kept):
        return False
    target = other.destination.register
    read = [IlSource(target).register == source.register for source in one.sources]
    if any(read) or any(not facts.same(before, one_read, at, one_read) for one_read in coordinates):
        return False
    between = facts.instructions[before + 1 : at]
    return not any(i.destination is not None and i.destination.register == target for i in between)


def _depends(before: IlInstruction, one: IlInstruction) -> bool:
    """Whether a fetch cannot stand before an instruction: one writes what the other reads or writes."""
    assert one.destination is not None
    wanted = {(s.register.kind, s.register.number, letter) for s in one.sources for letter in places_read(one, s)}
    target = before.destination
    if target is None:
        return True
    written = {(target.register.kind, target.register.number, WHOLE[n]) for n, m in enumerate(target.mask) if m != "_"}
    own = {(one.destination.register.kind, one.destination.register.number)}
    named = {(register.kind, register.number) for register, _, _ in operands_of(before)}
    return bool(written & wanted) or bool(own & named)
