"""Loops that are gone through at once cost what they do iteration by iteration."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.counts.counted import sums, touched, walk_of
from tests.analysis.counts.nests import nest_module
from tests.lower.harness import lowered
from tests.simt.test_interpreter import kernel
from warpsmith.analysis.counts.walk import NotCountedError
from warpsmith.analysis.uniformity.facts import Dim

SHAPES: tuple[tuple[Dim, Dim, int], ...] = (
    ((8, 4, 1), (3, 2, 1), 32), ((32, 1, 1), (4, 1, 1), 32), ((16, 2, 1), (2, 2, 1), 32), ((5, 3, 1), (3, 1, 1), 32),
)  # fmt: skip


def is_alike(seed: int, most: int = 1500) -> tuple[bool, bool]:
    """Whether a nest can be counted both ways, when both must show the same, and whether one takes less."""
    module, shape = nest_module(seed), SHAPES[seed % 4]
    arguments = {"n": (5, 17, 40)[seed % 3], "m": (3, 12, 25)[seed // 3 % 3]}
    once, slowly = walk_of(module, shape, arguments), walk_of(module, shape, arguments)
    slowly.irregular = set(slowly.graph.order)
    once.left = slowly.left = most
    try:
        found, wanted = once.run(), slowly.run()
    except NotCountedError:
        return False, False
    weights = once.threads.weights(frozenset())
    assert sums(found, weights) == sums(wanted, weights)
    if not found.writer.overflow:
        assert touched(found.writer) == touched(wanted.writer)
    return True, once.left > slowly.left


def test_at_once_or_one_by_one() -> None:
    counted, less = zip(*(is_alike(seed) for seed in range(11)), strict=True)
    assert sum(counted) >= 6 and sum(less) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("start", range(11, 411, 20))
def test_always_at_once_or_one_by_one(start: int) -> None:
    counted, less = zip(*(is_alike(seed, 40_000) for seed in range(start, start + 20)), strict=True)
    assert sum(counted) >= 10 and sum(less) >= 1


LOOP = """
    mov.u32 %r2, {start};
$head:
    setp.{test} %p1, %r2, {end}; @%p1 bra $end;
    mul.wide.u32 %rd7, %r2, {stride}; add.u64 %rd8, %rd1, %rd7;
    ld.global.u32 %r9, [%rd8];
    add.u32 %r2, %r2, {step}; bra $head;
$end: ret;"""


@pytest.mark.parametrize(
    ("start", "test", "end", "step", "iterations"),
    [
        (0, "ge.s32", 1_000_000, 1, 1_000_000),
        (0, "gt.u32", 999_999, 3, 333_334),
        (1_000_000, "le.s32", 0, -1, 1_000_000),
        (0, "eq.u32", 5_000, 5, 1_000),
        (7, "ge.s32", 7, 1, 0),
    ],
)
def test_how_often_a_loop_goes_around(start: int, test: str, end: int, step: int, iterations: int) -> None:
    text = LOOP.format(start=start, test=test, end=end, step=step % (1 << 32), stride=4)
    walk = walk_of(kernel(text), ((32, 1, 1), (1, 1, 1), 32), {})
    walk.left = 100
    ((_, counts),) = walk.run().tallies.requests.items() if iterations else ((None, [[0]]),)
    assert counts[0][0] == iterations


def test_a_counter_that_wraps_is_not_gone_through_at_once() -> None:
    text = LOOP.format(start=(1 << 32) - 600, test="eq.u32", end=600, step=1, stride=4)
    walk = walk_of(kernel(text), ((32, 1, 1), (1, 1, 1), 32), {})
    ((_, counts),) = walk.run().tallies.requests.items()
    assert counts[0][0] == 1200 and walk.irregular


def test_sectors_come_again_after_as_many_iterations_as_share_one() -> None:
    text = LOOP.format(start=0, test="ge.s32", end=4096, step=1, stride=12)
    walk = walk_of(kernel(text), ((32, 1, 1), (1, 1, 1), 32), {})
    walk.left = 100
    found = walk.run()
    ((i, counts),) = found.tallies.requests.items()
    assert counts[:3, 0].tolist() == [4096, 4096 * 32, 4096]
    assert sum(high - low for _, low, high in touched(found.writer)[id(i)]) == 4096 * 12 // 32  # type: ignore[attr-defined]


REST = """__global__ void k(float *a, float *b, int n) {{
    float sum = 0;
    for (int k = 0; k < n; k += 32)
        if (k + (int)threadIdx.x < n && blockIdx.x < {blocks}) sum += a[k + threadIdx.x];
    b[threadIdx.x] = sum;
}}
"""


@pytest.mark.parametrize("n", [1, 31, 32, 33, 320, 1000, 1025])
@pytest.mark.parametrize("blocks", [1, 3])
def test_a_loop_with_a_rest_is_gone_through_at_once(n: int, blocks: int, tmp_path: Path) -> None:
    module = lowered(REST.format(blocks=blocks), tmp_path, "k.cu").module
    once, slowly = (walk_of(module, ((32, 1, 1), (3, 1, 1), 32), {"n": n}) for _ in range(2))
    slowly.irregular = set(slowly.graph.order)
    weights = once.threads.weights(frozenset())
    assert sums(once.run(), weights) == sums(slowly.run(), weights)
    assert not once.irregular and bool(once.parted) == (n > 5 * 32 and n % 32 != 0)
