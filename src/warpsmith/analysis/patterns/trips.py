"""The iterations of a loop of a kernel, where its counter runs between numbers.

for (k = 0; k < 8; k++)       8         a test at the top: what stands behind it is seen at most 8 times
do { ... } while (++k < 8)    8         a test at the bottom: it holds at most 7 times, and what is before is seen first
for (k = 0; k < n; k++)       None
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from warpsmith.analysis.affine.symbols import Atom, Form
from warpsmith.analysis.memory.forms import Forms
from warpsmith.ssa.graph import Cycle
from warpsmith.ssa.nodes import Branch, Instruction, Operand, Value

__all__ = ["iterations"]

_MIRRORED: Final = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "ne": "ne"}
_NEGATED: Final = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}
_MOST: Final = 1 << 30


def iterations(forms: Forms, cycle: Cycle, *, in_header: bool) -> int | None:
    """Return how often what stands in a loop is seen at most; `in_header`: before its test, too. None: not known."""
    counter = forms.iteration(cycle)
    found: list[int] = []
    for block, condition, stays in _exits(forms, cycle):
        failing = _first_failing(forms, block, condition, counter, stays=stays)
        if failing is not None:
            found.append(failing + (block != cycle.header or in_header))
    return min(found, default=None)


def _exits(forms: Forms, cycle: Cycle) -> Iterator[tuple[str, Operand, bool]]:
    """Yield the tests that every iteration meets and that may end the loop; the flag: it goes on where they hold."""
    back = [b for b in forms.graph.predecessors[cycle.header] if b in cycle.blocks]
    for name in (cycle.header, *back):
        end = forms.blocks[name].terminator
        always = name == cycle.header or len(back) == 1
        if always and isinstance(end, Branch) and (end.then in cycle.blocks) != (end.other in cycle.blocks):
            yield name, end.condition, end.then in cycle.blocks


def _first_failing(forms: Forms, block: str, condition: Operand, counter: Atom, *, stays: bool) -> int | None:
    """Return the first iteration in which a test ends the loop."""
    made = forms.answer.definitions.get(condition) if isinstance(condition, Value) else None
    if not isinstance(made, Instruction) or len(made.operands) != 2:
        return None
    word = made.op.lstrip("su") if made.op not in ("eq", "ne") else made.op
    if word not in _NEGATED:
        return None
    lines = [_line(forms.of(operand, block), counter) for operand in made.operands]
    left, right = lines
    if left is None or right is None:
        return None
    word = word if stays else _NEGATED[word]
    if left[0] == 0:
        left, right, word = right, left, _MIRRORED.get(word, word)
    if right[0] or min(left[1], right[1]) < 0 or max(left[1], right[1]) >= _MOST:
        return None
    return _solve(word, left[0], right[1] - left[1])


def _solve(word: str, step: int, distance: int) -> int | None:
    """Return the least i >= 0 for which `step * i word distance` fails."""
    match word:
        case "lt" if step > 0:
            return max(0, -(-distance // step))
        case "le" if step > 0:
            return max(0, distance // step + 1)
        case "gt" if step < 0:
            return max(0, -(-distance // step))
        case "ge" if step < 0:
            return max(0, distance // step + 1)
        case "ne" if step and distance % step == 0 and distance // step >= 0:
            return distance // step
        case _:
            return None


def _line(form: Form | None, counter: Atom) -> tuple[int, int] | None:
    """Return (a, b) where a form is a * counter + b."""
    if form is None or set(form.terms) - {(), (counter,)}:
        return None
    return form.terms.get((counter,), 0), form.terms.get((), 0)
