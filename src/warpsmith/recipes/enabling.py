"""Which single step, applied before, makes a refused step legal: tried and checked, never guessed.

    offload=f/i refused      try: what the search for steps would try on the loops of the nest, then every step that
                             needs no more than a loop, or a loop and a variable that the nest writes
                             a try counts only where it is Proved, and the refused step is Proved after it

Invariant: every step of the answer was Proved, and so was the refused one on the program that it makes. The effort is
bounded by a number of checks, so that the answer is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from msgspec import Struct

from warpsmith.base.errors import RefusedError
from warpsmith.base.verdict import Proved
from warpsmith.catalogue import STEPS, arguments_of, make, parameters
from warpsmith.loops.place import LoopContext
from warpsmith.loops.search.candidates import candidates, expansions
from warpsmith.loops.search.cost import cost_of
from warpsmith.loops.step import Step, check_step, rewrite_program, step_text
from warpsmith.offload.decisions import find_made_from
from warpsmith.poly.analyze import Facts
from warpsmith.tree.nodes import For, Index, Loop, Name
from warpsmith.tree.program import Program
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import loop_names, loops, root_symbol, walk, written_symbols

__all__ = ["MOST_TRIES", "Enabling", "enabling_steps"]

MOST_TRIES = 80
_MOST_ANSWERS = 4
_PLACING = (
    "offload",
    "map",
    "shared-tile",
    "halo-tile",
    "time-tile",
    "register-tile",
    "double-buffer",
    "vector-load",
    "share-loop",
    "one-thread",
    "constant-memory",
    "keep",
)


class Enabling(Struct, frozen=True):
    """A step, and the refused one as it is called after it: the loop's address may have changed."""

    step: Step
    then: Step


def enabling_steps(facts: Facts, refused: Step) -> tuple[Enabling, ...]:
    """Return steps after each of which `refused` is Proved, the likeliest first."""
    address = getattr(refused, "loop", None)
    if not isinstance(address, str):
        return ()
    try:
        place = LoopContext.of(facts.program, address)
    except RefusedError:
        return ()
    found: list[Enabling] = []
    for step in islice(_find_unseen(_tries(facts, place)), MOST_TRIES):
        if len(found) < _MOST_ANSWERS:
            found += _find_enabled(facts, place, step, refused)
    return tuple(found)


def _find_enabled(facts: Facts, place: LoopContext, step: Step, refused: Step) -> Iterator[Enabling]:
    """Yield `step` with the refused one if it is Proved after it."""
    try:
        if not isinstance(check_step(step, facts.program, facts), Proved):
            return
        program = rewrite_program(step, facts.program)
        after = facts.after(program)
        for then in _rename_loop(program, place, refused):
            if isinstance(check_step(then, program, after), Proved):
                yield Enabling(step, then)
                return
    except RefusedError:
        return


def _rename_loop(program: Program, place: LoopContext, refused: Step) -> Iterator[Step]:
    """Yield the refused step about every loop that was made from its own."""
    symbol = place.function.symbol
    function = next((f for _, f in program.functions() if f.symbol == symbol), None)
    if function is None:
        return
    names = loop_names(function)
    for loop in find_made_from(function, place.loop):
        yield make(refused.name, arguments_of(refused) | {"loop": names[loop]})


def _tries(facts: Facts, place: LoopContext) -> Iterator[Step]:
    """Yield the steps worth a try, the likeliest first."""
    nearby = _nearby(place)
    names = loop_names(place.function)
    for loop in nearby:
        if isinstance(loop, For):
            yield from candidates(facts, place.function, loop, cost_of(facts, place.function, (loop,)))
            yield from expansions(facts, place.function, loop)
    for cls in STEPS:
        needed = [p.name for p in parameters(cls) if p.default is None]
        if cls.name in _PLACING:
            continue
        for loop in nearby:
            if needed == ["loop"]:
                yield make(cls.name, {"loop": names[loop]})
            elif needed == ["loop", "variable"]:
                for symbol in _find_written(loop):
                    yield make(cls.name, {"loop": names[loop], "variable": symbol.name})


def _find_unseen(steps: Iterable[Step]) -> Iterator[Step]:
    seen: set[str] = set()
    for step in steps:
        text = step_text(step)
        if text not in seen:
            seen.add(text)
            yield step


def _find_written(loop: Loop) -> tuple[Symbol, ...]:
    """Return the variables that a loop writes, or elements of which it writes, but for the counters inside."""
    counters = {inner.variable for inner, _ in loops(loop) if isinstance(inner, For)}
    elements = (root_symbol(part) for part in walk(loop) if isinstance(part, Index))
    named = {part.symbol for part in walk(loop) if isinstance(part, Name)}
    found = (written_symbols(loop) | {s for s in elements if s is not None}) & named - counters
    return tuple(sorted(found, key=lambda symbol: symbol.key))


def _nearby(place: LoopContext) -> tuple[Loop, ...]:
    """Return the loop, those inside it, and those around it from the inside out."""
    return (*(loop for loop, _ in loops(place.loop)), *reversed(place.around))
