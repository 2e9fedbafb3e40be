"""The original is compiled and called; whatever it does wrong is a reason."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from warpsmith.flows.journey.inputs import TravelInputs
from warpsmith.flows.journey.original import run_original
from warpsmith.flows.journey.reasons import UnableError
from warpsmith.front.inputs import Source
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import Function

SCALE = "void scale(int n, long long by, int *v) { for (int i = 0; i < n; i++) v[i] *= (int)(by >> 32); }\n"


@cache
def _function() -> Function:
    program = load_program([Source("scale.c", text=SCALE)], FrontOptions()).program
    return next(function for _, function in program.functions())


def _inputs() -> TravelInputs:
    return TravelInputs({"n": 3, "by": 5 << 32}, {"v": np.array([1, 2, 3, 4], "<i4")})


def test_it_leaves_what_the_function_computes() -> None:
    inputs = _inputs()
    left = run_original(Source("f.c", text=SCALE), _function(), inputs)
    assert left["v"].tolist() == [5, 10, 15, 4]
    assert inputs.arrays["v"].tolist() == [1, 2, 3, 4]


def test_another_text_is_another_result() -> None:
    source = Source("f.c", text="static " + SCALE.replace("*=", "+="))
    assert run_original(source, _function(), _inputs())["v"].tolist() == [6, 7, 8, 4]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (SCALE.replace("v[i] *=", "*(volatile int *)0 ="), "SIGSEGV"),
        (SCALE.replace("int i", "integer i"), "the C compiler refuses it"),
    ],
)
def test_what_goes_wrong_is_a_reason(text: str, why: str) -> None:
    with pytest.raises(UnableError, match=why):
        run_original(Source("f.c", text=text), _function(), _inputs())


def test_what_other_files_have_is_missing_only_where_the_function_needs_it() -> None:
    needs = "int other(void); int main(void) { return other(); }\n"
    assert run_original(Source("f.c", text=SCALE + needs), _function(), _inputs())["v"].tolist() == [5, 10, 15, 4]
    text = "int other(void);\n" + SCALE.replace("v[i] *=", "v[i] = other() *")
    with pytest.raises(UnableError, match=r"undefined symbol: other$"):
        run_original(Source("f.c", text=text), _function(), _inputs())
