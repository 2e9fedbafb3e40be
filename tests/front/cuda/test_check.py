from __future__ import annotations

import pytest

from tests.sampling import one_in
from warpsmith.base.c_text import find_includes
from warpsmith.base.source import SourceFile
from warpsmith.front.clang.system_headers import own_headers
from warpsmith.front.cuda.check import check_device, device_request

GOOD = """
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <mutex>
#include <math.h>
#include <assert.h>
static __device__ double square(double x) { return x * sqrt(x) + fabs(x) + sinf(2.0f) + fmax(x, 1.0); }
static __constant__ double weights[4];
__global__ void k(double *a, int n)
{
    __shared__ double t[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { a[i] = square(a[i]) + abs(-3) + isnan(a[i]) + weights[0]; atomicAdd(a, 1.0); }
    __syncthreads();
    assert(n > 0);
    printf("%d", n);
    t[0] = pow(a[0], 2); a[0] = t[0] + fma(t[0], 2.0, 1.0);
}
extern "C" void launch(double *a, int n)
{
    const dim3 block(32, 8), grid((n + 31) / 32, 1);
    k<<<grid, block>>>(a, n);
    if (cudaGetLastError() != cudaSuccess) { fprintf(stderr, "failed\\n"); exit(1); }
}
"""


def test_kernels_and_launchers_pass() -> None:
    assert check_device(GOOD, "good.cu") == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("int host;\n__global__ void k(int *a) { a[0] = host; }", "__global__ code uses the host's variable `host`"),
        ("int t[9];\n__global__ void k(int *a) { a[0] = t[1]; }", "__global__ code uses the host's variable `t`"),
        ("int h(void);\n__global__ void k(int *a) { a[0] = h(); }", "`h` is not a device function for these arguments"),
        ("__global__ void k(int *a)\n{ a[0] = nowhere(a); }", "`nowhere` is not declared"),
        (
            "#include <stdlib.h>\n__global__ void k(int *a) { a[0] = rand(); }",
            "`rand` is not a device function for these arguments",
        ),
        ("__global__ void k(int *a)\n{ a[0] = 1 }", "a `;` is missing after expression"),
    ],
)  # fmt: skip
def test_what_is_not_device_code_does_not(text: str, said: str) -> None:
    findings = check_device(text, "bad.cu")
    assert [(f.rule, f.severity, f.message) for f in findings] == [("INP005", "error", said)]
    span = findings[0].span
    assert span is not None
    assert (span.file.path, span.line) == ("bad.cu", 2)


@pytest.mark.parametrize("header", ["<mutex>", "<shared_mutex>", "<vector>", "<deque>"])
def test_a_mutex_on_the_host_passes_with_and_without_the_library(header: str) -> None:
    text = (
        f"#include <mutex>\n#include {header}\nstatic std::mutex lock;\n"
        "void f(void) { const std::lock_guard<std::mutex> guard(lock); }\n"
        "void g(void) { if (lock.try_lock()) lock.unlock(); }\n"
    )
    assert check_device(text, "lock.cu") == ()


@pytest.mark.parametrize(
    "text",
    [
        "#include <mutex>\nstruct tm { int minutes; };\n__global__ void k(tm *a) { a->minutes = 1; }\n",
        "#include <mutex>\nstatic std::mutex lock;\n__global__ void k(int *a) { lock.lock(); a[0] = 1; }\n",
    ],
)
def test_what_the_library_declares_is_not_device_code(text: str) -> None:
    assert check_device(text.replace("<mutex>", "<deque>\n#include <mutex>"), "bad.cu") != ()
    assert check_device(text, "bad.cu") != ()


@pytest.mark.parametrize(
    ("text", "passes"),
    one_in(
        3,
        [
            ("static std::vector<int> v; void f(void) { v.push_back(1); for (int &x : v) x += (int)v.size(); }", True),
            ("static std::vector<int> v; void f(void) { v.shrink_to_fit(); }", True),
            ("void f(int *a) { std::sort(a, a + 9, [](int x, int y) { return x < y; }); }", True),
            ("void f(int *a) { std::reverse(a, a + 9); }", True),
            ("static std::multimap<int, int> m; int f(void) { return m.lower_bound(3)->second; }", True),
            ("static std::multimap<int, int> m; int f(void) { return (int)m.count(3); }", True),
            ("static std::vector<int> v; void f(void) { v.push_back(nullptr); }", False),
            ("static std::vector<int> v; __global__ void k(int *a) { a[0] = (int)v.size(); }", False),
            ("__global__ void k(int *a) { std::sort(a, a + 9, [](int x, int y) { return x < y; }); }", False),
            ("struct less {}; void f(int *a) { std::sort(a, a + 9, less()); }", False),
        ],
    ),
)
def test_containers_pass_as_with_the_library(text: str, passes: bool) -> None:
    head = "#include <algorithm>\n#include <map>\n#include <vector>\n"
    assert (check_device(head + text, "own.cu") == ()) == passes
    assert (check_device("#include <deque>\n" + head + text, "library.cu") == ()) == passes


def test_a_file_of_a_port_begins_with_a_header_that_covers_what_it_includes() -> None:
    first = [device_request(SourceFile("a.cu", text))[1] for text in (GOOD, "#include <mutex>\n", "#include <deque>\n")]
    covers, plain, full = (words[words.index("-include") + 1].rpartition("/headers/")[2] for words in first)
    assert (covers, plain, full) == ("plain/port_file.h", "cuda/mini_cuda.h", "cuda/mini_cuda.h")
    header = (own_headers() / covers).read_text()
    assert set(find_includes(header)) == {"<cuda_runtime.h>", "<mutex>", "<stdio.h>", "<stdlib.h>"}


def test_what_a_port_includes_is_refused_as_it_would_be_without_the_header() -> None:
    written = "".join(f"#include {name}\n" for name in ("<cuda_runtime.h>", "<mutex>", "<stdio.h>", "<stdlib.h>"))
    for text in ("static int printf;\n", "struct div_t { int x; };\n", "struct timespec { int x; };\n"):
        whole = check_device(written + text, "port.cu")
        other = check_device(written.replace("<stdio.h>", "<cstdio>") + text, "port.cu")
        assert whole and [finding.message for finding in whole] == [finding.message for finding in other]
