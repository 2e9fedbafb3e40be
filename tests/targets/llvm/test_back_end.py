"""LLVM in a process of its own."""

from __future__ import annotations

import pytest

from tests.targets.llvm.texts import ir_of, kernel_of
from warpsmith.base.errors import InputError
from warpsmith.targets.llvm.back_end import BackEnd, write_text

TEXT = "__global__ void k(int *a) { a[threadIdx.x] *= 3; }"
GFX900 = BackEnd("amdgcn-amd-amdhsa", "gfx900")


def test_llvm_writes_text() -> None:
    made = write_text(ir_of(TEXT), GFX900, kernel_of(TEXT)[1])
    assert "s_endpgm" in made.text
    assert "define amdgpu_kernel void @k" in made.ir


def test_what_ends_llvm_is_a_refusal() -> None:
    """A name that PTX cannot have: LLVM's back end ends the process."""
    broken = 'target triple = "nvptx64-nvidia-cuda"\n@"a-b" = addrspace(1) global i32 0\n'
    with pytest.raises(InputError, match="LLVM cannot write k for sm_80: LLVM ERROR") as caught:
        write_text(broken, BackEnd("nvptx64-nvidia-cuda", "sm_80"), kernel_of(TEXT)[1])
    assert caught.value.findings[0].span is not None


def test_what_is_no_llvm_ir_is_a_refusal() -> None:
    with pytest.raises(InputError, match="LLVM cannot write k for gfx900"):
        write_text("nothing", GFX900, kernel_of(TEXT)[1])
