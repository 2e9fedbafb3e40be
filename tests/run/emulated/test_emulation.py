"""Correct CUDA programs run on the emulation: right results under every schedule, and no false alarm."""

from __future__ import annotations

from tests.run.emulated.small_programs import outputs, program, run_all
from warpsmith.emit.files import OutputFile
from warpsmith.run.verification import Sources

_ARRAYS = """
template <class T> T *take(int n) { T *p; cudaMalloc((void **)&p, n * sizeof(T)); return p; }
template <class T> void up(T *to, const T *from, int n) { cudaMemcpy(to, from, n * sizeof(T), cudaMemcpyHostToDevice); }
template <class T> void down(T *to, const T *from, int n) {
    cudaMemcpy(to, from, n * sizeof(T), cudaMemcpyDeviceToHost);
}
"""


def _same(text: str, expected: str) -> None:
    assert outputs(run_all(program(_ARRAYS + text))) == [expected] * 3


def test_vector_addition_with_a_template_and_its_arguments_deduced() -> None:
    _same(
        """
template <class T> __global__ void add(const T *a, const T *b, T *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
int main() {
    const int n = 1000; static float a[n], b[n], c[n];
    for (int i = 0; i < n; i++) { a[i] = i; b[i] = 2 * i; }
    float *da = take<float>(n), *db = take<float>(n), *dc = take<float>(n);
    up(da, a, n); up(db, b, n);
    add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
    add<float><<<dim3(1), dim3(1), 0, 0>>>(da, db, dc, 0);
    down(c, dc, n);
    printf("%g %g\\n", c[1], c[999]);
}""",
        "3 2997\n",
    )


def test_names_with_dollars_splices_and_letters_beyond_ascii() -> None:
    _same(
        """
__device__ int n$1 = 2, größe = 5;
__global__ void k$a(int *a) { a[threadIdx.x] += n$1; }
__global__ void länge(int *a) { a[threadIdx.x] *= größe; }
int main() {
    int a[2] = {1, 2}, *d = take<int>(2), four = 4;
    up(d, a, 2);
    k$a<<<1, 2>>>(d);
    cudaMemcpyToSymbol(n$1, &four, sizeof four);
    k$\\
a<<<1, 2>>>(d);
    länge<<<1, 2>>>(d);
    down(a, d, 2);
    printf("%d %d\\n", a[0], a[1]);
}""".encode().decode("latin-1"),
        "35 40\n",
    )


def test_block_reduction_scan_and_transpose_have_no_false_race() -> None:
    _same(
        """
__global__ void reduce(const int *in, int *out, int n) {
    extern __shared__ int tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) tile[threadIdx.x] += tile[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = tile[0];
}
__global__ void scan(int *a) {
    __shared__ int x[128];
    int t = threadIdx.x;
    x[t] = a[t];
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        int v = t >= d ? x[t - d] : 0;
        __syncthreads();
        x[t] += v;
        __syncthreads();
    }
    a[t] = x[t];
}
__global__ void transpose(const int *a, int *b, int n) {
    __shared__ int tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < n && y < n) tile[threadIdx.y][threadIdx.x] = a[y * n + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x, y = blockIdx.x * 16 + threadIdx.y;
    if (x < n && y < n) b[y * n + x] = tile[threadIdx.x][threadIdx.y];
}
int main() {
    const int n = 37; static int a[n * n], b[n * n]; int s[6];
    for (int i = 0; i < n * n; i++) a[i] = i;
    int *da = take<int>(n * n), *db = take<int>(n * n);
    up(da, a, n * n);
    reduce<<<6, 256, 256 * sizeof(int)>>>(da, db, n * n);
    down(s, db, 6);
    transpose<<<dim3(3, 3), dim3(16, 16)>>>(da, db, n);
    down(b, db, n * n);
    int wrong = 0;
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) wrong += b[i * n + j] != a[j * n + i];
    scan<<<1, 128>>>(da);
    down(a, da, 128);
    printf("%d %d %d\\n", s[0] + s[1] + s[2] + s[3] + s[4] + s[5], wrong, a[127]);
}""",
        f"{37 * 37 * (37 * 37 - 1) // 2} 0 {127 * 128 // 2}\n",
    )


