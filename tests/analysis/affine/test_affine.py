"""The affine forms of ops: c1·tid.x + c2·tid.y + c3·tid.z + what all threads share."""

from __future__ import annotations

import pytest

from tests.analysis.uniformity.test_uniformity import wrong
from warpsmith.analysis.affine.affine import SHARED, Affine, of_constant
from warpsmith.analysis.uniformity.seeds import Threads
from warpsmith.analysis.uniformity.uniformity import uniformity
from warpsmith.ssa.nodes import Constant
from warpsmith.ssa.reader import parse_module
from warpsmith.ssa.types import I32

KERNEL = """
kernel @k(n 4 align 4 i32)
start:
  %n:i32 = param [n+0]
  %x:i32 = query [tid.x]
  %y:i32 = query [tid.y]
  %z:i32 = query [tid.z]
  %lane:i32 = query [laneid]
BODY
  return
end
"""


def forms(body: str) -> dict[str, Affine | None]:
    """Return what is known of each value, by its name."""
    (function,) = parse_module(KERNEL.replace("BODY", body)).functions
    answer = uniformity(function, Threads("warp"))
    return {value.name: answer.affine.get(value) for value in answer.definitions}


def last(body: str) -> Affine | None:
    return list(forms(body).values())[-1]


def test_the_index_of_a_thread_is_its_axis_and_a_lane_is_not_known() -> None:
    found = forms("  %e:i32 = add %x %y")
    assert (found["x"], found["y"], found["z"]) == (
        Affine((1, 0, 0), 0), Affine((0, 1, 0), 0), Affine((0, 0, 1), 0)
    )  # fmt: skip
    assert (found["n"], found["lane"], found["e"]) == (SHARED, None, Affine((1, 1, 0), 0))


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("%e:i32 = add %x 5:i32", Affine((1, 0, 0), 5)),
        ("%e:i32 = sub %x 5:i32", Affine((1, 0, 0), 2**32 - 5)),
        ("%e:i32 = sub %x %x", Affine((0, 0, 0), 0)),
        ("%e:i32 = add %y %n", Affine((0, 1, 0))),
        ("%e:i32 = add %x %lane", None),
        ("%e:i32 = neg %x", Affine((2**32 - 1, 0, 0), 0)),
        ("%e:i32 = mul %z 12:i32", Affine((0, 0, 12), 0)),
        ("%e:i32 = mul 12:i32 %z", Affine((0, 0, 12), 0)),
        ("%e:i32 = mul %n %n", SHARED),
        ("%e:i32 = mul %x %n", None),
        ("%e:i32 = mul %x %y", None),
        ("%e:i32 = shl %x 3:i32", Affine((8, 0, 0), 0)),
        ("%e:i32 = shl %x 32:i32", Affine((0, 0, 0), 0)),
        ("%e:i32 = shl %x %n", None),
        ("%e:i32 = and %n 3:i32", SHARED),
        ("%e:i32 = and %x 3:i32", None),
        ("%e:i16 = trunc %x", Affine((1, 0, 0), 0)),
    ],
)
def test_sums_and_products(op: str, expected: Affine | None) -> None:
    assert last(f"  {op}") == expected


def test_equal_coefficients_can_be_compared_for_equality_only() -> None:
    assert last("  %a:i32 = add %x %n\n  %e:i1 = eq %a %x") == SHARED
    assert last("  %a:i32 = add %x %n\n  %e:i1 = ne %x %a") == SHARED
    assert last("  %a:i32 = add %x %y\n  %e:i1 = eq %a %x") is None
    assert last("  %a:i32 = add %x %n\n  %e:i1 = slt %a %x") is None


def test_a_choice_is_affine_where_both_sides_are_alike_and_threads_choose_alike() -> None:
    apart, same = "  %c:i1 = slt %x 3:i32", "  %c:i1 = slt %n 3:i32"
    sides = "  %a:i32 = add %x 1:i32\n  %b:i32 = add %x 2:i32"
    assert last(f"{same}\n{sides}\n  %e:i32 = select %c %a %b") == Affine((1, 0, 0))
    assert last(f"{apart}\n{sides}\n  %e:i32 = select %c %a %b") is None
    assert last(f"{same}\n{sides}\n  %e:i32 = select %c %a %a") == Affine((1, 0, 0), 1)
    # the same sum of the thread, but of two shared numbers that need not be the same
    other = "  %a:i32 = add %x %n\n  %m:i32 = mul %n 3:i32\n  %b:i32 = add %x %m"
    assert last(f"{apart}\n{other}\n  %e:i32 = select %c %a %b") is None
    assert last(f"{same}\n  %e:i32 = select %c %x %y") is None


def test_widening_keeps_what_is_too_small_to_wrap() -> None:
    assert last("  %a:i32 = mul %x 1024:i32\n  %e:i64 = sext %a") == Affine((1024, 0, 0), 0)
    assert last("  %a:i32 = mul %x 1025:i32\n  %e:i64 = sext %a") is None
    assert last(f"  %a:i32 = add %x {1 << 30}:i32\n  %e:i64 = zext %a") == Affine((1, 0, 0), 1 << 30)
    assert last(f"  %a:i32 = add %x {(1 << 30) + 1}:i32\n  %e:i64 = zext %a") is None
    assert last("  %a:i32 = add %x %n\n  %e:i64 = zext %a") is None
    assert last("  %a:i32 = sub %x 1:i32\n  %e:i64 = sext %a") is None
    assert last("  %a:i16 = trunc %x\n  %e:i32 = zext %a") is None


def test_a_wide_product_takes_a_small_index_and_a_number() -> None:
    assert last("  %e:i64 = smulwide %x 4:i32") == Affine((4, 0, 0), 0)
    assert last("  %e:i64 = umulwide 4:i32 %x") == Affine((4, 0, 0), 0)
    assert last("  %e:i64 = smulwide %x %n") is None
    assert last(f"  %e:i64 = smulwide %x {1 << 31}:i32") is None
    assert last("  %a:i32 = sub %x 1:i32\n  %e:i64 = smulwide %a 4:i32") is None


def test_a_wide_product_of_16_bits_may_have_wrapped() -> None:
    body = """
  %h:i16 = trunc %x
  %s:i16 = mul %h 256:i16
  %w:i32 = smulwide %s 3:i16
  %q:i32 = mul %x 768:i32
  %d:i32 = sub %w %q
  %e:i1 = eq %d 0:i32
"""
    assert forms(body)["w"] is None
    # where 256 · tid.x is beyond 32767, the two products differ
    assert not wrong(parse_module(KERNEL.replace("BODY", body)), (256, 1, 1))


def test_windows_of_memory_keep_what_threads_differ_by() -> None:
    assert last("  %a:i64 = smulwide %x 4:i32\n  %e:i64 = to_generic ['shared'] %a") == Affine((4, 0, 0))


def test_a_constant_is_its_pattern() -> None:
    assert of_constant(Constant(I32, 7)) == Affine((0, 0, 0), 7)
    assert Affine((0, 0, 0)).shared and not Affine((0, 0, 1)).shared
