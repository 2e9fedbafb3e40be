"""A step on a program of IL: which lines take the place of one, and what must hold for that.

A condition is proved (by facts.py, or by the meaning of the instructions), granted by the user, or neither: then the
step is offered, with its condition in words that the user can grant, and not done. What cannot be done is refused with
numbers that show why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct, field

from warpsmith.base.source import Span
from warpsmith.front.il.nodes import (
    WHOLE,
    IlDestination,
    IlInstruction,
    IlLiteral,
    IlProgram,
    IlRegister,
    IlSource,
)
from warpsmith.front.il.ops import IL_OPS
from warpsmith.targets.il.facts import IlFacts

__all__ = ["IlCandidate", "IlCondition", "IlRefusal", "Rule", "Writer"]


class IlCondition(Struct, frozen=True):
    """What must hold, in words; `proved`: it does."""

    text: str
    proved: bool = False


class IlCandidate(Struct, frozen=True):
    """Instruction `at` becomes `lines` (with `literals` declared besides), where all `conditions` hold. `moved`: they
    stand before instruction `moved` instead; `settles`: it is done as well where it keeps the number of bundles: it
    makes others possible and nothing undoes it."""

    title: str
    at: int
    lines: tuple[IlInstruction, ...]
    conditions: tuple[IlCondition, ...] = ()
    literals: tuple[IlLiteral, ...] = ()
    moved: int | None = None
    settles: bool = False


class IlRefusal(Struct, frozen=True):
    """A step that would be wrong, and the numbers that show it."""

    title: str
    witness: str
    span: Span | None = None


Rule = Callable[[IlFacts, int], Iterator[IlCandidate | IlRefusal]]
"""Yields what may be done with one instruction."""


class Writer(Struct):
    """Makes instructions, with registers and literals that the program does not have."""

    program: IlProgram
    span: Span | None
    lines: list[IlInstruction] = field(default_factory=list)
    literals: list[IlLiteral] = field(default_factory=list)
    count: int = 0

    def fresh(self) -> IlRegister:
        """Return a register that nothing uses."""
        used = [0]
        for one in self.program.instructions:
            named = [source.register for source in one.sources]
            named += [one.destination.register] if one.destination is not None else []
            used += [register.number for register in named if register.kind == "r"]
        self.count += 1
        return IlRegister("r", max(used) + self.count)

    def literal(self, word: int) -> IlSource:
        """Return a source that is a number in all components."""
        for number, one in self.program.literals.items():
            if word in one.words:
                return IlSource(IlRegister("l", number), WHOLE[one.words.index(word)] * 4)
        for one in self.literals:
            if one.words[0] == word:
                return IlSource(IlRegister("l", one.number), "xxxx")
        number = max([-1, *self.program.literals]) + 1 + len(self.literals)
        self.literals.append(IlLiteral(number, (word, word, word, word)))
        return IlSource(IlRegister("l", number), "xxxx")

    def put(self, name: str, target: IlDestination, *sources: IlSource, zero: str = "") -> None:
        """Append an instruction."""
        self.lines.append(IlInstruction(IL_OPS[name], target, sources, zero=zero, span=self.span))

    def compute(self, name: str, *sources: IlSource, zero: str = "") -> IlSource:
        """Append an instruction that writes a register of its own; return that."""
        register = self.fresh()
        self.put(name, IlDestination(register), *sources, zero=zero)
        return IlSource(register)
