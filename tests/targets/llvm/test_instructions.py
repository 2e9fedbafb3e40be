"""Instructions of one thread: what a machine has not is refused at its line."""

from __future__ import annotations

import pytest

from tests.targets.llvm.texts import ir_of, refusal
from warpsmith.targets.llvm.machines import Nvidia

REFUSED = {
    "a[0] = __syncthreads_count(a[1]);": "barriers of the whole block only",
    "a[0] = __match_any_sync(~0u, a[1]);": "gets no matches",
    "a[0] = __reduce_add_sync(~0u, a[1]);": "gets no reductions of warps",
    "a[0] = fmodf(a[0], 3.0f);": "fmodf is a function of AMD's device library",
}


@pytest.mark.parametrize("statement", REFUSED)
def test_what_is_refused_names_its_line(statement: str) -> None:
    finding = refusal(f"__global__ void k(int *a) {{\n    {statement}\n}}")
    words = REFUSED[statement].replace("fmodf", "fmod")
    assert words in finding.message.replace("fmodf", "fmod")
    assert finding.rule == "TGT001"
    assert finding.span is not None
    assert finding.span.line == 2


def test_atomic_operations_are_llvms() -> None:
    ir = ir_of("__global__ void k(int *a, float *f) { atomicMax(a, 3); atomicCAS(a, 1, 2); atomicAdd(f, 1.0f); }")
    assert "atomicrmw max ptr addrspace(1)" in ir
    assert "cmpxchg ptr addrspace(1)" in ir
    assert "atomicrmw fadd ptr addrspace(1)" in ir


def test_a_vector_is_read_whole() -> None:
    ir = ir_of("__global__ void k(int4 *a) { a[threadIdx.x] = a[3]; }")
    assert "load <4 x i32>, ptr addrspace(1)" in ir or ir.count("load i32, ptr addrspace(1)") == 4


def test_a_volatile_access_is_a_relaxed_one() -> None:
    ir = ir_of("__global__ void k(volatile int *a) { a[1] = a[0]; }")
    assert "load atomic i32" in ir
    assert "monotonic" in ir


def test_fences_have_the_scope_of_the_machine() -> None:
    text = "__global__ void k(int *a) { a[0] = 1; __threadfence(); a[1] = 2; }"
    assert 'fence syncscope("agent") seq_cst' in ir_of(text)
    assert 'fence syncscope("device") seq_cst' in ir_of(text, Nvidia())
