"""Addresses keep the memory that they point into."""

from __future__ import annotations

from tests.targets.llvm.texts import ir_of, kernel_of
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.targets.llvm.addresses import pointer_parameters
from warpsmith.targets.llvm.machines import Amd, Nvidia
from warpsmith.targets.llvm.scalar import write_thread

TEXT = """
__constant__ float weights[3] = {1.0f, 2.5f};
__global__ void k(float *a, const int *at, long long n, int m) {
    __shared__ float tile[64];
    float own[2];
    own[m] = a[at[m] + n];
    tile[m] = own[m] * weights[m];
    __syncthreads();
    a[m] = tile[63 - m];
}
"""


def test_arguments_that_are_addresses_are_pointers() -> None:
    _, kernel = kernel_of(TEXT)
    assert pointer_parameters(kernel) == {"a", "at"}


def test_each_memory_has_its_address_space() -> None:
    ir = ir_of(TEXT)
    assert 'define amdgpu_kernel void @"k"(ptr addrspace(1) %"a", ptr addrspace(1) %"at", i64 %"n", i32 %"m")' in ir
    assert '@"tile" = internal addrspace(3) global [64 x float] undef, align 4' in ir
    assert '@"weights" = addrspace(4) constant [3 x float]' in ir
    assert "alloca [2 x float], align 4, addrspace(5)" in ir
    assert "inttoptr" not in ir


def test_a_walking_pointer_is_a_number_that_becomes_a_pointer() -> None:
    ir = ir_of("__global__ void k(int *a, int n) { for (int *p = a; p < a + n; p += 2) *p = 1; }")
    assert "inttoptr i64" in ir


def test_dynamic_shared_memory_is_the_launchs() -> None:
    ir = ir_of("extern __shared__ int room[];\n__global__ void k(int *a) { room[threadIdx.x] = 1; a[0] = room[0]; }")
    assert "external addrspace(3) global [0 x i32]" in ir


def test_parts_of_a_structure_are_read_from_its_argument() -> None:
    ir = ir_of("struct S { int a; double b; };\n__global__ void k(double *o, S s) { o[0] = s.b + s.a; }")
    assert "[2 x i64]" in ir
    assert "i64 8" in ir


def test_constant_arguments_of_opencl_are_global_memory() -> None:
    loop = "for (__constant int *p = a; p < a + 5; p++) o[0] += *p;"
    text = f"__kernel void k(__global int *o, __constant int *a) {{ {loop} }}"
    unit = read_unit(KernelFile("k.cl", text=text))
    assert isinstance(unit, KernelUnit)
    for machine in (Amd(64), Nvidia()):
        assert "addrspace(4)" not in str(write_thread(unit.module, unit.module.functions[0], machine).module)
