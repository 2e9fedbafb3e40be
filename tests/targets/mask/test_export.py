"""Kernels of examples: those that are exported leave the same memory, the others are refused at a line."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.targets.mask.agree import agree
from tests.targets.mask.examples import example_case, example_kernels, why_refused

RACES = ("pointer_jump",)
"""Threads write what others read."""


@pytest.mark.slow
def test_examples_are_exported_or_refused() -> None:
    kernels = example_kernels()
    reasons = Counter(why_refused(*one).partition(":")[0] for one in kernels)
    assert reasons[""] >= 60
    assert reasons["the mask ISA has no shared memory"] >= 40
    for path, name in kernels:
        if not why_refused(path, name) and name not in RACES:
            agree(example_case(path, name), floats=True)


@pytest.mark.parametrize("name", ["halve", "countdown", "paths"])
def test_a_kernel_of_the_manual_leaves_the_same_memory(name: str) -> None:
    (one,) = (one for one in example_kernels() if one[1] == name and "manual" in one[0])
    exported = agree(example_case(*one), floats=True)
    assert exported.text.startswith(f"; {name}: a launch of 1 dimension\n")
