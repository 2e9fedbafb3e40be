"""Three small programs and a correct CUDA port of each; mutants.py gets the ports wrong."""

from __future__ import annotations

from warpsmith.emit.files import OutputFile
from warpsmith.run.verification import Sources

_CAPTURE = """
#ifdef __cplusplus
extern "C"
#endif
void ws_capture(const char *region, const char *name, const void *object, long long declared_bytes, int kind,
                int element_size, long long lower, long long upper, const void *device);
"""

_LU_HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
"""

_LU_MAIN = """
int main(void)
{
    int N = 20;
    double *A = (double *)malloc(sizeof(double) * N * (N + 2));
    double sum = 0;
    for (int i = 0; i < N * (N + 2); i++)
        A[i] = 0.25 + (i * 37 % 101) / 101.0 + (i % (N + 1) == 0 ? N : 0);
    lu(A, N);
    for (int i = 0; i < N * (N + 2); i++)
        sum += A[i] * (i % 7 + 1);
    printf("checksum %.12g\\n", sum);
    free(A);
    return 0;
}
"""

LU = (
    _LU_HEAD
    + _CAPTURE
    + """
static void lu(double *A, int N)
{
    for (int k = 0; k < N; k++) {
        for (int i = k + 1; i < N; i++)
            A[i * N + k] /= A[k * N + k];
        for (int i = k + 1; i < N; i++)
            for (int j = k + 1; j < N; j++)
                A[i * N + j] -= A[i * N + k] * A[k * N + j];
    }
    ws_capture("lu/k", "A", A, -1, 3, 8, 0, N * N, 0);
}
"""
    + _LU_MAIN
)

LU_PORT = (
    _LU_HEAD
    + "#include <cuda_runtime.h>\n"
    + _CAPTURE
    + """
double scale = 1.0;
__device__ double device_temp;

__global__ void divide(double *A, int N, int k)
{
    int i = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    const double *pivot = A + k * N + k;
    if (i < N)
        A[i * N + k] = A[i * N + k] / *pivot /* the diagonal */;
}

__global__ void update(double *A, int N, int k)
{
    int j = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    int i = k + 1 + blockIdx.y * blockDim.y + threadIdx.y;
    if (i < N && j < N) {
        double t = A[i * N + k] * A[k * N + j];
        A[i * N + j] -= t;
    }
}

static void lu(double *A, int N)
{
    double *A_gpu;
    size_t bytes = sizeof(double) * N * N;
    dim3 block(8, 4), grid((N + 7) / 8, (N + 3) / 4);
    cudaMalloc((void **)&A_gpu, bytes);
    cudaMemcpy(A_gpu, A, bytes, cudaMemcpyHostToDevice);
    for (int k = 0; k < N; k++) {
        divide<<<(N + 31) / 32, 32>>>(A_gpu, N, k);
        update<<<grid, block>>>(A_gpu, N, k);
    }
    ws_capture("lu/k", "A", A, -1, 3, 8, 0, N * N, A_gpu);
    cudaMemcpy(A, A_gpu, bytes, cudaMemcpyDeviceToHost);
    cudaFree(A_gpu);
}
"""
    + _LU_MAIN
)

_CHAIN_HEAD = """#include <stdio.h>
#include <stdlib.h>
#define N 300
static int x[N], y[N], scan[N], hits;
static float a[N + 1], b[N], c[N], e[N], total;
"""

_CHAIN_MAIN = """
int main(void)
{
    for (int i = 0; i < N; i++) {
        x[i] = i * 13 % 17 + 1;
        y[i] = i * 5 % 11 - 3;
        b[i] = 1.5f + i % 7;
        c[i] = 2.0f + i % 5;
        e[i] = 0.5f * (i % 3) + 0.125f;
    }
    chain();
    for (int i = 0; i < N; i += 23)
        printf("%d %d %.6f\\n", y[i], scan[i], a[i]);
    printf("last %d %.6f total %.4f hits %d\\n", scan[N - 1], a[N], total, hits);
    return 0;
}
"""

CHAIN = (
    _CHAIN_HEAD
    + """
static void chain(void)
{
    for (int i = 0; i < N; i++)
        y[i] = 3 * x[i] + y[i];
    scan[0] = y[0];
    for (int i = 1; i < N; i++)
        scan[i] = scan[i - 1] + y[i];
    for (int i = 0; i < N; i++) {
        a[i + 1] = b[i] + e[i];
        a[i] = b[i] + c[i];
    }
    total = 0;
    for (int i = 0; i < N; i++)
        total += b[i];
    hits = 0;
    for (int i = 0; i < N; i++)
        if (y[i] > 20)
            hits++;
}
"""
    + _CHAIN_MAIN
)

CHAIN_PORT = (
    _CHAIN_HEAD
    + """
