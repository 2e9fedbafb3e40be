"""Comparisons: masks of active lanes, NaN, classes."""

from __future__ import annotations

import pytest

from tests.simt.gcn.programs import ran

NAN = "v_mov_b32 v1, 0x7fc00000\n"


def test_inactive_lanes_are_0() -> None:
    wave = ran("s_mov_b64 exec, 0xc\nv_cmp_ne_u32 vcc, 2, v0")
    assert wave.vcc == 8


@pytest.mark.parametrize(
    ("test", "holds"), [("lt", 0), ("nlt", 1), ("eq", 0), ("neq", 1), ("lg", 0), ("nlg", 1), ("u", 1), ("o", 0)]
)
def test_nan_is_neither(test: str, holds: int) -> None:
    assert ran(f"{NAN}v_cmp_{test}_f32 vcc, 0, v1").vcc & 1 == holds


@pytest.mark.parametrize(
    ("number", "bit"),
    [
        (0x7FA00000, 0), (0x7FC00000, 1), (0xFF800000, 2), (0xBF800000, 3), (0x80000001, 4),
        (0x80000000, 5), (0, 6), (1, 7), (0x3F800000, 8), (0x7F800000, 9),
    ],
)  # fmt: skip
def test_a_number_is_of_one_class(number: int, bit: int) -> None:
    for asked in range(10):
        wave = ran(f"v_mov_b32 v1, {number:#x}\nv_mov_b32 v2, {1 << asked:#x}\nv_cmp_class_f32 vcc, v1, v2")
        assert wave.vcc & 1 == (asked == bit)


def test_signs_count_where_the_type_has_one() -> None:
    assert ran("v_cmp_lt_i32 vcc, -1, v0").vcc & 1
    assert not ran("v_cmp_lt_u32 vcc, -1, v0").vcc & 1


def test_cmpx_narrows_exec() -> None:
    assert ran("v_cmpx_gt_u32 vcc, 3, v0").mask == 7
    assert ran("v_cmpx_gt_u32 exec, 3, v0").mask == 7
    wave = ran("v_cmpx_gt_u32_e32 3, v0", architecture="gfx1030")
    assert (wave.mask, wave.vcc) == (7, 0)
