"""A real program's hot loops, as far as their verdicts: pointers in structs, helper functions, gathers, counters."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from warpsmith.base.verdict import Proved
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.front.inputs import Source
from warpsmith.front.load import FrontOptions
from warpsmith.poly.facts import LoopFacts

PROJECT = Path(__file__).parents[2] / "examples" / "projects" / "particles"


@cache
def surveyed(*files: str) -> PortResult:
    flags = (f"-I{PROJECT / 'include'}", "-std=c11")
    sources = [Source(str(PROJECT / "src" / name), flags, "c") for name in files]
    return port(sources, PortOptions(front=FrontOptions(), survey=True))


def best(function: str, *files: str) -> tuple[str, list[str]]:
    """Return the category of the first loop of a function after the steps, and what that rests on."""
    found: list[LoopFacts] = [
        facts for one in surveyed(*files).prepared.facts.functions for facts in one.loops
        if facts.function.symbol.name == function
    ]  # fmt: skip
    first = found[0]
    verdict = first.verdict if isinstance(first.verdict, Proved) else first.combined
    assert isinstance(verdict, Proved), [r.text for r in first.reasons]
    return first.category, [a.kind for a in verdict.assumptions]


@pytest.mark.slow
@pytest.mark.parametrize(
    "function, file, category",
    [
        ("half_kick", "integrate.c", "parallel"),
        ("drift", "integrate.c", "parallel"),
        ("forces_compute", "forces.c", "reduction"),
        ("cells_sort", "cells.c", "reduction"),
        ("neighbours_stale", "cells.c", "reduction"),
    ],
)
def test_a_hot_loop_is_proved_under_guards(function: str, file: str, category: str) -> None:
    found, kinds = best(function, file)
    assert found == category
    assert set(kinds) <= {"guarded"}
