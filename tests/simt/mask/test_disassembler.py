"""What is written out assembles to the same program."""

from __future__ import annotations

import pytest

from tests.simt.mask.programs import EXAMPLES, example, program, random_text
from warpsmith.simt.mask.disassembler import disassemble
from warpsmith.simt.mask.nodes import MaskProgram


def parts(made: MaskProgram) -> tuple[object, ...]:
    return ([(one.op, one.operands) for one in made.instructions], dict(made.labels))


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.mask")))
def test_examples_go_around(name: str) -> None:
    made = example(name)
    assert parts(program(disassemble(made))) == parts(made)


@pytest.mark.parametrize("seed", range(20))
def test_random_programs_go_around(seed: int) -> None:
    made = program(random_text(seed, clocks=True))
    assert parts(program(disassemble(made))) == parts(made)


def test_numbers_keep_their_bits() -> None:
    text = """\
    mov r0.xyzw, f4(0.1, -0.0, 0x7fc00001, 0xff800000)
    mov r1.xy, f2(1e-45, 3.4028235e+38)
END:
    ret
LAST:
"""
    assert disassemble(program(text)) == text
