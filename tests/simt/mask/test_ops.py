"""The table of operations."""

from __future__ import annotations

from warpsmith.simt.mask.ops import OPS


def test_units_and_clocks_are_those_of_the_definition() -> None:
    assert {name for name, op in OPS.items() if op.unit == "control"} == {
        "push_mask", "pop_mask", "mask_nz", "br_push", "jmp", "ret",
    }  # fmt: skip
    assert {op.clocks for name, op in OPS.items() if name in ("mul.f32", "mad.f32", "lerp", "mul.u32", "mad.u32")} == {
        2
    }
    assert {name for name, op in OPS.items() if op.clocks == 4} == {"div.f32", "norm", "div.u32"}
    assert OPS["sample"].unit == "sampler" and OPS["ld"].unit == OPS["st"].unit == "memory"


def test_what_writes_a_register_and_numbers_that_are_told_apart() -> None:
    assert not OPS["st"].writes and OPS["ld"].writes and OPS["mov"].writes and not OPS["mask_nz"].writes
    assert [op.code for op in OPS.values()] == list(range(len(OPS)))
