"""Programs are rewritten, and run by their letter before and after."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from tests.front.il.agree import direct_outputs, same_word
from tests.front.il.programs import IlCase
from tests.front.il.running import parse
from warpsmith.front.il.printing import print_il
from warpsmith.targets.il.optimize import Optimized, optimize_il

__all__ = ["HEAD", "case_of", "differs", "optimized"]

HEAD = """\
il_ps_2_0
dcl_output_generic o0
dcl_resource_id(0)_type(1d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)
dcl_input_position_interp(linear_noperspective) v0.xy__
dcl_literal l0, 0x00000008, 0x41000000, 0x00000006, 0xFFFFFFFF
dcl_cb cb0[2]
"""
"""l0: 8, 8.0, 6, -1."""


def case_of(body: str, constants: Sequence[int] = (0,) * 8, texels: Sequence[int] = tuple(range(16))) -> IlCase:
    """Return a program whose lines are `body`, on 16 × 2 threads."""
    return IlCase(f"{HEAD}{body}\nendmain\nend\n", list(texels), list(constants), 16, 2, 1, 1)


def optimized(body: str, granted: Collection[str] = ()) -> Optimized:
    """Return what becomes of a program."""
    return optimize_il(parse(case_of(body).text), granted)


def differs(case: IlCase, made: Optimized) -> bool:
    """Whether the program writes something else than before."""
    after = replace(case, text=print_il(made.program))
    return not all(map(same_word, direct_outputs(case), direct_outputs(after)))
