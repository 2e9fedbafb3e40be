"""The ops of functions.py that are easily wrong, on awkward numbers; all others on demand (test_instructions.py)."""

from __future__ import annotations

import pytest

from tests.simt.engine.test_instructions import FIRST, check
from warpsmith.simt.engine.ops.functions import OPS

TRICKY = ["exp2", "log2", "sin"]


@pytest.mark.parametrize("name", TRICKY)
def test_an_op_computes_what_the_interpreter_does(name: str) -> None:
    assert name in OPS
    check(FIRST[name], 0)
