"""The door to the compiled machine."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.simt.engine.agree import ALL
from tests.simt.engine.kernels import random_case
from warpsmith.simt.engine.engine import run


def test_llvm_is_loaded_when_a_kernel_is_run_and_not_before() -> None:
    program = "import sys, warpsmith.flows.simulate, warpsmith.simt.choose; print('llvmlite' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_there_is_no_such_kernel() -> None:
    case = random_case(0)
    memory, launch = case.placed(checks=True)
    with pytest.raises(KeyError):
        run(case.module, "other", launch, memory, ALL)


def test_what_is_raised_meanwhile_puts_memory_back() -> None:
    case = random_case(0)
    memory, launch = case.placed(checks=True)
    before = [bytes(buffer.data) for buffer in memory.buffers]

    def stop(activity: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(case.module, case.name, launch, memory, ALL, progress=stop)
    assert [bytes(buffer.data) for buffer in memory.buffers] == before
