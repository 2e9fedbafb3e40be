"""Operands, and which an operation takes."""

from __future__ import annotations

import pytest

from warpsmith.simt.mask.nodes import Immediate, LaneBuiltin, LaneRegister, Target, ViewOperand
from warpsmith.simt.mask.operands import NotAnOperandError, Slot, check_counts, read_operand, slots_of
from warpsmith.simt.mask.ops import OPS


@pytest.mark.parametrize(
    ("text", "slot", "operand"),
    [
        ("r12.wzzx", "source", LaneRegister(12, (3, 2, 2, 0))),
        ("r0", "dest", LaneRegister(0, (0, 1, 2, 3))),
        ("u(7)", "source", Immediate("u", (7,))),
        ("u2(0xff, 1)", "source", Immediate("u", (255, 1))),
        ("f3(1, -0.5, 0x7fc00001)", "source", Immediate("f", (0x3F800000, 0xBF000000, 0x7FC00001))),
        ("f(nan)", "source", Immediate("f", (0x7FC00000,))),
        ("clock", "source", LaneBuiltin("clock")),
        ("t3.yx", "t", ViewOperand("t", 3, (1, 0))),
        ("s0", "s", ViewOperand("s", 0)),
        ("HERE", "label", Target("HERE", 4)),
    ],
)
def test_an_operand_is_read(text: str, slot: Slot, operand: object) -> None:
    assert read_operand(text, slot, {"HERE": 4}) == operand


@pytest.mark.parametrize(
    ("text", "slot", "message"),
    [
        ("r0.xx", "dest", "twice"), ("u(1)", "dest", "cannot be written"), ("r256", "source", "no register"),
        ("r0.q", "source", "names no components"), ("r0.xyzwx", "source", "names no components"),
        ("u(-1)", "source", "without a sign"), ("u(4294967296)", "source", "without a sign"),
        ("u(1.5)", "source", "no number"), ("f(1e39)", "source", "too large"), ("f2(1)", "source", "has 1 numbers"),
        ("t0", "u", "no such view"), ("t16", "t", "no view"), ("s0.x", "s", "no components"),
        ("HEER", "label", "leads nowhere"), ("1x", "label", "no label"), ("lane", "source", "no value"),
    ],
)  # fmt: skip
def test_what_is_no_operand_is_told(text: str, slot: Slot, message: str) -> None:
    with pytest.raises(NotAnOperandError, match=message) as told:
        read_operand(text, slot, {"HERE": 4})
    assert told.value.helps


def _misfit(name: str, *texts: str) -> int | None:
    slots = slots_of(OPS[name])
    operands = tuple(read_operand(text, slot, {"L": 0}) for text, slot in zip(texts, slots, strict=True))
    found = check_counts(OPS[name], operands)
    return None if found is None else found[0]


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("add.u32 r0.xy, r1.xy, u(1)", None), ("add.u32 r0.xy, r1.xyz, u(1)", 1), ("len r0.x, r1", None),
        ("len r0.xy, r1", 0), ("norm r0.xy, r1.xy", None), ("norm r0.xy, r1.x", 1), ("ld r0.xy, t0, r1.x", None),
        ("ld r0.xy, t0, r1.xy", 2), ("ld r0.xy, t0.x, r1.x", 1), ("sample r0, t0, s0, r1.xy", None),
        ("sample r0, t0, s0, r1.x", 3), ("st u0, r0.x, r1.xy", None), ("st u0, r0.xyz, r1.xy", 1),
        ("st u0.x, r0.x, r1.xy", 0), ("mask_nz r0", 0), ("mask_nz r0.w", None), ("br_push r0.x, L, L", None),
        ("pop_mask", None),
    ],
)  # fmt: skip
def test_components_fit(line: str, wrong: int | None) -> None:
    name, _, rest = line.partition(" ")
    assert _misfit(name, *[part.strip() for part in rest.split(",") if part]) == wrong
