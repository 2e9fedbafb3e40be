"""Wrong CUDA programs: each mistake is reported with array, index, threads and lines, or shows in the result."""

from __future__ import annotations

import signal
from math import isnan

import pytest

from tests.run.emulated.small_programs import SCHEDULES, program, run_all
from warpsmith.base.findings import Finding
from warpsmith.run.emulated.build import RunResult
from warpsmith.run.native.tools import RunLimits
from warpsmith.run.verification import Race


def _races(body: str, array: str) -> list[Race]:
    """Run under the three schedules; return the first race on `array` of each, which must exist."""
    found: list[Race] = []
    for result in run_all(program(body)):
        races = [race for race in result.seen.races if race.variable == array]
        assert races, result.seen
        found.append(races[0])
    return found


def _failure(body: str, rule: str) -> tuple[Finding, RunResult]:
    """Run under the three schedules; return the first failure, which must carry `rule` in each."""
    results = run_all(program(body))
    for result in results:
        assert result.seen.failures, (result.ran, result.seen)
        assert result.seen.failures[0].rule == rule
    return results[0].seen.failures[0], results[0]


def test_reduction_without_its_barrier() -> None:
    races = _races(
        """
__global__ void reduce(const int *in, int *out) {
    __shared__ int tile[128];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1)
        if (threadIdx.x < s)
            tile[threadIdx.x] += tile[threadIdx.x + s];
    if (threadIdx.x == 0) *out = tile[0];
}
int main() {
    int *in, *out; cudaMalloc(&in, 512); cudaMalloc(&out, 4); cudaMemset(in, 0, 512);
    reduce<<<1, 128>>>(in, out);
}
""",
        "tile",
    )
    for race in races:
        assert {span.line for span in race.spans} <= {8, 9}
        assert 0 <= race.index < 128
        assert race.threads[0] != race.threads[1]
        assert "block (0) thread" in race.threads[0]


def test_prefix_sum_wrongly_parallel() -> None:
    races = _races(
        """
__global__ void prefix(float *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i < n) a[i] = a[i] + a[i - 1];
}
int main() { float *sums; cudaMalloc(&sums, 4000); cudaMemset(sums, 0, 4000); prefix<<<4, 256>>>(sums, 1000); }
""",
        "sums",
    )
    assert all(race.spans and race.spans[0].line == 4 and len(race.spans) == 2 for race in races)


def test_histogram_without_atomics_and_a_sum_in_one_variable() -> None:
    races = _races(
        """
__device__ int total;
__global__ void count(int *bins) { bins[threadIdx.x % 7] += 1; total += 1; }
int main() { int *bins; cudaMalloc(&bins, 28); cudaMemset(bins, 0, 28); count<<<2, 64>>>(bins); }
""",
        "bins",
    )
    assert all(race.index < 7 for race in races)


def test_device_variable_is_named() -> None:
    assert (
        _races(
            """
__device__ int total[3];
__global__ void count() { total[1] += 1; }
int main() { count<<<2, 64>>>(); }
""",
            "total",
        )[0].index
        == 1
    )


def test_atomic_against_plain_and_another_blocks_result() -> None:
    _races(
        """
__global__ void mixed(int *a) { atomicAdd(a, 1); if (threadIdx.x == 5) a[1] = a[0]; }
int main() { int *box; cudaMalloc(&box, 8); cudaMemset(box, 0, 8); mixed<<<1, 64>>>(box); }
""",
        "box",
    )
    _races(
        """
__global__ void other(int *a) { a[blockIdx.x] = 1; __syncthreads(); if (blockIdx.x == 1) a[2] = a[0]; }
int main() { int *box; cudaMalloc(&box, 12); other<<<2, 1>>>(box); }
""",
        "box",
    )


def test_write_after_many_reads() -> None:
    races = _races(
        """
__global__ void late(int *a, int *b) {
    b[threadIdx.x + 64 * blockIdx.x] = a[0];
    if (threadIdx.x == 63 && blockIdx.x == 1) a[0] = 7;
}
int main() {
    int *box, *to; cudaMalloc(&box, 4); cudaMalloc(&to, 512); cudaMemset(box, 0, 4);
    late<<<2, 64>>>(box, to);
}
""",
        "box",
    )
    assert "reads" in races[0].text and "writes" in races[0].text


