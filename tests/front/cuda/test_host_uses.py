"""Variables and functions of the host in device code are found; what our headers do not know is left alone."""

from __future__ import annotations

import pytest

from warpsmith.front.cuda.host_uses import find_host_uses

_HOST_USES = """#include <cstdio>
#include <cstdlib>
#include <vector>
static double scale = 2.0;
static const int rows = 4;
const double weights[2] = {1.0, 2.0};
double half(double x) { return x / 2; }
__device__ double third(double x) { return unknown_intrinsic(x) / 3; }
template <class T> __host__ __device__ T twice(T x) { return x + x; }
double *place() { return &scale; }
__global__ void k(double *a) {
    a[0] = EXPRESSION;
}
int main() { std::vector<double> v(rows, scale); printf("%g %g", half(v[0]), *place()); }
"""


_CONSTANTS = """
const int rows = 4;
const double half = 0.5;
const double tab[2] = {1.0, 2.0};
constexpr int list[2] = {1, 2};
struct Pair { int n; double s; };
static const Pair pair = {3, 2.5};
struct Owner { static const int n = 3; static constexpr int of[2] = {1, 2}; };
const char *const word = "abc";
constexpr double *nothing = nullptr;
enum class Side { left, right };
constexpr Side side = Side::right;
__constant__ double held[2] = {1.0, 2.0};
__device__ const double kept = 2.0;
__managed__ int shared_by_all;
__device__ void take(const double &);
__device__ int first(const int *p) { return *p; }
template <class T> __device__ T larger(const T &a, const T &b) { return a > b ? a : b; }
__device__ constexpr int element(int i) { return list[i]; }
__global__ void k(double *a, int i) {
    a[0] = rows * half + Owner::n + pair.s + (rows) + (i ? half : 1.0) + larger(+rows, i) + sizeof(tab);
    a[1] = held[i] + kept + shared_by_all + element(1) + Owner::of[1] + (side == Side::right) + (a == nothing);
    double local[list[1]];
    constexpr int known = list[0];
    const int also = list[1];
    static_assert(list[1] == 2, "");
    if constexpr (list[0] == 1) take(rows);
    take(kept);
    take(a[i]);
    auto copy = pair;
    auto add = [=](int n) { return n + rows; };
    a[2] = add(known + also) + copy.n + local[0];
    switch (i) { case list[0]: a[3] = 1; }
    a[4] = tab[i];  // wrong
    a[4] = list[0];  // wrong
    a[4] = first(list);  // wrong
    a[4] = first(&rows);  // wrong
    a[4] = larger(rows, i);  // wrong
    a[4] = Owner::of[i];  // wrong
    a[4] = word[0];  // wrong
    const int &same = rows;  // wrong
    const Pair &other = pair;  // wrong
    for (double one : tab) a[4] += one;  // wrong
    take(half);  // wrong
    a[5] = same + other.n;
}
"""
_CALLS = """
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <new>
#include <utility>
#include <typeinfo>
constexpr int square(int n) { return n * n; }
constexpr int size = square(2);
static int plain(int n) { return n; }
__host__ __device__ int both(int n) { return n; }
#define MAKE(name) __host__ __device__ int name(int n) { return n; }
MAKE(made)
__host__ __device__ int apart(int n) {
#ifdef __CUDA_ARCH__
    return n;
#else
    return plain(n);
#endif
}
struct Host {
    int n;
    Host(int n) : n(n) {}
    ~Host() { printf("x"); }
    virtual int get() const { return n; }
};
struct Plain { int n = 3; int twice() const { return 2 * n; } static int three() { return 3; } };
struct Folded { int n = square(3); };
struct Called { int n = plain(3); };  // wrong
struct Sum { int n; Sum operator+(Sum s) const { return {n + s.n}; } operator int() const { return n; } };
struct Device { int n; __host__ __device__ Device(int n) : n(n) {} Device(const Device &) = default; };
struct Times { __device__ int operator()(int n) const { return 2 * n; } };
struct HostTimes { int operator()(int n) const { return 2 * n; } };
thread_local int own;
template <class T> __host__ __device__ T at_least(T n) { return std::max(n, T(1)); }  // wrong
template <class T> __host__ __device__ T not_called(T n) { return std::max(n, T(1)); }
__host__ __device__ int strict(int n) { if (n < 0) throw 1; return n; }  // wrong
__global__ void right(double *a, int i) {
    Plain p;
    Folded f;
    Device d(3), e = d;
    Device *w = new (a) Device(2);
    a[0] = size + both(i) + made(i) + apart(i) + p.n + f.n + e.n + w->n + std::move(i) + Times()(i);
    a[1] = std::abs(a[0]) + std::isnan(a[0]) + std::sqrt(a[0]) + max(i, 3) + std::fmax(a[0], 1.0);
    for (int n : {1, 2, 3}) a[n] = std::numeric_limits<int>::digits;
    auto inner = [=](int n) { return n + i; };
    a[2] = inner(3);
}
__global__ void wrong(double *a, int i, Host *h, Plain p, Sum s) {
    a[0] = square(i);  // wrong
    int list[square(2)] = {};  // wrong
    a[0] = std::max(a[0], a[1]);  // wrong
    a[0] = std::numeric_limits<double>::max();  // wrong
    std::swap(a[0], a[1]);  // wrong
    Host made(i);  // wrong
    a[0] = (new Host(i))->n;  // wrong
    a[0] = h->get();  // wrong
    a[0] = p.twice();  // wrong
    a[0] = Plain::three();  // wrong
    a[0] = (s + s).n;  // wrong
    a[0] = s;  // wrong
    int (*f)(int) = plain;  // wrong
    a[0] = own;  // wrong
    a[0] = HostTimes()(i);  // wrong
    a[0] = dynamic_cast<Host *>(h) != nullptr;  // wrong
    a[0] = typeid(*h) == typeid(Host);  // wrong
    try { a[0] = 1; } catch (int) {}  // wrong
    Called c;
    a[0] = at_least(a[0]) + strict(i) + c.n + list[0] + f(i);
}
"""
_HOST_CODE = """
#include <vector>
#include <algorithm>
typedef int (*F)(int);
static int plain(int n) { return n; }
static bool less(int a, int b) { return a < b; }
__device__ int device(int n) { return n; }
__device__ F pointer = device;
__host__ __device__ int both(int n) { return n; }
struct Times {
    int n;
    __host__ __device__ Times(int n) : n(n) {}
    __device__ int operator()(int m) const { return n * m; }
};
__global__ void call(int *a, F f) { a[0] = f(1); }
template <int (*f)(int)> __global__ void known(int *a) { a[0] = f(1); }
template <class T> __global__ void apply(int *a, T f) { a[0] = f(1); }
template <class T> struct Box { T f; };
template <class T> __global__ void boxed(int *a, Box<T> b) { a[0] = 1; }
__global__ void value(int *a, int n, int3 p) { a[0] = n + p.x; }
__global__ void refers(int *a, const int &n) { a[0] = n; }  // wrong
template <class T> __global__ void moves(int *a, T &&n) { a[0] = n; }  // wrong
int main() {
    int *a, n = 3;
    cudaMalloc(&a, 4);
    F f;
    cudaMemcpyFromSymbol(&f, pointer, sizeof f);
    call<<<1, 1>>>(a, f);
    known<device><<<1, 1>>>(a);
    apply<<<1, 1>>>(a, Times(n));
    apply<<<1, 1>>>(a, [=] __device__(int m) { return m + n; });
    value<<<1, plain(1)>>>(a, plain(2), make_int3(1, 2, both(3)));
    std::vector<int> v(3, plain(1));
    std::sort(v.begin(), v.end(), less);
    void (*kernel)(int *, int, int3) = value;
    cudaLaunchKernel((void *)value, 1, 1, nullptr, 0, 0);
    F mine = plain, ours = &both;
    mine(both(ours(1)));
    call<<<1, 1>>>(a, plain);  // wrong
    call<<<1, 1>>>(a, &both);  // wrong
    call<<<1, 1>>>(a, mine);  // wrong
    F theirs = device;  // wrong
    device(1);  // wrong
    apply<<<1, 1>>>(a, [=](int m) { return m + n; });  // wrong
    auto closure = [=](int m) { return m + n; };  // wrong
    boxed<<<1, 1>>>(a, Box<decltype(closure)>{closure});
    refers<<<1, 1>>>(a, n);
    moves<<<1, 1>>>(a, n);
    kernel(a, 1, make_int3(1, 2, 3));
}
"""