def test_tiled_matrix_product() -> None:
    _same(
        """
#define T 8
__global__ void mul(const double *a, const double *b, double *c, int n) {
    __shared__ double x[T][T], y[T][T];
    int i = blockIdx.y * T + threadIdx.y, j = blockIdx.x * T + threadIdx.x;
    double sum = 0;
    for (int k = 0; k < n; k += T) {
        x[threadIdx.y][threadIdx.x] = i < n && k + threadIdx.x < n ? a[i * n + k + threadIdx.x] : 0;
        y[threadIdx.y][threadIdx.x] = j < n && k + threadIdx.y < n ? b[(k + threadIdx.y) * n + j] : 0;
        __syncthreads();
        for (int l = 0; l < T; l++) sum += x[threadIdx.y][l] * y[l][threadIdx.x];
        __syncthreads();
    }
    if (i < n && j < n) c[i * n + j] = sum;
}
int main() {
    const int n = 21; static double a[n * n], b[n * n], c[n * n];
    for (int i = 0; i < n * n; i++) a[i] = i % 7, b[i] = i % 5;
    double *da = take<double>(n * n), *db = take<double>(n * n), *dc = take<double>(n * n);
    up(da, a, n * n); up(db, b, n * n);
    mul<<<dim3(3, 3), dim3(T, T)>>>(da, db, dc, n);
    down(c, dc, n * n);
    double worst = 0;
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {
        double s = 0; for (int k = 0; k < n; k++) s += a[i * n + k] * b[k * n + j];
        worst = fmax(worst, fabs(s - c[i * n + j]));
    }
    printf("%g\\n", worst);
}""",
        "0\n",
    )


def test_warp_operations_votes_tiles_and_active_mask() -> None:
    _same(
        """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void warp(int *out) {
    int lane = threadIdx.x & 31, v = lane;
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    int x = lane;
    for (int d = 1; d < 32; d *= 2) { int y = __shfl_up_sync(0xffffffff, x, d); if (lane >= d) x += y; }
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int t = tile.thread_rank();
    for (int d = 4; d; d /= 2) t += tile.shfl_xor(t, d);
    unsigned odd = __ballot_sync(0xffffffff, lane & 1);
    int together = 0;
    if (lane < 5) { unsigned m = __activemask(); together = __popc(m); }
    if (threadIdx.x == 31) { out[1] = x; out[2] = t; out[3] = __popc(odd); }
    if (threadIdx.x == 0) { out[0] = v; out[4] = together; }
}
__global__ void vote(int *out) {
    int n = __syncthreads_count(threadIdx.x < 10);
    int every = __syncthreads_and(1), some = __syncthreads_or(threadIdx.x == 3);
    if (threadIdx.x == 0) out[0] = n * 100 + every * 10 + some;
}
int main() {
    int h[6], *d = take<int>(6);
    warp<<<1, 64>>>(d);
    vote<<<1, 50>>>(d + 5);
    down(h, d, 6);
    printf("%d %d %d %d %d %d\\n", h[0], h[1], h[2], h[3], h[4], h[5]);
}""",
        "496 496 28 16 5 1011\n",
    )


def test_a_warp_writes_shared_memory_and_reads_it_after_syncwarp() -> None:
    _same(
        """
__global__ void swap(int *a) {
    __shared__ int s[64];
    s[threadIdx.x] = a[threadIdx.x];
    __syncwarp();
    a[threadIdx.x] = s[threadIdx.x ^ 1];
}
int main() {
    int h[64], *d = take<int>(64);
    for (int i = 0; i < 64; i++) h[i] = i;
    up(d, h, 64); swap<<<1, 64>>>(d); down(h, d, 64);
    printf("%d %d\\n", h[0], h[63]);
}""",
        "1 62\n",
    )


def test_atomics_symbols_constants_and_the_last_block() -> None:
    _same(
        """
__constant__ int weight[4] = {1, 2, 3, 4};
__constant__ double scale;
__device__ unsigned int done, bins[8];
__device__ double total = 0.5;
__device__ bool last_;
__global__ void histogram(const int *a, int n, int *partial, int *sum) {
    __shared__ bool last;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { atomicAdd(&bins[a[i] & 7], 1u); atomicAdd(&total, scale * weight[i & 3]); }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = blockIdx.x + 1;
        __threadfence();
        last = atomicInc(&done, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int s = 0;
        for (int b = 0; b < gridDim.x; b++) s += partial[b];
        *sum = s;
    }
}
int main() {
    const int n = 512; int a[n]; unsigned h[8]; double w = 0.25, t; int s;
    for (int i = 0; i < n; i++) a[i] = i;
    int *d = take<int>(n), *p = take<int>(4), *sum = take<int>(1);
    up(d, a, n);
    cudaMemcpyToSymbol(scale, &w, sizeof w);
    histogram<<<4, 128>>>(d, n, p, sum);
    cudaMemcpyFromSymbol(h, bins, sizeof h); cudaMemcpyFromSymbol(&t, total, sizeof t); down(&s, sum, 1);
    printf("%u %u %g %d\\n", h[0], h[7], t, s);
}""",
        "64 64 320.5 10\n",
    )


