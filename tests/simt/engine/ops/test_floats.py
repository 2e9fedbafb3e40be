"""The ops of floats.py that are easily wrong, on awkward numbers; all others on demand (test_instructions.py)."""

from __future__ import annotations

import pytest

from tests.simt.engine.test_instructions import FIRST, check
from warpsmith.simt.engine.ops.floats import FLOATS

TRICKY = ["fmin_nan", "fround", "rsqrt", "ffma", "ftosi", "ftoui", "is_normal"]


@pytest.mark.parametrize("name", TRICKY)
def test_an_op_computes_what_the_interpreter_does(name: str) -> None:
    assert name in FLOATS
    check(FIRST[name], 0)
