"""The uniformity of each op by itself: the same for a warp or a block, or another number for each thread."""

from __future__ import annotations

from functools import partial

import pytest

from tests.analysis.uniformity.test_uniformity import wrong
from warpsmith.analysis.affine.affine import Affine
from warpsmith.analysis.uniformity.facts import Dim
from warpsmith.analysis.uniformity.seeds import Threads, level_of
from warpsmith.analysis.uniformity.uniformity import Uniformity, uniformity
from warpsmith.ssa.nodes import Operand
from warpsmith.ssa.reader import parse_module

HEAD = """
kernel @k(n 4 align 4 i32)
start:
  %n:i32 = param [n+0]
  %a:i64 = param [n+0]
  %x:i32 = query [tid.x]
"""


def levels(op: str, block: Dim | None = (64, 1, 1), **parameters: bool) -> tuple[str, str]:
    """Return where the last of some instructions stands for a warp and for a block."""
    (function,) = parse_module(f"{HEAD}  {op}\n  return\nend\n").functions
    *_, (_, i) = function.instructions()
    answers = [uniformity(function, Threads(level, block)) for level in ("warp", "block")]
    first, second = (level_of(i, a.threads, partial(_known, a), parameters) for a in answers)
    return first.always, second.always


def _known(answer: Uniformity, operand: Operand) -> Affine | None:
    return answer.affine_of(operand, "start")


DIFFER, SAME, BY_WARP = ("divergent", "divergent"), ("uniform", "uniform"), ("uniform", "divergent")
AS_OPERANDS = ("as operands", "as operands")


@pytest.mark.parametrize(
    ("register", "expected"),
    [("tid.x", DIFFER), ("tid.y", SAME), ("laneid", DIFFER), ("lanemask_lt", DIFFER), ("warpid", BY_WARP),
     ("smid", BY_WARP), ("clock64", DIFFER), ("globaltimer", DIFFER), ("ctaid.x", SAME), ("ntid.y", SAME),
     ("nctaid.z", SAME)],
)  # fmt: skip
def test_registers(register: str, expected: tuple[str, str]) -> None:
    assert levels(f"%e:i32 = query [{register}]") == expected


def test_a_block_of_one_warp_is_a_warp() -> None:
    assert levels("%e:i32 = query [warpid]", (32, 1, 1)) == SAME
    assert levels("%e:i32 = query [warpid]", (8, 4, 1)) == SAME
    assert levels("%e:i32 = query [warpid]", None) == BY_WARP
    assert not Threads("warp", (64, 1, 1)).several_warps


@pytest.mark.parametrize(
    ("level", "block", "axis", "expected"),
    [
        ("warp", None, 1, True),
        ("warp", (32, 8, 1), 1, False),
        ("warp", (16, 8, 1), 1, True),
        ("warp", (48, 2, 1), 1, True),
        ("warp", (64, 2, 1), 1, False),
        ("warp", (64, 2, 1), 0, True),
        ("warp", (1, 64, 1), 0, False),
        ("warp", (8, 4, 2), 2, False),
        ("warp", (8, 3, 2), 2, True),
        ("warp", (8, 4, 2), 1, True),
        ("block", (32, 8, 1), 1, True),
        ("block", (32, 8, 1), 2, False),
    ],
)
def test_an_axis_varies_where_a_warp_holds_several_of_it(
    level: str, block: Dim | None, axis: int, *, expected: bool
) -> None:
    threads = Threads("block" if level == "block" else "warp", block)
    assert threads.varies(axis) == expected
    assert threads.is_same(Affine((0, 0, 0)))
    only: list[tuple[int, int, int]] = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    assert threads.is_same(Affine(only[axis], 0)) != expected


@pytest.mark.parametrize(
    ("memory", "expected"),
    [("global +0 align 4", AS_OPERANDS), ("shared +0 align 4", AS_OPERANDS), ("constant +0 align 4", AS_OPERANDS),
     ("local +0 align 4", DIFFER), ("generic +0 align 4", DIFFER), ("global +0 align 4 volatile", DIFFER),
     ("shared +0 align 4 relaxed", DIFFER)],
)  # fmt: skip
def test_loads(memory: str, expected: tuple[str, str]) -> None:
    assert levels(f"%e:i32 = load [{memory}] %a") == expected