def test_vector_types_managed_memory_pitch_streams_events_and_printf() -> None:
    _same(
        """
#include <cassert>
struct Body { float4 p; char tag; };
__device__ __forceinline__ float length(float4 v) { return sqrtf(v.x * v.x + v.y * v.y + v.z * v.z) + rsqrtf(v.w); }
__noinline__ __device__ float twice(float x) { return __fmaf_rn(2.f, x, 0.f); }
__global__ void __launch_bounds__(64) go(Body *b, float *out, size_t pitch) {
    assert(blockDim.x == 4);
    Body copy = b[threadIdx.x];
    float local[3] = {length(copy.p), twice(1), (float)min(3, 4)};
    float *row = (float *)((char *)out + threadIdx.x * pitch);
    row[0] = local[0] + local[1] + local[2] + max(1.f, 2.f);
    if (threadIdx.x == 2) printf("kernel %u %d\\n", threadIdx.x, (int)copy.tag);
}
int main() {
    Body *b; cudaMallocManaged(&b, 4 * sizeof(Body));
    for (int i = 0; i < 4; i++) b[i] = Body{make_float4(3, 4, 0, 1), (char)i};
    float *out, host[4]; size_t pitch;
    cudaMallocPitch(&out, &pitch, sizeof(float), 4);
    cudaStream_t s; cudaStreamCreate(&s);
    cudaEvent_t e, f; cudaEventCreate(&e); cudaEventCreate(&f); cudaEventRecord(e, s);
    go<<<1, 4, 0, s>>>(b, out, pitch);
    cudaEventRecord(f, s); cudaEventSynchronize(f); float ms = -1; cudaEventElapsedTime(&ms, e, f);
    cudaMemcpy2D(host, sizeof(float), out, pitch, sizeof(float), 4, cudaMemcpyDeviceToHost);
    cudaDeviceProp p; cudaGetDeviceProperties(&p, 0);
    printf("%g %g %d %d\\n", host[0], host[3], ms >= 0, p.maxThreadsPerBlock);
    cudaFree(out); cudaFree(b); cudaStreamDestroy(s);
    return cudaGetLastError();
}""",
        "kernel 2 2\n13 13 1 1024\n",
    )


def test_threads_that_return_early_count_as_arrived() -> None:
    _same(
        """
__global__ void go(int *a, int n) {
    __shared__ int s[64];
    if (threadIdx.x >= n) return;
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    a[threadIdx.x] = s[n - 1 - threadIdx.x];
}
int main() { int h[40], *d = take<int>(40); go<<<1, 64>>>(d, 40); down(h, d, 40); printf("%d %d\\n", h[0], h[39]); }""",
        "39 0\n",
    )


def test_grid_barrier_and_a_block_that_waits_for_another() -> None:
    _same(
        """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void exchange(int *a, int *b) {
    auto grid = cg::this_grid();
    int i = grid.thread_rank(), n = grid.size();
    a[i] = i;
    grid.sync();
    b[i] = a[n - 1 - i];
}
__device__ int flag;
__global__ void chain(int *order) {
    if (threadIdx.x == 0) {
        while (atomicAdd(&flag, 0) != blockIdx.x) ;
        order[blockIdx.x] = blockIdx.x;
        atomicAdd(&flag, 1);
    }
}
int main() {
    const int n = 96; int h[n], *a = take<int>(n), *b = take<int>(n);
    void *arguments[] = {&a, &b};
    cudaLaunchCooperativeKernel((void *)exchange, dim3(3), dim3(32), arguments, 0, 0);
    down(h, b, n);
    chain<<<4, 32>>>(a);
    printf("%d %d %s\\n", h[0], h[95], cudaGetErrorString(cudaDeviceSynchronize()));
}""",
        "95 0 no error\n",
    )


