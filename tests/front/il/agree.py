"""A program is run by the letter, thread by thread, and as a kernel; both must write the same."""

from __future__ import annotations

from tests.front.il.direct import NAN, Direct
from tests.front.il.programs import IlCase
from tests.front.il.running import IlRun, parse, run_program
from warpsmith.front.il.code import translate_il

__all__ = ["direct_outputs", "same", "same_word"]


def direct_outputs(case: IlCase, *, reciprocals: bool = False) -> list[int]:
    """Return what all threads write to o0, four words each, x first."""
    sizes = {0: (case.width,) if case.axes == 1 else (case.width, case.height)}
    memory = {"t0": case.texels, "cb0": case.constants}
    direct = Direct(case.text, memory, sizes, {"t0": case.channels}, reciprocals=reciprocals)
    rows = [direct.run(x, y)["o0"] for y in range(case.height) for x in range(case.width)]
    return [word for row in rows for word in row]


def kernel_outputs(case: IlCase, *, compiled: bool = False) -> list[int]:
    """Return the same of the kernel that the program becomes."""
    module = translate_il(parse(case.text), {"t0": case.channels, "o0": 4})
    sizes = {"t0_width": case.width} | ({"t0_height": case.height} if case.axes == 2 else {})
    arrays = {"t0": case.texels, "cb0": case.constants}
    how = IlRun(arrays, case.width, case.height, sizes, {"o0": 4}, (8, 2, 1), compiled)
    return run_program(module, how)["o0"]


def same_word(one: int, other: int) -> bool:
    """Whether two words are equal; two that are NaN are."""
    return one == other or (_is_nan(one) and _is_nan(other))


def _is_nan(word: int) -> bool:
    return word & 0x7FFFFFFF > 0x7F800000 or word == NAN


def same(case: IlCase, *, compiled: bool = False) -> bool:
    """Whether both write the same."""
    pairs = zip(direct_outputs(case), kernel_outputs(case, compiled=compiled), strict=True)
    return all(same_word(one, other) for one, other in pairs)
