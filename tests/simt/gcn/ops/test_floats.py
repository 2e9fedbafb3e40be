"""Floating-point operations; divisions as LLVM writes them are those of the processor."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simt.gcn.programs import floats, program, ran, wave_of

DIVIDE = """
v_div_scale_f32 v4, s[0:1], v2, v2, v1
v_div_scale_f32 v5, vcc, v1, v2, v1
v_rcp_f32 v6, v4
v_fma_f32 v7, -v4, v6, 1.0
v_fma_f32 v6, v7, v6, v6
v_mul_f32 v7, v5, v6
v_fma_f32 v8, -v4, v7, v5
v_fma_f32 v7, v8, v6, v7
v_fma_f32 v4, -v4, v7, v5
v_div_fmas_f32 v4, v4, v6, v7
v_div_fixup_f32 v3, v4, v2, v1
"""


def test_a_division_is_rounded_correctly() -> None:
    """Also where quotients are subnormal, and operands are zero, infinite or none."""
    made = np.random.default_rng(7)
    special = np.array([0, -0.0, 1, np.inf, -np.inf, np.nan, 1e-45, 3e38, 1.2e-38, -1e-40], np.float32)
    for _ in range(40):
        wave = wave_of(program("s_endpgm"))
        numbers = made.integers(0, 1 << 32, (2, 64), dtype=np.uint32)
        numbers[0, :10], numbers[1, :10] = special.view(np.uint32), made.permutation(special).view(np.uint32)
        wave.v[1], wave.v[2] = numbers
        ran(DIVIDE, wave)
        with np.errstate(all="ignore"):
            expected = floats(wave, 1) / floats(wave, 2)
        found = floats(wave, 3)
        same = (found.view(np.uint32) == expected.view(np.uint32)) | (np.isnan(found) & np.isnan(expected))
        assert same.all()


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("v_min_f32 v2, 0x7fc00000, v1", -2.5),
        ("v_max_f32 v2, v1, 0", 0.0),
        ("v_med3_f32 v2, v1, 1.0, 0.5", 0.5),
        ("v_floor_f32 v2, v1", -3.0),
        ("v_rndne_f32 v2, v1", -2.0),
        ("v_fract_f32 v2, v1", 0.5),
        ("v_ldexp_f32 v2, v1, -1", -1.25),
        ("v_frexp_mant_f32 v2, v1", -0.625),
        ("v_exp_f32 v2, 4.0", 16.0),
        ("v_log_f32 v2, 0.5", -1.0),
        ("v_sin_f32 v2, 0x3e800000", 1.0),
        ("v_cos_f32 v2, 0", 1.0),
        ("v_rsq_f32 v2, 4.0", 0.5),
        ("v_mul_legacy_f32 v2, 0, 0x7f800000", 0.0),
        ("v_fma_f32 v2, v1, 2.0, 1.0", -4.0),
        ("v_madmk_f32 v2, v1, 0x40000000, v1", -7.5),
        ("v_mov_b32 v2, 1.0\nv_mac_f32 v2, v1, v1", 7.25),
    ],
)
def test_one_operation(text: str, result: float) -> None:
    assert floats(ran(f"v_mov_b32 v1, 0xc0200000\n{text}"), 2)[0] == result


def test_mad_takes_subnormal_numbers_for_zeros() -> None:
    wave = ran("v_mov_b32 v1, 0x80000001\nv_mad_f32 v2, v1, 1.0, v1\nv_fma_f32 v3, v1, 1.0, 0")
    assert (int(wave.v[2][0]), int(wave.v[3][0])) == (0x80000000, 0x80000001)


def test_zeros_have_signs() -> None:
    wave = ran("v_mov_b32 v1, 0x80000000\nv_min_f32 v2, 0, v1\nv_max_f32 v3, v1, 0")
    assert (int(wave.v[2][0]), int(wave.v[3][0])) == (0x80000000, 0)


def test_exponents() -> None:
    wave = ran("v_frexp_exp_i32_f32 v1, 4.0\nv_frexp_exp_i32_f32 v2, 0x7f800000")
    assert (int(wave.v[1][0]), int(wave.v[2][0])) == (3, 0)


def test_halves_and_doubles() -> None:
    wave = ran("v_add_f16 v1, 1.0, 1.0\nv_mov_b32 v3, 0x3ff00000\nv_mov_b32 v2, 0\nv_fma_f64 v[4:5], v[2:3], 4.0, 0.5")
    assert int(wave.v[1][0]) == 0x4000
    assert (int(wave.v[4][0]), int(wave.v[5][0])) == (0, 0x40120000)
