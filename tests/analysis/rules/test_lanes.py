"""The value of an expression in every thread of a block, and who gets where."""

from __future__ import annotations

import pytest

from tests.analysis.test_kernel import told
from warpsmith.analysis.rules.lanes import LaneValues, alive_at, masks, only_way
from warpsmith.analysis.uniformity.facts import KernelFacts, LaunchShape
from warpsmith.ssa.nodes import Branch, Constant, Undefined
from warpsmith.ssa.types import I32

SHAPE = LaunchShape((8, 8, 1), (5, 1, 1), {"n": -2})


def value(lines: str, shape: LaunchShape = SHAPE) -> tuple[int, ...] | None:
    body = "\n".join(f"  {line.strip()}" for line in lines.split(";"))
    facts = told(body, shape)
    (wanted,) = (value for value in facts.warp_level.definitions if value.name == "e")
    return LaneValues(facts).of(wanted)


ALL = range(64)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("%e:i32 = add %x 1:i32", [t % 8 + 1 for t in ALL]),
        ("%e:i32 = mul %y 3:i32", [t // 8 * 3 for t in ALL]),
        ("%e:i32 = query [laneid]", [t % 32 for t in ALL]),
        ("%e:i32 = query [ntid.y]", [8] * 64),
        ("%e:i32 = query [nctaid.x]", [5] * 64),
        ("%e:i32 = add %n 0:i32", [2**32 - 2] * 64),
        ("%d:i32 = add %x %n; %e:i1 = slt %d 0:i32", [int(t % 8 < 2) for t in ALL]),
        ("%e:i32 = query [ctaid.x]", None),
        ("%e:i32 = query [clock]", None),
        ("%d:i32 = load [global +0 align 4] %a; %e:i32 = add %d %x", None),
        ("%f:f32 = sitof %x; %e:i1 = foeq %f %f", None),
        ("%e:i32 = address [@tile]", None),
        ("%d:i64 = add %a 1:i64; %e:i64 = sub %d %a", None),
    ],
)
def test_a_number_for_each_thread(lines: str, expected: list[int] | None) -> None:
    assert value(lines) == (None if expected is None else tuple(expected))


def test_what_the_launch_does_not_say_is_not_known() -> None:
    assert value("%e:i32 = query [nctaid.x]", LaunchShape((8, 8, 1))) is None
    assert value("%e:i32 = add %n 0:i32", LaunchShape((8, 8, 1))) is None
    # a part of a parameter
    assert value("%e:i32 = param [n+0]") == (2**32 - 2,) * 64
    assert value("%e:i16 = param [n+2]") is None


def test_a_counter_of_a_loop_is_not_known_and_long_chains_are() -> None:
    chain = "; ".join(["%e0:i32 = add %x 1:i32", *(f"%e{k}:i32 = add %e{k - 1} 1:i32" for k in range(1, 300))])
    assert value(f"{chain}; %e:i32 = add %e299 0:i32") == tuple(t % 8 + 300 for t in ALL)
    loop = "jump head\nhead:\n  %j:i32 = phi start 0:i32 head %e\n  %e:i32 = add %j 1:i32\n  %c:i1 = slt %e 4:i32\n"
    assert value(f"{loop}  branch %c head done\ndone:") is None


def test_constants_and_what_is_undefined() -> None:
    lanes = LaneValues(told("", SHAPE))
    assert lanes.of(Constant(I32, 7)) == (7,) * 64
    assert lanes.of(Undefined(I32)) is None
    assert lanes.threads[9] == (1, 1, 0)
    assert [len(warp) for warp in LaneValues(told("", LaunchShape((40, 1, 1)))).warps(range(40))] == [32, 8]


NESTED = """
  %c:i1 = slt %x 5:i32
  branch %c one end
one:
  %d:i1 = slt %y 2:i32
  branch %d end two
two:
  %e:i1 = slt %b 2:i32
  branch %e three end
three:
  store [shared +0 align 4] %t %x
  jump end
end:"""


@pytest.fixture(scope="module")
def nested() -> KernelFacts:
    return told(NESTED, SHAPE)


def test_the_masks_of_a_branch(nested: KernelFacts) -> None:
    ends = {branch.place.name: branch.place.terminator for branch in nested.branches}
    lanes = LaneValues(nested)
    assert isinstance(ends["start"], Branch) and isinstance(ends["two"], Branch)
    assert masks(lanes, ends["start"]) == (0x1F1F1F1F, 0x1F1F1F1F)
    assert masks(lanes, ends["two"]) is None


def test_who_gets_where(nested: KernelFacts) -> None:
    lanes = LaneValues(nested)
    assert alive_at(nested, "start", lanes) is None and alive_at(nested, "end", lanes) is None
    assert alive_at(nested, "one", lanes) == [int(t % 8 < 5) for t in ALL]
    # the other way of the second branch; of the third nothing is known
    assert alive_at(nested, "three", lanes) == [int(t % 8 < 5 and t // 8 >= 2) for t in ALL]


def test_the_only_way_to_a_block(nested: KernelFacts) -> None:
    blocks = {block.name: block for block in nested.function.blocks}
    assert only_way(nested, blocks["start"], "three") is True
    assert only_way(nested, blocks["one"], "three") is False
    assert only_way(nested, blocks["one"], "end") is None
    assert only_way(nested, blocks["two"], "one") is None
