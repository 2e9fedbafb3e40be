"""Launches in host code, and kernels that it names without one: these may be launched in any shape."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front.clang.device.launches.test_shapes import HEAD
from tests.front.conftest import device_dump

LAUNCHED = {
    "k<0><<<4, 64>>>(a);": [64],
    "cudaLaunchKernel((const void *)k<0>, dim3(4), dim3(64), args);": [64],
    "cudaLaunchKernel(reinterpret_cast<void *>(&k<0>), dim3(4), dim3(64), args, 16, 0);": [64],
    "cudaLaunchKernel(k<0>, 4, 64, args);": [64],
    "cudaLaunchCooperativeKernel((void *)k<0>, 4, dim3(n > 2 ? 64 : 64), args);": [64],
    "dim3 t; t.x = 64; cudaLaunchKernel((void *)k<0>, 4, t, args);": [64],
    "cudaLaunchKernel((void *)k<0>, 4, n, args);": [None],
    "k<0><<<4, 64>>>(a); cudaLaunchKernel((void *)k<0>, 4, 128, args);": [64, 128],
    # through a variable
    "void (*p)(int *) = k<0>; p<<<4, 64>>>(a);": [64],
    "void (*p)(int *); p = &k<0>; p<<<4, 64>>>(a); p<<<4, 128>>>(a);": [64, 128],
    "void (*p)(int *) = k<0>; if (n) p = k<1>; dim3 b(8, 8); p<<<4, b>>>(a);": [8, 8],
    "k<0><<<4, 64>>>(a); void (*p)(int *) = k<0>; p<<<4, n>>>(a);": [64, None],
    "void (*p)(int *) = k<0>; (void)n;": [],
    # only asked for
    "k<0><<<4, 64>>>(a); cudaFuncSetCacheConfig(k<0>, cudaFuncCachePreferL1);": [64],
    "int m, b; cudaOccupancyMaxPotentialBlockSize(&m, &b, k<0>, 0, 0); k<0><<<4, 64>>>(a);": [64],
    "cudaFuncAttributes f; cudaFuncGetAttributes(&f, (const void *)k<0>); k<0><<<4, 64>>>(a);": [64],
    # named, and launched by who knows whom
    "void (*p)(int *) = k<0>; p<<<4, 64>>>(a); start(p);": [None],
    "void (*p)(int *) = k<0>; void (**q)(int *) = &p; p<<<4, 64>>>(a);": [None],
    "void (*p)(int *) = n ? k<0> : k<1>; p<<<4, 64>>>(a);": [None, None],
    "void (*p)(int *), (*q)(int *); p = q = k<0>; p<<<4, 64>>>(a);": [None],
    "static void (*p)(int *) = k<0>; p<<<4, 64>>>(a);": [None],
    "k<0><<<4, 64>>>(a); int (*p)(int *) = (int (*)(int *))k<0>; run((void *)p, args);": [64, None],
    "k<0><<<4, 64>>>(a); run((void *)k<0>, args);": [64, None],
    "k<0><<<4, 64>>>(a); cudaKernelNodeParams p; p.func = (void *)k<0>;": [64, None],
    "k<0><<<4, 64>>>(a); auto later = [&] { run((void *)k<0>, args); };": [64, None],
    "k<0><<<4, 64>>>(a); cudaFuncSetCacheConfig(k<0>, cudaFuncCachePreferL1); run((void *)k<0>, args);": [64, None],
}


def blocks(text: str, folder: Path) -> list[int | None]:
    return [block[0] for *_, block, _, _, _ in device_dump(folder, HEAD + text).launches]


@pytest.mark.parametrize("body", LAUNCHED)
def test_launches_of_a_kernel(body: str, tmp_path: Path) -> None:
    declared = "void run(void *, void **); void start(void (*)(int *));"
    text = f"{declared} void host(int *a, int n) {{ void *args[] = {{&a}}; {body} }}"
    assert blocks(text, tmp_path) == LAUNCHED[body]


def test_a_table_of_kernels_may_launch_them(tmp_path: Path) -> None:
    table = "__global__ void k1(int *a) {} static void (*table[])(int *) = {k1, k1};"
    assert blocks(f"{table} void host(int *a, int n) {{ k1<<<1, 32>>>(a); }}", tmp_path) == [32, None]


def test_a_template_of_host_code_names_a_kernel(tmp_path: Path) -> None:
    text = """
        template <class F> void start(F f, int *a, int n) { f<<<1, n>>>(a); }
        __global__ void k1(int *a) {}
        void host(int *a, int n) { k1<<<1, 32>>>(a); start(k1, a, n); }
    """
    assert blocks(text, tmp_path) == [32, None]
