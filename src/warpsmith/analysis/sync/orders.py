"""Comparisons that all threads of a group answer alike, because their sides differ by something that threads share.

    for (i = k·n; i < (k + 1)·n; i++)      i - (k + 1)·n = iteration - n: the same for all, whatever k is of each thread

Of whole numbers this is so where nothing overflows, and that the language says (exact.py); machine numbers wrap, so
that of them only equality is known. A form holds for the threads that are at one place in one iteration, which is what
uniformity asks. The forms come from a first answer; with what they show, uniformity is asked again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from warpsmith.analysis.affine.symbols import Form
from warpsmith.analysis.memory.exact import exact, is_exact
from warpsmith.analysis.memory.forms import Forms
from warpsmith.analysis.memory.presence import conditions
from warpsmith.ssa.nodes import Instruction, Operand

__all__ = ["find_agreed", "find_compared"]

_ORDER: Final = ("slt", "sle", "sgt", "sge")
_MOST_BITS: Final = 32
"""Sums are modulo 2**64: what differs by the same modulo 2**64 differs by the same, where both are this small."""


def find_compared(forms: Forms) -> list[Instruction]:
    """Return the comparisons that decide over branches at which threads may part, and that may be answered alike."""
    made = (forms.answer.definitions[c] for c in conditions(forms) if c in forms.answer.divergent)
    return [i for i in made if isinstance(i, Instruction) and _is_promising(forms, i)]


def _is_promising(forms: Forms, i: Instruction) -> bool:
    """Whether more may be known of both sides than that they are some numbers."""
    if i.op in ("eq", "ne"):
        return i.operands[0].type.kind == "integer"
    small = i.op in _ORDER and i.operands[0].type.bits <= _MOST_BITS
    return small and all(is_exact(forms, o) or o not in forms.answer.divergent for o in i.operands)


def find_agreed(forms: Forms, comparisons: Iterable[Instruction]) -> frozenset[Instruction]:
    """Return those of some comparisons whose sides differ by something that threads share."""
    return frozenset(i for i in comparisons if _differ_alike(forms, i))


def _differ_alike(forms: Forms, i: Instruction) -> bool:
    home = forms.answer.homes[i.result]
    sides = [_side(forms, operand, home, exactly=i.op in _ORDER) for operand in i.operands]
    if sides[0] is None or sides[1] is None:
        return False
    return not sides[0].plus(sides[1], -1).varying().terms


def _side(forms: Forms, operand: Operand, block: str, *, exactly: bool) -> Form | None:
    return exact(forms, operand, block) if exactly else forms.of(operand, block)