def test_a_c_host_with_kernels_in_a_second_file() -> None:
    host = """#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>
#include "k.h"
int main(void) {
    int class = 3, i, *a = malloc(10 * sizeof *a), *d;
    dim3 shape = {1, 1, 1};
    for (i = 0; i < 10; i++) a[i] = i;
    if (cudaMalloc((void **)&d, 10 * sizeof *d) != cudaSuccess) return 1;
    cudaMemcpy(d, a, 10 * sizeof *d, cudaMemcpyHostToDevice);
    go(d, 10);
    cudaMemcpy(a, d, 10 * sizeof *d, cudaMemcpyDeviceToHost);
    printf("%d %d\\n", a[9] + class, (int)shape.x);
    return cudaFree(d);
}
"""
    header = '#ifdef __cplusplus\nextern "C"\n#endif\nvoid go(int *a, int n);\n'
    kernels = """#include "k.h"
__global__ static void twice(int *a, int n) {
    int i = threadIdx.x;
    if (i < n) a[i] *= 2;
}
extern "C" {
void go(int *a, int n) { twice<<<1, 32>>>(a, n); }
}
"""
    files = (OutputFile("main.c", host), OutputFile("k.cu", kernels), OutputFile("k.h", header))
    assert outputs(run_all(Sources(files, ("-std=c99",)))) == ["21 1\n"] * 3


def test_ten_thousand_launches() -> None:
    _same(
        """
__global__ void one(int *a) { a[threadIdx.x] += 1; }
int main() {
    int h[32], *d = take<int>(32);
    cudaMemset(d, 0, sizeof h);
    for (int i = 0; i < 10000; i++) one<<<1, 32>>>(d);
    down(h, d, 32);
    printf("%d\\n", h[31]);
}""",
        "10000\n",
    )


def test_names_of_the_language_are_free_for_the_host() -> None:
    _same(
        """
struct Shape { dim3 gridDim, blockDim; int warpSize; };
__global__ void fill(int *a, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) a[i] = i / warpSize;
}
int main() {
    int h[100], *d = take<int>(100);
    dim3 blockDim(16, 1), gridDim(3);
    Shape s{gridDim, blockDim, 32};
    fill<<<gridDim, blockDim>>>(d, 100);
    fill<<<s.gridDim, s.blockDim>>>(d, 50);
    down(h, d, 100);
    printf("%d %d\\n", h[31], h[99]);
}""",
        "0 3\n",
    )


def test_device_heap_groups_by_label_and_launches_from_several_host_threads() -> None:
    _same(
        """
#include <cooperative_groups.h>
#include <thread>
#include <vector>
namespace cg = cooperative_groups;
__global__ void labels(int *out) {
    auto same = cg::labeled_partition(cg::coalesced_threads(), threadIdx.x % 3);
    int *box = new int(threadIdx.x);
    int *copy = (int *)malloc(sizeof *copy);
    *copy = *box + same.size();
    out[threadIdx.x] = *copy;
    delete box; free(copy);
}
__global__ void add(int *a) { a[threadIdx.x] += 1; }
int main() {
    int h[32], *d = take<int>(32);
    labels<<<1, 32>>>(d);
    down(h, d, 32);
    printf("%d %d %d ", h[0], h[1], h[2]);
    cudaMemset(d, 0, sizeof h);
    std::vector<std::thread> hosts;
    for (int t = 0; t < 4; t++)
        hosts.emplace_back([=] { for (int i = 0; i < 50; i++) { std::vector<int> v(8, i); add<<<1, 32>>>(d); } });
    for (auto &host : hosts) host.join();
    down(h, d, 32);
    printf("%d\\n", h[31]);
}""",
        "11 12 12 200\n",
    )


_COPIES = """
#include <cuda_pipeline.h>
__global__ void reverse(int *a, double *b) {
    __shared__ int tile[64];
    __shared__ double wide[2][64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &a[t], 4);
    __pipeline_commit();
    __pipeline_memcpy_async(&wide[0][t], &b[t], 8);
    __pipeline_memcpy_async(&wide[1][t], &b[t], 8, 8);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    a[t] = tile[63 - t];
    FIRST
    __pipeline_wait_prior(0);
    __syncthreads();
    b[t] = wide[0][63 - t] + wide[1][63 - t];
}
int main() {
    static int h[64]; static double g[64];
    for (int i = 0; i < 64; i++) { h[i] = i; g[i] = i / 2.0; }
    int *a = take<int>(64); double *b = take<double>(64);
    up(a, h, 64); up(b, g, 64);
    reverse<<<1, 64>>>(a, b);
    down(h, a, 64); down(g, b, 64);
    printf("%d %d %g %g\\n", h[0], h[63], g[0], g[62]);
}"""


def test_asynchronous_copies_arrive_where_threads_wait_for_them() -> None:
    _same(_COPIES.replace("FIRST", ""), "63 0 31.5 0.5\n")


def test_what_is_read_before_a_copy_has_arrived_is_wrong() -> None:
    text = _COPIES.replace("FIRST", "if (wide[0][t] == t / 2.0) a[t] = -1;")
    _same(text, "63 0 31.5 0.5\n")
