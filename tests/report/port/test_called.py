"""Functions that only kernels call: what the host may reach in any way is none of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.flows.port import PortOptions, port
from warpsmith.report.port.called import find_called_by_kernels

_TEXT = """
#include <stdio.h>
static double norm(const double *p, int d)
{
    double sum = 0;
    for (int j = 0; j < d; j++)
        sum += p[j] * p[j];
    return sum;
}
static double half(const double *p, int d) { return norm(p, d) / 2; }
static void all(int n, int d, const double *restrict p, double *restrict out)
{
    for (int i = 0; i < n; i++)
        out[i] = half(p + i * d, d);
}
%s
int main(void)
{
    static double p[3000], out[1000];
    for (int i = 0; i < 3000; i++)
        p[i] = i;
    all(1000, 3, p, out);
    %s
    printf("%%g\\n", out[7]);
    return 0;
}
"""


@pytest.mark.parametrize(
    ("before", "inside", "wanted"),
    [
        ("", "", {"norm", "half"}),
        ("", 'printf("%g", norm(p, 3));', {"half"}),
        ("", "double (*f)(const double *, int) = half; out[0] = f(p, 3);", set()),
        ("double other(const double *p) { return half(p, 2); }", "", set()),
        ("static double other(const double *p) { return half(p, 2); }", "out[0] = other(p);", set()),
    ],
)
def test_functions_that_only_kernels_call(before: str, inside: str, wanted: set[str], tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(_TEXT.replace("%%", "%").replace("%s", before, 1).replace("%s", inside, 1))
    result = port([str(path)], PortOptions(verify=False))
    assert result.prepared is not None and result.plan is not None
    found = find_called_by_kernels(result.prepared, result.plan)
    assert {symbol.name for symbol in found} == wanted
    kernels = {fragment.kernel.name for fragment in found.values()}
    assert kernels <= {"ws_all_k1"}
