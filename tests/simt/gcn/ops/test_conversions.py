"""Conversions: what does not fit is the nearest number that does."""

from __future__ import annotations

import pytest

from tests.simt.gcn.programs import ran


@pytest.mark.parametrize(
    ("name", "number", "result"),
    [
        ("v_cvt_u32_f32", "-1.0", 0),
        ("v_cvt_u32_f32", "0x7f800000", 0xFFFFFFFF),
        ("v_cvt_i32_f32", "0xff800000", 0x80000000),
        ("v_cvt_i32_f32", "0x7fc00000", 0),
        ("v_cvt_i32_f32", "0xc0200000", 0xFFFFFFFE),
        ("v_cvt_flr_i32_f32", "0xc0200000", 0xFFFFFFFD),
        ("v_cvt_f32_u32", "-1", 0x4F800000),
        ("v_cvt_f32_i32", "-1", 0xBF800000),
        ("v_cvt_f32_ubyte1", "0x1234", 0x41900000),
        ("v_cvt_f16_f32", "1.0", 0x3C00),
        ("v_cvt_f32_f16", "0x3c00", 0x3F800000),
    ],
)
def test_a_conversion(name: str, number: str, result: int) -> None:
    assert int(ran(f"v_mov_b32 v1, {number}\n{name} v2, v1").v[2][3]) == result


def test_halves_are_rounded_toward_zero() -> None:
    wave = ran("v_mov_b32 v1, 0x3f801fff\nv_cvt_pkrtz_f16_f32 v2, v1, -v1")
    assert int(wave.v[2][0]) == 0xBC003C00