#include <cuda_runtime.h>

__global__ void saxpy(const int *x_gpu, int *y_gpu, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y_gpu[i] = 3 * x_gpu[i] + y_gpu[i];
}

__global__ void prefix(const int *y_gpu, int *scan_gpu, int n)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        scan_gpu[0] = y_gpu[0];
        for (int i = 1; i < n; i++)
            scan_gpu[i] = scan_gpu[i - 1] + y_gpu[i];
    }
}

__global__ void pairs(float *a_gpu, const float *b_gpu, const float *c_gpu, const float *e_gpu, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a_gpu[i] = b_gpu[i] + c_gpu[i];
    if (i == n)
        a_gpu[n] = b_gpu[n - 1] + e_gpu[n - 1];
}

__global__ void sums(const float *b_gpu, const int *y_gpu, float *total_gpu, int *hits_gpu, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) {
        float s = 0;
        for (int k = 0; k < n; k++)
            s += b_gpu[k];
        *total_gpu = s;
    }
    if (i < n && y_gpu[i] > 20)
        atomicAdd(hits_gpu, 1);
}

static void chain(void)
{
    int *x_gpu, *y_gpu, *scan_gpu, *hits_gpu;
    float *a_gpu, *b_gpu, *c_gpu, *e_gpu, *total_gpu;
    cudaMalloc((void **)&x_gpu, sizeof x);
    cudaMalloc((void **)&y_gpu, sizeof y);
    cudaMalloc((void **)&scan_gpu, sizeof scan);
    cudaMalloc((void **)&hits_gpu, sizeof hits);
    cudaMalloc((void **)&a_gpu, sizeof a);
    cudaMalloc((void **)&b_gpu, sizeof b);
    cudaMalloc((void **)&c_gpu, sizeof c);
    cudaMalloc((void **)&e_gpu, sizeof e);
    cudaMalloc((void **)&total_gpu, sizeof total);
    cudaMemcpy(x_gpu, x, sizeof x, cudaMemcpyHostToDevice);
    cudaMemcpy(y_gpu, y, sizeof y, cudaMemcpyHostToDevice);
    cudaMemcpy(b_gpu, b, sizeof b, cudaMemcpyHostToDevice);
    cudaMemcpy(c_gpu, c, sizeof c, cudaMemcpyHostToDevice);
    cudaMemcpy(e_gpu, e, sizeof e, cudaMemcpyHostToDevice);
    saxpy<<<(N + 63) / 64, 64>>>(x_gpu, y_gpu, N);
    prefix<<<(N + 63) / 64, 64>>>(y_gpu, scan_gpu, N);
    pairs<<<(N + 64) / 64, 64>>>(a_gpu, b_gpu, c_gpu, e_gpu, N);
    cudaMemset(hits_gpu, 0, sizeof hits);
    sums<<<(N + 63) / 64, 64>>>(b_gpu, y_gpu, total_gpu, hits_gpu, N);
    cudaMemcpy(y, y_gpu, sizeof y, cudaMemcpyDeviceToHost);
    cudaMemcpy(scan, scan_gpu, sizeof scan, cudaMemcpyDeviceToHost);
    cudaMemcpy(a, a_gpu, sizeof a, cudaMemcpyDeviceToHost);
    cudaMemcpy(&total, total_gpu, sizeof total, cudaMemcpyDeviceToHost);
    cudaMemcpy(&hits, hits_gpu, sizeof hits, cudaMemcpyDeviceToHost);
}
"""
    + _CHAIN_MAIN
)

_HEAT_HEAD = """#include <stdio.h>
#include <stdlib.h>
#define N 150
#define T 6
#define BLOCK 32
static double u[N], v[N];
static float gain = 0.25f;
"""

_HEAT_MAIN = """
int main(void)
{
    for (int i = 0; i < N; i++)
        u[i] = v[i] = 1.0 + (i * 29 % 31) / 31.0;
    heat();
    for (int i = 0; i < N; i++)
        printf("%.12g\\n", u[i]);
    return 0;
}
"""

HEAT = (
    _HEAT_HEAD
    + _CAPTURE
    + """