@pytest.mark.parametrize("text", [_CONSTANTS, _CALLS, _HOST_CODE], ids=["constants", "calls", "host code"])
def test_what_nvcc_refuses_is_found_in_its_lines_and_nothing_else(text: str) -> None:
    wrong = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith("// wrong")]
    found = find_host_uses({"a.cu": text}, "a.cu")
    assert sorted({finding.span.line for finding in found if finding.span}) == wrong
    assert all(finding.help for finding in found)


def test_constexpr_functions_of_the_host_are_left_alone_where_the_option_is_said_to_be_given() -> None:
    text = "constexpr int square(int n) { return n * n; }\n__global__ void k(int *a) { a[0] = square(a[1]); }\n"
    (finding,) = find_host_uses({"a.cu": text}, "a.cu")
    assert "--expt-relaxed-constexpr" in finding.help[0]
    assert find_host_uses({"a.cu": text}, "a.cu", ("-D__CUDACC_RELAXED_CONSTEXPR__",)) == ()


@pytest.mark.parametrize("expression", ["scale * a[1]", "half(a[1])", "*(&scale)", "rand()", "*place()"])
def test_objects_of_the_host_in_device_code_are_found(expression: str) -> None:
    (finding,) = find_host_uses({"a.cu": _HOST_USES.replace("EXPRESSION", expression)}, "a.cu")
    assert finding.span is not None and finding.span.line == 12


@pytest.mark.parametrize("expression", ["twice(a[1]) * rows", "third(a[1])", "sqrt(a[1])", "__not_known_here(a)"])
def test_other_complaints_are_left_to_the_build(expression: str) -> None:
    assert find_host_uses({"a.cu": _HOST_USES.replace("EXPRESSION", expression)}, "a.cu") == ()
