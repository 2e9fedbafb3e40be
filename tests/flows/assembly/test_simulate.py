"""SIMULATE of assembly text: kernels with metadata, programs without, what is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from warpsmith.base.errors import InputError, UsageError
from warpsmith.base.source import SourceFile
from warpsmith.flows.assembly.simulate import AssemblyOptions, simulate_assembly

PLAIN = "v_lshlrev_b32 v1, 2, v0\ns_mov_b64 exec, 3\nv_mov_b32 v2, s4\nglobal_store_dword v1, v2, s[2:3]\ns_endpgm\n"
KERNEL = """
k:  s_load_dwordx2 s[2:3], s[0:1], 0x0
    s_load_dword s4, s[0:1], 0x8
    v_lshlrev_b32 v1, 2, v0
    v_mov_b32 v2, s4
    global_store_dword v1, v2, s[2:3]
    s_endpgm
    .section .rodata
    .amdhsa_kernel k
        .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .end_amdhsa_kernel
    .amdgpu_metadata
  - .args:
      - .name: out
        .offset: 0
        .size: 8
      - .name: n
        .offset: 8
        .size: 4
    .name: k
    .end_amdgpu_metadata
"""


def _file(text: str) -> SourceFile:
    return SourceFile("k.s", text)


def test_a_program_gets_scalar_registers() -> None:
    options = AssemblyOptions(arguments=("s4=0x7", "s[2:3]=zeros:u32[64]"))
    report = simulate_assembly(_file(PLAIN), options)
    assert report.exit_code == 0
    assert [step.mask for step in report.steps] == [(1 << 64) - 1] * 2 + [3] * 3
    assert report.outputs[0].first[:3] == ("7", "7", "0")


def test_a_kernel_gets_the_arguments_of_its_metadata(tmp_path: Path) -> None:
    out = str(tmp_path / "out.npy")
    options = AssemblyOptions(block=(64, 1, 1), arguments=("n=5", "out=zeros:i32[n*20]"), out={"out": out})
    report = simulate_assembly(_file(KERNEL), options)
    assert report.exit_code == 0
    assert list(np.load(out)) == [5] * 64 + [0] * 36
    with pytest.raises(UsageError, match="needs arguments"):
        simulate_assembly(_file(KERNEL), AssemblyOptions(block=(64, 1, 1)))
    with pytest.raises(UsageError, match="how many threads"):
        simulate_assembly(_file(KERNEL), AssemblyOptions())


def test_the_wave_that_is_shown_is_chosen() -> None:
    options = AssemblyOptions(block=(100, 1, 1), grid=(2, 1, 1), arguments=("s[2:3]=zeros:u32[128]",), shown=(1, 1))
    report = simulate_assembly(_file(PLAIN), options)
    assert report.waves == 4
    assert report.steps[0].mask == (1 << 36) - 1
    assert report.shown == "block 1, wave 1"


def test_a_fault_names_its_lane() -> None:
    report = simulate_assembly(_file(PLAIN), AssemblyOptions(arguments=("s[2:3]=zeros:u32[1]",)))
    (finding,) = report.findings
    assert (finding.rule, report.exit_code) == ("ASM002", 1)
    assert "wave 0, lane 1" in finding.message
    assert finding.span is not None
    assert finding.span.line == 4


def test_what_is_endless_is_stopped() -> None:
    report = simulate_assembly(_file("L: s_branch L\n"), AssemblyOptions(max_steps=100))
    assert (report.exit_code, report.executed) == (3, 100)


@pytest.mark.parametrize("argument", ["x=1", "s200=1", "s4", "s4=y2", "s[2:3]=7"])
def test_arguments_that_are_none_are_told(argument: str) -> None:
    with pytest.raises(UsageError, match="--arg"):
        simulate_assembly(_file(PLAIN), AssemblyOptions(arguments=(argument,)))


def test_what_does_not_read_is_told() -> None:
    with pytest.raises(InputError, match="ASM001"):
        simulate_assembly(_file("v_foo v0"), AssemblyOptions())


VECTORS = "kmovw eax, k1\nvptestmd k1 {k1}, zmm0, zmm0\nkmovw k1, eax\nret\n"


def test_vectors_have_their_mask_in_k1() -> None:
    report = simulate_assembly(_file(VECTORS), AssemblyOptions())
    assert (report.machine, report.lanes) == ("AVX-512", 16)
    assert [step.mask for step in report.steps] == [0xFFFF, 0xFFFF, 0xFFFE, 0xFFFF]
    options = AssemblyOptions(target="avx512", block=(5, 1, 1), arguments=("zmm0=8",))
    assert simulate_assembly(_file(VECTORS), options).steps[2].mask == 0x1F


GATHER = """
    vpgatherdd zmm1 {k1}, [rdi + 4*zmm0]
    mov ecx, 7
    vpbroadcastd zmm2, ecx
    vpaddd zmm1, zmm1, zmm2
    kxnorw k1, k1, k1
    vpscatterdd [rsi + 4*zmm0 - 32] {k1}, zmm1
    ret
"""


def test_vectors_reach_arrays() -> None:
    arguments = ("zmm0=8", "rdi=iota:u32[24]", "rsi=zeros:u32[16]")
    (target,) = simulate_assembly(_file(GATHER), AssemblyOptions(arguments=arguments)).outputs
    assert target.name == "rsi" and target.changed == 16 and target.first[:3] == ("15", "16", "17")
    report = simulate_assembly(_file(GATHER), AssemblyOptions(arguments=("zmm0=9", *arguments[1:])))
    (finding,) = report.findings
    assert (finding.rule, report.exit_code) == ("ASM002", 1) and finding.span is not None and finding.span.line == 2
    assert finding.message == "lane 15: 4 bytes at byte 96 of rdi, which has 96"


def test_the_example_picks_where_there_is_something() -> None:
    file = SourceFile.read(str(Path(__file__).parents[3] / "examples" / "avx512" / "gather.s"))
    arguments = ("rdi=each:i32[16]=i*5%16-4", "rsi=each:u32[16]=100+i", "rdx=zeros:u32[16]")
    report = simulate_assembly(file, AssemblyOptions(arguments=arguments))
    (out,) = report.outputs
    picked = [i * 5 % 16 - 4 for i in range(16)]
    assert out.first == tuple(str(100 + n if n >= 0 else 0) for n in picked[:8])
    assert report.steps[-1].mask == sum(1 << i for i in range(16) if picked[i] >= 0) and not report.findings


@pytest.mark.parametrize(
    "options",
    [
        AssemblyOptions(arguments=("s1=2",)),
        AssemblyOptions(block=(17, 1, 1)),
        AssemblyOptions(grid=(2, 1, 1)),
    ],
)
def test_vectors_are_one_wave(options: AssemblyOptions) -> None:
    with pytest.raises(UsageError, match="AVX-512"):
        simulate_assembly(_file(VECTORS), options)


def test_the_target_may_be_said() -> None:
    with pytest.raises(InputError, match="no instruction 'kmovw'"):
        simulate_assembly(_file(VECTORS), AssemblyOptions(target="gcn"))