static void heat(void)
{
    enum { INNER = N - 1 };
    for (int t = 0; t < T; t++) {
        for (int i = 1; i < INNER; i++)
            v[i] = gain * (u[i - 1] + 2 * u[i] + u[i + 1]);
        for (int i = 1; i < INNER; i++)
            u[i] = v[i];
        ws_capture("heat/i", "u", u, sizeof u, 3, 8, 0, N, 0);
    }
}
"""
    + _HEAT_MAIN
)

HEAT_PORT = (
    _HEAT_HEAD
    + "#include <cuda_runtime.h>\n"
    + _CAPTURE
    + """
enum { INNER = N - 1 };
static double half = 0.5;
__device__ double shared_temp;

__global__ void step(const double *u_gpu, double *v_gpu, float gain)
{
    __shared__ double tile[BLOCK + 2];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    if (i < N)
        tile[t + 1] = u_gpu[i];
    if (t == 0 && i > 0)
        tile[0] = u_gpu[i - 1];
    if (t == BLOCK - 1 && i + 1 < N)
        tile[BLOCK + 1] = u_gpu[i + 1];
    __syncthreads();
    if (i > 0 && i < INNER) {
        double sum = tile[t] + 2 * tile[t + 1] + tile[t + 2];
        v_gpu[i] = gain * sum;
    }
}

__global__ void back(double *u_gpu, const double *v_gpu)
{
    int i = 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < INNER)
        u_gpu[i] = v_gpu[i];
}

static void heat(void)
{
    double *u_gpu, *v_gpu;
    int blocks = (N + BLOCK - 1) / BLOCK;
    cudaMalloc((void **)&u_gpu, sizeof u);
    cudaMalloc((void **)&v_gpu, sizeof v);
    cudaMemcpy(u_gpu, u, sizeof u, cudaMemcpyHostToDevice);
    cudaMemcpy(v_gpu, v, sizeof v, cudaMemcpyHostToDevice);
    for (int t = 0; t < T; t++) {
        step<<<blocks, BLOCK>>>(u_gpu, v_gpu, gain);
        back<<<blocks, BLOCK>>>(u_gpu, v_gpu);
        ws_capture("heat/i", "u", u, sizeof u, 3, 8, 0, N, u_gpu);
    }
    cudaMemcpy(u, u_gpu, sizeof u, cudaMemcpyDeviceToHost);
    cudaMemcpy(v, v_gpu, sizeof v, cudaMemcpyDeviceToHost);
}
"""
    + _HEAT_MAIN
)

# the first number is what is left of a sum of large terms: few of its digits are determined
_LINE_HEAD = """#include <stdio.h>
#define N 300
static double a[N], b[N];
"""

_LINE_MAIN = """
int main(void)
{
    double rest = 36398.6;
    for (int i = 0; i < N; i++)
        b[i] = i / 7.0;
    line(N);
    for (int i = 0; i < N; i++)
        rest += (i % 2 ? -1 : 1) * (b[i] * 1.7 + 0.3) * 1e3 + i % 3 * 0.1;
    printf("%.17g\\n", rest);
    for (int i = 0; i < N; i++)
        printf("%.17g\\n", a[i]);
    return 0;
}
"""

LINE = (
    _LINE_HEAD
    + """
static void line(int n)
{
    for (int i = 0; i < n; i++)
        a[i] = b[i] * 1.7 + 0.3;
}
"""
    + _LINE_MAIN
)

LINE_PORT = (
    _LINE_HEAD
    + """#include <cuda_runtime.h>
__global__ void points(double *a_gpu, const double *b_gpu, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a_gpu[i] = b_gpu[i] * 1.7 + 0.3;
}

static void line(int n)
{
    double *a_gpu, *b_gpu;
    cudaMalloc((void **)&a_gpu, sizeof a);
    cudaMalloc((void **)&b_gpu, sizeof b);
    cudaMemcpy(b_gpu, b, sizeof b, cudaMemcpyHostToDevice);
    points<<<(n + 63) / 64, 64>>>(a_gpu, b_gpu, n);
    cudaMemcpy(a, a_gpu, sizeof a, cudaMemcpyDeviceToHost);
}
"""
    + _LINE_MAIN
)


PROGRAMS: dict[str, tuple[Sources, str]] = {
    "lu": (Sources((OutputFile("lu.c", LU),), captured=True), LU_PORT),
    "chain": (Sources((OutputFile("chain.c", CHAIN),)), CHAIN_PORT),
    "heat": (Sources((OutputFile("heat.c", HEAT),), captured=True), HEAT_PORT),
    "line": (Sources((OutputFile("line.c", LINE),)), LINE_PORT),
}
