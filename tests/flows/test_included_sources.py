"""Source files that one file alone includes are ported with it, each in a file of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.flows.in_place import port_project, project_of
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.front.load import FrontOptions

KERNELS = """#include <stdlib.h>
static double square(double x) { return x * x; }
static double *make(int n) { return malloc(n * sizeof(double)); }
static void scale(double *a, int n, double k)
{
    for (int i = 0; i < n; i++)
        a[i] = square(a[i]) * k;
}
"""
MAIN = """#include <stdio.h>
#include "parts/kernels.c"
int main(void)
{
    double *a = make(900), s = 0;
    for (int i = 0; i < 900; i++)
        a[i] = i * 0.5;
    scale(a, 900, 0.25);
    for (int i = 0; i < 900; i++)
        s += a[i];
    printf("%.6f\\n", s);
    free(a);
}
"""
TEMPLATES = """#include <cstddef>
#include <vector>
namespace ops {
template <class T> void scale(T *a, int n, T k)
{
    for (int i = 0; i < n; i++)
        a[i] *= k;
}
struct Grid {
    int n;
    double *v;
    void fill(double x)
    {
        for (int i = 0; i < n; i++)
            v[i] = x + i;
    }
    double sum() const;
};
double Grid::sum() const
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += v[i];
    return s;
}
}
"""
CXX_MAIN = """#include <cstdio>
#include "parts/kernels.cpp"
int main()
{
    std::vector<double> a(700);
    std::vector<float> b(700, 2.0f);
    ops::Grid g{700, a.data()};
    g.fill(3.0);
    ops::scale(a.data(), 700, 0.5);
    ops::scale(b.data(), 700, 0.5f);
    std::printf("%.6f %.6f\\n", g.sum(), b[3]);
}
"""


def _written(folder: Path, main: str, kernels: str, suffix: str = "c") -> Path:
    (folder / "parts").mkdir()
    (folder / "parts" / f"kernels.{suffix}").write_text(kernels)
    path = folder / f"main.{suffix}"
    path.write_text(main)
    return path


def _port(*paths: Path) -> PortResult:
    return port([str(path) for path in paths], PortOptions(front=FrontOptions()))


@pytest.mark.parametrize(("suffix", "main", "kernels", "count"), [
    ("c", MAIN, KERNELS, 3), pytest.param("cpp", CXX_MAIN, TEMPLATES, 4, marks=pytest.mark.slow),
])  # fmt: skip
def test_what_one_file_includes_is_ported_and_compared(
    tmp_path: Path, suffix: str, main: str, kernels: str, count: int
) -> None:
    result = _port(_written(tmp_path, main, kernels, suffix))
    assert result.plan is not None and len(result.plan.fragments) == count
    texts = {file.path: file.text for file in result.files}
    assert texts.keys() == {f"main.{suffix}", "main_kernels.cu", "main_kernels.h", f"parts/kernels.{suffix}"}
    assert '#include "../main_kernels.h"' in texts[f"parts/kernels.{suffix}"]
    assert "ws_" in texts[f"main.{suffix}"].replace("main_kernels", "")
    assert result.verification is not None and result.verification.status == "pass"


PLAIN = """#include <stdlib.h>
static double *make(int n) { return malloc(n * sizeof(double)); }
static void scale(double *a, int n, double k) { a[n - 1] *= k; }
"""


def test_what_does_not_change_is_not_written(tmp_path: Path) -> None:
    result = _port(_written(tmp_path, MAIN, PLAIN))
    assert sorted(file.path for file in result.files) == ["main.c", "main_kernels.cu", "main_kernels.h"]


def test_the_file_is_changed_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _written(tmp_path, MAIN, KERNELS)
    monkeypatch.chdir(tmp_path)
    done = port_project(project_of(["main.c"], ()), None, PortOptions(front=FrontOptions()))
    made = done.result.in_place
    assert made is not None
    assert {file.path for file in made.changed} == {"main.c", "parts/kernels.c"}
    assert {path: [file.path for file in files] for path, files in made.kernels.items()} == {
        "main.c": ["warpsmith/main_kernels.cu", "warpsmith/main_kernels.h"],
        "parts/kernels.c": ["warpsmith/kernels_kernels.cu", "warpsmith/kernels_kernels.h"],
    }


@pytest.mark.parametrize("twice", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_what_two_files_include_stays_as_it_is(tmp_path: Path, twice: bool) -> None:
    path = _written(tmp_path, MAIN, KERNELS)
    other = tmp_path / "other.c"
    other.write_text('#include "parts/kernels.c"\ndouble first(double *a) { scale(a, 1, 2.0); return a[0]; }\n'
                     if twice else "double first(double *a) { return a[0]; }\n")  # fmt: skip
    files = {file.path for file in _port(path, other).files}
    assert ("parts/kernels.c" in files) is not twice
