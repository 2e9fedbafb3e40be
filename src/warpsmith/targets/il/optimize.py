"""A program of IL made shorter: one rewrite after the other, as long as there is one.

    offered ◄── conditions neither proved nor granted      refused ◄── wrong, with numbers that show it
    done    ◄── the others, where the program has fewer bundles than before; fetches, min and max where it has as many

Invariant: what an optimized program writes is what it wrote before, for all inputs for which the conditions of what was
done hold; it has no more bundles on R600, or on Evergreen where it has unordered access views. Limits: other
generations are not asked, and control flow is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.front.il.nodes import IlInstruction, IlProgram
from warpsmith.front.il.ops import FLOW
from warpsmith.machine.vliw.slots import Generation
from warpsmith.targets.il.division import divide_rules, remainder_rules
from warpsmith.targets.il.facts import IlFacts
from warpsmith.targets.il.fetches import fetch_rules
from warpsmith.targets.il.rewrites import IlCandidate, IlRefusal, Rule
from warpsmith.targets.il.selections import select_rules
from warpsmith.targets.r600.analyze import can_run, compile_il

__all__ = ["IlStep", "Optimized", "optimize_il"]

_RULES: Final[tuple[Rule, ...]] = (remainder_rules, divide_rules, select_rules, fetch_rules)
_MOST: Final = 64


class IlStep(Struct, frozen=True):
    """A rewrite, done or offered: the line that it was for, its conditions, and bundles with it (before: `bundles`)."""

    title: str
    line: int
    conditions: tuple[str, ...]
    before: int
    bundles: int


class Optimized(Struct, frozen=True):
    """A program, what was done to it, what is offered and what is refused."""

    program: IlProgram
    done: tuple[IlStep, ...]
    offered: tuple[IlStep, ...]
    refused: tuple[IlRefusal, ...]


def optimize_il(program: IlProgram, granted: Collection[str] = ()) -> Optimized:
    """Return a program with fewer bundles. `granted`: conditions that the user says hold, in the words of an offer.

    Raises RefusedError where the program has control flow: its bundles are not counted.
    """
    flow = next((one for one in program.instructions if one.op.form in FLOW), None)
    if flow is not None:
        message = f"{flow.op.name}: a program with control flow is not rewritten, as its bundles are not counted"
        raise RefusedError(Finding("ILT003", "error", message, flow.span))
    done: list[IlStep] = []
    while len(done) < _MOST:
        step = next(_useful(program, granted), None)
        if step is None:
            break
        program, made = step
        done.append(made)
    offered = tuple(_offers(program, granted))
    return Optimized(program, tuple(done), offered, tuple(_refusals(program)))


def _bundles(program: IlProgram) -> int:
    generation: Generation = "r600" if can_run(program, "r600") else "evergreen"
    return compile_il(program, generation).code.bundles


def _candidates(program: IlProgram) -> Iterator[IlCandidate | IlRefusal]:
    facts = IlFacts(program)
    for rule in _RULES:
        for at in range(len(program.instructions)):
            yield from rule(facts, at)


def _useful(program: IlProgram, granted: Collection[str]) -> Iterator[tuple[IlProgram, IlStep]]:
    """Yield the program after a step whose conditions hold, and that makes it no longer."""
    before = _bundles(program)
    for one in _candidates(program):
        if isinstance(one, IlRefusal) or _open(one, granted):
            continue
        after = _apply(program, one)
        bundles = _bundles(after)
        if bundles < before or (one.settles and bundles == before):
            held = tuple(condition.text for condition in one.conditions)
            yield after, IlStep(one.title, _line(program, one), held, before, bundles)


def _offers(program: IlProgram, granted: Collection[str]) -> Iterator[IlStep]:
    before = _bundles(program)
    for one in _candidates(program):
        if isinstance(one, IlRefusal):
            continue
        lacking = _open(one, granted)
        if lacking:
            bundles = _bundles(_apply(program, one))
            if bundles < before or (one.settles and bundles == before):
                yield IlStep(one.title, _line(program, one), lacking, before, bundles)


def _refusals(program: IlProgram) -> Iterator[IlRefusal]:
    yield from (one for one in _candidates(program) if isinstance(one, IlRefusal))


def _open(one: IlCandidate, granted: Collection[str]) -> tuple[str, ...]:
    """Return the conditions that neither are proved nor granted."""
    lacking = (c.text for c in one.conditions if not c.proved and c.text not in granted)
    return tuple(dict.fromkeys(lacking))


def _line(program: IlProgram, one: IlCandidate) -> int:
    span = program.instructions[one.at].span
    return span.line if span is not None else 0


def _apply(program: IlProgram, one: IlCandidate) -> IlProgram:
    """Return the program after a step."""
    instructions: list[IlInstruction] = list(program.instructions)
    if one.moved is None:
        instructions[one.at : one.at + 1] = one.lines
    else:
        del instructions[one.at]
        instructions[one.moved : one.moved] = one.lines
    return replace(program, declarations=(*program.declarations, *one.literals), instructions=tuple(instructions))
