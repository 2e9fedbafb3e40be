"""Machine code: made once for a kernel, the same with and without gathers of the processor."""

from __future__ import annotations

import pytest

from tests.simt.engine.agree import ALL, agree
from tests.simt.engine.kernels import random_case
from warpsmith.simt.engine import compile as made
from warpsmith.simt.engine.compile import compile_kernel


def test_a_kernel_is_compiled_once_for_all_launches() -> None:
    function = random_case(1).module.functions[0]
    one = compile_kernel(function, 8, ALL)
    assert compile_kernel(function, 8, ALL) is one
    assert compile_kernel(function, 9, ALL) is not one


@pytest.mark.parametrize("seed", range(1))
def test_processors_without_gathers_compute_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(made, "has_fast_gathers", lambda: False)
    agree(random_case(seed))


def test_widths_of_one_vector_have_one_machine_code() -> None:
    function = random_case(1).module.functions[0]
    one = compile_kernel(function, 9, ALL)
    assert all(compile_kernel(function, width, ALL) is one for width in (10, 15, 16))
    assert compile_kernel(function, 17, ALL) is not one
