"""How fast the compiled SIMT machine is: ratios against `gcc -O2` of the same loop, on one thread, in one run.

    python benchmarks/simt.py [--threads 262144] [--warp 32] [--repeats 5]

Two kernels: a divergent loop (trip counts 0 to 127, a branch in the body, one gather of a table), and a bitonic sort of
each block in shared memory, with a barrier after each step. Times are the best of several; the machine's compile time
is distinguished. Results are compared with the C program's. All times are of the processor, which repeat within a few
percent on a machine that does other work as well.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import struct
import subprocess
import tempfile
import time
from pathlib import Path
from unittest import mock

import numpy as np
from msgspec import Struct

from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.simt.engine.compile import compile_kernel
from warpsmith.simt.engine.engine import Checks, run
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.ssa.nodes import Module

LOOP = """
__global__ void k(const int *trips, const unsigned *table, unsigned *out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = 2654435761u * t;
    int n = trips[t];
    for (int i = 0; i < n; i++) {
        if (x & 4) x = table[x & 1023] + x * 5;
        else x = (x >> 1) ^ (x * 3 + i);
    }
    out[t] = x;
}
"""
LOOP_C = """
void k(const int *trips, const unsigned *table, unsigned *out, int count) {
    for (int t = 0; t < count; t++) {
        unsigned x = 2654435761u * t;
        int n = trips[t];
        for (int i = 0; i < n; i++) {
            if (x & 4) x = table[x & 1023] + x * 5;
            else x = (x >> 1) ^ (x * 3 + i);
        }
        out[t] = x;
    }
}
"""
SORT = """
__global__ void k(const int *trips, const unsigned *table, unsigned *out) {
    __shared__ unsigned s[256];
    int t = threadIdx.x, at = blockIdx.x * blockDim.x + t;
    s[t] = 2654435761u * (trips[at] * 1000 + t);
    for (int k = 2; k <= 256; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            __syncthreads();
            int other = t ^ j;
            if (other > t) {
                unsigned a = s[t], b = s[other];
                if ((t & k) == 0 ? a > b : a < b) { s[t] = b; s[other] = a; }
            }
        }
    __syncthreads();
    out[at] = s[t];
}
"""
SORT_C = """
void k(const int *trips, const unsigned *table, unsigned *out, int count) {
    for (int block = 0; block < count; block += 256) {
        unsigned *s = out + block;
        for (int t = 0; t < 256; t++) s[t] = 2654435761u * (trips[block + t] * 1000 + t);
        for (int k = 2; k <= 256; k *= 2)
            for (int j = k / 2; j > 0; j /= 2)
                for (int t = 0; t < 256; t++) {
                    int other = t ^ j;
                    if (other > t) {
                        unsigned a = s[t], b = s[other];
                        if ((t & k) == 0 ? a > b : a < b) { s[t] = b; s[other] = a; }
                    }
                }
    }
}
"""
CHECKS = {
    "visits, divergences": Checks(lost=False, requests=False, uninitialized=False, races=False),
    "and lost slots": Checks(lost=True, requests=False, uninitialized=False, races=False),
    "and requests": Checks(lost=True, requests=True, uninitialized=False, races=False),
    "and uninitialized, races": Checks(),
}


class Inputs(Struct, frozen=True):
    """What both programs get."""

    trips: np.ndarray
    table: np.ndarray

    @property
    def count(self) -> int:
        return len(self.trips)


def module_of(text: str) -> Module:
    unit = read_unit(KernelFile("k.cu", "cuda", (), text))
    assert isinstance(unit, KernelUnit), unit
    return unit.module


def reference(text: str, inputs: Inputs, repeats: int) -> tuple[float, np.ndarray]:
    """Return the best time of the C program, and what it computes."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "k.c", Path(folder) / "k.so"
        source.write_text(text)
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
        function = ctypes.CDLL(str(library)).k
        out, best = np.zeros(inputs.count, "<u4"), float("inf")
        for _ in range(repeats):
            start = time.process_time()
            function(*(ctypes.c_void_p(a.ctypes.data) for a in (inputs.trips, inputs.table, out)), inputs.count)
            best = min(best, time.process_time() - start)
    return best, out


def machine(
    module: Module, inputs: Inputs, checks: Checks, width: int, repeats: int
) -> tuple[float, float, np.ndarray]:
    """Return the time to compile, the best time of a launch, and what it computes."""
    function = module.function("k")
    assert function is not None
    start = time.process_time()
    with tempfile.TemporaryDirectory() as empty, mock.patch.dict(os.environ, WARPSMITH_CACHE_DIR=empty):
        compile_kernel(function, width, checks)
    made = time.process_time() - start
    best = float("inf")
    for _ in range(repeats):
        memory = LaunchMemory(checks=checks.races)
        out = memory.allocate("out", bytes(4 * inputs.count), known=False)
        given = {"trips": inputs.trips, "table": inputs.table}
        places = {name: memory.allocate(name, array.tobytes()).address for name, array in given.items()}
        arguments = {name: struct.pack("<Q", at) for name, at in {**places, "out": out.address}.items()}
        launch = Launch((inputs.count // 256, 1, 1), (256, 1, 1), arguments, warp=width, max_steps=1 << 60)
        start = time.process_time()
        ended = run(module, "k", launch, memory, checks)
        best = min(best, time.process_time() - start)
        assert not ended.why, ended.why
    return made, best, np.frombuffer(bytes(out.data), "<u4")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1 << 18)
    parser.add_argument("--warp", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    chosen = np.random.default_rng(1)
    inputs = Inputs(
        chosen.integers(0, 128, given.threads).astype("<i4"), chosen.integers(0, 1 << 32, 1024).astype("<u4")
    )
    print(f"{given.threads:,} threads, warps of {given.warp}; ratio: gcc -O2 / machine, 2 is twice as fast")
    for name, text, c in (("divergent loop", LOOP, LOOP_C), ("bitonic sort", SORT, SORT_C)):
        module = module_of(text)
        best, wanted = reference(c, inputs, given.repeats)
        print(f"{name}: gcc -O2 {best * 1e3:.1f} ms")
        for what, checks in CHECKS.items():
            made, seconds, out = machine(module, inputs, checks, given.warp, given.repeats)
            assert np.array_equal(out, wanted)
            print(f"  {what:28} {seconds * 1e3:9.1f} ms   ratio {best / seconds:6.2f}   compiled in {made:.2f} s")


if __name__ == "__main__":
    main()
