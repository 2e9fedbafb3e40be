"""A program is run by its letter and as bundles; both must write the same."""

from __future__ import annotations

from tests.front.il.agree import direct_outputs, same_word
from tests.front.il.programs import IlCase
from tests.front.il.running import parse
from tests.targets.r600.bundles import Bundles
from warpsmith.machine.vliw.slots import Generation
from warpsmith.targets.r600.analyze import compile_il
from warpsmith.targets.r600.code import R600Code

__all__ = ["bundles_agree", "outputs_of"]


def outputs_of(code: R600Code, case: IlCase, error: int = 0) -> list[int]:
    """Return what all threads write to o0, four words each."""
    sizes = {0: (case.width,) if case.axes == 1 else (case.width, case.height)}
    machine = Bundles(code, {"t0": case.texels, "cb0": case.constants}, sizes, {"t0": case.channels}, error)
    return [word for y in range(case.height) for x in range(case.width) for word in machine.run(x, y)["o0"]]


def bundles_agree(case: IlCase, generation: Generation) -> bool:
    """Whether bundles write what the text says; a division is by a reciprocal in both."""
    code = compile_il(parse(case.text), generation).code
    wanted = direct_outputs(case, reciprocals=True)
    return all(same_word(one, other) for one, other in zip(wanted, outputs_of(code, case), strict=True))
