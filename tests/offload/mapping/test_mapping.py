"""Thread mappings from strides alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.hand import load, request
from warpsmith.machine.limits import block_fits
from warpsmith.offload.mapping.mapping import ThreadMapping, choose_mapping, large_axes
from warpsmith.tree.nodes import For


def mapping(directory: Path, body: str, *, counters: str = "int", volume: int = 256) -> tuple[ThreadMapping, list[For]]:
    text = f"void f(int n, int m, double A[64][64], double *B, double *C) {{ {body} }}".replace("INT", counters)
    facts = request(load(text, directory), "f", []).facts
    heads = [found.loop for found in facts.loops if isinstance(found.loop, For)]
    nest = [head for head in heads if head.variable.name in "ijl"]
    return choose_mapping(facts.loops[0].accesses, nest, volume, {}), nest


@pytest.mark.parametrize(
    ("statement", "axes"),
    [
        ("B[i * n + j] = 1;", ("y", "x")),
        ("B[j * n + i] = 1;", ("x", "y")),
        ("A[i][j] = B[i];", ("y", "x")),
        ("A[j][i] = B[j] + C[j];", ("x", "y")),
        ("B[i] += C[j * m + i];", ("x", "y")),
    ],
)
def test_the_counter_that_moves_by_one_is_x(statement: str, axes: tuple[str, ...], tmp_path: Path) -> None:
    found, _ = mapping(tmp_path, f"for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {statement}")
    assert found.axes == axes
    assert found.block[0] >= 32
    assert found.block[0] * found.block[1] == 256


@pytest.mark.parametrize("volume", [32, 64, 256, 1000, 1024])
def test_blocks_have_the_volume_and_fit(volume: int, tmp_path: Path) -> None:
    loops = "".join(f"for (int {v} = 0; {v} < n; {v}++) " for v in "ijl")
    text = f"{loops} B[(i * n + j) * n + l] = 1;"
    found, _ = mapping(tmp_path, text, volume=volume)
    assert block_fits(found.block)
    assert found.block[0] * found.block[1] * found.block[2] == 1 << (volume.bit_length() - 1)
    assert found.axes == ("z", "y", "x")


def test_a_short_loop_does_not_get_more_threads_than_iterations(tmp_path: Path) -> None:
    found, _ = mapping(tmp_path, "for (int i = 0; i < n; i++) for (int j = 0; j < 8; j++) A[i][j] = 1;")
    short = found.block["xyz".index(found.axes[1])]
    assert short <= 8


def test_axes_that_may_need_too_many_blocks_walk(tmp_path: Path) -> None:
    nest = "for (INT i = 0; i < n; i++) for (INT j = 0; j < m; j++) B[i * m + j] = 1;"
    for counters, walking in (("int", ("y",)), ("long", ("y", "x")), ("short", ())):
        found, heads = mapping(tmp_path, nest, counters=counters)
        assert large_axes(heads, found) == walking
