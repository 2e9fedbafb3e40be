"""LOWER: a file goes in, text comes out."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.base.errors import InputError, UsageError
from warpsmith.base.source import SourceFile
from warpsmith.flows.lower import lower_kernel
from warpsmith.kernels.units import KernelFile
from warpsmith.simt.mask.assembler import assemble

MANUAL = Path(__file__).parents[2] / "examples" / "manual"


def test_a_kernel_becomes_a_program() -> None:
    made = lower_kernel(KernelFile(str(MANUAL / "countdown.cu")), "")
    assert assemble(SourceFile("k.mask", made.text)).registers == 2


def test_a_kernel_that_is_not_there_and_a_file_that_is_not() -> None:
    with pytest.raises(UsageError):
        lower_kernel(KernelFile(str(MANUAL / "countdown.cu")), "no")
    with pytest.raises(InputError):
        lower_kernel(KernelFile(str(MANUAL / "none.cu")), "")
