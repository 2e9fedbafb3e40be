"""Cooperative groups and asynchronous copies: kernels that use them, run by both machines."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.lower.harness import lowered
from tests.simt.engine.agree import Case, agree
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory

HEAD = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
__global__ void k(int *out, const int *in)
{
    __shared__ int4 s[16];
    int t = threadIdx.x;
    out[t] = -1;
    BODY
}
"""
IN = [(7 * n + 3) % 50 for n in range(64)]
THIRD = [t for t in range(64) if t % 3 == 0]


def _of_warp(t: int) -> list[int]:
    return [one for one in THIRD if one // 32 == t // 32]


def _rank(t: int) -> int:
    return _of_warp(t).index(t)


BODIES: dict[str, Callable[[int], int]] = {
    "auto g = cg::tiled_partition<8>(cg::this_thread_block());"
    "out[t] = cg::reduce(g, in[t], cg::plus<int>());": lambda t: sum(IN[t // 8 * 8 : t // 8 * 8 + 8]),
    "auto g = cg::tiled_partition<16>(cg::this_thread_block()); out[t] = cg::inclusive_scan(g, in[t]);": lambda t: sum(
        IN[t // 16 * 16 : t + 1]
    ),
    "auto g = cg::tiled_partition<4>(cg::this_thread_block());"
    "out[t] = cg::exclusive_scan(g, in[t], cg::plus<int>());": lambda t: sum(IN[t // 4 * 4 : t]),
    "auto g = cg::tiled_partition<32>(cg::this_thread_block());"
    "out[t] = cg::inclusive_scan(g, in[t], cg::greater<int>());": lambda t: max(IN[t // 32 * 32 : t + 1]),
    "if (t % 3 == 0) { auto g = cg::coalesced_threads();out[t] = g.shfl(in[t], 2) + g.size(); }": lambda t: (
        IN[_of_warp(t)[2]] + len(_of_warp(t)) if t % 3 == 0 else -1
    ),
    "if (t % 3 == 0) { auto g = cg::coalesced_threads();"
    "out[t] = g.shfl_down(in[t], 3) - g.shfl_up(in[t], 2); }": lambda t: (
        IN[(_of_warp(t) * 2)[_rank(t) + 3] if _rank(t) + 3 < len(_of_warp(t)) else t]
        - IN[_of_warp(t)[_rank(t) - 2] if _rank(t) >= 2 else t]
        if t % 3 == 0
        else -1
    ),
    "if (t % 3 == 0) { auto g = cg::coalesced_threads(); out[t] = g.ballot(in[t] > 20); }": lambda t: (
        sum((IN[one] > 20) << n for n, one in enumerate(_of_warp(t))) if t % 3 == 0 else -1
    ),
    "if (t % 3 == 0) { auto g = cg::coalesced_threads(); out[t] = cg::reduce(g, in[t], cg::less<int>()); }": lambda t: (
        min(IN[one] for one in _of_warp(t)) if t % 3 == 0 else -1
    ),
    "auto w = cg::tiled_partition<32>(cg::this_thread_block()); auto g = cg::labeled_partition(w, t % 5);"
    "out[t] = 100 * g.size() + g.thread_rank();": lambda t: (
        100 * len([one for one in range(t // 32 * 32, t // 32 * 32 + 32) if one % 5 == t % 5])
        + len([one for one in range(t // 32 * 32, t) if one % 5 == t % 5])
    ),
    "auto w = cg::tiled_partition<32>(cg::this_thread_block()); auto g = cg::binary_partition(w, in[t] > 20);"
    "out[t] = g.size();": lambda t: len(
        [one for one in range(t // 32 * 32, t // 32 * 32 + 32) if (IN[one] > 20) == (IN[t] > 20)]
    ),
    "auto b = cg::this_thread_block(); cg::memcpy_async(b, (int *)s, in, 64 * sizeof(int)); cg::wait(b);"
    "out[t] = ((int *)s)[63 - t];": lambda t: IN[63 - t],
    "if (t < 16) __pipeline_memcpy_async(&s[t], (const int4 *)in + t, 16); __pipeline_commit();"
    "__pipeline_wait_prior(0); __syncthreads(); out[t] = ((int *)s)[63 - t];": lambda t: IN[63 - t],
    "__pipeline_memcpy_async((int *)s + t, in + t, 4, t % 2 ? 4 : 0); __pipeline_commit();"
    "__pipeline_wait_prior(0); __syncthreads(); out[t] = ((int *)s)[63 - t];": lambda t: IN[63 - t] if t % 2 else 0,
}


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(BODIES)))
def test_what_groups_compute_is_the_same_in_both_machines(number: int, tmp_path: Path) -> None:
    body, expected = list(BODIES.items())[number]
    module = lowered(HEAD.replace("BODY", body), tmp_path).module
    name = next(function.name for function in module.functions if function.kernel)
    arrays = {"out": (bytes(256), True), "in": (struct.pack("<64i", *IN), True)}
    case = Case(module, name, Launch(block=(64, 1, 1)), arrays)
    memory, launch = case.placed(checks=True)
    outcome = interpret(module, name, launch, memory)
    assert outcome.complete and not outcome.problems and not outcome.conflicts, outcome.problems
    assert list(struct.unpack("<64i", bytes(memory.buffers[0].data))) == [expected(t) for t in range(64)]
    assert agree(case) == ""


def test_a_copy_says_that_it_may_be_made_later(tmp_path: Path) -> None:
    body = next(body for body in BODIES if "pipeline" in body)
    made = lowered(HEAD.replace("BODY", body), tmp_path)
    assert any("when an asynchronous copy is made" in finding.message for finding in made.findings)


GRID = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int *out, int *sums)
{
    cg::grid_group g = cg::this_grid();
    out[g.thread_rank()] = g.thread_rank();
    g.sync();
    sums[g.thread_rank()] = out[g.size() - 1 - g.thread_rank()];
}
"""


def test_a_grid_waits_for_all_its_blocks(tmp_path: Path) -> None:
    module = lowered(GRID, tmp_path).module
    name = next(function.name for function in module.functions if function.kernel)
    memory = LaunchMemory()
    given = {one: struct.pack("<Q", memory.allocate(one, bytes(4 * 80)).address) for one in ("out", "sums")}
    outcome = interpret(module, name, Launch((10, 1, 1), (8, 1, 1), given), memory)
    assert outcome.complete and not outcome.problems and not outcome.conflicts
    assert list(struct.unpack("<80i", bytes(memory.buffers[1].data))) == list(range(79, -1, -1))


def test_what_groups_do_stands_where_they_are_called(tmp_path: Path) -> None:
    body = "cg::sync(cg::this_thread_block()); cg::this_thread_block().sync();"
    module = lowered(HEAD.replace("BODY", body), tmp_path, "k.cu").module
    (kernel,) = (function for function in module.functions if function.kernel)
    made = [(i.op, i.span) for _, i in kernel.instructions() if i.span is not None]
    assert {span.file.path for _, span in made} == {str(tmp_path / "k.cu")}
    assert len([op for op, _ in made if op == "barrier"]) == 2
