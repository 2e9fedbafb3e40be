"""Programs of IL as data."""

from __future__ import annotations

from tests.front.il.listings import TRANSLATED
from tests.front.il.running import parse
from warpsmith.front.il.nodes import IlDestination, IlRegister


def test_what_a_mask_computes() -> None:
    assert [IlDestination(IlRegister("r"), mask).computed for mask in ("x___", "xy0_", "xyzw", "___1")] == [
        "x", "xy", "xyzw", "",
    ]  # fmt: skip


def test_what_a_program_declares() -> None:
    program = parse(TRANSLATED)
    assert (list(program.outputs), list(program.resources), list(program.literals)) == ([0], [0], [0])
    assert program.constants[0].size == 4 and program.threads is None
    assert parse("il_cs_2_0\ndcl_num_thread_per_group 8\nendmain\nend\n").threads == (8, 1, 1)
