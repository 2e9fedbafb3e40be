"""Transfer functions of ops on sums over unknowns: where an op has a rule, its form has the op's numbers."""

from __future__ import annotations

import pytest

from tests.analysis.test_kernel import TILE, told
from warpsmith.analysis.uniformity.facts import AccessFact, LaunchShape, ParameterBound

LINE = LaunchShape((32, 1, 1))
EVEN = LaunchShape((32, 1, 1), None, {}, (ParameterBound("n", 0, 1 << 20, 64),))


def at(lines: str, shape: LaunchShape = EVEN) -> AccessFact:
    """Return the fact of a load at a + %e, where the lines compute %e."""
    body = "\n".join(f"  {line.strip()}" for line in lines.split(";"))
    load = "  %o:i64 = sext %e\n  %p:i64 = add %a %o\n  %v:i8 = load [global +0 align 1] %p"
    return told(f"{body}\n{load}", shape).accesses[0]


def index(lines: str, shape: LaunchShape = EVEN) -> str:
    """Return what is added to a."""
    return at(lines, shape).index.removeprefix("a + ").removeprefix("a")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("%e:i32 = add %n %x", "n + tid.x"),
        ("%e:i32 = sub %n %x", "n - tid.x"),
        ("%d:i32 = neg %x; %e:i32 = add %n %d", "n - tid.x"),
        ("%d:i32 = not %x; %e:i32 = add %n %d", "n - tid.x - 1"),
        ("%d:i32 = shl %x 2:i32; %e:i32 = add %n %d", "n + 4·tid.x"),
        ("%d:i32 = shl %x 32:i32; %e:i32 = add %n %d", "n"),
        ("%d:i32 = add %n %x; %e:i32 = udiv %d 1:i32", "n + tid.x"),
        ("%d:i32 = add %n %x; %e:i32 = and %d -1:i32", "n + tid.x"),
    ],
)
def test_sums(lines: str, expected: str) -> None:
    assert index(lines.replace("-1:i32", "0xffffffff:i32")) == expected


@pytest.mark.parametrize(
    ("lines", "offsets"),
    [
        # n is a multiple of 64: what is behind it is the thread's own
        ("%d:i32 = add %n %x; %e:i32 = urem %d 8:i32", [t % 8 for t in range(32)]),
        ("%d:i32 = add %n %x; %e:i32 = and %d 7:i32", [t % 8 for t in range(32)]),
        ("%d:i32 = add %n %x; %e:i32 = and 7:i32 %d", [t % 8 for t in range(32)]),
        ("%d:i32 = add %n %x; %e:i32 = and %d 5:i32", [t & 5 for t in range(32)]),
        ("%d:i32 = add %n %x; %e:i32 = and %d 0xfffffff8:i32", [t // 8 * 8 for t in range(32)]),
        ("%d:i32 = add %n %x; %e:i32 = xor %d 6:i32", [t ^ 6 for t in range(32)]),
        ("%d:i32 = add %n %x; %e:i32 = or %d 3:i32", [t | 3 for t in range(32)]),
        ("%d:i32 = add %n %x; %e:i32 = or 3:i32 %d", [t | 3 for t in range(32)]),
        ("%m:i32 = mul %n 64:i32; %d:i32 = add %m %x; %e:i32 = lshr %d 2:i32", [t >> 2 for t in range(32)]),
        ("%m:i32 = mul %n 64:i32; %d:i32 = add %m %x; %e:i32 = udiv %d 4:i32", [t >> 2 for t in range(32)]),
        ("%m:i32 = mul %n 64:i32; %d:i32 = sub %m %x; %e:i32 = ashr %d 2:i32", [-t >> 2 for t in range(32)]),
    ],
)
def test_low_bits(lines: str, offsets: list[int]) -> None:
    fact = at(lines)
    low = min(offsets)
    assert fact.offsets == tuple(o - low for o in offsets)


@pytest.mark.parametrize("op", ["%d 128:i32", "%d 3:i32", "%d 0:i32", "%d %n"])
def test_a_remainder_that_is_not_known(op: str) -> None:
    assert at(f"%d:i32 = add %n %x; %e:i32 = urem {op}").offsets == ()


def test_a_bit_mask_above_what_is_known_is_not_known() -> None:
    for mask in ("0x40:i32", "0xffffff00:i32", "0xff:i32"):
        assert at(f"%d:i32 = add %n %x; %e:i32 = and %d {mask}").offsets == ()
    assert at("%d:i32 = add %n %x; %e:i32 = xor %d 64:i32").offsets == ()


def test_a_choice_of_the_thread_and_one_that_all_make() -> None:
    own = at("%c:i1 = slt %x 4:i32; %d:i32 = add %n %x; %f:i32 = add %n 100:i32; %e:i32 = select %c %d %f")
    assert own.offsets == tuple(t if t < 4 else 100 for t in range(32))
    shared = at("%c:i1 = slt %n 4:i32; %d:i32 = add %n %x; %f:i32 = add %x 100:i32; %e:i32 = select %c %d %f")
    assert shared.offsets == tuple(range(32))
    same = at("%c:i1 = slt %x %n; %d:i32 = add %n %x; %f:i32 = add %x %n; %e:i32 = select %c %d %f")
    assert same.offsets == tuple(range(32))
    unknown = at("%c:i1 = slt %x %n; %d:i32 = add %n %x; %f:i32 = add %x 100:i32; %e:i32 = select %c %d %f")
    assert unknown.offsets == ()


def test_products() -> None:
    assert index("%d:i32 = mul %y %n; %e:i32 = add %d %x", TILE) == "tid.x + tid.y·n"
    fact = told("  %o:i64 = umulwide %x 12:i32\n  %p:i64 = add %a %o\n  %v:i8 = load [global +0 align 1] %p", LINE)
    assert fact.accesses[0].index == "a + 12·tid.x"
    body = "  %h:i16 = trunc %x\n  %w:i32 = smulwide %h 5:i16\n  %o:i64 = sext %w\n  %p:i64 = add %a %o\n"
    fact = told(f"{body}  %v:i8 = load [global +0 align 1] %p", LINE)
    assert fact.accesses[0].index == "a + 5·tid.x"


def test_windows_of_shared_memory_do_not_hide_how_lanes_lie() -> None:
    body = "  %o:i32 = shl %x 2:i32\n  %s:i32 = add %t %o\n  %w:i64 = zext %s\n  %g:i64 = to_generic ['shared'] %w\n"
    fact = told(f"{body}  %v:f32 = load [generic +0 align 4] %g", LINE).accesses[0]
    assert fact.offsets == tuple(range(0, 128, 4))
    assert fact.stride_bytes == 4


def test_casts() -> None:
    fact = told("  %f:f32 = bitcast %x\n  %e:i32 = bitcast %f\n  %o:i64 = sext %e\n  %p:i64 = add %a %o\n"
                "  %v:i8 = load [global +0 align 1] %p", LINE).accesses[0]  # fmt: skip
    assert fact.stride_bytes is None
    assert at("%d:i64 = sext %x; %e:i32 = trunc %d").stride_bytes == 1
