"""Where a thread is in its launch, and what the launch says: words of the constant buffer cb0, four to a register.

tid.x   vTidInGrp.x        ctaid.x   vThreadGrpId.x        ctaid.x * ntid.x + tid.x   vAbsTid.x
ntid.x, nctaid.x, arguments that are numbers               cb0[0].x, cb0[0].y …, in the order in which they are asked
"""

from __future__ import annotations

from collections.abc import Mapping

from warpsmith.front.il.nodes import IlRegister
from warpsmith.ssa.nodes import Function, Instruction, Operand, Query, Value
from warpsmith.targets.il.writing.code import IlCode, Word, component, launch_word
from warpsmith.targets.mask.code import LaunchWord

__all__ = ["LaunchPlaces", "find_absolute"]

_AXES = "xyz"
_WARP = 32
_INPUTS = {"tid": IlRegister("vTidInGrp"), "ctaid": IlRegister("vThreadGrpId")}


class LaunchPlaces:
    """Words of the launch; `words`: those that were asked for, with their numbers. `exact`: threads of a
    block, where they are known."""

    def __init__(self, code: IlCode, exact: tuple[int, int, int] | None) -> None:
        self.code, self.exact = code, exact
        self.words: dict[LaunchWord, int] = {}

    def query(self, register: str) -> Word | None:
        """Return a special register; None where IL has none for it."""
        name, _, axis = register.partition(".")
        if name == "laneid":
            return self.code.compute("iand", component(IlRegister("vTidInGrpFlat")), _WARP - 1)
        if axis not in _AXES or not axis:
            return None
        if name in _INPUTS:
            return component(_INPUTS[name], axis)
        if name == "ntid" and self.exact is not None:
            return self.exact[_AXES.index(axis)]
        return self.word(LaunchWord(register)) if name in ("ntid", "nctaid") else None

    def word(self, word: LaunchWord) -> Word:
        """Return a word of cb0."""
        return launch_word(self.words.setdefault(word, len(self.words)))


def find_absolute(function: Function) -> Mapping[Value, Word]:
    """Return the values that are ctaid * ntid + tid along an axis, as what IL has for it."""
    made = {i.results[0]: i for _, i in function.instructions() if len(i.results) == 1}
    found = {value: _axis_of(i, made) for value, i in made.items()}
    return {value: component(IlRegister("vAbsTid"), axis) for value, axis in found.items() if axis}


def _axis_of(i: Instruction, made: Mapping[Value, Instruction]) -> str:
    def queried(operand: Operand) -> str:
        detail = made[operand].detail if isinstance(operand, Value) and operand in made else None
        return detail.register if isinstance(detail, Query) else ""

    if i.op != "add":
        return ""
    for one, other in (i.operands, i.operands[::-1]):
        product = made.get(one) if isinstance(one, Value) else None
        name, _, axis = queried(other).partition(".")
        if product is not None and product.op == "mul" and name == "tid":
            wanted = {f"ctaid.{axis}", f"ntid.{axis}"}
            return axis if {queried(factor) for factor in product.operands} == wanted else ""
    return ""
