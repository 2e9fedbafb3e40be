"""Numbers that are rounded up to whole blocks, and indices of threads in their block."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.sync.kernels_of_text import judge_of
from warpsmith.analysis.sync.rounded import is_index_in_block, is_rounded, number_of
from warpsmith.analysis.uniformity.uniformity import Uniformity
from warpsmith.simt.launch import Dim
from warpsmith.ssa.nodes import Operand


def stored(expression: str, folder: Path, block: Dim = (32, 4, 1)) -> tuple[Uniformity, Operand]:
    """Return what a kernel stores, with the answer of its analysis."""
    judge, _ = judge_of(f"int w = blockDim.x * blockDim.y; a[n] = {expression};", folder, block)
    store = next(i for b in judge.forms.answer.function.blocks for i in b.instructions if i.op == "store")
    return judge.forms.answer, store.operands[1]


@pytest.mark.parametrize(
    ("expression", "number"),
    [("w", 128), ("w - 1", 127), ("~(w - 1)", -128), ("blockDim.z << 3", 8), ("w + n", None), ("m", None), ("-5", -5)],
)
def test_numbers_of_a_block(expression: str, number: int | None, tmp_path: Path) -> None:
    assert number_of(*stored(expression, tmp_path)) == number


@pytest.mark.parametrize(
    ("expression", "rounded"),
    [
        ("n * w", True),
        ("n & ~(w - 1)", True),
        ("(n & ~(w - 1)) + w", True),
        ("(n & -256) - 2 * w", True),
        ("n & (w - 1) ? (n & ~(w - 1)) + w : n", True),
        ("n % w ? n * w : n", True),
        # no multiple, or one whose remainder nobody asks for
        ("n", False),
        ("n & (w - 1)", False),
        ("n & ~(w / 2 - 1)", False),
        ("(n & ~(w - 1)) + m", False),
        ("n > m ? (n & ~(w - 1)) + w : n", False),
        ("n % 100 ? n * w : n", False),
    ],
)
def test_multiples_of_a_block(expression: str, *, rounded: bool, tmp_path: Path) -> None:
    assert is_rounded(*stored(expression, tmp_path), 128) == rounded


@pytest.mark.parametrize(
    ("expression", "block", "index"),
    [
        ("threadIdx.y * blockDim.x + threadIdx.x", (32, 4, 1), True),
        ("threadIdx.x + 32 * threadIdx.y", (32, 4, 1), True),
        ("threadIdx.x + (threadIdx.y << 5) + threadIdx.z * w", (32, 4, 2), True),
        ("threadIdx.x + threadIdx.y", (64, 1, 1), True),
        ("threadIdx.x", (32, 4, 1), False),
        ("threadIdx.x + threadIdx.y * 16", (32, 4, 1), False),
        ("threadIdx.x + threadIdx.y * 32 + n", (32, 4, 1), False),
        ("threadIdx.x + threadIdx.y * n", (32, 4, 1), False),
        ("threadIdx.x + blockIdx.x", (64, 1, 1), False),
    ],
)
def test_indices_in_a_block(expression: str, block: Dim, *, index: bool, tmp_path: Path) -> None:
    assert is_index_in_block(*stored(expression, tmp_path, block)) == index
