"""Products in place of powers, and the fast forms of functions."""

from __future__ import annotations

import pytest

from tests.fixes.places import case, offered, together
from warpsmith.fixes.powers import multiply, quicken

PRODUCTS: dict[str, str | None] = {
    "powf(a[t], 2.0f)": "(a[t] * a[t])",
    "powf(a[t], 3.0f)": "(a[t] * a[t] * a[t])",
    "powf(a[t], 4.0f)": "((a[t] * a[t]) * (a[t] * a[t]))",
    "powf(a[t], 0.5f)": "sqrtf(a[t])",
    "pow(d[t], 2.0)": "(d[t] * d[t])",
    "pow(d[t], 0.5)": "sqrt(d[t])",
    # another exponent, one that is no number, a base with effects, or too long, or of another type
    "powf(a[t], 5.0f)": None,
    "powf(a[t], a[1])": None,
    "powf(g(a[t]), 2.0f)": None,
    "powf(a[t++], 2.0f)": None,
    "powf(a[t] + 1.0f, 2.0f)": None,
    "powf(a[t * 10000000 + 20000000], 2.0f)": None,
    "pow(d[t], d[2])": None,
    "sqrtf(a[t])": None,
}
FAST: dict[str, str | None] = {
    "expf(a[t])": "__expf(a[t])",
    "log2f(a[t])": "__log2f(a[t])",
    "powf(a[t], a[1])": "__powf(a[t], a[1])",
    "a[t] / a[1]": "__fdividef(a[t], a[1])",
    "a[t]  /a[1]": "__fdividef(a[t], a[1])",
    "exp(d[t])": None,
    "tanhf(a[t])": None,
    "g(a[t])": None,
    "a[t] * a[1]": None,
    "a[t] /* by */ / a[1]": None,
}
TEXT = together(
    "__device__ float g(float x);\n",
    "(float *a, double *d, int n, int *m)\n{\n    int t = threadIdx.x;\n",
    (f"a[0] = {expr};" for expr in (*PRODUCTS, *FAST)),
)


@pytest.mark.parametrize("call", PRODUCTS)
def test_a_power_is_a_product(call: str) -> None:
    found, product = offered(multiply, TEXT, call, case(f"a[0] = {call};")), PRODUCTS[call]
    assert found == ([] if product is None else [(f"a[0] = {product};", False)])


@pytest.mark.parametrize("expr", FAST)
def test_the_fast_form_of_a_function(expr: str) -> None:
    found, fast = offered(quicken, TEXT, expr, case(f"a[0] = {expr};")), FAST[expr]
    assert found == ([] if fast is None else [(f"a[0] = {fast};", False)])
