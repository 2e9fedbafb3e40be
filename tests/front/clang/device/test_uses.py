"""What the walk says of code that clang takes and no device does, and what it is silent about."""

from __future__ import annotations

import pytest

from warpsmith.base.source import SourceFile
from warpsmith.front.clang.process import Failed, parse_files
from warpsmith.front.clang.wire import SEEKS_HOST_USES
from warpsmith.front.cuda.check import device_request

_HEAD = """const int n = 3;
const double tab[2] = {1, 2};
typedef int (*F)(int);
int host(int a) { return a; }
__device__ int own(int a) { return a; }
__device__ void take(const int &);
namespace inner { struct Type { static const int count = 2; }; }
template <class T> __global__ void run(int *a, T f) { a[0] = f(1); }
template <int (*f)(int)> __global__ void fixed(int *a) { a[0] = f(1); }
"""


def said(text: str) -> list[tuple[int, str]]:
    path, words, data, _, _ = device_request(SourceFile("a.cu", _HEAD + text), (SEEKS_HOST_USES,))
    (answer,) = parse_files([(path, words, data, 10_000, False)], 60.0)
    assert not isinstance(answer, Failed)
    return [(line - _HEAD.count("\n"), message) for _, message, _, line, _ in answer.diagnostics]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "__global__ void k(int *a) { take(n); }",
            "device code uses the address of the constant 'n', which the host has",
        ),
        (
            "__device__ int f(int i) { return tab[i]; }",
            "device code uses the array 'tab' of constants, which the host has",
        ),
        (
            "__device__ void f() { take((inner::Type::count)); }",
            "device code uses the address of the constant 'count', which the host has",
        ),
        ("__global__ void k(int &a) {}", "the kernel 'k' takes 'a' by reference: it would be memory of the host"),
        ("F f = own; void h() { F g = own; }", "host code takes the address of the device function 'own'"),
        (
            "void h() { run<<<1, 1>>>((int *)0, host); }",
            "the kernel gets the address that the function 'host' has on the host",
        ),
        (
            "void h() { F f = host; run<<<1, 1>>>((int *)0, f); }",
            "the kernel gets the address that the function 'host' has on the host",
        ),
        (
            "void h() { run<<<1, 1>>>((int *)0, [](int i) { return i; }); }",
            "a lambda of the host is a template argument of the kernel 'run'",
        ),
    ],
)
def test_what_no_device_takes(text: str, message: str) -> None:
    assert said(text) == [(1, message)]


@pytest.mark.parametrize(
    "text",
    [
        "__global__ void k(int *a) { a[n] = n + (a[0] ? n : 1) + inner::Type::count + sizeof tab; }",
        "template <class T> __device__ T f(T i) { return tab[i]; }",
        "__device__ F f = own; __global__ void k(int *a) { F g = own; a[0] = f(1) + g(2); }",
        "void h() { fixed<own><<<1, 1>>>((int *)0); }",
        "void h() { run<<<1, 1>>>((int *)0, [] __device__(int i) { return i; }); }",
        "void h() { F f = host; f(1); take(n); host(tab[n]); }",
        "__global__ void k(int *a) { auto f = [=](int i) { return i; }; a[0] = f(1); }",
    ],
)
def test_what_devices_take(text: str) -> None:
    assert [row for row in said(text) if "take" not in row[1]] == []


def test_an_instance_of_a_template_is_looked_through() -> None:
    text = "template <class T> __device__ T f(T i) { return tab[i]; }\n__global__ void k(int *a) { a[0] = f(1); }"
    assert [line for line, _ in said(text)] == [1]
