"""Pragmas in conditionals in front of unbraced bodies, the whole way: every build has its port."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.front.load import FrontOptions
from warpsmith.offload.plan import OffloadOptions

_TEXT = """#include <stdio.h>
#include <stdlib.h>
#ifdef OMP
#define THREADS 4
#endif
double dot(int n, const double *x, const double *y) {
    double s = 0;
    if (x == y)
#ifdef OMP
#pragma omp parallel for reduction(+:s)
#endif
        for (int i = 0; i < n; i++) s += x[i] * x[i];
    else
#ifdef OMP
#pragma omp parallel for reduction(+:s)
#else
#pragma GCC ivdep
#endif
        for (int i = 0; i < n; i++) s += x[i] * y[i];
    return s;
}
void sweep(int rows, int n, double *a, int odd) {
    for (int r = 0; r < 2; r++)
#ifdef OMP
#pragma omp parallel for
#endif
        for (int j = 0; j < rows; j++)
            for (int i = 0; i < n; i++)
                if (odd)
#ifdef UNROLL
#pragma GCC unroll 4
#endif
                    for (int k = 0; k < 3; k++) a[j * n + i] += k * r;
                else
                    a[j * n + i] *= 0.5;
}
int main(void) {
    int n = 400;
    double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
    for (int i = 0; i < n; i++) { x[i] = i % 7; y[i] = i % 5; }
    sweep(20, 20, x, 1);
    sweep(20, 20, y, 0);
    printf("%g %g\\n", dot(n, x, y), dot(n, x, x));
    return 0;
}
"""


def _port(tmp_path: Path, *, macros: tuple[str, ...], verify: bool) -> PortResult:
    path = tmp_path / "input.c"
    path.write_text(_TEXT)
    options = PortOptions(front=FrontOptions(arguments=macros), offload=OffloadOptions(), verify=verify)
    return port([str(path)], options)


@pytest.mark.parametrize("macros", [(), ("-DOMP",), ("-DUNROLL",)])
def test_no_pragma_stays_in_front_of_a_call(macros: tuple[str, ...], tmp_path: Path) -> None:
    done = _port(tmp_path, macros=macros, verify=False)
    (text,) = (file.text for file in done.files if file.path.endswith("input.c"))
    functions = text[text.index("double dot") : text.index("int main")]
    assert functions.count("ws_dot_1(") == functions.count("ws_dot_2(") == functions.count("ws_sweep_1(") == 1
    assert "#" not in functions


@pytest.mark.slow
@pytest.mark.parametrize("macros", [(), ("-DOMP",)])
def test_the_port_computes_what_the_original_does(macros: tuple[str, ...], tmp_path: Path) -> None:
    verified = _port(tmp_path, macros=macros, verify=True).verification
    assert verified is not None
    assert verified.status == "pass"