ALL = "0xffffffff:i32"


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (f"%c:i1 = slt %x %n\n  %e:i1 = vote [any] %c {ALL}", BY_WARP),
        ("%c:i1 = slt %x %n\n  %e:i1 = vote [any] %c 0xffff:i32", DIFFER),
        ("%c:i1 = slt %x %n\n  %e:i1 = vote [any] %c %n", DIFFER),
        ("%c:i1 = slt %x %n\n  %e:i1 = vote [any unmasked] %c", DIFFER),
        (f"%e:i32 = match [any] %x {ALL}", DIFFER),
        (f"%e:i32 = reduce [add] %x {ALL}", BY_WARP),
        (f"%e:i32 = shuffle [idx] %x 3:i32 31:i32 {ALL}", BY_WARP),
        (f"%e:i32 = shuffle [idx] %x %n 31:i32 {ALL}", BY_WARP),
        (f"%e:i32 = shuffle [idx] %x %x 31:i32 {ALL}", ("as operands", "divergent")),
        (f"%e:i32 = shuffle [idx] %x 3:i32 15:i32 {ALL}", ("as operands", "divergent")),
        (f"%e:i32 = shuffle [down] %x 3:i32 31:i32 {ALL}", ("as operands", "divergent")),
        ("%e:i32 = atomic_add [global +0 align 4] %a %n", DIFFER),
        ("%e:i32 = call [@f] %n", DIFFER),
        ("%e:i32 = barrier [waits count] 0:i32 1:i1", SAME),
        ("%e:i32 = barrier [waits count] 0:i32 64:i32 1:i1", DIFFER),
        ("%e:i32 = add %x %n", AS_OPERANDS),
    ],
)
def test_exchanges_and_what_is_not_modeled(op: str, expected: tuple[str, str]) -> None:
    assert levels(op) == expected


def test_a_parameter_of_a_device_function_may_differ() -> None:
    assert levels("%e:i32 = param [n+0]") == SAME
    assert levels("%e:i32 = param [n+0]", n=False) == DIFFER
    assert levels("%e:i32 = param [n+0]", m=False) == SAME


@pytest.mark.parametrize(
    ("lines", "block", "expected"),
    [
        ("%e:i32 = lshr %x 5:i32", (64, 1, 1), True),
        ("%e:i32 = ashr %x 6:i32", (64, 1, 1), True),
        ("%e:i32 = lshr %x 4:i32", (64, 1, 1), False),
        ("%e:i32 = udiv %x 96:i32", (64, 1, 1), True),
        ("%e:i32 = sdiv %x 48:i32", (64, 1, 1), False),
        ("%e:i32 = sdiv %x 32:i32", (48, 2, 1), False),
        ("%e:i32 = sdiv %x 32:i32", (64, 2, 1), True),
        ("%e:i32 = sdiv %x 32:i32", None, False),
        ("%d:i32 = add %x 64:i32\n  %e:i32 = sdiv %d 32:i32", (64, 1, 1), True),
        ("%d:i32 = add %x 8:i32\n  %e:i32 = sdiv %d 32:i32", (64, 1, 1), False),
        ("%d:i32 = add %x %n\n  %e:i32 = sdiv %d 32:i32", (64, 1, 1), False),
        ("%d:i32 = add %x %x\n  %e:i32 = sdiv %d 32:i32", (64, 1, 1), False),
        ("%d:i32 = add %x 0x80000000:i32\n  %e:i32 = sdiv %d 32:i32", (64, 1, 1), False),
        ("%d:i32 = add %x 0x7fffffc0:i32\n  %e:i32 = sdiv %d 32:i32", (64, 1, 1), True),
    ],
)
def test_the_number_of_a_warp_is_the_same_for_its_lanes(lines: str, block: Dim | None, *, expected: bool) -> None:
    assert (levels(lines, block)[0] == "uniform") == expected
    assert levels(lines, block)[1] != "uniform"


@pytest.mark.parametrize(
    "lines",
    [
        "%h:i8 = trunc %x\n  %q:i8 = sdiv %h 32:i8\n  %e:i1 = eq %q 0xfd:i8",
        "%h:i16 = trunc %x\n  %s:i16 = add %h 32736:i16\n  %q:i16 = sdiv %s 32:i16",
    ],
)
def test_a_quotient_in_few_bits_may_turn_negative_inside_of_a_warp(lines: str) -> None:
    text = f"{HEAD}  {lines}\n  return\nend\n".replace("  %a:i64 = param [n+0]\n", "")
    # runs with warps of 4 lanes
    assert not wrong(parse_module(text.replace(" 32:i8", " 4:i8").replace(" 32:i16", " 4:i16")), (256, 1, 1))
    assert levels(lines.partition("\n  %e")[0], (256, 1, 1))[0] == "as operands"
