"""Which single step, applied before, makes a refused step legal: tried and checked, never guessed.

    interchange=f/i refused      try: every step that is worth it on the loops of the nest
                                 a try counts only where it is Proved, and the refused step is Proved after it

Invariant: every step of the answer was Proved, and so was the refused one on the program that it makes. The effort is
bounded by a number of checks, so that the answer is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from warpsmith.base.errors import RefusedError
from warpsmith.base.verdict import Proved
from warpsmith.catalogue import STEPS, make, parameters
from warpsmith.loops.candidates import candidates
from warpsmith.loops.cost import cost_of
from warpsmith.loops.place import Place
from warpsmith.loops.step import Step, step_text
from warpsmith.poly.analyze import Facts
from warpsmith.tree.nodes import For, Loop
from warpsmith.tree.walk import loop_names, loops

__all__ = ["MOST_TRIES", "enabling_steps"]

MOST_TRIES = 60
_MOST_ANSWERS = 4
_PLACING = ("offload", "map", "keep")


def enabling_steps(facts: Facts, refused: Step) -> tuple[Step, ...]:
    """Return steps after each of which `refused` is Proved, the likeliest first."""
    address = getattr(refused, "loop", None)
    if not isinstance(address, str):
        return ()
    try:
        place = Place.of(facts.program, address)
    except RefusedError:
        return ()
    found: list[Step] = []
    for step in islice(_tries(facts, place), MOST_TRIES):
        if len(found) < _MOST_ANSWERS and _enables(facts, step, refused):
            found.append(step)
    return tuple(found)


def _enables(facts: Facts, step: Step, refused: Step) -> bool:
    try:
        if not isinstance(step.check(facts.program, facts), Proved):
            return False
        after = step.apply(facts.program)
        return isinstance(refused.check(after, facts.after(after)), Proved)
    except RefusedError:
        return False


def _tries(facts: Facts, place: Place) -> Iterator[Step]:
    """Yield each step worth a try once: what the search would try, then every step that needs nothing but a loop."""
    seen: set[str] = set()
    nearby = _nearby(place)
    names = loop_names(place.function)
    for loop in nearby:
        if isinstance(loop, For):
            cost = cost_of(facts, place.function, (loop,))
            yield from _unseen(candidates(facts, place.function, loop, cost), seen)
    for cls in STEPS:
        needed = [p.name for p in parameters(cls) if p.default is None]
        if needed == ["loop"] and cls.name not in _PLACING:
            yield from _unseen((make(cls.name, {"loop": names[loop]}) for loop in nearby), seen)


def _unseen(steps: Iterator[Step], seen: set[str]) -> Iterator[Step]:
    for step in steps:
        text = step_text(step)
        if text not in seen:
            seen.add(text)
            yield step


def _nearby(place: Place) -> tuple[Loop, ...]:
    """Return the loop, those inside it, and those around it from the inside out."""
    inside = [loop for loop, _ in loops(place.loop)]
    return (*inside, *reversed(place.around))
