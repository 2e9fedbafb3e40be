"""AMD IL that `lower` writes is read back and run."""

from __future__ import annotations

from tests.flows.journey.machines.ran import step_by, step_with_text
from warpsmith.flows.journey.machines.il import run_il


def test_the_small_kernel_is_computed() -> None:
    found = step_by(run_il)
    assert (found.elements, found.differ) == (60, 0), found


def test_an_instruction_that_is_wrong_is_seen() -> None:
    assert step_with_text(run_il, "il", "imul r3.x___, r2.x, l0.y", "imul r3.x___, r2.x, l0.x").differ
