"""Texts of arguments become numbers and arrays, which must fit the function that gets them."""

from __future__ import annotations

from functools import cache

import pytest

from warpsmith.base.errors import UsageError
from warpsmith.flows.journey.inputs import check_inputs, make_inputs
from warpsmith.front.inputs import Source
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.nodes import Function

TEXT = "void f(int n, unsigned char c, float by, double a[n][n], const long *v) { a[0][0] = by * c + v[0]; }\n"
GIVEN = ("n=3", "c=255", "by=-0.5", "a=zeros:f64[n*n]", "v=iota:i64[n]")


@cache
def _function() -> Function:
    program = load_program([Source("f.c", text=TEXT)], FrontOptions()).program
    return next(function for _, function in program.functions())


def test_numbers_are_whole_or_not_and_sizes_of_arrays() -> None:
    inputs = make_inputs(GIVEN)
    assert inputs.numbers == {"n": 3, "c": 255, "by": -0.5}
    assert inputs.arrays["a"].shape == (9,) and inputs.arrays["v"].tolist() == [0, 1, 2]
    check_inputs(_function(), inputs)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (GIVEN[:3], "for example --arg 'a=zeros:f64"),
        ((*GIVEN, "m=2"), "f has no such parameter"),
        ((*GIVEN[:3], "a=zeros:f32[n*n]", GIVEN[4]), "--arg 'a=zeros:f64"),
        ((*GIVEN[:4], "v=zeros:u64[n]"), "--arg 'v=zeros:i64"),
        (("n=0.5", "c=255", "by=1", "a=zeros:f64[9]", "v=iota:i64[3]"), "--arg 'n=64'"),
        (("n=3", "c=256", "by=1", "a=zeros:f64[9]", "v=iota:i64[3]"), "--arg 'c=64'"),
        ((*GIVEN[:4], "v=3"), "--arg 'v=zeros:i64"),
        ((*GIVEN[:4], "v=local:i64[n]"), "memory of a block"),
    ],
)
def test_what_does_not_fit_is_said(given: tuple[str, ...], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_inputs(_function(), make_inputs(given))
    (found,) = caught.value.findings
    assert said in " ".join((found.message, *found.help))
