"""MEM, the part about memory of known size: banks, budget, bounds, and what nobody has written."""

from __future__ import annotations

import pytest

from tests.analysis.test_kernel import ROW, told
from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.analysis.rules.memory.shared import known_memory, outside
from warpsmith.analysis.uniformity.facts import Dim, LaunchShape

SMALL = LaunchShape((32, 1, 1))


def at(byte: str) -> str:
    return "".join(f"  {line.strip()}\n" for line in byte.split(";")) + "  %p:i32 = add %t %e\n"


STORE, LOAD = "  store [shared {:+d} align 4] %p %x\n", "  %v:f32 = load [shared {:+d} align 4] %p\n"
TEST = "  %c:i1 = slt %n 3:i32\n"
ROWS = "%e:i32 = shl %x 2:i32"


def found(body: str, shape: LaunchShape = SMALL) -> list[KernelFinding]:
    return list(known_memory(told(body, shape)))


def rules(body: str, shape: LaunchShape = SMALL) -> list[str]:
    return [one.rule for one in found(body, shape)]


@pytest.mark.parametrize(("stride", "ways"), [(4, 0), (8, 2), (64, 16), (128, 32), (132, 0)])
def test_bank_conflicts(stride: int, ways: int) -> None:
    conflicts = [one for one in found(at(f"%e:i32 = mul %x {stride}:i32") + STORE.format(0)) if one.rule == "MEM010"]
    assert [one.impact for one in conflicts] == ([ways] if ways else [])
    for one in conflicts:
        assert one.message == f"shared-memory bank conflict, {ways}-way: store to tile"
        assert one.certainty == "proven" and one.label == f"{stride} bytes between neighboring lanes"
        assert one.evidence[-1].rows[0][1] == str(ways)


def test_a_wide_request_is_split_and_that_is_said() -> None:
    wide = "  store [shared +0 align 8] %p %a\n"
    (one,) = (f for f in found(at("%e:i32 = mul %x 16:i32") + wide) if f.rule == "MEM010")
    assert one.impact == 2
    (sure,) = (f for f in found(at("%e:i32 = mul %x 128:i32") + wide) if f.rule == "MEM010")
    assert sure.certainty == "proven"


def test_neighbors_that_become_one_wide_access_without_a_conflict() -> None:
    pair = at("%e:i32 = shl %x 3:i32") + STORE.format(0).replace("align 4", "align 8")
    assert "MEM010" in rules(pair)
    assert "MEM010" not in rules(pair + STORE.format(4))


def test_more_shared_memory_than_a_block_may_have() -> None:
    limit = 227 * 1024
    # the tile has 4,224 bytes
    assert found("", LaunchShape((32, 1, 1), shared_bytes=limit - 4224)) == []
    (one,) = found("", LaunchShape((32, 1, 1), shared_bytes=limit - 4223))
    assert one.rule == "MEM011" and f"{limit + 1:,} bytes" in one.message


def beyond(body: str, block: Dim = (32, 1, 1), **assumed: Dim) -> list[tuple[str, str]]:
    shape = LaunchShape(None, likely=block) if assumed else LaunchShape(block)
    return [(one.message.partition(": ")[2], one.certainty) for one in outside(told(body, shape))]


def test_the_first_thread_that_is_out_of_bounds() -> None:
    # 4,224 bytes
    assert beyond(at("%e:i32 = mul %x 128:i32") + STORE.format(0)) == []
    assert beyond(at("%e:i32 = mul %x 136:i32") + STORE.format(4)) == []
    assert beyond(at("%e:i32 = mul %x 136:i32") + STORE.format(8)) == [("thread (31, 0, 0) is at byte 4224", "proven")]
    assert beyond(at("%e:i32 = mul %x 140:i32") + STORE.format(0)) == [("thread (31, 0, 0) is at byte 4340", "proven")]
    assert beyond(at("%e:i32 = sub %x 3:i32") + STORE.format(0)) == [("thread (0, 0, 0) is at byte -3", "proven")]
    assert beyond(at("%e:i32 = add %x 4221:i32") + STORE.format(-2).replace("align 4", "align 1")) == [
        ("thread (2, 0, 0) is at byte 4221", "proven")
    ]


def test_a_block_that_was_taken_for_it_is_an_assumption() -> None:
    assert beyond(at("%e:i32 = mul %x 140:i32") + STORE.format(0), likely=(32, 1, 1))[0][1] == "conditional"


def test_an_access_that_not_all_make_or_at_an_unknown_place_is_not_told() -> None:
    far = at("%e:i32 = mul %x 140:i32")
    assert beyond(f"{far}  %c:i1 = slt %x 3:i32\n  branch %c yes no\nyes:\n{STORE.format(0)}  jump no\nno:\n") == []
    assert beyond(at("%f:i32 = mul %x 140:i32; %e:i32 = add %f %n") + STORE.format(0)) == []
    assert beyond("  %o:i64 = smulwide %x 140:i32\n  %p:i64 = add %a %o\n  store [global +0 align 4] %p %x\n") == []
    assert beyond(at("%f:i32 = add %t 0:i32; %e:i32 = mul %x 140:i32") + "  %q:i32 = add %p %t\n"
                  + STORE.format(0).replace("%p", "%q")) == []  # fmt: skip


def test_what_nobody_has_written() -> None:
    (one,) = found(at(ROWS) + LOAD.format(0) + STORE.format(0), ROW)
    assert one.rule == "MEM021" and one.certainty == "proven"
    assert "MEM021" not in rules(at(ROWS) + STORE.format(0) + LOAD.format(0), ROW)


@pytest.mark.parametrize(
    "body",
    [
        # a store on a way there, in a loop, or by who knows whom
        at(ROWS) + TEST + "  branch %c yes no\nyes:\n" + STORE.format(0) + "  jump no\nno:\n" + LOAD.format(0),
        at(ROWS) + "  jump head\nhead:\n" + LOAD.format(0) + STORE.format(0) + TEST + "  branch %c head no\nno:\n",
        at(ROWS) + "  call [@f]\n" + LOAD.format(0),
        at(ROWS) + "  %g:i64 = zext %p\n  store [global +0 align 8] %a %g\n" + LOAD.format(0),
        at(ROWS) + "  %c:i1 = slt %n 3:i32\n  branch %c yes no\nyes:\n  jump no\nno:\n  %q:i32 = phi start %p yes %t\n"
        + LOAD.format(0),
    ],
)  # fmt: skip
def test_a_load_that_a_store_may_come_before(body: str) -> None:
    assert "MEM021" not in rules(body, ROW)


def test_a_store_behind_the_load_comes_too_late() -> None:
    other = (
        "  %c:i1 = slt %n 3:i32\n  branch %c yes no\nyes:\n" + LOAD.format(0) + "  jump end\nno:\n" + STORE.format(0)
    )
    assert "MEM021" in rules(at(ROWS) + other + "  jump end\nend:\n", ROW)
