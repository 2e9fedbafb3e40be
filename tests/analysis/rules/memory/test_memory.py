"""MEM, the part about device memory: the most special thing that is to be said of each access."""

from __future__ import annotations

import pytest

from tests.analysis.test_kernel import ROW, told
from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.analysis.rules.memory.memory import device_memory
from warpsmith.analysis.uniformity.facts import LaunchShape

TILE = LaunchShape((32, 8, 1))


def at(index: str, name: str = "p") -> str:
    lines = "".join(f"  {line.strip()}\n" for line in index.split(";"))
    return f"{lines}  %o{name}:i64 = smulwide %e{name} 4:i32\n  %{name}:i64 = add %a %o{name}\n"


def load(offset: int = 0, name: str = "p", type: str = "f32", align: int = 4) -> str:
    return f"  %v{name}{offset}:{type} = load [global {offset:+d} align {align}] %{name}\n"


def found(body: str, shape: LaunchShape = ROW) -> list[KernelFinding]:
    return list(device_memory(told(body, shape)))


def rules(body: str, shape: LaunchShape = ROW) -> list[str]:
    return [one.rule for one in found(body, shape)]


def test_dense_requests_are_nothing_to_say() -> None:
    assert rules(at("%ep:i32 = add %i 0:i32") + load()) == []
    assert rules(at("%ep:i32 = add %b 0:i32") + load()) == []
    # a stride of two elements is no twice the sectors, with its neighbor
    assert rules(at("%ep:i32 = mul %i 2:i32") + load(align=8) + load(4)) == ["MEM005"]


def test_a_stride() -> None:
    (one,) = found(at("%d:i32 = mul %y 7:i32; %f:i32 = mul %x 300:i32; %ep:i32 = add %f %d") + load(), TILE)
    assert (one.rule, one.impact, one.label) == ("MEM001", 8.0, "1200 bytes between neighboring lanes")
    assert one.message == "uncoalesced load of a: 32 sectors per warp request, 4 would do"
    assert one.estimate is not None and one.estimate.value == 8.0
    (symbolic,) = found(at("%ep:i32 = mul %x %n") + load())
    assert symbolic.rule == "MEM001" and symbolic.certainty == "conditional" and symbolic.label.startswith("4·n bytes")


@pytest.mark.parametrize(("stride", "expected"), [(1, []), (2, ["MEM001"]), (128, ["MEM001"]), (129, ["MEM001"])])
def test_twice_the_sectors_that_would_do(stride: int, expected: list[str]) -> None:
    assert rules(at(f"%ep:i32 = mul %i {stride}:i32") + load()) == expected


def test_a_part_of_a_warp_needs_less() -> None:
    body = (
        at("%ep:i32 = mul %x 64:i32")
        + "  %c:i1 = slt %x 8:i32\n  branch %c yes no\nyes:\n"
        + load()
        + "  jump no\nno:\n"
    )
    assert [one.message for one in found(body)] in (
        [], ["uncoalesced load of a: 8 sectors per warp request, 1 would do"]
    )  # fmt: skip


def test_one_field_of_records_and_a_whole_record() -> None:
    record = at("%ep:i32 = mul %i 8:i32")
    assert rules(record + load() + load(8))[0] == "MEM002"
    first, *_ = found(record + load() + load(8))
    assert "one field of records of 32 bytes: 8 bytes of each record are used" in first.message
    most = found(record + load() + load(8) + load(16) + load(24) + load(28))
    assert {one.rule for one in most} == {"MEM001"}
    assert most[0].help[0].startswith("most of the record is used")
    # one access alone, of a variable without fields
    assert rules(record + load()) == ["MEM001"]


def test_neighbors_that_a_compiler_joins_count_as_one() -> None:
    pair = at("%ep:i32 = mul %i 4:i32")
    assert "MEM001" in rules(pair + load())
    assert "MEM001" not in rules(pair + load(align=16) + load(4) + load(8) + load(12))


def swapped(*more: str, index: str = "%d:i32 = mul %x 64:i32; %ep:i32 = add %d %y") -> list[KernelFinding]:
    return found(at(index) + load() + "".join(more), LaunchShape((16, 16, 1)))


def test_x_along_the_slow_dimension() -> None:
    (one,) = swapped()
    assert one.rule == "MEM007"
    assert "threadIdx.x runs along the slow dimension and threadIdx.y along the fast one in load of a" in one.message
    assert [f.rule for f in swapped(load(4096))][:1] == ["MEM007"]
    # one that is dense as it is speaks against it
    dense = at("%eq:i32 = add %x 0:i32", "q") + load(name="q")
    assert "MEM007" not in [f.rule for f in swapped(dense)]
    assert "MEM007" not in [
        f.rule for f in swapped(index="%d:i32 = mul %x 64:i32; %f:i32 = mul %y 2:i32; %ep:i32 = add %d %f")
    ]
    assert rules(at("%d:i32 = mul %x 64:i32; %ep:i32 = add %d %y") + load(), LaunchShape((64, 1, 1))) == ["MEM001"]


def test_a_dense_request_that_starts_inside_a_sector() -> None:
    (one,) = found(at("%ep:i32 = add %i 0:i32") + load(4))
    assert (one.rule, one.certainty) == ("MEM003", "conditional")
    assert one.message == "misaligned load of a: 5 sectors per warp request, 4 would do"
    assert one.assumptions[-1] == "a points to where memory was allocated (a multiple of 256 bytes)"
    assert rules(at("%ep:i32 = add %i 0:i32") + load(32)) == []


def test_an_index_that_is_loaded() -> None:
    body = at("%ep:i32 = add %i 0:i32") + load(type="i32").replace("%vp0", "%eq")
    (one,) = found(body + at("%u:i32 = add %eq 0:i32", "q") + load(name="q"))
    assert (one.rule, one.certainty, len(one.why)) == ("MEM004", "conditional", 1)


def test_shared_memory_is_not_looked_at() -> None:
    assert rules("  %o:i32 = shl %x 8:i32\n  %s:i32 = add %t %o\n  %v:f32 = load [shared +0 align 4] %s\n") == []
