"""A comparison and a choice between what was compared are min or max.

cmov (lt a, b), a, b      min a, b      always: IL's min is a < b ? a : b
cmov (lt a, b), b, a      max a, b      neither is NaN: IL's max is a >= b ? a : b
"""

from __future__ import annotations

from collections.abc import Iterator

from warpsmith.front.il.nodes import WHOLE
from warpsmith.targets.il.facts import IlFacts
from warpsmith.targets.il.rewrites import IlCandidate, IlCondition, IlRefusal, Writer

__all__ = ["select_rules"]


def select_rules(facts: IlFacts, at: int) -> Iterator[IlCandidate | IlRefusal]:
    """Yield what may be done with a choice at one place."""
    one = facts.instructions[at]
    if one.op.name != "cmov_logical" or one.destination is None or not one.destination.computed:
        return
    kinds = {_kind(facts, at, letter) for letter in one.destination.computed}
    if len(kinds) != 1 or any(source.absolute or source.negated for source in one.sources):
        return
    (name,) = kinds
    if not name:
        return
    write = Writer(facts.program, one.span)
    first, second = one.sources[1:] if name == "min" else one.sources[:0:-1]
    write.put(name, one.destination, first, second)
    conditions = (IlCondition(f"what line {one.span.line if one.span else 0} chooses from is not NaN"),)
    title = f"a comparison and a choice are {name}"
    yield IlCandidate(title, at, tuple(write.lines), () if name == "min" else conditions, settles=True)


def _kind(facts: IlFacts, at: int, letter: str) -> str:
    """Return min or max where a component of a choice is that, else ""."""
    test = facts.read(at, 0, letter)
    compared = facts.definition(at, test)
    if compared is None or facts.instructions[compared].op.name != "lt" or test.letter not in WHOLE:
        return ""
    left, right = (facts.read(compared, number, test.letter) for number in (0, 1))
    yes, no = (facts.read(at, number, letter) for number in (1, 2))
    if left.changed or right.changed:
        return ""
    if facts.same(compared, left, at, yes) and facts.same(compared, right, at, no):
        return "min"
    return "max" if facts.same(compared, left, at, no) and facts.same(compared, right, at, yes) else ""
