"""Loads, stores and atomic operations, by what they leave."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from tests.simt.gcn.programs import program, ran, wave_of
from warpsmith.base.errors import InputError
from warpsmith.simt.gcn.memory import SCRATCH_BASE, GcnFault
from warpsmith.simt.gcn.wave import GcnWave
from warpsmith.simt.memory import LaunchMemory


def _wave(count: int = 256) -> tuple[GcnWave, LaunchMemory]:
    """Return a wave with an array of bytes 0, 1, 2 … at s[2:3], and v1 = 4 times the lane."""
    memory = LaunchMemory(checks=False)
    address = memory.allocate("a", bytes(n % 256 for n in range(count))).address
    wave = wave_of(program("s_endpgm"), memory)
    wave.write_scalar(2, 2, address)
    wave.write_scalar(4, 2, SCRATCH_BASE)
    wave.v[1] = np.arange(64) * 4
    return wave, memory


def _words(memory: LaunchMemory) -> list[int]:
    data = memory.buffers[0].data
    return list(struct.unpack(f"<{len(data) // 4}I", data))


@pytest.mark.parametrize(
    ("text", "lane_2"),
    [
        ("global_load_dword v2, v1, s[2:3]", 0x0B0A0908),
        ("global_load_dword v2, v1, s[2:3] offset:-4", 0x07060504),
        ("global_load_ubyte v2, v1, s[2:3] offset:1", 9),
        ("global_load_ushort v2, v1, s[2:3]", 0x0908),
        ("global_load_short_d16_hi v2, v1, s[2:3]", 0x09080000),
        ("global_load_short_d16 v2, v1, s[2:3]", 0x0908),
    ],
)
def test_a_load(text: str, lane_2: int) -> None:
    wave, _ = _wave()
    assert int(ran(f"s_mov_b64 exec, 14\n{text}", wave).v[2][2]) == lane_2


def test_signs_are_extended() -> None:
    wave, _ = _wave(512)
    wave = ran("v_mov_b32 v3, 0xfe\nglobal_load_sbyte v2, v3, s[2:3]\nglobal_load_sshort v4, v3, s[2:3] offset:1", wave)
    assert (int(wave.v[2][0]), int(wave.v[4][0])) == (0xFFFFFFFE, 0x000000FF)


def test_addresses_of_64_bits() -> None:
    wave, _ = _wave()
    text = "v_mov_b32 v3, s3\nv_add_co_u32 v2, vcc, s2, v1\nv_addc_co_u32 v3, vcc, 0, v3, vcc\n"
    wave = ran(f"{text}s_mov_b64 exec, 31\nglobal_load_dwordx2 v[4:5], v[2:3], off\nflat_load_dword v6, v[2:3]", wave)
    assert [int(wave.v[n][3]) for n in (4, 5, 6)] == [0x0F0E0D0C, 0x13121110, 0x0F0E0D0C]


def test_stores_of_parts() -> None:
    wave, memory = _wave()
    text = """
    s_mov_b64 exec, 1
    v_mov_b32 v2, 0x12345678
    global_store_byte v1, v2, s[2:3]
    global_store_short v1, v2, s[2:3] offset:4
    global_store_short_d16_hi v1, v2, s[2:3] offset:8
    """
    ran(text, wave)
    assert _words(memory)[:3] == [0x03020178, 0x07065678, 0x0B0A1234]


def test_shared_memory_in_pairs() -> None:
    wave, _ = _wave()
    text = """
    s_mov_b64 exec, 15
    v_lshlrev_b32 v2, 3, v0
    ds_write2_b32 v2, v0, v1 offset1:1
    ds_read_b64 v[4:5], v2
    ds_read2_b32 v[6:7], v2 offset0:1
    ds_write_b8 v2, v1 offset:3
    ds_read_u8 v8, v2 offset:3
    ds_read2st64_b32 v[10:11], v0 offset0:0
    """
    wave = ran(text, wave)
    assert [int(wave.v[n][2]) for n in (4, 5, 6, 7, 8)] == [2, 8, 8, 2, 8]


def test_addresses_of_shared_memory_wrap() -> None:
    wave = ran(
        "s_mov_b64 exec, 15\nv_lshlrev_b32 v2, 2, v0\nds_write_b32 v2, v0\n"
        "v_sub_u32 v3, -4, v2\nds_read_b32 v4, v3 offset:16"
    )
    assert list(wave.v[4][:4]) == [3, 2, 1, 0]


def test_scratch_memory() -> None:
    wave, _ = _wave()
    text = """
    buffer_store_dword v0, off, s[4:7], 0 offset:8
    v_mov_b32 v2, 4
    buffer_load_dword v3, v2, s[4:7], 0 offen offset:4
    scratch_load_dword v5, off, off offset:8
    s_mov_b32 s9, 4
    scratch_load_dword v6, v2, s9
    """
    wave = ran(text, wave)
    assert [int(wave.v[n][60]) for n in (3, 5, 6)] == [60, 60, 60]
    with pytest.raises(GcnFault, match="other than scratch"):
        ran("buffer_load_dword v3, off, s[8:11], 0", wave)
    with pytest.raises(GcnFault, match="offen"):
        ran("buffer_load_dword v3, v2, s[4:7], 0", wave)


def test_scalars_are_loaded() -> None:
    wave, _ = _wave()
    wave = ran("s_mov_b32 s8, 8\ns_load_dwordx2 s[10:11], s[2:3], 0x4\ns_load_dword s12, s[2:3], s8 offset:0x4", wave)
    assert wave.s[10:13] == [0x07060504, 0x0B0A0908, 0x0F0E0D0C]


@pytest.mark.parametrize(
    ("text", "left", "seen"),
    [
        ("global_atomic_add v3, v2, v0, s[2:3] glc", 0x03020100 + 6, 0x03020100 + 1),
        ("global_atomic_umax v3, v2, v4, s[2:3] glc", 0x7FFFFFFF, 0x7FFFFFFF),
        ("global_atomic_swap v3, v2, v0, s[2:3] glc", 3, 1),
        ("global_atomic_inc v3, v2, v0, s[2:3] glc", 3, 1),
        ("global_atomic_or_x2 v[6:7], v2, v[8:9], s[2:3] glc", 0x03020100, None),
    ],
)
def test_an_atomic_operation_of_global_memory(text: str, left: int, seen: int | None) -> None:
    wave, memory = _wave()
    ran(f"s_mov_b64 exec, 15\nv_mov_b32 v2, 0\nv_mov_b32 v4, 0x7fffffff\n{text}", wave)
    assert _words(memory)[0] == left
    if seen is not None:
        assert int(wave.v[3][2]) == seen


def test_a_compare_and_swap() -> None:
    wave, memory = _wave()
    text = "v_mov_b32 v2, 0\nv_mov_b32 v4, 5\nv_mov_b32 v5, 0x03020100\n"
    ran(f"s_mov_b64 exec, 3\n{text}global_atomic_cmpswap v6, v2, v[4:5], s[2:3] glc", wave)
    assert _words(memory)[0] == 5
    assert [int(wave.v[6][lane]) for lane in (0, 1)] == [0x03020100, 5]
    text = "v_mov_b32 v2, 0\nv_mov_b32 v3, 0\nv_mov_b32 v4, 9\n"
    old = ran(f"s_mov_b64 exec, 1\n{text}ds_cmpst_rtn_b32 v5, v2, v3, v4")
    new = ran(f"s_mov_b32 exec_lo, 1\n{text}ds_cmpstore_rtn_b32 v5, v2, v4, v3", architecture="gfx1100")
    assert [int(wave.memory.shared.view(np.uint32)[0]) for wave in (old, new)] == [9, 9]


def test_atomic_operations_of_shared_memory() -> None:
    wave = ran("v_mov_b32 v2, 0\nds_add_u32 v2, v0\nds_max_rtn_i32 v3, v2, v0 offset:4\nds_add_f32 v2, v4 offset:8")
    assert list(wave.memory.shared.view(np.uint32)[:2]) == [2016, 63]
    assert int(wave.v[3][63]) == 62


@pytest.mark.parametrize(
    "text", ["global_load_dword v2, v1", "global_load_dwordx2 v2, v1, s[2:3]", "ds_read_b32 v1, s0",
             "s_load_dword v1, s[2:3], 0", "ds_read_b32 v1, v2 glc", "global_atomic_add v1, v2"]
)  # fmt: skip
def test_what_does_not_fit_is_told(text: str) -> None:
    with pytest.raises(InputError, match="expected"):
        program(f"{text}\ns_endpgm")
