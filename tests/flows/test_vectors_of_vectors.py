"""Programs with vectors of vectors: nests over them, or over pointers to their rows, are whole kernels; rows that
change are safe."""

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

WRITTEN = r"""
static void relax(const Matrix &u, Matrix &v)
{
    for (std::size_t i = 1; i + 1 < u.size(); i++)
        for (std::size_t j = 1; j + 1 < u[0].size(); j++)
            v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
}
struct Field {
    Matrix cells;
    double sum() const
    {
        double s = 0.0;
        for (const auto &row : cells)
            for (double x : row) s += x;
        return s;
    }
};
int main()
{
    int n = 24, m = 20;
    Matrix u(n, std::vector<double>(m, 1.0)), v(n, std::vector<double>(m, 1.0));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) u[i][j] = i * m - j;
    for (int t = 0; t < 6; t++) {
        relax(u, v);
        u.swap(v);
    }
    for (int t = 0; t < 6; t++) {
        for (int i = 0; i < n; i++)
            for (int j = 1; j < m; j++) v[i][j] = u[i][j - 1] + u[i][j];
        std::swap(u, v);
    }
    relax(u, u);
    Field f;
    f.cells = u;
    std::printf("%.17g\n", f.sum());
}
"""

RAGGED = r"""
int main()
{
    const int n = 40;
    Matrix a(n), b(n);
    std::vector<double> sum(n, 0.0);
    for (int i = 0; i < n; i++) {
        a[i].assign(i % 7, i);
        b[i].assign(i % 5 + 1, 1.0);
    }
    for (int t = 0; t < 8; t++) {
        for (int i = 0; i < n; i++)
            for (std::size_t j = 0; j < a[i].size(); j++) a[i][j] += 0.5;
        for (int i = 0; i < n; i++) {
            double s = sum[i];
            for (std::size_t j = 0; j < a[i].size(); j++) s += a[i][j] * (j + 1);
            sum[i] = s;
        }
        std::swap(a[t], a[t + 1]);
        if (t % 3 == 0) std::swap(a, b);
        if (t == 5) a[3].resize(9, 2.0);
        if (t == 6) a.push_back(std::vector<double>(5, 1.0));
    }
    int within = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 4; j++)
            if (j < (int)a[i].size()) within += a[i][j] > 3.0;
    double s = within;
    for (int i = 0; i < n; i++) s += (i + 1) * sum[i];
    std::printf("%.17g\n", s);
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
    add(a, b, n, m);
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
def test_nests_that_subscript_the_vectors_are_kernels(tmp_path: Path) -> None:
    whole = {"relax/i", "relax/i/j", "Field::sum/row_at", "main/i", "main/i/j", "main/t#2/i", "main/t#2/i/j"}
    assert whole <= _port(WRITTEN, tmp_path)


@pytest.mark.slow
def test_rows_of_any_length_that_change_between_launches(tmp_path: Path) -> None:
    assert {"main/t/i", "main/t/i/j", "main/t/i#2", "main/i#2", "main/i#2/j"} <= _port(RAGGED, tmp_path)


@pytest.mark.slow
def test_loops_that_change_rows_stay(tmp_path: Path) -> None:
    # a row is resized, or assigned; where two parameters are one object, the nest is no kernel in that call alone
    ported = _port(CHANGED, tmp_path)
    assert not {"main/i", "main/i#2"} & ported and "add/i" in ported
