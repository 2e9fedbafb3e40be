"""Transfers that the loops of host code repeat for nothing."""

from __future__ import annotations

from pathlib import Path

from tests.front.conftest import device_dump

HEAD = """#include <cuda_runtime.h>
__global__ void reads(const float *a) { }
__global__ void writes(float *a) { a[0] = 1; }
void other(); void takes(float *);
"""
CASES: dict[str, list[tuple[str, list[tuple[str, str]]]]] = {
    "cudaMemcpy(d, h, n, cudaMemcpyHostToDevice); reads<<<1, 1>>>(d);": [("in", [])],
    "cudaMemcpy(d, h, n, cudaMemcpyHostToDevice); writes<<<1, 1>>>(d);": [],
    "cudaMemcpy(d, h, n, cudaMemcpyHostToDevice); h[0] = i;": [],
    "cudaMemcpy(d, h, n, cudaMemcpyHostToDevice); other();": [("in", [("calls", "other")])],
    "cudaMemcpy(d, h, n, cudaMemcpyHostToDevice); takes(h);": [],
    "cudaMemcpy(d, h, n, cudaMemcpyHostToDevice); g[0] = i;": [("in", [("stores", "g")])],
    "cudaMemcpy(d, h, i, cudaMemcpyHostToDevice);": [],
    "if (i) cudaMemcpy(d, h, n, cudaMemcpyHostToDevice);": [],
    "cudaMemcpy(h, d, n, cudaMemcpyDeviceToHost);": [("out", [])],
    "cudaMemcpy(h, d, n, cudaMemcpyDeviceToHost); s += h[0];": [],
    "cudaMemcpy(h, d, n, cudaMemcpyDeviceToHost); s += g[0];": [("out", [("reads", "g")])],
    "float *t; cudaMalloc(&t, n); cudaFree(t);": [("allocated", [])],
    "float *t; cudaMalloc(&t, n * i); cudaFree(t);": [],
    "float *t; cudaMalloc(&t, n);": [],
    "cudaMemcpy(d, d + 4, n, cudaMemcpyDeviceToDevice);": [],
    "cudaMemcpy(d, h, n, cudaMemcpyHostToDevice); goto out;": [],
}


def test_what_is_repeated(tmp_path: Path) -> None:
    text = HEAD
    for number, body in enumerate(CASES):
        text += (
            f"void f{number}(float *h, const float *g0, int n) {{ float *d, *g = (float *)g0; float s = 0;\n"
            f"for (int i = 0; i < 9; i++) {{ {body} }}\nout: ; }}\n"
        )
    dump = device_dump(tmp_path, text)
    starts = [text.index(f"void f{number}(") for number in range(len(CASES))]
    found: dict[str, list[tuple[str, list[tuple[str, str]]]]] = {body: [] for body in CASES}
    for _, what, _, conditions, _, start, *_ in dump.transfers:
        mine = list(CASES)[sum(begin <= start for begin in starts) - 1]
        found[mine].append((what, [c for c in conditions if c[0] != "names"]))
    assert found == CASES
