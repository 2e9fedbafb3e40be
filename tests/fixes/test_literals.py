"""Literals and functions of type float, where nobody said double on purpose. What is exact: see kernels.cu."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fixes.places import case, edited, site, together, trees
from warpsmith.fixes.literals import narrow

CASES: dict[str, str | None] = {
    "a[t] * 2.0": "a[t] * 2.0f",
    "a[t] * 2.0 + 0.1": "a[t] * 2.0f + 0.1f",
    "a[t] + -1e3": "a[t] + -1e3f",
    "n ? a[t] * 2. : .5": "n ? a[t] * 2.f : .5f",
    "sqrt(a[t] * 2.0)": "sqrtf(a[t] * 2.0f)",
    "a[t] * 0x1p3": "a[t] * 0x1p3f",
    # a double by the user's word, one that float does not hold, a function without such a form
    "a[t] * (double)n": None,
    "a[t] * d[t]": None,
    "a[t] * 1e300": None,
    "a[t] * 1e-300": None,
    "wide(a[t])": None,
    "a[t] * 2.0L": None,
    "a[t] * HALF": None,
    "a[t] * 2.0f": None,
    "n + 1": None,
}
TEXT = together(
    "#define HALF 0.5\n__device__ double wide(double x);\n",
    "(float *a, double *d, int n)\n{\n    int t = threadIdx.x;\n",
    (f"a[0] = {expr};" for expr in CASES),
)


class Nothing:
    """A kernel whose instructions are not found: then nothing is known to stay unfused."""

    function: Nothing

    def __init__(self) -> None:
        self.function = self

    def instructions(self) -> Iterator[tuple[object, object]]:
        yield from ()


@pytest.mark.parametrize("expr", CASES)
def test_what_becomes_a_float(expr: str) -> None:
    start = case(f"a[0] = {expr};")
    found = list(narrow(site(trees(TEXT), expr, start), Nothing(), None))  # type: ignore[arg-type]
    assert not any(fix.safe for fix in found)
    after = CASES[expr]
    assert [case(f"a[0] = {after};") in edited(TEXT, fix) for fix in found] == ([True] if after else [])