def test_bytes_next_to_each_other_are_no_race_but_overlapping_ones_are() -> None:
    clean = """
__global__ void bytes(char *a) { a[threadIdx.x] = 1; }
int main() {
    int h; char *text; cudaMalloc(&text, 64);
    bytes<<<1, 64>>>(text);
    return cudaMemcpy(&h, text, 4, cudaMemcpyDefault);
}
"""
    assert not any(result.seen.races for result in run_all(program(clean)))
    _races(
        clean.replace(
            "a[threadIdx.x] = 1", "if (threadIdx.x % 2) a[threadIdx.x] = 1; else *(int *)(a + threadIdx.x / 4 * 4) = 0"
        ),
        "text",
    )


def test_memset_of_device_code_is_an_access() -> None:
    _races(
        """
#include <cstring>
__global__ void wipe(char *a) { memset(a + threadIdx.x, 1, 2); }
int main() { char *text; cudaMalloc(&text, 65); wipe<<<1, 64>>>(text); cudaMemset(text, 0, 65); }
""".replace("memset(a + threadIdx.x, 1, 2)", "memset(a + threadIdx.x, threadIdx.x, 2)"),
        "text",
    )


def test_two_writes_of_one_value_are_told_apart() -> None:
    results = run_all(
        program(
            """
__global__ void flag(int *done, int *last) { done[0] = 1; last[0] = threadIdx.x; }
int main() {
    int *done, *last; cudaMalloc(&done, 4); cudaMalloc(&last, 4); cudaMemset(done, 0, 4);
    flag<<<1, 64>>>(done, last);
}
"""
        )
    )
    for result in results:
        assert {race.variable for race in result.seen.races} == {"last"}
        assert {race.variable for race in result.seen.silent_races} <= {"done"}


def test_a_missing_syncwarp_is_a_race_in_the_warp() -> None:
    _races(
        """
__global__ void swap(int *a) {
    __shared__ int s[32];
    s[threadIdx.x] = a[threadIdx.x];
    a[threadIdx.x] = s[threadIdx.x ^ 1];
}
int main() { int *d; cudaMalloc(&d, 128); cudaMemset(d, 0, 128); swap<<<1, 32>>>(d); }
""",
        "s",
    )


def test_out_of_bounds_by_one_and_after_free() -> None:
    finding, result = _failure(
        """
__global__ void fill(double *a, int n) { int i = threadIdx.x; if (i <= n) a[i] = 1; }
int main() {
    double *box; cudaMalloc(&box, 31 * sizeof(double));
    fill<<<1, 64>>>(box, 31);
    printf("%s\\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
""",
        "VER041",
    )
    assert "box[31]" in finding.message and "31 elements of 8 bytes" in finding.message
    assert finding.span is not None and finding.span.line == 2
    assert finding.related[0].span.line == 4
    assert result.ran.stdout == b"cudaErrorIllegalAddress\n"
    freed, _ = _failure(
        """
__global__ void fill(int *a) { a[0] = 1; }
int main() { int *box; cudaMalloc(&box, 4); cudaFree(box); fill<<<1, 1>>>(box); }
""",
        "VER041",
    )
    assert "after it was freed" in freed.message


def test_dynamic_shared_memory_has_bounds() -> None:
    _failure(
        """
__global__ void fill() { extern __shared__ float s[]; s[threadIdx.x] = 1; }
int main() { fill<<<1, 33, 32 * sizeof(float)>>>(); }
""",
        "VER041",
    )


@pytest.mark.parametrize("place", ["static int table[4]; int *box = table;", "int table[4]; int *box = table;",
                                   "int *box = new int[4];"])  # fmt: skip
def test_a_kernel_must_not_touch_host_memory(place: str) -> None:
    finding, _ = _failure(
        f"""
__global__ void fill(int *a) {{ a[1] = 1; }}
int main() {{ {place} fill<<<1, 1>>>(box); }}
""",
        "VER042",
    )
    assert finding.span is not None and finding.span.line == 2


def test_the_host_must_not_touch_device_memory() -> None:
    finding, result = _failure(
        """
int main() {
    double *box; cudaMalloc(&box, 80);
    box[3] = 1;
}
""",
        "VER042",
    )
    assert "box[" in finding.message
    assert finding.span is not None and finding.span.line == 4
    assert result.ran.exit_code != 0
    variable, _ = _failure("__device__ int count;\nint main() { count = 3; }\n", "VER042")
    assert "count" in variable.message


