"""PTX that `lower` writes is read back and run."""

from __future__ import annotations

from tests.flows.journey.machines.ran import step_by, step_with_text
from warpsmith.flows.journey.machines.ptx import run_ptx


def test_the_small_kernel_is_computed() -> None:
    found = step_by(run_ptx)
    assert (found.elements, found.differ) == (60, 0), found


def test_an_instruction_that_is_wrong_is_seen() -> None:
    assert step_with_text(run_ptx, "ptx", "sub.s32", "add.s32").differ
