"""Programs with vectors of vectors: nests over pointers to their rows are whole kernels, and changed rows are safe."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.flows.port import PortOptions, port
from warpsmith.front.load import FrontOptions
from warpsmith.report.port.build import loop_entries

HEAD = """#include <cstdio>
#include <utility>
#include <vector>
using Matrix = std::vector<std::vector<double>>;
"""

# the second call gives one object twice: its nest is no kernel, and its values are those of the loop as written
GATHERED = r"""
static double sum(const Matrix &a, Matrix &b, int n, int m)
{
    const double **from = new const double *[n];
    double **to = new double *[n];
    for (int i = 0; i < n; i++) {
        from[i] = a[i].data();
        to[i] = b[i].data();
    }
    for (int i = 1; i < n; i++)
        for (int j = 0; j < m; j++)
            to[i][j] = 2.0 * from[i - 1][j] + i * m + j;
    double s = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            s += to[i][j];
    delete[] from;
    delete[] to;
    return s;
}
int main()
{
    int n = 12, m = 8;
    Matrix a(n, std::vector<double>(m, 1.0)), b(n, std::vector<double>(m));
    std::printf("%g\n", sum(a, b, n, m));
    std::printf("%g\n", sum(a, a, n, m));
}
"""

CHANGED = r"""
static void add(const Matrix &a, Matrix &b, int n, int m)
{
    for (int i = 1; i < n; i++)
        for (int j = 0; j < m; j++)
            b[i][j] = a[i - 1][j] + 1.0;
}
int main()
{
    int n = 12, m = 10;
    Matrix a(n, std::vector<double>(m, 1.0)), b(n, std::vector<double>(m));
    for (int i = 0; i < n; i++) {
        a[i].resize(m + i);
        for (int j = 0; j < m + i; j++) a[i][j] = i + j;
    }
    for (int i = 0; i < n; i++) {
        b[i] = a[0];
        for (int j = 0; j < m; j++) b[i][j] += i;
    }
    add(a, a, n, m);
    std::swap(a[1], a[2]);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < (int)a[i].size(); j++) a[i][j] *= 2.0;
    double s = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) s += (i + 1) * a[i][j] + b[i][j];
    std::printf("%.17g\n", s);
}
"""


def _port(text: str, tmp_path: Path) -> set[str]:
    """Return the loops that are in kernels of a program whose port passes, some elements having been compared."""
    path = tmp_path / "rows.cpp"
    path.write_text(HEAD + text)
    result = port([str(path)], PortOptions(front=FrontOptions()))
    assert result.verification is not None and result.verification.status == "pass", result.verification
    assert sum(one.compared for one in result.verification.live_out) > 0
    return {entry.id for entry in loop_entries(result.prepared, result.plan) if entry.ported}


@pytest.mark.slow
def test_nests_over_pointers_to_the_rows_are_kernels(tmp_path: Path) -> None:
    assert {"sum/i#2", "sum/i#2/j", "sum/i#3", "sum/i#3/j"} <= _port(GATHERED, tmp_path)


@pytest.mark.slow
def test_loops_that_change_rows_stay(tmp_path: Path) -> None:
    # a row is resized, or assigned; the rows of one object are two parameters'
    assert not {"main/i", "main/i#2", "add/i"} & _port(CHANGED, tmp_path)
