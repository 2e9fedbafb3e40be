"""Sixteen threads of a kernel: as AVX-512, assembled and run in this process, it leaves what the kernel does."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from tests.simt.engine.agree import Differs
from tests.simt.engine.kernels import random_case
from tests.targets.llvm.agree import agree_natively, function_of
from tests.targets.llvm.examples import OWN, case_of, kernel_module, own_kernels
from tests.targets.llvm.seeded import VECTORS
from warpsmith.base.errors import InputError
from warpsmith.base.source import SourceFile
from warpsmith.front.ptx.read import read_ptx
from warpsmith.targets.llvm.export import lower_by_llvm
from warpsmith.targets.llvm.vector import lanes_of_kernel, write_vectors

_PROGRAMS = int(os.environ.get("WARPSMITH_PROGRAMS", "60"))
_SEED = int(os.environ.get("WARPSMITH_SEED", "0"))
_TWO_ENTRIES = """.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p)
{
    .reg .pred %q;
    .reg .b32 %r<3>;
    mov.u32 %r1, %tid.x;
    setp.gt.u32 %q, %r1, 3;
    @%q bra SECOND;
FIRST:
    add.u32 %r1, %r1, 1;
SECOND:
    add.u32 %r1, %r1, 3;
    setp.lt.u32 %q, %r1, 40;
    @%q bra FIRST;
    ret;
}
"""


@pytest.mark.parametrize("name", own_kernels())
def test_a_kernel_leaves_the_same_memory(name: str) -> None:
    case = case_of(OWN, name)
    assert case is not None
    assert agree_natively(case) == ""


@pytest.mark.parametrize("title", VECTORS)
def test_a_bug_is_seen(title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, put_in = VECTORS[title]
    case = case_of(OWN, kernel)
    assert case is not None
    put_in(monkeypatch)
    with pytest.raises(Differs):
        agree_natively(case)


def test_branches_become_masks() -> None:
    """Registers k1 … are masks of gathers, scatters and comparisons, and no lane is asked for alone."""
    unit = kernel_module(OWN)
    function = unit.module.function("sparse")
    assert function is not None
    text = lower_by_llvm(unit.module, function, "skylake-avx512").text.partition("run:")[0]
    assert "vpgatherdd" in text
    assert "vpscatterdd" in text
    assert "{k1}" in text
    assert "zmm" in text
    assert "# kernels.cu:" in text


def test_a_warp_has_32_lanes_where_lanes_exchange() -> None:
    module = kernel_module(OWN).module
    found = {name: module.function(name) for name in ("exchanged", "guarded")}
    assert {name: lanes_of_kernel(one) for name, one in found.items() if one is not None} == {
        "exchanged": 32,
        "guarded": 16,
    }


def test_a_loop_with_two_entries_is_refused_at_its_line() -> None:
    module, _ = read_ptx(SourceFile("k.ptx", _TWO_ENTRIES))
    with pytest.raises(InputError) as caught:
        write_vectors(module.functions[0])
    (finding,) = caught.value.findings
    assert finding.rule == "TGT001"
    assert finding.span is not None
    assert "lanes have no place to meet" in finding.message


@pytest.mark.slow
def test_random_kernels_leave_the_same_memory() -> None:
    found = Counter(_outcome(seed) for seed in range(_SEED, _SEED + _PROGRAMS))
    assert found[""] >= _PROGRAMS // 4


def _outcome(seed: int) -> str:
    case = random_case(seed)
    if lanes_of_kernel(function_of(case)) != 16 and case.launch.warp != 32:
        return "a warp of another width"
    try:
        return agree_natively(case)
    except InputError as error:
        return error.findings[0].message
