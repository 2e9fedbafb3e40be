"""R600 text is read back."""

from __future__ import annotations

import pytest

from tests.front.il.listings import PLAIN
from tests.front.il.running import parse
from tests.targets.r600.seeded import case_of
from warpsmith.base.errors import InputError
from warpsmith.base.source import SourceFile
from warpsmith.machine.vliw.slots import GENERATIONS, Generation
from warpsmith.targets.r600.analyze import compile_il
from warpsmith.targets.r600.assembly import print_r600
from warpsmith.targets.r600.reading import read_r600


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("seed", range(15))
def test_what_is_printed_reads_back_as_the_same(seed: int, generation: Generation) -> None:
    code = compile_il(parse(case_of(seed).text), generation).code
    assert read_r600(SourceFile("p.asm", print_r600(code)), generation) == code


@pytest.mark.parametrize(
    ("right", "wrong", "line", "message"),
    [
        ("END_OF_PROGRAM", "", 26, "the program is not complete"),
        ("END_OF_PROGRAM", "END_OF_PROGRAM\nEND_OF_PROGRAM", 26, "a line stands behind the end of the program"),
        (
            "SAMPLE      R1.x___",
            "SAMPLE      R1.q___",
            2,
            "'0  SAMPLE      R1.q___, R0.x___, t0, s0' is no line of a program",
        ),
        ("00 TEX: CNT(1)\n", "", 1, "a fetch stands in no TEX clause"),
        ("01 ALU: CNT(13)\n", "", 3, "an operation stands in no ALU clause"),
        ("t: FLT_TO_INT ", "z: FLT_TO_INT ", 5, "FLT_TO_INT cannot stand in slot z"),
        ("t: FLT_TO_INT ", "t: FLT_TO_INF ", 5, "r600 has no operation FLT_TO_INF"),
        ("KC0[2].x, -1", "KC0[2].x, -2", 4, "'-2' is no source"),
        ("x: ADD_INT     R0.x", "x: ADD_INT     R0.y", 4, "slot x writes component y"),
        ("      1  x: ADD_INT", "         x: ADD_INT", 4, "an operation stands in no bundle"),
        (
            "         t: FLT_TO_INT",
            "         x: MOV R0.x, R0.x\n         t: FLT_TO_INT",
            5,
            "slot x stands behind itself or a later one",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line(right: str, wrong: str, line: int, message: str) -> None:
    text = print_r600(compile_il(parse(PLAIN), "r600").code)
    assert right in text
    with pytest.raises(InputError) as caught:
        read_r600(SourceFile("p.asm", text.replace(right, wrong, 1)), "r600")
    finding = caught.value.findings[0]
    assert finding.message == message and finding.span is not None and finding.span.line == line
