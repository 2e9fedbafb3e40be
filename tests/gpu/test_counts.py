"""Simulated kernels on a real GPU: they leave the memory that the simulator leaves, and touch as much of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.gpu.counting import PATTERNS, count_kernels

from tests.gpu.device import answers

# what a compiler has no choice about: each thread reads and writes once
PLAIN = ("coalesced", "misaligned", "wide", "strided", "strided_far", "gather", "tile_unpadded", "tile_padded")
FIGURES = ("global load sectors", "global store sectors", "shared load conflicts", "shared store conflicts")


@pytest.mark.gpu
def test_memory_and_counts_are_the_simulators(tmp_path: Path) -> None:
    count_kernels(tmp_path, [PATTERNS], "interpreter")
    ours = {
        kernel["kernel"]: kernel["counts"] for kernel in json.loads((tmp_path / "counts.json").read_text())["kernels"]
    }
    found = {answer["kernel"]: answer for answer in answers("count", tmp_path)}
    assert found.keys() == ours.keys() >= set(PLAIN)
    for answer in found.values():
        assert answer["word"] == "same", answer
    for kernel in PLAIN:
        for figure in FIGURES:
            assert found[kernel]["figures"][figure] == ours[kernel].get(figure, 0), (kernel, figure)
