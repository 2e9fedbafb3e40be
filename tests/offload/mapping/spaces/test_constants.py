"""Which element of an array in constant memory the lanes of a warp read, as far as the text says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.poly.programs import load
from warpsmith.offload.plan import OffloadOptions
from warpsmith.offload.port import plan_function
from warpsmith.offload.steps.constant_memory import ConstantMemory
from warpsmith.offload.steps.map import Map
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions


def uniform(element: str, folder: Path, *, block: tuple[int, ...] = (32, 8), bound: str = "5") -> bool:
    """Say what the plan says of an element of `c` in a kernel with j on x."""
    text = (
        "static float c[8][8]; static int at[8];\n"
        "void f(int n, int m, float (*restrict x)[64]) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {"
        f" int own = i + 1; float s = 0; for (int k = 0; k < {bound}; k++) s += {element}; x[i][j] = s * own; }} }}"
    )
    program = load(text, folder)
    for step in (Map("f/i", ("y", "x"), block), ConstantMemory("f/i", ("c",))):
        program = step.apply(program)
    ((_, function),) = program.functions()
    planned = plan_function(program, Facts.about(program, PolyOptions()), function, OffloadOptions())
    (constant,) = planned.fragments[0].constants
    assert constant.bytes == 8 * 8 * 4
    return constant.uniform


@pytest.mark.parametrize(
    ("element", "expected"),
    [
        ("c[k][1]", True),
        ("c[n % 8][k]", True),
        ("c[i % 8][k]", True),  # j is on x, and a row of a block is a warp
        ("c[j % 8][k]", False),
        ("c[k][(i + j) % 8]", False),
        ("c[own % 8][k]", False),
        ("c[at[k]][1]", False),
    ],
)
def test_elements_that_lanes_read_at_once(element: str, expected: bool, tmp_path: Path) -> None:
    assert uniform(element, tmp_path) == expected


def test_a_warp_of_several_rows(tmp_path: Path) -> None:
    assert not uniform("c[i % 8][k]", tmp_path, block=(16, 16))


def test_loops_that_lanes_run_otherwise(tmp_path: Path) -> None:
    assert not uniform("c[k % 8][1]", tmp_path, bound="j")
    assert uniform("c[k % 8][1]", tmp_path, bound="n")
