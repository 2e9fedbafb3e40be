"""Operations on scalar registers, against Python's integers."""

from __future__ import annotations

import pytest

from tests.simt.gcn.programs import ran
from warpsmith.simt.gcn.ops.scalar import signed


@pytest.mark.parametrize(
    ("text", "result", "scc"),
    [
        ("s_add_u32 s0, -1, 2", 1, True),
        ("s_add_i32 s0, 0x7fffffff, 1", 0x80000000, True),
        ("s_add_i32 s0, -1, 2", 1, False),
        ("s_sub_u32 s0, 1, 2", 0xFFFFFFFF, True),
        ("s_sub_i32 s0, 1, 2", 0xFFFFFFFF, False),
        ("s_min_i32 s0, -1, 2", 0xFFFFFFFF, True),
        ("s_max_u32 s0, -1, 2", 0xFFFFFFFF, True),
        ("s_mul_hi_i32 s0, -2, 3", 0xFFFFFFFF, False),
        ("s_bfe_u32 s0, 0x1234, 0x80004", 0x23, True),
        ("s_bfe_i32 s0, 0xf00, 0x40008", 0xFFFFFFFF, True),
        ("s_bfm_b32 s0, 4, 8", 0xF00, False),
        ("s_lshr_b32 s0, 1, 1", 0, False),
        ("s_ashr_i32 s0, -8, 1", 0xFFFFFFFC, True),
        ("s_lshl2_add_u32 s0, 3, 5", 17, False),
        ("s_brev_b32 s0, 1", 0x80000000, False),
        ("s_ff1_i32_b32 s0, 0", 0xFFFFFFFF, False),
        ("s_ff1_i32_b32 s0, 8", 3, False),
        ("s_flbit_i32_b32 s0, 1", 31, False),
        ("s_bcnt1_i32_b64 s0, -1", 64, True),
        ("s_sext_i32_i8 s0, 0xff", 0xFFFFFFFF, False),
        ("s_movk_i32 s0, 0xffff", 0xFFFFFFFF, False),
        ("s_cmp_lt_i32 -1, 0", 0, True),
        ("s_cmp_lt_u32 -1, 0", 0, False),
        ("s_bitcmp1_b32 4, 2", 0, True),
        ("s_pack_lh_b32_b16 s0, 0x12345, 0x6789abcd", 0x67892345, False),
        ("s_abs_i32 s0, -5", 5, True),
        ("s_absdiff_i32 s0, -5, 2", 7, True),
        ("s_quadmask_b32 s0, 0x10f", 5, True),
    ],
)
def test_results_and_the_bit_scc(text: str, result: int, scc: bool) -> None:
    wave = ran(text)
    assert wave.s[0] == result
    assert wave.scc is scc


def test_carries_go_on() -> None:
    wave = ran("s_add_u32 s0, -1, 1\ns_addc_u32 s1, 0, 0\ns_sub_u32 s2, 0, 1\ns_subb_u32 s3, 0, 0")
    assert wave.s[:4] == [0, 1, 0xFFFFFFFF, 0xFFFFFFFF]


def test_a_mask_is_saved_and_narrowed() -> None:
    wave = ran("s_mov_b64 s[2:3], 0xf0\ns_and_saveexec_b64 s[0:1], s[2:3]")
    assert (wave.s[0], wave.s[1], wave.mask, wave.scc) == (0xFFFFFFFF, 0xFFFFFFFF, 0xF0, True)
    wave = ran("s_mov_b64 exec, 0xff\ns_mov_b64 s[0:1], 0xf\ns_andn2_saveexec_b64 s[0:1], s[0:1]")
    assert (wave.s[0], wave.mask, wave.scc) == (0xFF, 0, False)


def test_newer_names_are_the_same() -> None:
    old, new = "s_andn2_b32 s0, 15, 6", "s_and_not1_b32 s0, 15, 6"
    assert ran(old).s[0] == ran(new, architecture="gfx1100").s[0] == 9


def test_what_depends_on_scc() -> None:
    assert ran("s_cmp_eq_u32 1, 1\ns_cselect_b32 s0, 5, 6").s[0] == 5
    assert ran("s_cmp_eq_u32 1, 2\ns_cselect_b64 s[0:1], 5, 6").s[0] == 6
    assert ran("s_mov_b32 s0, 1\ns_cmp_eq_u32 1, 2\ns_cmov_b32 s0, 5").s[0] == 1


def test_constants_of_16_bits() -> None:
    assert ran("s_mov_b32 s0, -3\ns_cmpk_lt_i32 s0, 0xfffe").scc
    assert ran("s_mov_b32 s0, 7\ns_mulk_i32 s0, 0xffff").s[0] == signed(-7, 32) & 0xFFFFFFFF
    assert ran("s_mov_b32 s0, 7\ns_addk_i32 s0, 0xffff").s[0] == 6
    assert ran("s_bitset1_b32 s0, 3\ns_bitset0_b32 s0, 3\ns_bitset1_b32 s0, 4").s[0] == 16
