"""Memory of compute shaders on bundles: what a thread begins with, and bytes as words.

    vTidInGrp   R0        vThreadGrpId   R1        vAbsTid.x   R1.x · KC15[0].x + R0.x    KC15[0]: how large a group is
    uav_raw_load_id     VFETCH at the byte         uav_raw_store_id    MEM_RAT … at the word: LSHR_INT of the byte by 2

Unordered access views are Evergreen's and Cayman's. Sizes that the program says are numbers, else a constant of the
driver.
"""

from __future__ import annotations

from typing import Final

from warpsmith.front.il.nodes import IlProgram
from warpsmith.targets.r600.arithmetic import R600
from warpsmith.targets.r600.operations import ConstantWord, NumberWord, PlaceWord, Value

__all__ = ["DRIVER", "place_of", "word_of"]

DRIVER: Final = 15
"""The constant buffer that has the size of a group."""
_AXES: Final = "xyz"


def place_of(r: R600, program: IlProgram, kind: str, letter: str) -> Value | None:
    """Return a component of where a thread is; None where that is not counted."""
    if letter not in _AXES:
        return NumberWord(0)
    match kind:
        case "vTidInGrp":
            return PlaceWord(letter)
        case "vThreadGrpId":
            return PlaceWord(letter, 1)
        case "vAbsTid":
            size: Value = ConstantWord(DRIVER, 0, letter)
            if program.threads is not None:
                size = NumberWord(program.threads[_AXES.index(letter)])
            first = r.values.operation("MULLO_INT", (PlaceWord(letter, 1), size))
            return r.values.operation("ADD_INT", (first, PlaceWord(letter)))
        case _:
            return None


def word_of(r: R600, address: Value) -> Value:
    """Return the number of the word that has a byte."""
    if isinstance(address, NumberWord):
        return NumberWord(address.bits >> 2)
    return r.values.operation("LSHR_INT", (address, NumberWord(2)))
