"""The accesses of a nest explained, with the port of it alone."""

from __future__ import annotations

import pytest

from tests.flows.nests import PRODUCT, access_report
from warpsmith.base.errors import UsageError


def test_the_mapping_is_that_of_the_port() -> None:
    report = access_report(PRODUCT, "mm/i")
    ((entry,), refused) = report.spaces, report.refused
    assert refused == "" and entry.place is not None
    assert (set(entry.kernels), entry.place.loops) == ({"ws_mm_k1"}, ("y", "x", "thread"))
    lands = {r.text: [entry.reuse_lands(r, d) for d in r.reuse] for r in entry.space.references}
    assert lands == {"A[i][k]": ["shared tile"], "B[k][j]": ["shared tile"], "C[i][j]": ["register"]}


def test_a_nest_that_stays_says_why() -> None:
    text = "void f(int n, double *a) { for (int i = 1; i < n; i++) for (int j = 0; j < n; j++) a[i] = a[i-1] * a[j]; }"
    report = access_report(text, "f/i")
    assert report.refused and all(entry.place is None for entry in report.spaces)
    assert all(
        entry.reuse_lands(r, d) is None for entry in report.spaces for r in entry.space.references for d in r.reuse
    )


_SWAPPED = """void g(int n, double a[n][n], double *c) {
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) c[j] += a[i][j]; }"""
_PARTED = """void f(int n, double *a, double *b, double *c) {
  for (int i = 1; i < n; i++) { a[i] = b[i] * 2; c[i] = c[i-1] + a[i]; b[i] = a[i-1]; } }"""
_SKEWED = """void w(int n, double a[n][n]) {
  for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) a[i][j] = a[i-1][j] + a[i][j-1]; }"""
_SUMMED = """void s(int n, double a[n][n], double *t) {
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) t[0] += a[i][j]; }"""


def test_loops_that_steps_exchange_are_found() -> None:
    (entry,) = access_report(_SWAPPED, "g/i").spaces
    assert entry.place is not None and entry.place.loops == ("thread", "x")
    lands = {r.text: [entry.reuse_lands(r, d) for d in r.reuse] for r in entry.space.references}
    assert lands == {"a[i][j]": [], "c[j]": ["register"]}


def test_kernels_of_a_loop_that_is_parted_meet_in_l2() -> None:
    (entry,) = access_report(_PARTED, "f/i").spaces
    names = [r.text for r in entry.space.references]
    assert len(set(entry.kernels)) == 3 and entry.place is not None and entry.place.loops == ("x",)
    # the second kernel is a scan: its threads hand c on among themselves
    assert {(names[g.earlier], names[g.later]): entry.group_lands(g) for g in entry.space.groups} == {
        ("a[i]", "a[i-1]"): "L2",
        ("c[i]", "c[i-1]"): "combined",
    }


def test_of_loops_that_nobody_wrote_nothing_is_said() -> None:
    report = access_report(_SKEWED, "w/i")
    assert report.refused == "the port rewrites it, and the loops of its kernels are others"
    assert all(
        entry.place is None and entry.group_lands(g) is None for entry in report.spaces for g in entry.space.groups
    )


def test_what_threads_sum_up_is_combined() -> None:
    (entry,) = access_report(_SUMMED, "s/i").spaces
    (total,) = (r for r in entry.space.references if r.writes)
    assert [entry.reuse_lands(total, d) for d in total.reuse] == ["combined", "combined"]


def test_a_loop_without_a_counter_has_no_matrix() -> None:
    with pytest.raises(UsageError, match="not a counted one"):
        access_report("void f(int *p) { while (*p) p++; }", "f/while")
