"""What is refused, at which line; vectors, shared memory, atomic operations."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tests.simt.engine.agree import Case
from tests.targets.il.writing.agree import agree
from tests.targets.mask.kernel_text import kernel_of
from warpsmith.base.errors import InputError
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.simt.launch import Launch
from warpsmith.ssa.nodes import Module
from warpsmith.targets.il.writing.export import write_il


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("a[i] = __shfl_down_sync(~0u, n, 1);", "AMD IL has no shuffles"),
        ("__syncwarp();\n a[i] = n;", "AMD IL has no barrier of a warp"),
        ("a[i] = __syncthreads_count(n);", "AMD IL has no barriers of a part of a block, or that reduce"),
        ("b[i] = tanhf(b[i]);", "AMD IL has no functions of mathematics"),
        ("((char *)a)[i] = 1;", "AMD IL has words of 32 bits, and this is i8"),
        ("b[i] = (float)((double)b[i] * 2.0);", "AMD IL has words of 32 bits, and this is f64"),
        ("long long s = (long long)i * n; a[i] = s > 5;", "needs all 64 bits"),
        ("int *p = i & 1 ? a : (int *)b; *p = n;", "this address may start from one of two arguments"),
        (
            "__shared__ int s; s = n; __syncthreads(); a[i] = atomicCAS(&s, n, i);",
            "AMD IL has no atomic_compare of i32 in shared memory",
        ),
        ("atomicAdd(b, 1.0f);", "AMD IL has no atomic_fadd of f32"),
        (
            "char own[4]; own[n & 3] = i; own[i & 3] = 2; a[i] = own[n & 1];",
            "AMD IL has words of 32 bits, and this is i8",
        ),
        ("a[i] = clock();", "AMD IL has no clock"),
        ("for (;;) a[i] += 1;", "no thread ever leaves this loop"),
    ],
)
def test_what_il_has_not_is_refused_at_its_line(tmp_path: Path, body: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        write_il(Module(()), kernel_of(tmp_path, body))
    (finding,) = caught.value.findings
    assert told in finding.message
    assert finding.rule == "TGT001" and finding.help
    assert finding.span is not None and finding.span.line >= 3


def _case(folder: Path, body: str, parameters: str = "int *a, float *b, int n") -> Case:
    path = folder / "k.cu"
    path.write_text(
        f"__global__ void k({parameters}) {{\n int i = blockIdx.x * blockDim.x + threadIdx.x;\n{body}\n}}\n"
    )
    unit = read_unit(KernelFile(str(path)))
    assert isinstance(unit, KernelUnit), unit
    arrays = {
        "a": (struct.pack("<256i", *(at * 7 % 11 for at in range(256))), True),
        "b": (struct.pack("<256f", *(at % 13 / 4 - 1 for at in range(256))), True),
    }
    return Case(unit.module, "k", Launch((2, 1, 1), (32, 1, 1), {"n": struct.pack("<i", 3)}, max_steps=40_000), arrays)


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("((int2 *)a)[i] = make_int2(n, i);", "uav_raw_store_id(0) mem0.xy__, "),
        ("float4 v = ((float4 *)b)[i]; a[i] = (int)(v.x + 2 * v.y + 4 * v.z + 8 * v.w);", "uav_raw_load_id(1) r1, "),
        ("__shared__ int t[32]; t[threadIdx.x] = i; __syncthreads(); a[i] = t[31 - threadIdx.x];",
         "fence_threads_memory_lds"),
        ("__shared__ float2 t[32]; t[threadIdx.x] = make_float2(n, i); __syncthreads(); b[i] = t[threadIdx.x ^ 1].y;",
         "dcl_lds_id(1) 256"),
        ("int own[4] = {1, 2, 3, 4}; own[n & 3] = i; a[i] = own[i & 3] + own[1];", "mov x0[r2.x].x___, vAbsTid.x"),
        ("float2 v[3] = {}; v[i % 3].y = n; b[i] = v[(i + n) % 3].y + v[1].x;", "dcl_indexed_temp_array x0[8]"),
        ("atomicAdd(&a[i & 3], n);", "uav_read_add_id(0) "),
        ("atomicCAS(&a[i], n, i + 100);", "uav_read_cmp_xchg_id(0) "),
        ("int old = 0, was; do { was = old; old = atomicCAS(&a[i & 3], was, was + i); } while (old != was);",
         "uav_read_cmp_xchg_id(0) "),
        ("atomicMax((unsigned *)&a[i & 3], (unsigned)-i);", "uav_read_umax_id(0) "),
        ("__shared__ int s; if (threadIdx.x == 0) s = 0; __syncthreads(); atomicAdd(&s, i); __syncthreads(); a[i] = s;",
         "lds_read_add_id(1) "),
        ("__threadfence(); a[i] = n;", "fence_memory"),
        ("b[i] = fmaf(b[i], 2.0f, 1.0f);", "fma "),
        ("b[i] = b[i] > 0.5f ? sqrtf(b[i]) : -b[i];", "sqrt_vec "),
        ("a[i] = threadIdx.x % 32 + (int)rintf(b[i]);", "round_nearest "),
    ],
)  # fmt: skip
def test_what_il_has_leaves_the_same_memory(tmp_path: Path, body: str, line: str) -> None:
    case = _case(tmp_path, body)
    function = case.module.function("k")
    assert function is not None and line in write_il(case.module, function).text
    assert agree(case, letter=True) == ""
    assert agree(case) == ""