def test_memory_that_nobody_wrote_differs_from_run_to_run() -> None:
    body = """
__global__ void copy(double *a, double *b) { b[threadIdx.x] = a[threadIdx.x]; }
int main() {
    double *a, *b, h[4]; cudaMalloc(&a, 32); cudaMalloc(&b, 32);
    copy<<<1, 4>>>(a, b);
    cudaMemcpy(h, b, 32, cudaMemcpyDeviceToHost);
    unsigned long long bits; __builtin_memcpy(&bits, h, 8);
    printf("%llx %g %g\\n", bits, h[0], *(float *)h);
}
"""
    printed = [result.ran.stdout for result in run_all(program(body))]
    assert len(set(printed)) == len(SCHEDULES)
    # no number of a program is as large or as small; NaN alone would be dropped by comparisons
    read = [[float(word) for word in text.split()[1:]] for text in printed]
    assert all(isnan(number) or abs(number) > 1e38 for numbers in read for number in numbers)
    assert {("nan" if isnan(n) else "large" if n > 0 else "small") for n, _ in read} == {"nan", "large", "small"}


def test_threads_that_wait_forever_end_the_launch() -> None:
    finding, result = _failure(
        """
__global__ void stuck(int *a) { if (threadIdx.x < 16) __syncwarp(); else __syncthreads(); }
int main() {
    int *d; cudaMalloc(&d, 4);
    stuck<<<1, 32>>>(d);
    printf("%s\\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
""",
        "VER043",
    )
    assert "16 threads wait at a block barrier" in finding.message
    assert result.ran.stdout == b"cudaErrorLaunchFailure\n"


_BARRIERS = """
#define SYNC __syncthreads()
#define EITHER(c) if (c) { __syncthreads(); } else { __syncthreads(); }
__device__ __forceinline__ void add(int *a) { __syncthreads(); a[threadIdx.x] += 1; __syncthreads(); }
template <int N> __device__ void all(int *a) { if (N) { __syncthreads(); a[threadIdx.x] += N; all<N - 1>(a); } }
template <> __device__ void all<0>(int *) {}
__global__ void meet(int *a) { %s
}
int main() { int *d; cudaMalloc(&d, 256); cudaMemset(d, 0, 256); meet<<<1, 64>>>(d); cudaDeviceSynchronize(); }
"""


def test_different_barriers_in_two_branches() -> None:
    body = """
__global__ void split(int *a) {
    if (threadIdx.x & 1) { a[threadIdx.x] = 1;
        __syncthreads();
    } else { a[threadIdx.x] = 2;
        __syncthreads(); }
}
int main() { int *d; cudaMalloc(&d, 128); split<<<1, 32>>>(d); }
"""
    for result in run_all(program(body)):
        assert [finding.rule for finding in result.seen.failures] == ["VER043"] * len(result.seen.failures)


@pytest.mark.parametrize(
    "statement",
    [
        "if (threadIdx.x & 1) { __syncthreads(); a[threadIdx.x] = 1; } else { __syncthreads(); }",
        "if (threadIdx.x & 1) SYNC; else SYNC;",
        "EITHER(threadIdx.x & 1)",
        "if (threadIdx.x & 1) __syncthreads_or(1); else __syncthreads_or(1);",
        "if (threadIdx.x & 1) add(a); else\n add(a);",
    ],
)
def test_different_barriers_in_one_line_or_of_one_inlined_function(statement: str) -> None:
    failures = run_all(program(_BARRIERS % statement))[0].seen.failures
    assert {failure.message for failure in failures} == {"kernel meet: threads of one block wait at different barriers"}


@pytest.mark.parametrize(
    "statement",
    [
        "for (int i = 0; i < 5; i++) { if (i & 1) add(a); else add(a); }",
        "for (int i = 0; i < 3; i++) { SYNC; a[threadIdx.x] *= 2; SYNC; }",
        "all<4>(a); blockIdx.x ? __syncthreads() : add(a);",
        "a[threadIdx.x] *= threadIdx.x & 1 ? 2 : a[threadIdx.x] + 3; __syncthreads();",
        "if (threadIdx.x & 1) a[threadIdx.x] += 2; else a[threadIdx.x] *= 3; a[0] > 2; __syncthreads();",
    ],
)
def test_one_barrier_for_all_threads_is_legal_however_often_it_is_copied(statement: str) -> None:
    for result in run_all(program(_BARRIERS % statement)):
        assert result.seen.failures == () and result.ran.exit_code == 0


