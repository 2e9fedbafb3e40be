"""Kernels of CUDA whose blocks wait for each other at barriers of the grid, and how they are launched."""

from __future__ import annotations

import random
import struct
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from tests.lower.harness import lowered
from tests.simt.engine.agree import Case
from tests.simt.engine.kernels import random_case
from warpsmith.simt.launch import Launch
from warpsmith.ssa.nodes import GRID_BARRIER, BasicBlock, Instruction, Module, Text

__all__ = ["KERNELS", "WRONG", "grid_case", "module_of", "random_grid_case"]

_HEAD = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(int *out, int *a, int n)
{
    cg::grid_group grid = cg::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x, size = gridDim.x * blockDim.x;
    BODY
}
"""

KERNELS = {
    "two arrays in turn": """
        int *from = a, *to = out;
        for (int round = 0; round < n; round++) {
            to[i] = from[(i + size - 1) % size] + from[i] * 2 + from[(i + 1) % size] + round;
            grid.sync();
            int *other = from; from = to; to = other;
        }""",
    "a sum in two phases": """
        __shared__ int part[256];
        part[t] = a[i] * n;
        __syncthreads();
        for (int step = blockDim.x / 2; step; step /= 2) {
            if (t < step) part[t] += part[t + step];
            __syncthreads();
        }
        if (t == 0) a[size + blockIdx.x] = part[0];
        grid.sync();
        int total = 0;
        for (int b = 0; b < gridDim.x; b++) total += a[size + b];
        out[i] = total + part[t & 1];""",
    "shared memory stays": """
        __shared__ int s[256];
        s[t] = a[i] + blockIdx.x;
        __syncthreads();
        int mine = s[blockDim.x - 1 - t];
        for (int round = 0; round < n; round++) {
            grid.sync();
            s[t] += round + mine;
            __syncthreads();
            mine = s[(t + round) % blockDim.x];
            __syncthreads();
        }
        out[i] = mine;""",
    "local arrays stay": """
        int own[8];
        for (int at = 0; at < 8; at++) own[at] = a[(i + at) % size] + at;
        grid.sync();
        a[i] = own[(t + n) & 7];
        grid.sync();
        for (int at = 0; at < 8; at++) own[at] += a[(i * 3 + at) % size];
        grid.sync();
        out[i] = own[t & 7] + own[(t + 3) & 7];""",
    "threads that ended early": """
        if (t % 3 == 1) return;
        a[i] += n;
        grid.sync();
        int far = (i + blockDim.x) % size;
        out[i] = t + blockDim.x == 0 ? 0 : a[far];""",
    "warps that end by block": """
        if (t / 32 == blockIdx.x) return;
        a[i] += n;
        grid.sync();
        out[i] = a[(i + blockDim.x) % size];
        grid.sync();
        a[i] = out[i];""",
    "a condition that is the same in all threads": """
        for (int round = 0; round < 6; round++) {
            a[i] += round;
            if (round & n & 1) grid.sync();
            __syncthreads();
        }
        grid.sync();
        out[i] = a[size - 1 - i];""",
    "loops that part lanes": """
        int x = 0;
        for (int round = 0; round < 3; round++) {
            for (int at = 0; at < (t & 7); at++) x += a[(i + at) % size];
            grid.sync();
            if (t & 1) a[i] = x; else a[i] = -x;
            grid.sync();
        }
        out[i] = x + a[(i + 1) % size];""",
    "atomic sums": """
        for (int round = 0; round < n; round++) {
            atomicAdd(&a[round], i & 3);
            grid.sync();
            int seen = a[round];
            grid.sync();
            if (t == 0 && blockIdx.x == 0) a[round] = seen * 2;
            grid.sync();
        }
        out[i] = a[0] + a[1];""",
    "votes at barriers of the block": """
        int any = __syncthreads_or(a[i] > 5);
        grid.sync();
        a[i] = __syncthreads_count(t < n + blockIdx.x);
        grid.sync();
        out[i] = any + a[(i + blockDim.x) % size] + __syncthreads_and(t >= 0);""",
    "warps that exchange": """
        int x = a[i];
        for (int step = 1; step < n; step *= 2) {
            x += __shfl_xor_sync(0xffffffff, x, step);
            grid.sync();
        }
        out[i] = x;""",
}  # fmt: skip
"""By what they show; all are right."""

WRONG = {
    "nothing between blocks": ("grid.sync(); a[i] = i; a[(i + blockDim.x) % size] += n;", "race"),
    "a barrier of the block between blocks": (
        "grid.sync(); a[i] = i; __syncthreads(); out[i] = a[(i + blockDim.x) % size];",
        "race",
    ),
    "two phases, one barrier": (
        "for (int round = 0; round < n; round++) { a[i] = round; grid.sync(); out[i] = a[(i + 40) % size]; }",
        "race",
    ),
    "in shared memory": (
        "__shared__ int s[256]; s[t] = i; grid.sync(); s[t] += n; out[i] = s[(t + 1) % blockDim.x];",
        "race",
    ),
    "one block that returns": ("if (blockIdx.x == 1) return; grid.sync(); out[i] = n;", "barrier"),
    "threads that go past": ("if (t < n) grid.sync(); out[i] = n;", "barrier"),
    "warps that go past": ("if (t < blockDim.x - 32) grid.sync(); out[i] = n;", "barrier"),
    "another barrier in another block": (
        "if (blockIdx.x & 1) { out[i] = 1; grid.sync(); } else { out[i] = 2; grid.sync(); } out[i] += n;",
        "barrier",
    ),
    "a barrier of the block in one warp": (
        "if (t < 32) { out[i] = n; grid.sync(); } else { a[i] = n; __syncthreads(); } out[i] += n;",
        "barrier",
    ),
    "one round more in one block": (
        "for (int round = 0; round < n + (blockIdx.x == 2); round++) { out[i] = round; grid.sync(); }",
        "barrier",
    ),
    "what another block never wrote": (
        "if (t & 1) out[i] = n; grid.sync(); a[i] = out[(i + 2) % size];",
        "never written",
    ),
    "a place that is not there": ("grid.sync(); out[i + 64 * size] = n;", "out of bounds"),
}  # fmt: skip
"""Bodies, and a word of why the compiled machine stops."""


@cache
def module_of(body: str) -> Module:
    """Return the module of a kernel."""
    with TemporaryDirectory() as folder:
        return lowered(_HEAD.replace("BODY", body), Path(folder)).module


def grid_case(body: str, *, blocks: int = 3, threads: int = 64, warp: int = 32, n: int = 4) -> Case:
    """Return the case of a kernel: `out` was never written."""
    count = blocks * threads
    arrays = {
        "out": (bytes(4 * count), False),
        "a": (struct.pack(f"<{2 * count}i", *((7 * at + 3) % 50 for at in range(2 * count))), True),
    }
    launch = Launch((blocks, 1, 1), (threads, 1, 1), {"n": struct.pack("<i", n)}, warp=warp)
    return Case(module_of(body), "k", launch, arrays)


def random_grid_case(seed: int) -> Case:
    """Return a random kernel in which barriers of the block are of the grid, most of them."""
    made, chosen = random_case(seed), random.Random(seed)

    def wider(i: Instruction) -> Instruction:
        if i.op != "barrier" or i.results or chosen.random() < 0.3:
            return i
        return replace(i, op="unmodeled", operands=(), detail=Text(GRID_BARRIER))

    def of_block(block: BasicBlock) -> BasicBlock:
        return replace(block, instructions=tuple(map(wider, block.instructions)))

    (function,) = made.module.functions
    changed = replace(function, blocks=tuple(map(of_block, function.blocks)))
    return replace(made, module=replace(made.module, functions=(changed,)))
