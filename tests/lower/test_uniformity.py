"""Values that are called uniform in lowered kernels never differ when they run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.uniformity.test_uniformity import Seen
from tests.lower.harness import constructs, interpreted, kernels, lowered, text_of
from warpsmith.analysis.uniformity import uniformity
from warpsmith.analysis.uniformity.seeds import Threads
from warpsmith.simt.launch import Dim
from warpsmith.ssa.nodes import Module


def _wrong(module: Module, name: str, block: Dim) -> list[str]:
    seen = Seen()
    interpreted(module, name, block, seen)
    function = module.function(name)
    assert function is not None
    answers = {level: uniformity.uniformity(function, Threads(level, block, 32)) for level in ("warp", "block")}
    found = []
    for (level, _, _, place), numbers in seen.values.items():
        if len(numbers) > 1 and not any(value in answers[level].divergent for value in place.results):
            found.append(f"{name}, {level}: {place.op} at {place.span}")
    for (level, _, _, source), taken in seen.ways.items():
        if len(taken) > 1 and source not in answers[level].branches:
            found.append(f"{name}, {level}: the branch of {source}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("start", (100, 120, 140))
def test_uniform_values_of_lowered_kernels_never_differ(start: int, tmp_path: Path) -> None:
    given = {**kernels(range(start, start + 20)), **(constructs() if start == 100 else {})}
    module = lowered(text_of(given), tmp_path).module
    assert [text for name, (_, block) in given.items() for text in _wrong(module, name, block)] == []
