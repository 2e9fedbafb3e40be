"""R600 programs as text."""

from __future__ import annotations

from tests.front.il.listings import PLAIN
from tests.front.il.running import parse
from tests.front.il.test_read import HEAD
from warpsmith.targets.r600.analyze import compile_il
from warpsmith.targets.r600.assembly import print_r600


def test_the_listing_begins_and_ends_like_this() -> None:
    lines = print_r600(compile_il(parse(PLAIN), "r600").code).splitlines()
    assert lines[0] == "00 TEX: CNT(1)" and lines[2].startswith("01 ALU: CNT(")
    assert lines[1] == "      0  SAMPLE      R1.x___, R0.x___, t0, s0"
    assert lines[-2].startswith("04 EXP_DONE: PIX0, R") and lines[-1] == "END_OF_PROGRAM"
    numbers = [int(line.split()[0]) for line in lines if line.startswith("     ") and line.split()[0].isdigit()]
    assert numbers == list(range(12))


def test_modifiers_literals_and_clamp() -> None:
    body = "dcl_literal l0, 0x00000005, 0x3F800000, 0, 0\nadd_sat o0.x___, v0.x_abs_neg(x), l0.x\n"
    body += "mul o0._y__, v0.0x00_neg(y), l0.0y00\n"
    text = print_r600(compile_il(parse(HEAD + body + "endmain\nend\n"), "r600").code)
    assert "-|R0.x|, 0x00000005  CLAMP" in text and "-R0.x, 1.0f" in text
