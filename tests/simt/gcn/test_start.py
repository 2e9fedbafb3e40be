"""How a wave begins: threads, blocks, arguments."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simt.gcn.programs import program
from warpsmith.simt.gcn.memory import GcnFault, GcnMemory
from warpsmith.simt.gcn.start import GcnTask, begin_gcn_wave, prepare_start
from warpsmith.simt.gcn.wave import GcnWave
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory

LAUNCH = Launch((3, 2, 1), (8, 4, 2), {"x": b"\x07\0\0\0"})


def _kernel(architecture: str, settings: str) -> str:
    return f"""
    .amdgcn_target "amdgcn-amd-amdhsa--{architecture}"
    s_nop 0
k:  s_endpgm
    .section .rodata
    .amdhsa_kernel k
{settings}
    .end_amdhsa_kernel
d:  .long 5
    .amdgpu_metadata
  - .args:
      - .name: x
        .offset: 4
        .size: 4
    .name: k
    .end_amdgpu_metadata
"""


def _begin(text: str, block: int = 4, first: int = 0, **registers: int | str) -> tuple[GcnWave, LaunchMemory]:
    made, memory = program(text), LaunchMemory(checks=False)
    numbers = {int(name[1:]): value for name, value in registers.items()}
    task = GcnTask(made, made.kernels[0] if made.kernels else None, LAUNCH, numbers)
    start = prepare_start(task, memory)
    held = GcnMemory(memory, np.zeros(0, np.uint8), 0, made.wave)
    return begin_gcn_wave(start, block, first, held), memory


USUAL = """
    .amdhsa_user_sgpr_count 9
    .amdhsa_user_sgpr_private_segment_buffer 1
    .amdhsa_user_sgpr_dispatch_ptr 1
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_system_sgpr_workgroup_id_y 1
    .amdhsa_system_vgpr_workitem_id 2
"""


def test_registers_of_a_kernel() -> None:
    wave, memory = _begin(_kernel("gfx900", USUAL), first=0)
    places = {buffer.name: buffer for buffer in memory.buffers}
    assert wave.pc == 1
    assert wave.s[4] == places["dispatch packet"].address
    assert wave.s[6] == places["kernel arguments"].address
    assert bytes(places["kernel arguments"].data[4:8]) == b"\x07\0\0\0"
    assert bytes(places["dispatch packet"].data[4:24]) == bytes.fromhex(
        "0800 0400 0200 0000 18000000 08000000 02000000"
    )
    assert wave.s[9:11] == [1, 1]
    assert [int(wave.v[n][37]) for n in (0, 1, 2)] == [5, 0, 1]


def test_numbers_of_threads_are_packed_since_gfx90a() -> None:
    wave, _ = _begin(_kernel("gfx90a", USUAL))
    assert int(wave.v[0][37]) == 5 | 1 << 20
    wave, _ = _begin(_kernel("gfx1100", "    .amdhsa_wavefront_size32 1\n"), first=32)
    assert (wave.width, int(wave.v[0][5])) == (32, 5 | 1 << 20)


def test_scratch_has_no_descriptor_where_it_has_instructions() -> None:
    wave, memory = _begin(_kernel("gfx942", USUAL))
    assert wave.s[0] == next(b.address for b in memory.buffers if b.name == "dispatch packet")


def test_programs_without_a_descriptor_have_registers_that_are_given() -> None:
    wave, _ = _begin("s_endpgm", s8="x", s9="y", s2=7)
    assert (wave.s[8], wave.s[9], wave.s[2]) == (1, 1, 7)
    assert int(wave.v[0][9]) == 1


def test_other_floats_are_refused() -> None:
    with pytest.raises(GcnFault, match="float_denorm_mode_32 0 is not modeled"):
        _begin(_kernel("gfx900", "    .amdhsa_float_denorm_mode_32 0\n"))
