"""Between lanes: reads, writes, numbers below, exchanges."""

from __future__ import annotations

import pytest

from tests.simt.gcn.programs import ran
from warpsmith.simt.gcn.memory import GcnFault


def test_one_lane_is_read_and_written() -> None:
    wave = ran("s_mov_b64 exec, 0xf8\nv_readfirstlane_b32 s0, v0\nv_readlane_b32 s1, v0, 60\nv_writelane_b32 v1, 77, 2")
    assert wave.s[:2] == [3, 60]
    assert int(wave.v[1][2]) == 77


def test_lanes_below_are_counted() -> None:
    wave = ran("v_mbcnt_lo_u32_b32 v1, -1, 0\nv_mbcnt_hi_u32_b32 v1, -1, v1\nv_mbcnt_lo_u32_b32 v2, 5, 10")
    assert list(wave.v[1]) == list(range(64))
    assert list(wave.v[2][:4]) == [10, 11, 11, 12]


def test_what_an_inactive_lane_has_is_0() -> None:
    wave = ran("v_lshlrev_b32 v1, 2, v0\ns_mov_b64 exec, 15\nds_bpermute_b32 v2, v1, v0 offset:8")
    assert list(wave.v[2][:4]) == [2, 3, 0, 0]
    wave = ran("v_mov_b32 v1, 8\ns_mov_b64 exec, 7\nds_permute_b32 v2, v1, v0")
    assert list(wave.v[2][:3]) == [0, 0, 2]


def test_lanes_are_swizzled() -> None:
    wave = ran("ds_swizzle_b32 v1, v0 offset:0x801b\nds_swizzle_b32 v2, v0 offset:0x041f")
    assert list(wave.v[1][:4]) == [3, 2, 1, 0]
    assert list(wave.v[2][:4]) == [1, 0, 3, 2]
    with pytest.raises(GcnFault):
        ran("ds_swizzle_b32 v1, v0 offset:0xe000")


def test_registers_are_swapped() -> None:
    wave = ran("v_mov_b32 v1, 7\nv_swap_b32 v0, v1")
    assert (int(wave.v[0][5]), int(wave.v[1][5])) == (7, 5)


def test_a_pair_is_moved() -> None:
    wave = ran(
        "v_mov_b32 v2, 7\nv_mov_b32 v3, 9\nv_pk_mov_b32 v[4:5], v[2:3], v[2:3] op_sel:[1,0]", architecture="gfx90a"
    )
    assert (int(wave.v[4][0]), int(wave.v[5][0])) == (9, 7)
