"""Branches become selects where their arms only compute."""

from __future__ import annotations

import pytest

from warpsmith.base.source import SourceFile
from warpsmith.front.brook.read import read_brook
from warpsmith.lower.program import lower
from warpsmith.ssa.nodes import Branch, Function
from warpsmith.ssa.verify import faults
from warpsmith.targets.il.pixels.flatten import MOST, flatten_branches


def flat(body: str) -> Function:
    """Return a kernel with its branches flattened."""
    head = "kernel void k(float a<>, float g[], int n, out float o<>) { float x = a; "
    read = read_brook(SourceFile("k.br", f"{head}{body} o = x; }}"), guarded=False)
    assert not read.findings
    function = lower(read.program).module.function("k")
    assert function is not None
    made = flatten_branches(function)
    assert not faults(made)
    return made


def branches(function: Function) -> int:
    """Return how many branches there are."""
    return sum(isinstance(block.terminator, Branch) for block in function.blocks)


@pytest.mark.parametrize(
    "body",
    [
        "if (a > 0) x = g[0]; else x = g[1];",
        "if (a > 0) x = g[0];",
        "if (a > 0) { if (a > 1) x = g[0]; else x = g[1]; } else if (a < -1) x = g[2];",
        "if (a > 0 && g[0] > a && g[1] < a) x = 1; else x = 2;",
        "if (a > 0 || g[0] > a || !(g[1] < a)) x = 1;",
        "x = a > 0 ? g[0] : a < 0 ? g[1] : g[2];",
        "if (a > 0) { o = 1; return; } if (a > -1 && g[0] > 2) { o = 2; return; }",
    ],
)
def test_one_block_is_left(body: str) -> None:
    made = flat(body)
    assert branches(made) == 0 and len(made.blocks) == 1


def test_a_loop_keeps_its_branch() -> None:
    assert branches(flat("for (int i = 0; i < n; i++) if (g[i] > x) x = g[i];")) == 1


def test_long_arms_stay() -> None:
    long = "x = sin(x) * 1.5f; " * MOST
    assert branches(flat(f"if (a > 0) {{ {long} }}")) == 1
