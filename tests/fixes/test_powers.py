"""Products in place of powers, and the fast forms of functions."""

from __future__ import annotations

import pytest

from tests.fixes.places import offered
from warpsmith.fixes.powers import multiply, quicken

HEAD = (
    "__device__ float g(float x);\n__global__ void k(float *a, double *d, int n, int *m)\n{\n    int t = threadIdx.x;\n"
)


def text(statement: str) -> str:
    return f"{HEAD}    {statement}\n}}\n"


@pytest.mark.parametrize(
    ("call", "product"),
    [
        ("powf(a[t], 2.0f)", "(a[t] * a[t])"),
        ("powf(a[t], 3.0f)", "(a[t] * a[t] * a[t])"),
        ("powf(a[t], 4.0f)", "((a[t] * a[t]) * (a[t] * a[t]))"),
        ("powf(a[t], 0.5f)", "sqrtf(a[t])"),
        ("pow(d[t], 2.0)", "(d[t] * d[t])"),
        ("pow(d[t], 0.5)", "sqrt(d[t])"),
        # another exponent, one that is no number, a base with effects, or too long, or of another type
        ("powf(a[t], 5.0f)", None),
        ("powf(a[t], a[1])", None),
        ("powf(g(a[t]), 2.0f)", None),
        ("powf(a[t++], 2.0f)", None),
        ("powf(a[t] + 1.0f, 2.0f)", None),
        ("powf(a[t * 10000000 + 20000000], 2.0f)", None),
        ("pow(d[t], d[2])", None),
        ("sqrtf(a[t])", None),
    ],
)
def test_a_power_is_a_product(call: str, product: str | None) -> None:
    found = offered(multiply, text(f"a[0] = {call};"), call)
    assert found == ([] if product is None else [(f"a[0] = {product};", False)])


@pytest.mark.parametrize(
    ("expr", "fast"),
    [
        ("expf(a[t])", "__expf(a[t])"),
        ("log2f(a[t])", "__log2f(a[t])"),
        ("powf(a[t], a[1])", "__powf(a[t], a[1])"),
        ("a[t] / a[1]", "__fdividef(a[t], a[1])"),
        ("a[t]  /a[1]", "__fdividef(a[t], a[1])"),
        ("exp(d[t])", None),
        ("tanhf(a[t])", None),
        ("g(a[t])", None),
        ("a[t] * a[1]", None),
        ("a[t] /* by */ / a[1]", None),
    ],
)
def test_the_fast_form_of_a_function(expr: str, fast: str | None) -> None:
    found = offered(quicken, text(f"a[0] = {expr};"), expr)
    assert found == ([] if fast is None else [(f"a[0] = {fast};", False)])
