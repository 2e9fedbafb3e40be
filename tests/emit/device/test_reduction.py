"""The text of reductions: it reads like what one writes by hand, and helpers stand there once."""

from __future__ import annotations

from pathlib import Path

from warpsmith.emit.host.cuda import emit_cuda
from warpsmith.flows.porting.plan import writable_port
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.plan import OffloadOptions
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions

TWO_SUMS = """\
enum { N = 1000 };
double a[N], b[N];
double sum(int n) { double s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
double squares(int n) { double t = 1; for (int i = 0; i < n; i++) t += b[i] * b[i]; return t; }
"""
KERNEL = """\
__global__ void ws_sum_k1_kernel(const double *__restrict__ a_gpu, int n, double *s_partial)
{
    double s = -0.0;
    for (long long t_i = (long long)blockIdx.x * blockDim.x + threadIdx.x; t_i < n;
        t_i += (long long)gridDim.x * blockDim.x) {
        int i = (int)t_i;
        s += a_gpu[i];
    }
    s = ws_block_sum(s);
    if (threadIdx.x == 0)
        s_partial[blockIdx.x] = s;
}

__global__ void ws_sum_k1_finish(double *s_gpu, const double *s_partial, int blocks)
{
    double s = -0.0;
    for (int b = threadIdx.x; b < blocks; b += blockDim.x)
        s = s + s_partial[b];
    s = ws_block_sum(s);
    if (threadIdx.x == 0)
        *s_gpu += s;
}
"""


def kernels(text: str, directory: Path) -> str:
    path = directory / "r.c"
    path.write_text(text)
    program = load_program([str(path)], FrontOptions()).program
    facts = analyze(program, PolyOptions())
    ported = writable_port(Prepared(facts, facts), OffloadOptions()).port.program
    return next(f.text for f in emit_cuda(program, ported) if f.path.endswith("_kernels.cu"))


def test_a_sum_reads_like_a_sum(tmp_path: Path) -> None:
    assert KERNEL in kernels(TWO_SUMS, tmp_path)


def test_a_helper_stands_there_once_for_each_operation_and_type(tmp_path: Path) -> None:
    third = "int g(int n, const int *k) { int s = 0; for (int i = 0; i < n; i++) s += k[i]; return s; }"
    text = kernels(TWO_SUMS + third, tmp_path)
    assert text.count("static __device__ double ws_block_sum(double value)") == 1
    assert text.count("static __device__ int ws_block_sum(int value)") == 1


def test_the_grid_is_small_enough_for_one_block_to_finish(tmp_path: Path) -> None:
    text = kernels(TWO_SUMS, tmp_path)
    assert "const dim3 grid((unsigned)(blocks_x < 1024 ? blocks_x : 1024));" in text
    assert "ws_sum_k1_finish<<<1, 256>>>(s_gpu, s_partial, grid.x);" in text


def test_a_product_of_elements_is_a_compare_and_swap(tmp_path: Path) -> None:
    text = kernels("double p[9]; int k[99]; void g(void) { for (int i = 0; i < 99; i++) p[k[i]] *= 2.0; }", tmp_path)
    assert "ws_atomic_multiply(&p_gpu[k_gpu[i]], 2.0);" in text
    assert "} while (seen != expected);" in text
