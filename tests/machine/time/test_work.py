"""A launch in numbers."""

from __future__ import annotations

from tests.machine.time.works import axpy
from warpsmith.machine.time.work import WarpInstructions


def test_all_kinds_are_issued() -> None:
    names = WarpInstructions.__struct_fields__
    assert WarpInstructions(**dict.fromkeys(names, 1.0)).issued == len(names)


def test_warps_are_those_of_all_blocks() -> None:
    assert axpy(1 << 20, 256).warps == 1 << 15
