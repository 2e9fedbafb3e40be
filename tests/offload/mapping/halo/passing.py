"""Loops over two nests as passes of one kernel."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from tests.offload.analyzed import analyzed
from tests.offload.hand import build_all
from warpsmith.loops.place import LoopContext
from warpsmith.offload.decisions import decide
from warpsmith.offload.plan import Fragment
from warpsmith.offload.selection.choice import choose
from warpsmith.tree.program import Decision

__all__ = ["build"]

HEAD = (
    "static double twice(double v) { return 2 * v; }\n"
    "void f(int n, double B[restrict n][n], double A[restrict n][n], double D[restrict n][n])\n"
)


def build(nests: str, folder: Path, iterations: int, passes: int = 4) -> Fragment:
    """Build the kernel of a loop over nests, so many iterations a pass."""
    given = analyzed(f"{HEAD}{{ for (int t = 0; t < {iterations * passes + 1}; t++) {{ {nests} }} }}\n", folder)
    place = LoopContext.of(given.program, "f/t")
    decision = Decision("f/t", "f", "passes", place.loop, width=iterations)
    request = replace(given.request(), program=decide(given.program, place, decision))
    (built,) = build_all(request, choose(request, {})).values()
    return built.fragment
