"""Access patterns as text."""

from __future__ import annotations

from tests.flows.nests import PRODUCT, access_report
from warpsmith.report.accesses.text import accesses_text

_STENCIL = """void f(int n, int q, double *a, double *b, const int *k) {
  for (int i = 1; i < n - 1; i++) b[k[i]] = a[i-1] + a[i+1] + a[q]; }"""


def test_the_matrix_product() -> None:
    text = accesses_text(access_report(PRODUCT, "mm/i"))
    lines = text.splitlines()
    at = lines.index("  B[k][j]  i  j  k   read, column-major")
    assert lines[at + 1] == "           0  0  1   rank 2 of 3"
    assert lines[at + 2] == "           0  1  0   used again along i (1, 0, 0): a shared tile"
    assert lines[-1] == ("no single nest removes all three; A with C or B with C (A and C share i; B and C share j)")
    assert "rank 3; kernel ws_mm_k1: i on y, j on x, k in each thread, blocks of 16 x 8 x 1" in text
    assert all(line == line.rstrip() for line in lines)


def test_columns_that_are_zero_are_left_out_and_data_are_marked() -> None:
    lines = accesses_text(access_report(_STENCIL, "f/i")).splitlines()
    heads = {line.split()[0]: line.split()[1:3] for line in lines if line.startswith("  ") and "[" in line.split()[0]}
    assert heads["a[i-1]"] == ["i", "1"] and heads["a[q]"] == ["i", "q"] and heads["k[i]"][0] == "i"
    at = next(k for k, line in enumerate(lines) if line.startswith("  b[k[i]]"))
    assert lines[at + 1].split()[0] == "?" and "irregular" in lines[at]
    assert any(line.startswith("a[i-1] touches what a[i+1] has touched 2 iterations of i later") for line in lines)


def test_neighbours_meet_in_a_tile_with_a_halo() -> None:
    text = "void f(int n, double *a, double *b) { for (int i = 1; i < n; i++) b[i] = a[i-1] + a[i]; }"
    assert "a[i-1] touches what a[i] has touched 1 iteration of i later: a shared tile with a halo, or L1" in (
        accesses_text(access_report(text, "f/i"))
    )


def test_without_arrays_there_is_nothing_to_show() -> None:
    text = accesses_text(
        access_report("int f(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }", "f/i")
    )
    assert "no array is referenced in it" in text
