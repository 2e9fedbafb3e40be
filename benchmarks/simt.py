"""How fast the compiled SIMT machine is: ratios against `gcc -O2` of the same loop, on one thread, in one run.

    python benchmarks/simt.py [--threads 262144] [--warp 32] [--repeats 5]

Two kernels: a divergent loop (trip counts 0 to 127, a branch in the body, one gather of a table), and a bitonic sort of
each block in shared memory, with a barrier after each step; the sort is also run by Oclgrind, where it is installed,
with its checks for races and uninitialized memory where ours are on. Then whole commands: five inputs, and ten widths.
Times are the best of several; the machine's compile time is distinguished, for a kernel of 200 instructions without and
with its machine code kept on disk, and for another one of its kind then. Results are compared with the C program's. All
times are of the processor, which repeat within a few percent on a machine that does other work as well.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

import numpy as np
from msgspec import Struct

from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.simt.engine.compile import _compile_uncached, compile_kernel
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
SORT_CL = """
kernel void k(global const int *trips, global const uint *table, global uint *out) {
    local uint s[256];
    int t = get_local_id(0), at = get_global_id(0);
    s[t] = 2654435761u * (trips[at] * 1000 + t);
    for (int k = 2; k <= 256; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            int other = t ^ j;
            if (other > t) {
                uint a = s[t], b = s[other];
                if ((t & k) == 0 ? a > b : a < b) { s[t] = b; s[other] = a; }
            }
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[at] = s[t];
}
"""
BLOCKS = 64
"""Blocks of 256 threads that Oclgrind sorts: its time for one is taken off, so that its compiler is not counted."""
HEAD = "unsigned t = blockIdx.x * blockDim.x + threadIdx.x, x = t;"
LONG = 200
"""Instructions of the kernel whose compile time is measured."""
CHECKS = {
    "visits, divergences": Checks(lost=False, requests=False, uninitialized=False, races=False),
    "and lost slots": Checks(lost=True, requests=False, uninitialized=False, races=False),
    "and requests": Checks(lost=True, requests=True, uninitialized=False, races=False),
    "and uninitialized, races": Checks(),
}
ALL = "and uninitialized, races"
MANUAL = Path(__file__).parents[1] / "examples/manual"
COMMANDS = {
    "experiment input, five inputs, 6400 threads": f"""experiment input {MANUAL}/countdown.cu --block 256 --grid 25
        --max-steps 1000000000 --arg n=6400 --input inc:v=each:i32[n]=n-1-i --input const:v=const:i32[n]=3200
        --input alt:v=each:i32[n]=i%2*n --input random:v=libc:i32[n]:below=6400
        --input half:v=each:i32[n]=(i>=n/2)*n""",
    "experiment width, ten widths, 256 threads": f"""experiment width {MANUAL}/masks.cu --kernel counted --block 256
        --arg out=zeros:i32[256] --input random:count=rand:i32[256]:below=64 --input sorted:count=each:i32[256]=i/4""",
    "none of them: its help": "experiment --help",
}
"""Whole commands; each draws a chart."""


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


def oclgrind(*options: str) -> float | None:
    """Return the processor time that Oclgrind takes to sort a block of 256 threads, None where it is not installed."""
    program = shutil.which("oclgrind-kernel")
    if program is None:
        return None
    spent = {}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "k.cl").write_text(SORT_CL)
        for blocks in (1, 1 + BLOCKS):
            bytes_ = 4 * 256 * blocks
            given = (
                f"<size={bytes_} int range=0:1:{256 * blocks - 1}>\n<size=4 int fill=0>\n<size={bytes_} int fill=0>\n"
            )
            (Path(folder) / "k.sim").write_text(f"k.cl\nk\n{256 * blocks} 1 1\n256 1 1\n{given}")
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([program, *options, "k.sim"], cwd=folder, check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent[blocks] = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return (spent[1 + BLOCKS] - spent[1]) / BLOCKS


def long_kernel(first: int = 3) -> tuple[Module, int]:
    """Return a kernel of LONG instructions or a little more, a fifth of them accesses, and how many it has; `first`: a
    number in it, so that there are many."""
    steps: list[str] = []
    while True:
        at = len(steps)
        steps.append(f"x = x * {2 * at + first}u + table[(x + {at}u) & 1023u]; if (x & {1 << at % 20}u) out[t] = x;")
        text = f"__global__ void k(const unsigned *table, unsigned *out) {{ {HEAD} {' '.join(steps)} out[t] = x; }}"
        module = module_of(text)
        count = sum(len(block.instructions) + 1 for function in module.functions for block in function.blocks)
        if count >= LONG:
            return module, count


def compile_times(width: int) -> str:
    """Return how long it takes to compile a long kernel, to link it when its machine code is kept, and to compile
    another one then."""
    kernels = [long_kernel(first) for first in (3, 3, 5)]
    lines = [f"compile of {kernels[0][1]} instructions, warps of {width}:"]
    for what, checks in CHECKS.items():
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, WARPSMITH_CACHE_DIR=folder):
            times = []
            for module, _ in kernels:
                function = module.function("k")
                assert function is not None
                _compile_uncached.cache_clear()
                start = time.process_time()
                compile_kernel(function, width, checks)
                times.append(time.process_time() - start)
        lines.append(f"  {what:28} {times[0]:6.2f} s   kept {times[1]:.2f} s   another one {times[2]:.2f} s")
    return "\n".join(lines)


def command_times(repeats: int) -> str:
    """Return the processor time of whole commands, with Python's own start: when no machine code is kept, and when it
    is."""
    lines = ["whole commands:"]
    for what, words in COMMANDS.items():
        best = [float("inf")] * 2
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as folder:
                chart = () if words.endswith("--help") else ("--chart", str(Path(folder) / "chart.svg"))
                kept = {**os.environ, "WARPSMITH_CACHE_DIR": str(Path(folder) / "kept")}
                for at in range(2):
                    before = resource.getrusage(resource.RUSAGE_CHILDREN)
                    given = [sys.executable, "-m", "warpsmith", *words.split(), *chart]
                    subprocess.run(given, check=True, capture_output=True, env=kept)
                    after = resource.getrusage(resource.RUSAGE_CHILDREN)
                    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
                    best[at] = min(best[at], spent)
        lines.append(f"  {what:44} {best[0]:5.2f} s   kept {best[1]:.2f} s")
    return "\n".join(lines)


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
    slow = dict.fromkeys(CHECKS, oclgrind()) | {ALL: oclgrind("--data-races", "--uninitialized")}
    for name, text, c in (("divergent loop", LOOP, LOOP_C), ("bitonic sort", SORT, SORT_C)):
        module = module_of(text)
        best, wanted = reference(c, inputs, given.repeats)
        print(f"{name}: gcc -O2 {best * 1e3:.1f} ms")
        for what, checks in CHECKS.items():
            made, seconds, out = machine(module, inputs, checks, given.warp, given.repeats)
            assert np.array_equal(out, wanted)
            against = ""
            theirs = slow[what]
            if theirs is not None and text is SORT:
                against = f"   Oclgrind / machine {theirs * inputs.count / 256 / seconds:5.0f}"
            ratio = f"ratio {best / seconds:6.2f}   compiled in {made:.2f} s{against}"
            print(f"  {what:28} {seconds * 1e3:9.1f} ms   {ratio}", flush=True)
    print(compile_times(given.warp), flush=True)
    print(command_times(given.repeats))


if __name__ == "__main__":
    main()
