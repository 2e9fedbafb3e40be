"""Parts of registers, and lanes moved on the way into an operation."""

from __future__ import annotations

import pytest

from tests.simt.gcn.programs import ran
from warpsmith.simt.gcn.memory import GcnFault

BYTES = "v_mov_b32 v1, 0x81020304\n"


def test_parts_are_read_and_written() -> None:
    wave = ran(f"{BYTES}v_mov_b32_sdwa v2, v1 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:BYTE_3")
    assert int(wave.v[2][0]) == 0x00810000
    wave = ran(
        f"{BYTES}v_add_u32_sdwa v1, v1, sext(v1) dst_sel:BYTE_0 dst_unused:UNUSED_PRESERVE "
        "src0_sel:BYTE_1 src1_sel:BYTE_3"
    )
    assert int(wave.v[1][0]) == 0x81020384
    wave = ran(f"{BYTES}v_mov_b32_sdwa v2, v1 dst_sel:BYTE_0 dst_unused:UNUSED_SEXT src0_sel:BYTE_3")
    assert int(wave.v[2][0]) == 0xFFFFFF81


def test_parts_are_compared() -> None:
    wave = ran(f"{BYTES}v_mov_b32 v2, 3\nv_cmp_eq_u16_sdwa vcc, v1, v2 src0_sel:BYTE_1 src1_sel:DWORD")
    assert wave.vcc & 1


def test_halves_of_operands() -> None:
    wave = ran(f"{BYTES}v_mov_b32 v2, 0x50006\nv_mad_u16 v2, v1, 1, v2 op_sel:[1,0,0,0]")
    assert int(wave.v[2][0]) & 0xFFFF == 0x8108


@pytest.mark.parametrize(
    ("move", "first"),
    [
        ("quad_perm:[3,2,1,0]", [3, 2, 1, 0]),
        ("row_mirror", [15, 14, 13, 12]),
        ("row_half_mirror", [7, 6, 5, 4]),
        ("row_ror:1", [15, 0, 1, 2]),
        ("row_shl:2", [2, 3, 4, 5]),
        ("row_shr:1 bound_ctrl:0", [0, 0, 1, 2]),
        ("row_shr:1", [9, 0, 1, 2]),
        ("wave_shl:1", [1, 2, 3, 4]),
        ("row_shl:1 row_mask:0xe", [9, 9, 9, 9]),
    ],
)
def test_lanes_are_moved(move: str, first: list[int]) -> None:
    wave = ran(f"v_mov_b32 v1, 9\nv_mov_b32_dpp v1, v0 {move}")
    assert list(wave.v[1][:4]) == first


def test_lanes_that_are_not_active_may_be_read() -> None:
    text = "v_mov_b32 v1, 9\ns_mov_b64 exec, 5\nv_mov_b32_dpp v1, v0 quad_perm:[1,0,3,2]"
    assert list(ran(text).v[1][:4]) == [9, 9, 9, 9]
    assert list(ran(f"{text} fi:1").v[1][:4]) == [1, 9, 3, 9]


def test_rows_are_broadcast() -> None:
    wave = ran("v_mov_b32 v1, 9\nv_mov_b32_dpp v1, v0 row_bcast:15")
    assert [int(wave.v[1][lane]) for lane in (0, 15, 16, 31, 32)] == [9, 9, 15, 15, 31]


def test_masks_are_as_before_behind_a_move() -> None:
    wave = ran("s_mov_b64 exec, 0xff\nv_add_u32_dpp v1, v0, v0 row_shr:1 bound_ctrl:0")
    assert wave.mask == 0xFF
    assert list(wave.v[1][:4]) == [0, 1, 3, 5]


def test_what_is_no_part_is_told() -> None:
    with pytest.raises(GcnFault, match="NIBBLE"):
        ran("v_mov_b32_sdwa v2, v1 dst_sel:NIBBLE src0_sel:BYTE_3")
    with pytest.raises(GcnFault, match="no halves"):
        ran("v_add_u32_e64 v1, v0, v0 op_sel:[1,0,0]")
    with pytest.raises(GcnFault, match="not said"):
        ran("v_mov_b32_dpp v2, v1 row_mask:0xf")
