"""Loops that keep the data of their function's own kernels on the device, and programs in which they must not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.random_programs.acceptance import is_accepted
from tests.sampling import one_in
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.front.load import FrontOptions
from warpsmith.tree.nodes import DataRegionBoundary
from warpsmith.tree.walk import walk

READS = """
#include <stdio.h>
#include <stdlib.h>
static void run(double *a, double *b, int n, int steps) {
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++) b[i] = 0.5 * (a[i-1] + a[i+1]);
        printf("%g\\n", b[5]);
        b[0] = t;
        double *s = a; a = b; b = s;
    }
}
int main(void) { int n = 50; double *a = calloc(n, 8), *b = calloc(n, 8); a[6] = 1; run(a, b, n, 5);
  for (int i = 0; i < n; i++) printf("%g %g ", a[i], b[i]); free(a); free(b); return 0; }
"""
FREED = """
#include <stdio.h>
#include <stdlib.h>
static double run(double *a, int n, int steps) {
    double sum = 0;
    for (int t = 0; t < steps; t++) {
        double *b = malloc(n * sizeof *b);
        for (int i = 0; i < n; i++) b[i] = a[i] + t;
        for (int i = 0; i < n; i++) a[i] = b[i] * 0.5;
        sum += a[3];
        free(b);
    }
    return sum;
}
int main(void) { int n = 50; double *a = calloc(n, 8); a[3] = 4; double s = run(a, n, 6);
  printf("%g ", s); for (int i = 0; i < n; i++) printf("%g ", a[i]); free(a); return 0; }
"""
SWAPS = """
#include <cstdio>
#include <utility>
#include <vector>
static void exchange(std::vector<double> &x, std::vector<double> &y) { std::swap(x, y); }
static void run(std::vector<double> &a, std::vector<double> &b, int n, int steps) {
    for (int t = 0; t < steps; t++) {
        const double *x = a.data(); double *y = b.data();
        for (int i = 1; i < n - 1; i++) y[i] = 0.5 * (x[i-1] + x[i+1]);
        exchange(a, b);
    }
}
int main() { int n = 50; std::vector<double> a(n), b(n); a[6] = 1; run(a, b, n, 5);
  for (int i = 0; i < n; i++) std::printf("%g %g ", a[i], b[i]); return 0; }
"""
LOCAL = """
#include <cstdio>
#include <vector>
struct Image { Image(int n) : w(n), d(n) {} int w; std::vector<float> d; };
static float run(std::vector<float> &a, int n, int steps) {
    float sum = 0;
    for (int t = 0; t < steps; t++) {
        Image b(n);
        float *x = a.data(), *y = b.d.data();
        for (int i = 0; i < n; i++) y[i] += x[i] + t;
        for (int i = 0; i < n; i++) x[i] = y[i] * 0.5f;
        sum += x[3];
    }
    return sum;
}
int main() { int n = 50; std::vector<float> a(n); a[3] = 4; float s = run(a, n, 6);
  std::printf("%g ", s); for (int i = 0; i < n; i++) std::printf("%g ", a[i]); return 0; }
"""
AGAIN = """
#include <cstdio>
#include <utility>
#include <vector>
static void run(std::vector<float> &a, std::vector<float> &b, int n, int steps) {
    for (int t = 0; t < steps; t++) {
        const float *x = a.data(); float *y = b.data();
        for (int i = 0; i < n; i++) y[i] = x[i] + t;
        a.swap(b);
        if (t == 2) b = std::vector<float>(n, 7.0f);
        if (t == 3) { b.resize(2 * n); b[4] = 9; }
        if (t == 4) a.assign(n, 2.0f);
    }
}
int main() { int n = 50; std::vector<float> a(n), b(n); a[3] = 4; run(a, b, n, 7);
  for (int i = 0; i < n; i++) std::printf("%g %g ", a[i], b[i]); return 0; }
"""
CHARS = """
#include <cstdio>
#include <cstdint>
#include <new>
#include <vector>
struct Size { int n; };
static void fill(std::vector<std::uint8_t> &v, const Size &s) {
    for (int i = 0; i < s.n; i++) v[i] = 1;
}
static void sum(std::vector<std::uint8_t> &v, std::vector<int> &w) {
    for (std::size_t i = 0; i < v.size(); i++) v[i] = (std::uint8_t)(w[i] + i);
}
int main() {
    std::vector<std::uint8_t> v(64);
    Size *s = new (v.data() + 8) Size{40};   // stands in the buffer: the stores change the bound
    fill(v, *s);
    for (auto x : v) std::printf("%d ", x);
    std::vector<int> w(64, 3);
    sum(v, w);
    for (auto x : v) std::printf("%d ", x);
    return 0; }
"""
# the text, its name, and whether its loop keeps data on the device
PROGRAMS = {
    "reads.c": (READS, True),
    "swaps.cpp": (SWAPS, True),
    "freed.c": (FREED, False),  # memory dies in every iteration
    "local.cpp": (LOCAL, True),  # so does what an object of the program's holds, and the run time sees it
    "again.cpp": (AGAIN, False),  # a vector's elements may be written where they are
    "chars.cpp": (CHARS, True),  # a bound stands in what is written; two stages share it
}


def _ported(folder: Path, name: str, *, verify: bool) -> PortResult:
    path = folder / name
    path.write_text(PROGRAMS[name][0])
    return port([str(path)], PortOptions(front=FrontOptions(), verify=verify))


def _keeps(result: PortResult) -> bool:
    assert result.ported is not None
    inserted = (stmt for new in result.ported.inserted for stmt in new.statements)
    return any(isinstance(part, DataRegionBoundary) for stmt in inserted for part in walk(stmt))


@pytest.mark.parametrize("name", one_in(3, PROGRAMS))
def test_data_are_kept_where_they_live_on(name: str, tmp_path: Path) -> None:
    assert _keeps(_ported(tmp_path, name, verify=False)) == PROGRAMS[name][1]


def test_memory_of_objects_is_watched(tmp_path: Path) -> None:
    texts = [file.text for file in _ported(tmp_path, "local.cpp", verify=False).files]
    assert any("WS_COPY | WS_KEEP | WS_WATCH" in text for text in texts)


@pytest.mark.slow
def test_a_single_file_keeps_them_as_well(tmp_path: Path) -> None:
    path = tmp_path / "swaps.cpp"
    path.write_text(SWAPS)
    result = port([str(path)], PortOptions(single_file=True))
    (file,) = result.files
    assert file.path == "swaps.cu" and "ws_data_region ws_data(WS_HERE);" in file.text
    assert is_accepted(result.verification), result.verification


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_referee_agrees(name: str, tmp_path: Path) -> None:
    result = _ported(tmp_path, name, verify=True)
    assert is_accepted(result.verification), result.verification
