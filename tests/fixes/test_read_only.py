"""Loads through the read-only cache."""

from __future__ import annotations

import pytest

from tests.fixes.places import offered
from warpsmith.fixes.read_only import load_read_only


def text(body: str, parameter: str = "const float *__restrict__ in") -> str:
    return (
        f"__device__ void use(const float *p);\n__global__ void k(float *out, {parameter}, int i)\n{{\n    {body}\n}}\n"
    )


def test_each_load_with_the_same_text_goes_by_it() -> None:
    (found,) = offered(load_read_only, text("out[i] = in[i] * in[ i ] + in[i + 1];"), "in[i]")
    assert found == ("out[i] = __ldg(&in[i]) * in[ i ] + in[i + 1];", True)
    (found,) = offered(load_read_only, text("out[i] = in[i] * in[i];"), "in[i]")
    assert found == ("out[i] = __ldg(&in[i]) * __ldg(&in[i]);", True)


@pytest.mark.parametrize("parameter", ["const float *in", "float *__restrict__ in", "float *in"])
def test_it_is_safe_only_where_nobody_else_leads_there(parameter: str) -> None:
    assert offered(load_read_only, text("out[i] = in[i];", parameter), "in[i]") == [("out[i] = __ldg(&in[i]);", False)]


@pytest.mark.parametrize(
    "body",
    [
        "out[i] = in[i]; in[2] = 1;", "out[i] = in[i]; in[2] += 1;", "out[i] = in[i]++;", "out[i] = in[i]; use(in);",
        "out[i] = in[i]; use(&in[2]);", "float *p = in; out[i] = in[i] + p[2];",
    ],
)  # fmt: skip
def test_what_may_be_written_is_left_alone(body: str) -> None:
    assert offered(load_read_only, text(body, "float *in"), "in[i]") == []


@pytest.mark.parametrize(
    ("body", "place"), [("float own[4]; own[i] = 2; out[i] = own[i];", "own[i];"), ("out[i] = i;", "i;")]
)
def test_only_elements_behind_a_parameter(body: str, place: str) -> None:
    assert offered(load_read_only, text(body), place.removesuffix(";"), f"out[i] = {place}") == []