def test_launches_and_calls_that_the_runtime_refuses() -> None:
    body = """
__global__ void k(int *a) { a[0] = 1; }
void say() { printf("%s\\n", cudaGetErrorName(cudaGetLastError())); }
int main() {
    int *d, h = 0; cudaMalloc(&d, 4); cudaMemset(d, 0, 4);
    k<<<1, 1025>>>(d); say();
    k<<<dim3(1, 70000), 1>>>(d); say();
    k<<<0, 1>>>(d); say();
    k<<<1, 1, 50000>>>(d); say();
    cudaMemcpy(&h, d, 4, cudaMemcpyHostToDevice); say();
    cudaMemcpy(&h, d, 8, cudaMemcpyDeviceToHost); say();
    int *big; printf("%s\\n", cudaGetErrorName(cudaMalloc(&big, 1ull << 40))); say();
    cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost); say();
    printf("%d\\n", h);
}
"""
    expected = (
        "cudaErrorInvalidConfiguration\n" * 3
        + "cudaErrorInvalidValue\n" * 3
        + "cudaErrorMemoryAllocation\n" * 2
        + "cudaSuccess\n0\n"
    )
    for result in run_all(program(body)):
        assert result.ran.stdout.decode() == expected
        assert [failure.rule for failure in result.seen.failures] == ["VER048"] * 3
        assert any("<<<(0, 1, 1), (1, 1, 1), 0>>>" in note.message for note in result.seen.notes)


def test_assert_in_a_kernel_is_a_device_error() -> None:
    finding, result = _failure(
        """
#include <cassert>
__global__ void k(int n) { assert(n == 3); }
int main() { k<<<1, 1>>>(4); printf("%s\\n", cudaGetErrorName(cudaDeviceSynchronize())); }
""",
        "VER045",
    )
    assert "n == 3" in finding.message
    assert result.ran.stdout == b"cudaErrorAssert\n"


def test_a_port_ends_where_an_assertion_fails() -> None:
    """As what the launchers of ports do: nothing that stands behind the launch is run."""
    text = """
#include <cassert>
#include <cstdlib>
__global__ void k(int n) { assert(n == 3); }
int main() {
    for (int n = 3; n < 5; n++) {
        k<<<1, 1>>>(n);
        if (cudaDeviceSynchronize() == cudaErrorAssert)
            abort();
        printf("%d\\n", n);
        fflush(stdout);
    }
}
"""
    finding, result = _failure(text, "VER045")
    assert "n == 3" in finding.message
    assert result.ran.stdout == b"3\n" and result.ran.exit_code == -signal.SIGABRT


def test_a_program_that_spins_is_ended() -> None:
    body = """
__global__ void k(volatile int *a) { while (*a == 0) ; }
int main() { int *d; cudaMalloc(&d, 4); cudaMemset(d, 0, 4); k<<<1, 1>>>(d); }
"""
    (result,) = run_all(program(body), (0,), limits=RunLimits(seconds=1.0))
    assert result.ran.timed_out


@pytest.mark.slow
def test_host_memory_is_registered_once_and_no_part_of_it_again() -> None:
    body = """
static char memory[1 << 16];
int main() {
    int a = cudaHostRegister(memory + 4096, 8192, 0), b = cudaHostRegister(memory + 8192, 4096, 0);
    int c = cudaHostRegister(memory, 8192, 0), d = cudaHostRegister(memory + 12288, 4096, 0);
    cudaGetLastError();
    int e = cudaHostUnregister(memory + 4096), f = cudaHostRegister(memory, 8192, 0);
    printf("%d %d %d %d %d %d\\n", a, b, c, d, e, f);
}
"""
    for result in run_all(program(body)):
        assert result.ran.stdout.split() == [b"0", b"712", b"712", b"0", b"0", b"0"]


def test_the_host_must_wait_for_kernels_on_shared_memory() -> None:
    body = """
__global__ void fill(int *a) { a[threadIdx.x] = threadIdx.x; }
int main() {
    int *a; cudaMallocManaged(&a, 256);
    fill<<<1, 64>>>(a);
    %s
    printf("%%d\\n", a[5]);
    cudaDeviceSynchronize();
}
"""
    failure, _ = _failure(body % "", "VER046")
    assert failure.message.startswith("the host reads a[5]")
    for result in run_all(program(body % "cudaDeviceSynchronize();")):
        assert not result.seen.failures and result.ran.stdout == b"5\n"
